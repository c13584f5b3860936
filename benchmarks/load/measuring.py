"""Load services in turns, and record what the load cost."""

from __future__ import annotations

import json
import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load.servers import Server, read_machine_seconds

SCRIPT = Path(__file__).with_name("bodies.lua")


@dataclass(frozen=True)
class Load:
    """What a client saw; percentiles are of seconds per answer."""

    requests: int
    failures: int
    seconds: float
    p50: float
    p99: float


@dataclass(frozen=True)
class Run:
    """A load with its cost: CPU seconds of server, client and other programs."""

    load: Load
    server_seconds: float
    client_seconds: float
    other_seconds: float

    @property
    def rate(self) -> float:
        return self.load.requests / self.load.seconds

    @property
    def cost(self) -> float:
        """CPU seconds of the server per request."""
        return self.server_seconds / self.load.requests


@dataclass
class Record:
    """The runs of one kind of load on a server; resident bytes are from before and after them."""

    server: Server
    runs: list[Run]
    memory_before: int
    memory_after: int

    @property
    def n_requests(self) -> int:
        return sum(run.load.requests for run in self.runs)


def measure_in_turns(
    loads: Mapping[str, tuple[Server, Callable[[Server], Load]]], rounds: int
) -> dict[str, Record]:
    """Apply the loads in turns, after the caller has warmed the servers up."""
    records = {name: Record(server, [], server.resident_bytes(), 0) for name, (server, _) in loads.items()}
    for _ in range(rounds):
        for name, (server, load) in loads.items():
            records[name].runs.append(measure_run(server, load))
    for record in records.values():
        record.memory_after = record.server.resident_bytes()
    return records


def run_wrk(address: str, bodies: Path, connections: int, seconds: float) -> Load:
    """Post the lines of a file from one thread of wrk."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "--timeout", "30s", "-s", str(SCRIPT)]
    done = subprocess.run([*command, address, "--", str(bodies)], check=True, capture_output=True, text=True)
    return Load(**json.loads(done.stdout.splitlines()[-1]))


def post_bodies(server: Server, bodies: Sequence[bytes], media_type: str, connections: int) -> Load:
    """Post every body once, some of them at the same time, each over a connection of its own."""

    def post(body: bytes) -> float:
        start = time.perf_counter()
        server.ask([body], media_type)
        return time.perf_counter() - start

    start = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        times = sorted(pool.map(post, bodies))
    seconds = time.perf_counter() - start
    return Load(len(times), 0, seconds, times[len(times) // 2], times[99 * len(times) // 100])


def measure_run(server: Server, load: Callable[[Server], Load]) -> Run:
    """Apply a load and record the CPU time that it took."""
    machine, served, client = read_machine_seconds(), server.cpu_seconds(), read_client_seconds()
    seen = load(server)
    machine, served, client = (
        read_machine_seconds() - machine,
        server.cpu_seconds() - served,
        read_client_seconds() - client,
    )
    return Run(seen, served, client, max(machine - served - client, 0.0))


def read_client_seconds() -> float:
    """Return the CPU time of this process and of the clients that it ran."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
