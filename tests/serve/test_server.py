"""The server as a process: start-up lines, signals, several processes, and connections that misbehave."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.killing import WEIGH
from tests.serve.processes import RunningServer, read_all, run_server

TABLE = {"text": ["cheap pills", "lunch at noon"] * 3, "label": ["spam", "ham"] * 3}
ROWS = {"rows": [{"text": "cheap"}]}
PREDICT = "/v1/models/mail/predict"
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "mail.weigh"
    weigh.NaiveBayes(columns={"text": "text"}).fit(TABLE, "label").model_.save(path)
    return path


@pytest.fixture(scope="module")
def server(model_path: Path) -> Iterator[RunningServer]:
    with run_server(model_path, "--timeout", "1", "--max-body", "1") as running:
        yield running


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def weigh_serve(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*WEIGH, "serve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)


def test_a_server_answers_and_says_where(server: RunningServer) -> None:
    assert server.facts["models"][0]["name"] == "mail"
    assert server.facts["address"].startswith("http://127.0.0.1:")
    answer = server.client.post(PREDICT, json=ROWS).json()
    assert answer["predictions"][0]["label"] == "spam"
    wait_until(lambda: any(" 200 predict mail rows=1 " in line for line in server.log))


def test_slow_header_fields_are_refused(server: RunningServer) -> None:
    answer = server.talk(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX: ")
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"The request did not arrive within 1 seconds." in answer


def test_a_connection_without_a_request_is_closed(server: RunningServer) -> None:
    with server.connect() as connection:
        assert b"408" in read_all(connection)


def test_slow_bodies_are_refused(server: RunningServer) -> None:
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = server.talk(head.encode() + b'Content-Length: 50\r\n\r\n{"rows"')
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"The body did not arrive within 1 seconds." in answer


def test_endless_header_fields_are_refused(server: RunningServer) -> None:
    head = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n" + b"X-Filler: " + b"x" * 90_000
    assert server.talk(head).startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(server: RunningServer) -> None:
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with server.connect() as connection:
        connection.sendall(head.encode() + b"Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 Request Entity Too Large\r\n")


@pytest.mark.slow
def test_a_client_that_reads_no_answers_is_disconnected(server: RunningServer) -> None:
    n_requests = 3_000
    with server.connect() as connection:
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * n_requests)
        time.sleep(6)
        assert 0 < read_all(connection).count(b"HTTP/1.1 200 OK") < n_requests
    assert not [line for line in server.log if "internal error" in line]


@pytest.mark.parametrize(
    "data",
    [b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"],
)
def test_malformed_requests_are_refused(server: RunningServer, data: bytes) -> None:
    assert server.talk(data).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert server.client.post(PREDICT, json=ROWS).status_code == 200


def test_sigterm_finishes_requests(model_path: Path) -> None:
    with run_server(model_path) as server:
        body = b'{"rows": [{"text": "cheap"}]}'
        head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with server.connect() as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:5])
            time.sleep(0.3)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.sendall(body[5:])
            assert read_all(connection).startswith(b"HTTP/1.1 200 OK\r\n")
        assert server.process.wait(30) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stopped_server_leaves_nothing_behind(
    model_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, workers: int
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with run_server(model_path, "--workers", str(workers)) as server:
        assert [path.name.partition("-serve-")[0] for path in tmp_path.iterdir()] == ["weigh"]
        wait_until(lambda: _is_up(server))
        assert server.stop(number) == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them(model_path: Path) -> None:
    with run_server(model_path, "--workers", "2") as server:
        wait_until(lambda: _is_up(server))
        server.stop(signal.SIGKILL)
        wait_until(lambda: not _listens(server))


def _listens(server: RunningServer) -> bool:
    try:
        server.connect().close()
    except ConnectionRefusedError:
        return False
    return True


def test_sighup_before_the_server_answers_does_not_end_it(model_path: Path) -> None:
    with run_server(model_path) as server:
        server.process.send_signal(signal.SIGHUP)
        assert _is_up(server)


@pytest.mark.slow
def test_two_processes_share_counts_and_reload_on_sighup(tmp_path: Path) -> None:
    path = tmp_path / "mail.weigh"
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(TABLE, "label").model_
    model.save(path)
    with run_server(path, "--workers", "2", "--feedback", tmp_path / "feedback") as server:
        url = "/v1/models/mail"
        wait_until(lambda: _is_up(server))
        failures: list[Any] = []
        is_done = threading.Event()

        def ask() -> None:
            while not is_done.is_set():
                answer = server.client.post(PREDICT, json=ROWS, headers={"connection": "close"})
                if answer.status_code != 200:
                    failures.append(answer)

        thread = threading.Thread(target=ask)
        thread.start()
        model.learn([{"text": "noon", "label": "ham"}]).save(path)
        server.process.send_signal(signal.SIGHUP)
        for _ in range(20):
            wait_until(
                lambda: server.client.get(url, headers={"connection": "close"}).json()["rows"]["ham"] == 4
            )
        is_done.set()
        thread.join()
        assert not failures
        assert server.process.poll() is None
        time.sleep(1.2)
        counts = [_count_predictions(server) for _ in range(6)]
        assert counts[0] == counts[-1] > 0
        assert server.stop(signal.SIGTERM) == 0


def _is_up(server: RunningServer) -> bool:
    return server.client.get("/health/ready").status_code == 200


def _count_predictions(server: RunningServer) -> float:
    lines = server.client.get("/metrics", headers={"connection": "close"}).text.splitlines()
    start = 'weigh_requests_total{endpoint="predict"'
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(start))


def test_start_up_lines_state_the_address_the_models_and_whether_tokens_are_needed(model_path: Path) -> None:
    process = subprocess.Popen(
        [*WEIGH, "serve", str(model_path), "--port", "0"], stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline().rstrip("\n") for _ in range(6)]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
    address = lines[2].removeprefix("Page: ").removesuffix("/")
    assert lines == [
        f"Serving at {address} with 1 process",
        "  mail: naive-bayes, classes ham, spam",
        f"Page: {address}/",
        "Tokens: none needed, because only programs on this machine reach the server",
        "Feedback: none, so the models do not learn (--feedback DIR)",
        "Ctrl-C stops the server; SIGHUP loads changed models now.",
    ]


def test_beyond_this_machine_tokens_are_required(model_path: Path, tmp_path: Path) -> None:
    done = weigh_serve(model_path, "--host", "0.0.0.0", "--port", "0")
    assert (done.returncode, done.stderr) == (
        1,
        "weigh: 0.0.0.0 can be reached from other machines, and without tokens everybody there could use the "
        "models. Give a file of tokens (--token-file), or listen on 127.0.0.1.\n",
    )
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann read {TOKEN}\n")
    with run_server(model_path, "--host", "0.0.0.0", "--token-file", tokens) as server:
        address = server.address.replace("0.0.0.0", "127.0.0.1")
        assert server.client.get(f"{address}/v1/models").status_code == 401
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert server.client.get(f"{address}/v1/models", headers=headers).status_code == 200
        assert server.facts["tokens"] == f"needed, from {tokens} (Authorization: Bearer TOKEN)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["none.weigh"],
            "weigh: There is no file none.weigh. Check its name, or save a model there first.\n",
        ),
        (
            ["--port", "1", "--host", "192.0.2.1", "--token-file", "TOKENS"],
            "The server cannot listen on 192.0.2.1",
        ),
        (["--rebase"], "--rebase carries feedback over; give its folder with --feedback DIR."),
        (["--token-file", "none"], "weigh: The token file none cannot be read: No such file or directory.\n"),
    ],
)
def test_servers_that_cannot_start_say_why(
    model_path: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann read {TOKEN}\n")
    models = [] if arguments[0].endswith(".weigh") else [model_path]
    done = weigh_serve(*models, *(str(tokens) if each == "TOKENS" else each for each in arguments))
    assert done.returncode in (1, 2)
    assert message in done.stderr


def test_a_port_in_use_is_named(server: RunningServer, model_path: Path) -> None:
    port = server.address.rpartition(":")[2]
    done = weigh_serve(model_path, "--port", port)
    assert done.stderr == (
        f"weigh: The server cannot listen on 127.0.0.1, port {port}: Address already in use. Choose another "
        "address or port, or stop the program that uses it.\n"
    )


def test_a_missing_extra_is_named(model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from click.testing import CliRunner

    from weigh.cli.main import app

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(app, ["serve", str(model_path)])
    assert (
        "weigh serve needs uvicorn and Starlette, which are not installed. Run pip install 'weigh[serve]'."
        in (result.output)
    )
