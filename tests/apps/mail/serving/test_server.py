"""Tests of the local socket: it serves many clients, survives failing ones, and has one owner."""

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

from tests.apps.mail.serving.fake_store import FakeStore, server
from weigh.apps.mail.serving import client
from weigh.apps.mail.serving.client import Client
from weigh.errors import FileError

HAM = b"Subject: tea\n\nAt five.\n"
SPAM = b"Subject: prize\n\nYou won.\n"
FILTERED = b'X-Weigh: spam, probability 0.999500; "prize" +2.50\n' + SPAM


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "serve.sock")


def send_raw(path, *blocks, finish=False):
    """Send raw bytes, and return what the server answers."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(10)
        sock.connect(path)
        for block in blocks:
            sock.sendall(block)
        if finish:
            sock.shutdown(socket.SHUT_WR)
        answer = b""
        while block := sock.recv(65536):
            answer += block
        return answer


def test_every_command_is_answered(path):
    store = FakeStore()
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
        with Client(path) as connection:
            assert connection.status() == {"new": 1}
            assert connection.request("PING") == b"weigh\n"
            assert connection.request("FILTER", b"").startswith(b"X-Weigh: ham")


def test_without_a_server_the_client_returns_none(path):
    assert client.request_filter(path, SPAM) is None
    assert client.request_learn("x" * 300, SPAM, "spam") is None


def test_requests_can_end_with_end_of_file(path):
    with server(path):
        assert send_raw(path, b"FILTER -\n", SPAM, finish=True) == b"OK %d\n%b" % (len(FILTERED), FILTERED)
        assert send_raw(path, b"PING\nPING\n", finish=True) == b"OK 6\nweigh\nOK 6\nweigh\n"


def test_only_the_owner_may_use_the_socket(path):
    with server(path):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not os.path.exists(path)


def test_parallel_clients_get_their_own_answers(path):
    wrong = []

    def send_requests(number):
        with Client(path) as connection:
            for i in range(40):
                content = b"Subject: %d %d %b\n\n" % (number, i, b"prize" * (i % 2))
                expected = b"X-Weigh: spam" if i % 2 else b"X-Weigh: ham"
                if not connection.request("FILTER", content).startswith(expected):
                    wrong.append((number, i))

    with server(path):
        clients = [threading.Thread(target=send_requests, args=(number,)) for number in range(12)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("request_bytes", "message"),
    [
        (b"HELO there\n", b"Unknown command."),
        (b"FILTER 99999999999\n", b"The message is longer than 67,108,864 bytes."),
        (b"x" * 200_000, b"The first line is longer than 80 bytes."),
        (b"FILTER 00000" + b"0" * 90 + b"\n", b"The first line is longer than 80 bytes."),
    ],
)
def test_invalid_requests_are_rejected(path, request_bytes, message):
    with server(path):
        try:
            answer = send_raw(path, request_bytes)
        except ConnectionError:
            # A client that keeps sending may miss the answer, but the server must survive.
            answer = None
        if answer is not None:
            assert answer.startswith(b"NO ")
            assert answer.partition(b"\n")[2].startswith(message)
        assert client.request_filter(path, SPAM) == FILTERED


def test_too_many_clients_are_rejected(path, monkeypatch):
    monkeypatch.setattr("weigh.apps.mail.serving.server.MAX_CLIENTS", 1)
    with server(path), Client(path) as first:
        assert first.request("PING") == b"weigh\n"
        assert send_raw(path) == b"NO 33\nThe server already has 1 clients."
        assert first.request("FILTER", SPAM) == FILTERED


def test_slow_clients_are_disconnected(path, monkeypatch):
    monkeypatch.setattr("weigh.apps.mail.serving.server.RECEIVE_TIMEOUT", 0.1)
    with server(path):
        assert send_raw(path, b"FILTER 100\nSubject: ") == b""
        monkeypatch.setattr("weigh.apps.mail.serving.server.IDLE_TIMEOUT", 0.1)
        assert send_raw(path) == b""
        assert client.request_filter(path, SPAM) == FILTERED


def test_errors_do_not_quote_the_message(path):
    with server(path), Client(path) as connection:
        with pytest.raises(ValueError, match=r"^The server failed on this message \(RuntimeError\)\.$"):
            connection.request("JUDGE", b"fail: a secret")
        assert connection.request("FILTER", SPAM) == FILTERED


def test_clients_that_die_in_the_middle_do_not_affect_others(path):
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
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(path)
                sock.sendall(b"FILTER %d\n%b" % (len(SPAM), SPAM))
        assert client.request_filter(path, SPAM) == FILTERED


def test_pending_requests_are_answered_before_shutdown(path):
    answers = []
    slow = b"Subject: slow prize\n\n"
    with server(path), Client(path) as idle:
        thread = threading.Thread(target=lambda: answers.append(client.request_verdict(path, slow)))
        thread.start()
        time.sleep(0.1)
        assert idle.request("PING") == b"weigh\n"
    thread.join()
    assert answers == [{"label": "spam", "probability": 0.9995}]


def test_a_running_server_is_not_replaced(path):
    with server(path):
        with pytest.raises(FileError) as caught, server(path):
            pass
        assert str(caught.value) == (
            f"A server is already running at {path}. Stop it first, or let this one listen at another path."
        )
        assert client.request_filter(path, SPAM) == FILTERED


def test_a_running_server_keeps_its_lock_without_its_socket_file(path):
    with server(path):
        os.unlink(path)
        with pytest.raises(FileError, match="already running"), server(path):
            pass


def test_the_socket_of_a_killed_server_is_replaced(path):
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]; import time;"
        "from weigh.apps.mail.serving.server import listening_socket\n"
        "with listening_socket(sys.argv[1]): print('listening', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, path, *sys.path], stdout=subprocess.PIPE) as killed:
        assert killed.stdout.readline() == b"listening\n"
        with pytest.raises(FileError, match="already running"), server(path):
            pass
        killed.send_signal(signal.SIGKILL)
    assert os.path.exists(path)
    with server(path):
        assert client.request_filter(path, SPAM) == FILTERED


def test_files_that_are_not_sockets_are_kept(tmp_path):
    path = tmp_path / "file"
    path.write_text("content")
    with pytest.raises(FileError, match="exists and is not a socket"), server(path):
        pass
    assert path.read_text() == "content"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x" * 120, "is too long for a socket path \\(at most 103 bytes\\)"),
        ("no/serve.sock", "the server cannot listen there: No such file or directory"),
    ],
)
def test_invalid_socket_paths_are_rejected(tmp_path, name, message):
    with pytest.raises(FileError, match=message), server(tmp_path / name):
        pass


def test_the_log_has_sizes_and_verdicts_but_no_content(path):
    lines = []
    with server(path, log=lines.append):
        client.request_filter(path, SPAM)
        client.request_learn(path, SPAM, "spam")
    assert [line[20:] for line in lines] == [
        f"filter, {len(SPAM)} bytes, spam 0.999500",
        f"learn spam, {len(SPAM)} bytes",
    ]


def test_an_incomplete_request_is_rejected(path):
    store = FakeStore()
    with server(path, store):
        answer = send_raw(path, b"LEARN SPAM -", finish=True)
        assert answer.endswith(b"The first line is incomplete. End it with a line feed.")
    assert store.learned == []


def test_the_lock_does_not_follow_symbolic_links(path, tmp_path):
    os.symlink(tmp_path / "elsewhere", f"{path}.lock")
    with pytest.raises(FileError, match="the server cannot listen there: "), server(path):
        pass
    assert not (tmp_path / "elsewhere").exists()
