"""`weigh mail serve` serves a real store from its start to a signal, and other commands find it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import smtplib
import subprocess
import sys

import pytest

from weigh.apps.mail.serving.client import Client
from weigh.apps.mail.store import MailStore
from weigh.text import format_clipped_probability

WEIGH = [sys.executable, "-m", "weigh.cli.main", "mail"]
HAM = b"Subject: tea\n\nAt five, as ever.\n"
SPAM = b"Subject: prize\n\nYou won money.\n"


@pytest.fixture
def store(tmp_path):
    """The folder of a store that knows ten messages of each kind."""
    store = MailStore.open(tmp_path / "mail", create=True)
    store.learn([HAM + b"%d\n" % at for at in range(10)], "ham")
    store.learn([SPAM + b"%d\n" % at for at in range(10)], "spam")
    return tmp_path / "mail"


@contextlib.contextmanager
def serving(store, *options, stop=signal.SIGTERM):
    """A server of its own, what it says first, and at the end its exit code and what it logs."""
    found = {}
    with subprocess.Popen(
        [*WEIGH, "serve", "--store", str(store), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        found["said"] = process.stdout.readline().decode()
        try:
            yield found
        finally:
            process.send_signal(stop)
            _, log = process.communicate(timeout=30)
            found.update(code=process.returncode, log=log.decode())


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop(store, stop):
    with serving(store, stop=stop) as found, Client(store / "serve.sock") as client:
        assert client.judge(SPAM)["label"] == "spam"
        assert client.filter(HAM).startswith(b"X-Weigh: ham, probability 0.0")
    assert found == {"said": f"Listening at {store}/serve.sock.\n", "code": 0, "log": ""}
    assert not (store / "serve.sock").exists()


def test_what_others_learn_counts_for_the_next_message(store):
    news = b"Subject: tulips\n\nTulips bloom.\n"
    with serving(store), Client(store / "serve.sock") as client:
        before = client.judge(news)["probability"]
        MailStore.open(store).learn([news + b"%d\n" % at for at in range(5)], "spam")
        assert client.judge(news)["probability"] > max(before, 0.9)
        assert client.learn(HAM, "ham") == {"new": 1, "moved": 0, "known": 0}
        assert client.learn(HAM, "spam") == {"new": 0, "moved": 1, "known": 0}
        assert client.unlearn(HAM)["spam"] == 1
    assert MailStore.open(store).status().spams == 15


def test_filter_says_the_same_with_and_without_a_server(store):
    def filtered(*options):
        command = [*WEIGH, "filter", "--store", str(store), *options]
        return subprocess.run(command, input=SPAM, capture_output=True, check=True).stdout

    alone = filtered()
    assert b"X-Weigh: spam" in alone
    elsewhere = ("--socket", str(store.parent / "elsewhere"))
    told = f"filter, {len(SPAM)} bytes, spam {format_clipped_probability(MailStore.open(store).judge([SPAM])[0].probability)}\n"
    for options in ((), elsewhere):
        with serving(store, "--verbose", *options) as found:
            assert filtered(*options) == alone
        assert found["log"][20:] == told


def test_mail_comes_in_and_goes_on_by_smtp(store):
    pytest.importorskip("aiosmtpd")
    from tests.apps.mail.serving.next_host import next_host

    with (
        next_host() as host,
        serving(store, "--smtp", "0", "--next", f"127.0.0.1:{host.port}", "--json") as found,
    ):
        said = json.loads(found["said"])
        assert said["socket"] == f"{store}/serve.sock"
        address, port = said["smtp"].split(":")
        assert address == "127.0.0.1"
        with smtplib.SMTP(address, int(port), timeout=10) as client:
            client.sendmail("a@example.org", ["b@example.org"], SPAM.replace(b"\n", b"\r\n"))
        assert host.handler.taken[0][2].startswith(b"X-Weigh: spam")


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--smtp", "10025"], 2, "--smtp and --next go together"),
        (
            ["--smtp", "x:y", "--next", "10026"],
            2,
            "--smtp takes HOST:PORT, such as 127.0.0.1:10025, not 'x:y'.",
        ),
        (["--store", "nowhere"], 1, "there is no mail store"),
    ],
)
def test_wrong_usage_is_told_in_words(store, options, code, sentence):
    command = [*WEIGH, "serve", "--store", str(store), *options]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=store.parent)
    assert (done.returncode, sentence in done.stderr) == (code, True), done.stderr


def test_without_aiosmtpd_it_says_what_to_install(store, tmp_path):
    (tmp_path / "aiosmtpd.py").write_text("raise ModuleNotFoundError('gone', name='aiosmtpd')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [*WEIGH, "serve", "--store", str(store), "--smtp", "0", "--next", "1"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.returncode, done.stderr) == (
        1,
        "weigh: Filtering by SMTP needs aiosmtpd, which is not installed. In the folder of weigh: "
        "pip install '.[mail]'.\n",
    )
