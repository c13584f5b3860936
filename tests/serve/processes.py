"""`weigh serve` in a process of its own."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.killing import WEIGH

TIMEOUT = 60.0


class RunningServer:
    """A server with its process, its start-up facts, and the lines of its log so far."""

    def __init__(self, process: subprocess.Popen[str], facts: dict[str, Any]) -> None:
        self.process, self.facts = process, facts
        self.address = facts["address"]
        self.client = httpx.Client(base_url=self.address, timeout=TIMEOUT)
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read_log)
        self._reader.start()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)

    def connect(self) -> socket.socket:
        """Return a connection to the server."""
        return socket.create_connection(("127.0.0.1", httpx.URL(self.address).port or 0), timeout=TIMEOUT)

    def talk(self, data: bytes) -> bytes:
        """Send bytes on a new connection, and return everything until the server closes it."""
        with self.connect() as connection:
            connection.sendall(data)
            return read_all(connection)

    def stop(self, number: int) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT)

    def close(self) -> None:
        """End the server if it is still there."""
        self.client.close()
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(TIMEOUT)
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def read_all(connection: socket.socket) -> bytes:
    """Return what a connection receives until it is closed."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


@contextlib.contextmanager
def run_server(*arguments: str | Path) -> Iterator[RunningServer]:
    """Run `weigh serve` on a free port, and yield when it listens."""
    command = [*WEIGH, "serve", *map(str, arguments), "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        _, errors = process.communicate(timeout=TIMEOUT)
        raise AssertionError(errors)
    server = RunningServer(process, json.loads(line))
    try:
        yield server
    finally:
        server.close()
