"""Tests of `weigh mail serve` with a real store, from its start to a signal."""

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
    """Return the folder of a store that has learned ten messages of each label."""
    store = MailStore.open(tmp_path / "mail", create=True)
    store.learn([HAM + b"%d\n" % i for i in range(10)], "ham")
    store.learn([SPAM + b"%d\n" % i for i in range(10)], "spam")
    return tmp_path / "mail"


@contextlib.contextmanager
def serving(store, *options, stop=signal.SIGTERM):
    """Run a server process; yield its first output, and at the end its exit code and log."""
    state = {}
    with subprocess.Popen(
        [*WEIGH, "serve", "--store", str(store), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        state["output"] = process.stdout.readline().decode()
        try:
            yield state
        finally:
            process.send_signal(stop)
            _, log = process.communicate(timeout=30)
            state.update(code=process.returncode, log=log.decode())


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal(store, stop):
    with serving(store, stop=stop) as state, Client(store / "serve.sock") as client:
        assert client.judge(SPAM)["label"] == "spam"
        assert client.filter(HAM).startswith(b"X-Weigh: ham, probability 0.0")
    assert state == {"output": f"Listening on {store}/serve.sock.\n", "code": 0, "log": ""}
    assert not (store / "serve.sock").exists()


def test_what_other_processes_learn_takes_effect_immediately(store):
    news = b"Subject: tulips\n\nTulips bloom.\n"
    with serving(store), Client(store / "serve.sock") as client:
        before = client.judge(news)["probability"]
        MailStore.open(store).learn([news + b"%d\n" % i for i in range(5)], "spam")
        assert client.judge(news)["probability"] > max(before, 0.9)
        assert client.learn(HAM, "ham") == {"new": 1, "moved": 0, "known": 0}
        assert client.learn(HAM, "spam") == {"new": 0, "moved": 1, "known": 0}
        assert client.unlearn(HAM)["spam"] == 1
    assert MailStore.open(store).status().spams == 15


def test_filter_prints_the_same_with_and_without_a_server(store):
    def filtered(*options):
        command = [*WEIGH, "filter", "--store", str(store), *options]
        return subprocess.run(command, input=SPAM, capture_output=True, check=True).stdout

    without_server = filtered()
    assert b"X-Weigh: spam" in without_server
    elsewhere = ("--socket", str(store.parent / "elsewhere"))
    probability = MailStore.open(store).judge([SPAM])[0].probability
    line = f"filter, {len(SPAM)} bytes, spam {format_clipped_probability(probability)}\n"
    for options in ((), elsewhere):
        with serving(store, "--verbose", *options) as state:
            assert filtered(*options) == without_server
        assert state["log"][20:] == line


def test_mail_is_received_and_forwarded_over_smtp(store):
    pytest.importorskip("aiosmtpd")
    from tests.apps.mail.serving.next_host import next_host

    with (
        next_host() as host,
        serving(store, "--smtp", "0", "--next", f"127.0.0.1:{host.port}", "--json") as state,
    ):
        addresses = json.loads(state["output"])
        assert addresses["socket"] == f"{store}/serve.sock"
        address, port = addresses["smtp"].split(":")
        assert address == "127.0.0.1"
        with smtplib.SMTP(address, int(port), timeout=10) as client:
            client.sendmail("a@example.org", ["b@example.org"], SPAM.replace(b"\n", b"\r\n"))
        assert host.handler.received[0][2].startswith(b"X-Weigh: spam")


@pytest.mark.parametrize(
    ("options", "code", "message"),
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
def test_usage_errors_say_what_is_wrong(store, options, code, message):
    command = [*WEIGH, "serve", "--store", str(store), *options]
    process = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=store.parent)
    assert (process.returncode, message in process.stderr) == (code, True), process.stderr


def test_without_aiosmtpd_the_error_says_what_to_install(store, tmp_path):
    (tmp_path / "aiosmtpd.py").write_text("raise ModuleNotFoundError('gone', name='aiosmtpd')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.run(
        [*WEIGH, "serve", "--store", str(store), "--smtp", "0", "--next", "1"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (process.returncode, process.stderr) == (
        1,
        "weigh: Filtering over SMTP needs aiosmtpd, which is not installed. In the folder of weigh: "
        "pip install '.[mail]'.\n",
    )
