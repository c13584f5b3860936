"""The local socket answers many clients, survives all of them, and has one owner."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

from tests.apps.mail.serving.fake_store import StandIn, server
from weigh.apps.mail.serving import client
from weigh.apps.mail.serving.client import Client
from weigh.errors import FileError

HAM = b"Subject: tea\n\nAt five.\n"
SPAM = b"Subject: prize\n\nYou won.\n"
FILTERED = b'X-Weigh: spam, probability 0.999500; "prize" +2.50\n' + SPAM


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "serve.sock")


def raw(path, *blocks, finish=False):
    """What the server says to bytes sent as they are."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(path)
        for block in blocks:
            line.sendall(block)
        if finish:
            line.shutdown(socket.SHUT_WR)
        heard = b""
        while block := line.recv(65536):
            heard += block
        return heard


def test_every_command_is_answered(path):
    store = StandIn()
    with server(path, store):
        assert client.request_filter(path, SPAM) == FILTERED
        assert client.request_verdict(path, HAM) == {"label": "ham", "probability": 0.0005}
        assert client.request_explanation(path, SPAM) == {
            "verdict": {"label": "spam", "probability": 0.9995},
            "rows": [{"name": "prize", "contribution": 2.5}],
        }
        assert client.request_learn(path, SPAM, "spam") == {"new": 1}
        assert client.request_learn(path, HAM, "ham") == {"new": 1}
        assert store.learned == [(SPAM, "spam"), (HAM, "ham")]
        assert client.request_unlearn(path, SPAM) == {"new": 1}
        with Client(path) as asking:
            assert asking.status() == {"new": 1}
            assert asking.request("PING") == b"weigh\n"
            assert asking.request("FILTER", b"").startswith(b"X-Weigh: ham")


def test_without_a_server_the_client_says_nothing(path):
    assert client.request_filter(path, SPAM) is None
    assert client.request_learn("x" * 300, SPAM, "spam") is None


def test_a_shell_can_ask(path):
    with server(path):
        assert raw(path, b"FILTER -\n", SPAM, finish=True) == b"OK %d\n%b" % (len(FILTERED), FILTERED)
        assert raw(path, b"PING\nPING\n", finish=True) == b"OK 6\nweigh\nOK 6\nweigh\n"


def test_only_the_owner_may_ask(path):
    with server(path):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not os.path.exists(path)


def test_parallel_clients_get_their_own_answers(path):
    wrong = []

    def ask(number):
        with Client(path) as asking:
            for at in range(40):
                content = b"Subject: %d %d %b\n\n" % (number, at, b"prize" * (at % 2))
                expected = b"X-Weigh: spam" if at % 2 else b"X-Weigh: ham"
                if not asking.request("FILTER", content).startswith(expected):
                    wrong.append((number, at))

    with server(path):
        clients = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("asked", "heard"),
    [
        (b"HELO there\n", b"Not a command."),
        (b"FILTER 99999999999\n", b"The message is longer than 67,108,864 bytes."),
        (b"x" * 200_000, b"The first line is longer than 80 bytes."),
        (b"FILTER 00000" + b"0" * 90 + b"\n", b"The first line is longer than 80 bytes."),
    ],
)
def test_what_is_not_understood_is_refused_in_words(path, asked, heard):
    with server(path):
        try:
            answer = raw(path, asked)
        except ConnectionError:
            # A client that goes on talking may lose the answer, but not the server.
            answer = None
        if answer is not None:
            assert answer.startswith(b"NO ")
            assert answer.partition(b"\n")[2].startswith(heard)
        assert client.request_filter(path, SPAM) == FILTERED


def test_too_many_clients_are_sent_away(path, monkeypatch):
    monkeypatch.setattr("weigh.apps.mail.serving.server.MAX_CLIENTS", 1)
    with server(path), Client(path) as first:
        assert first.request("PING") == b"weigh\n"
        assert raw(path) == b"NO 33\nThe server has 1 clients already."
        assert first.request("FILTER", SPAM) == FILTERED


