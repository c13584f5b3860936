"""Server processes: started on a free port, asked over HTTP, and measured through /proc."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from benchmarks.job import ROOT, WORK

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
START_SECONDS = 180.0
STOP_SECONDS = 10.0
QUIET_SECONDS = 1.0
QUIET_SHARE = 0.1  # of a core, below which a server has started
IDLE_FIELDS = (3, 4)  # of the times in /proc/stat: idle, waiting for a disk


@dataclass(frozen=True)
class Service:
    """How a service is started and asked; the command ends with the port."""

    name: str
    path: str
    command: Callable[[int], Sequence[str | Path]]
    environment: Mapping[str, str] = field(default_factory=dict)


class Server:
    """A running service; all its processes end with the context."""

    def __init__(self, service: Service) -> None:
        self.service, self.port = service, find_free_port()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.service.path}"

    def __enter__(self) -> Server:
        WORK.mkdir(parents=True, exist_ok=True)
        log = (WORK / f"{self.service.name.replace(' ', '-').replace(',', '')}.log").open("wb")
        with log:
            self._process = subprocess.Popen(
                [str(part) for part in self.service.command(self.port)],
                cwd=ROOT,
                env={**os.environ, **self.service.environment},
                stdout=log,
                stderr=log,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _, *children = list_processes(self._process.pid)
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def wait_until_ready(self, body: bytes) -> None:
        """Wait until the service answers and none of its processes is still starting."""
        deadline = time.monotonic() + START_SECONDS
        while not self._answers(body):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.service.name} did not start; see its log in {WORK}")
            time.sleep(0.1)
        while True:
            before = self.cpu_seconds()
            time.sleep(QUIET_SECONDS)
            if self.cpu_seconds() - before < QUIET_SHARE * QUIET_SECONDS:
                return

    def _answers(self, body: bytes) -> bool:
        try:
            self.ask([body])
        except OSError:
            return False
        return True

    def ask(self, bodies: Sequence[bytes], media_type: str = "application/json") -> list[bytes]:
        """Post bodies one after the other over one connection and return the answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)
        answers = []
        with contextlib.closing(connection):
            for body in bodies:
                connection.request("POST", self.service.path, body, {"Content-Type": media_type})
                response = connection.getresponse()
                answers.append(response.read())
                if response.status != 200:
                    raise RuntimeError(
                        f"{self.service.name} answered {response.status}: {answers[-1][:200]!r}"
                    )
        return answers

    def cpu_seconds(self) -> float:
        """Return the CPU time of all processes of the service."""
        return sum(map(read_cpu_seconds, list_processes(self._process.pid)))

    def resident_bytes(self) -> int:
        """Return the resident memory, summed over the processes."""
        return sum(map(read_resident_bytes, list_processes(self._process.pid)))


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def list_processes(pid: int) -> list[int]:
    """Return a process and its descendants."""
    pids = [pid]
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # of a thread that has just ended
            for child in file.read_text().split():
                pids += list_processes(int(child))
    return pids


def read_cpu_seconds(pid: int) -> float:
    # The name of the program, in parentheses, may have blanks.
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / TICKS


def read_resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


def read_machine_seconds() -> float:
    """Return the CPU time that all programs of the machine have used."""
    # Guests are counted as users, too.
    times = [int(time) for time in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(time for k, time in enumerate(times) if k not in IDLE_FIELDS) / TICKS


def read_labels(answer: bytes) -> list[str]:
    """Return the predicted labels of an answer; BentoML answers a batch with a bare list."""
    predictions = json.loads(answer)
    if isinstance(predictions, dict):
        predictions = predictions["predictions"]
    return [prediction["label"] for prediction in predictions]
