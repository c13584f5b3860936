"""Clients of a server whose processes are killed, which send unanswered calls again under the same id.

`python -m tests.serve.feedback_clients FOLDER N` posts N changes to a server with two workers.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from tests.killing import WEIGH
from tests.serve.feedback.samples import BASE, Row, make_row, train
from weigh.model.count_model import CountModel
from weigh.model.file.loading import load
from weigh.serve.feedback import FeedbackStore

N_CLIENTS = 8
FORGOTTEN_SHARE = 0.2
MAX_WAIT = 10.0  # seconds until the next kill, however few answers there are
TIMEOUT = 300.0  # seconds until a call must have been answered, however often it is sent


class Server:
    """`weigh serve` with two workers; `kill` ends one of them, or all processes, and starts them again."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.model_path, self.feedback_path = folder / "mails.weigh", folder / "feedback"
        self.log_path = folder / "server.log"
        BASE.save(self.model_path)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.n_worker_kills = self.n_server_kills = 0
        self._seen: dict[int, float] = {}
        self._process = self._start()
        self.start_seconds = self.wait_until_ready()

    def wait_until_ready(self) -> float:
        """Wait until the server answers; returns how many seconds that took."""
        start = time.monotonic()
        while time.monotonic() < start + TIMEOUT:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{self.port}/health/ready", timeout=5.0, trust_env=False)
                self._seen.update(dict.fromkeys(self._workers(), 0.0))
                return time.monotonic() - start
            time.sleep(0.1)
        raise TimeoutError(f"the server did not start within {TIMEOUT:g} s; see {self.log_path}")

    def kill_worker(self, rng: random.Random) -> None:
        """Kill a worker that has started, which the server replaces.

        If one is killed while it starts, the server notices that only after its timeout for hung workers.
        """
        now = time.monotonic()
        workers = [
            each for each in self._workers() if now - self._seen.setdefault(each, now) > self.start_seconds
        ]
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
                self.n_worker_kills += 1

    def restart(self) -> None:
        """Kill all processes of the server at once, and start it again."""
        self.stop()
        self.n_server_kills += 1
        self._process = self._start()

    def stop(self) -> None:
        """Kill all processes of the server at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        options = ["--feedback", str(self.feedback_path), "--port", str(self.port)]
        with self.log_path.open("ab") as log:
            return subprocess.Popen(
                [*WEIGH, "serve", str(self.model_path), *options, "--workers", "2"],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _workers(self) -> list[int]:
        process = self._process.pid
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
            return [int(child) for child in children if _is_worker(child)]
        return []


class Clients:
    """Threads that post changes, and what must remain at the end."""

    def __init__(self, port: int, n: int, seed: int) -> None:
        self._url = f"http://127.0.0.1:{port}/v1/models/mails"
        self._numbers = iter(range(1, n + 1))
        self._rng = random.Random(seed)
        self._lock = threading.Lock()
        self.learned: dict[int, Row] = {}
        self.n_answered = self.n_sent = self.n_repeated = 0
        self.failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(N_CLIENTS)]

    def start(self) -> None:
        """Begin to post."""
        for thread in self._threads:
            thread.start()

    def wait_for_answers(self, n: int) -> bool:
        """Wait for n further answers, or a while if there are none; returns whether clients still post."""
        expected, deadline = self.n_answered + n, time.monotonic() + MAX_WAIT
        while any(thread.is_alive() for thread in self._threads):
            if self.n_answered >= expected or time.monotonic() > deadline:
                return True
            time.sleep(0.01)
        return False

    def _run(self) -> None:
        try:
            with httpx.Client(timeout=5.0, trust_env=False) as client:
                while (change := self._next_change()) is not None:
                    self._make(client, *change)
        except BaseException as failure:
            self.failures.append(failure)

    def _make(self, client: httpx.Client, number: int, operation: str, row: Row) -> None:
        answer = self._post(client, operation, {"id": f"id-{number}", "rows": [row]})
        assert (answer["rows"], answer["repeated"]) in ((1, False), (0, True)), answer
        with self._lock:
            self.n_answered += 1
            self.n_repeated += answer["repeated"]
            if operation == "learn":
                self.learned[number] = row

    def _next_change(self) -> tuple[int, str, Row] | None:
        with self._lock:
            number = next(self._numbers, None)
            if number is None:
                return None
            if self.learned and self._rng.random() < FORGOTTEN_SHARE:
                return number, "forget", self.learned.pop(self._rng.choice(list(self.learned)))
            return number, "learn", make_row(number)

    def _post(self, client: httpx.Client, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a call until it is answered."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            with self._lock:
                self.n_sent += 1
            try:
                answer = client.post(f"{self._url}/{operation}", json=body)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if answer.status_code != 503:
                assert answer.status_code == 200, answer.text
                result: dict[str, Any] = answer.json()
                return result
        raise TimeoutError(f"{operation} {body['id']} was not answered within {TIMEOUT:g} s")


def post_and_kill(folder: Path, n: int, *, every: int = 200, seed: int = 0) -> tuple[Server, Clients]:
    """Post n changes; after `every` answers on average, kill a worker or the whole server."""
    rng = random.Random(seed)
    server = Server(folder)
    try:
        clients = Clients(server.port, n, seed)
        clients.start()
        while clients.wait_for_answers(rng.randint(1, 2 * every)):
            time.sleep(0.1 * rng.random())
            if rng.random() < 0.7:
                server.kill_worker(rng)
                continue
            server.restart()
            if rng.random() < 0.7:  # the others may be killed while they start
                server.wait_until_ready()
    finally:
        server.stop()
    if clients.failures:
        raise clients.failures[0]
    return server, clients


def read_model(server: Server) -> CountModel:
    """Return the model with the feedback, as the server would load it."""
    [folder] = server.feedback_path.iterdir()
    [snapshot] = folder.glob("model.weigh")
    from weigh.model.file import store

    digest = store.read(snapshot).meta["feedback"]["base"]
    return FeedbackStore.open(folder, load(server.model_path), digest).model()


def _is_worker(process: str) -> bool:
    return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()


def main(folder: Path, n: int) -> None:
    """Run, and say what was found."""
    start = time.monotonic()
    server, clients = post_and_kill(folder, n)
    seconds = time.monotonic() - start
    expected = train(list(clients.learned.values()))
    equal = read_model(server).to_bytes() == expected.to_bytes()
    print(
        f"{clients.n_answered:,} changes in {seconds:.0f} s; {clients.n_sent:,} calls, "
        f"{clients.n_repeated:,} answers 'repeated'; {server.n_worker_kills:,} workers and "
        f"{server.n_server_kills:,} servers killed; {len(clients.learned):,} rows remain; "
        f"model equal: {equal}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