def test_clients_that_are_slow_are_sent_away(path, monkeypatch):
    monkeypatch.setattr("weigh.apps.mail.serving.server.RECEIVE_TIMEOUT", 0.1)
    with server(path):
        assert raw(path, b"FILTER 100\nSubject: ") == b""
        monkeypatch.setattr("weigh.apps.mail.serving.server.IDLE_TIMEOUT", 0.1)
        assert raw(path) == b""
        assert client.request_filter(path, SPAM) == FILTERED


def test_failures_are_told_without_the_message(path):
    with server(path), Client(path) as asking:
        with pytest.raises(ValueError, match=r"^The server failed at this message \(RuntimeError\)\.$"):
            asking.request("JUDGE", b"fail: a secret")
        assert asking.request("FILTER", SPAM) == FILTERED


def test_clients_that_die_in_the_middle_disturb_nobody(path):
    program = (
        "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "s.sendall(b'FILTER 100000\\nSubject: '); print('half', flush=True); time.sleep(60)"
    )
    with server(path):
        dying = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
        with dying:
            assert dying.stdout.readline() == b"half\n"
            assert client.request_filter(path, SPAM) == FILTERED
            dying.kill()
        for _ in range(50):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(path)
                line.sendall(b"FILTER %d\n%b" % (len(SPAM), SPAM))
        assert client.request_filter(path, SPAM) == FILTERED


def test_what_was_asked_is_answered_before_the_end(path):
    answers = []
    slow = b"Subject: slow prize\n\n"
    with server(path), Client(path) as idle:
        asking = threading.Thread(target=lambda: answers.append(client.request_verdict(path, slow)))
        asking.start()
        time.sleep(0.1)
        assert idle.request("PING") == b"weigh\n"
    asking.join()
    assert answers == [{"label": "spam", "probability": 0.9995}]


def test_a_running_server_is_not_displaced(path):
    with server(path):
        with pytest.raises(FileError) as refusal, server(path):
            pass
        assert str(refusal.value) == (
            f"A server is running already at {path}. Stop it first, or let this one listen elsewhere: "
            "--socket PATH."
        )
        assert client.request_filter(path, SPAM) == FILTERED


def test_a_running_server_keeps_its_place_without_its_file(path):
    with server(path):
        os.unlink(path)
        with pytest.raises(FileError, match="running already"), server(path):
            pass


def test_the_socket_of_a_killed_server_is_replaced(path):
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]; import time;"
        "from weigh.apps.mail.serving.server import listening\n"
        "with listening(sys.argv[1]): print('there', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, path, *sys.path], stdout=subprocess.PIPE) as killed:
        assert killed.stdout.readline() == b"there\n"
        with pytest.raises(FileError, match="running already"), server(path):
            pass
        killed.send_signal(signal.SIGKILL)
    assert os.path.exists(path)
    with server(path):
        assert client.request_filter(path, SPAM) == FILTERED


def test_files_that_are_no_sockets_stay(tmp_path):
    path = tmp_path / "letter"
    path.write_text("dear")
    with pytest.raises(FileError, match="is a file that is not a socket, and stays"), server(path):
        pass
    assert path.read_text() == "dear"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x" * 120, "is too long for a socket, which takes 103 bytes"),
        ("no/serve.sock", "the server cannot listen there: No such file or directory"),
    ],
)
def test_places_that_cannot_be_are_refused_in_words(tmp_path, name, sentence):
    with pytest.raises(FileError, match=sentence), server(tmp_path / name):
        pass


def test_the_log_has_sizes_and_verdicts_and_nothing_of_the_mail(path):
    lines = []
    with server(path, told=lines.append):
        client.request_filter(path, SPAM)
        client.request_learn(path, SPAM, "spam")
    assert [line[20:] for line in lines] == [
        f"filter, {len(SPAM)} bytes, spam 0.999500",
        f"learn spam, {len(SPAM)} bytes",
    ]


def test_half_a_request_is_refused(path):
    store = StandIn()
    with server(path, store):
        heard = raw(path, b"LEARN SPAM -", finish=True)
        assert heard.endswith(b"The first line has no end. End it with a line feed.")
    assert store.learned == []


def test_the_lock_is_no_link(path, tmp_path):
    os.symlink(tmp_path / "elsewhere", f"{path}.lock")
    with pytest.raises(FileError, match="the server cannot listen there: "), server(path):
        pass
    assert not (tmp_path / "elsewhere").exists()
