"""Predictions of one short text at a time, with wrk as the client."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from benchmarks.job import CORES, WORK
from benchmarks.load.measuring import Load, Record, Run, measure_in_turns, run_wrk
from benchmarks.load.servers import Server, read_labels
from benchmarks.load.services import bentoml_service, fastapi_service, weigh_service
from benchmarks.load.texts import read_collection, to_json, write_model
from benchmarks.results import format_duration, format_markdown_table, format_megabytes

COLLECTION = "sms"
CONNECTIONS = 32
WORKERS = (1, 2)
N_COMPARED = 500
HEAD = (
    "", "requests/s", "p50", "p99", "CPU per request, server", "CPU per request, wrk",
    "other programs, cores", "requests", "failed", "memory before → after", "same label",
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Rounds, and the seconds of a round and of the warm-up of each service."""

    rounds: int
    seconds: float
    warm_up: float


SIZE, QUICK = Size(4, 15.0, 3.0), Size(1, 1.0, 1.0)


def single_row_table(quick: bool) -> str:
    """Load all services in turns and return their table."""
    size = QUICK if quick else SIZE
    _, texts = read_collection(COLLECTION)
    about = describe_load(size, len(texts), os.getloadavg()[0])
    makers = (
        partial(weigh_service, write_model(COLLECTION)),
        partial(fastapi_service, COLLECTION),
        partial(bentoml_service, COLLECTION),
    )
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(make(workers))) for make in makers for workers in WORKERS]
        records, labels = measure_servers(servers, [to_json([text]) for text in texts], size)
    rows = [
        [name, *format_record(record), format_agreement(labels[0], own)]
        for (name, record), own in zip(records.items(), labels, strict=True)
    ]
    return f"{about}\n\n{format_markdown_table(HEAD, rows)}"


def measure_servers(
    servers: Sequence[Server], bodies: Sequence[bytes], size: Size
) -> tuple[dict[str, Record], list[list[str]]]:
    """Return the record of every server, and its labels of the first texts."""
    path = WORK / f"{COLLECTION}.bodies"
    path.write_bytes(b"".join(body + b"\n" for body in bodies))

    def load(server: Server) -> Load:
        return run_wrk(server.address, path, CONNECTIONS, size.seconds)

    labels = []
    for server in servers:
        server.wait_until_ready(bodies[0])
        labels.append([read_labels(answer)[0] for answer in server.ask(bodies[:N_COMPARED])])
        run_wrk(server.address, path, CONNECTIONS, size.warm_up)
    records = measure_in_turns({server.service.name: (server, load) for server in servers}, size.rounds)
    return records, labels


def describe_load(size: Size, n_texts: int, load_average: float) -> str:
    return (
        f"wrk with 1 thread and {CONNECTIONS} connections that stay open, each waiting for its answer, on "
        f"the same {CORES} cores; {n_texts:,} short messages in turns, a row per request; {size.rounds} × "
        f"{size.seconds:.0f} s in which the services take turns, after {size.warm_up:.0f} s of warm-up each. "
        "Median, and minimum to maximum over the rounds; 'same label' compares with the first service. No "
        f"service writes a log line per request. Load average before the start: {load_average:.1f}."
    )


def format_record(record: Record) -> list[str]:
    """Return the cells of a service; percentiles are medians over the rounds."""
    runs = record.runs
    return [
        format_range([run.rate for run in runs], "{:,.0f}"),
        format_duration(statistics.median(run.load.p50 for run in runs)),
        format_milliseconds([run.load.p99 for run in runs]),
        format_microseconds([run.cost for run in runs]),
        format_microseconds([run.client_seconds / run.load.requests for run in runs]),
        format_range([other_cores(run) for run in runs], "{:.1f}"),
        f"{record.n_requests:,}",
        f"{sum(run.load.failures for run in runs):,}",
        f"{format_megabytes(record.memory_before)} → {format_megabytes(record.memory_after)}",
    ]


def other_cores(run: Run) -> float:
    """Return how many cores other programs used during a run."""
    return run.other_seconds / run.load.seconds


def format_range(values: Sequence[float], pattern: str) -> str:
    cells = [pattern.format(each) for each in (statistics.median(values), min(values), max(values))]
    return cells[0] if len(values) == 1 else f"{cells[0]} ({cells[1]} to {cells[2]})"


def format_milliseconds(seconds: Sequence[float]) -> str:
    return format_range([1e3 * value for value in seconds], "{:.0f}") + " ms"


def format_microseconds(seconds: Sequence[float]) -> str:
    return format_range([1e6 * value for value in seconds], "{:,.0f}") + " µs"


def format_agreement(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Return the share of equal labels."""
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    return f"{same:,} of {len(ours):,}"
