"""Many texts per request, in every format that services take."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from benchmarks.job import CORES
from benchmarks.load.measuring import Load, Record, measure_in_turns, post_bodies
from benchmarks.load.servers import Server, read_labels
from benchmarks.load.services import fastapi_service, weigh_service
from benchmarks.load.single_rows import format_agreement, format_range, other_cores
from benchmarks.load.texts import (
    fill,
    read_collection,
    to_arrow,
    to_csv,
    to_json,
    to_json_lines,
    write_model,
)
from benchmarks.results import format_markdown_table, format_megabytes

WORKERS = 2
CONNECTIONS = 4
ROUNDS = 5
N_QUICK = 4
FORMATS: Mapping[str, tuple[str, Callable[[list[str]], bytes]]] = {
    "JSON": ("application/json", to_json),
    "JSON lines": ("application/x-ndjson", to_json_lines),
    "CSV": ("text/csv", to_csv),
    "Arrow": ("application/vnd.apache.arrow.stream", to_arrow),
}
HEAD = (
    "",
    "MB/s of text",
    "MB of text per CPU second, server",
    "other programs, cores",
    "memory before → after",
    "same labels",
)


@dataclass(frozen=True)
class Collection:
    """Texts to send: their name, the bytes of text in a body, and the requests of a round."""

    name: str
    title: str
    body_bytes: int
    n_requests: int


# No body has a text twice, so the small collection has smaller bodies.
COLLECTIONS = (
    Collection("newsgroups", "20 Newsgroups, 20 classes", 1_800_000, 40),
    Collection("sms", "Short messages, 2 classes", 200_000, 96),
)


def batch_tables(quick: bool) -> str:
    """Return a table for each collection; the quick size has the short messages only."""
    load_average = os.getloadavg()[0]
    collections = COLLECTIONS[1:] if quick else COLLECTIONS
    tables = [collection_table(collection, quick) for collection in collections]
    rounds = "1 round" if quick else f"{ROUNDS} rounds"
    about = (
        f"{CONNECTIONS} requests at a time from one client, on the same {CORES} cores; {WORKERS} processes "
        f"per service; {rounds} in which the loads take turns, after a round of warm-up. Text is counted in "
        "bytes of UTF-8, without the format around it; answers are JSON with all probabilities. Median, and "
        "minimum to maximum over the rounds. No service writes a log line per request. Load average before "
        f"the start: {load_average:.1f}."
    )
    return "\n\n".join([about, *tables])


def collection_table(collection: Collection, quick: bool) -> str:
    model = write_model(collection.name)
    _, texts = read_collection(collection.name)
    batches = fill(texts, collection.body_bytes)
    services = (weigh_service(model, WORKERS), fastapi_service(collection.name, WORKERS))
    rounds, n_requests = (1, N_QUICK) if quick else (ROUNDS, collection.n_requests)
    sent = [batches[k % len(batches)] for k in range(n_requests)]
    megabytes = sum(len(text.encode()) for batch in sent for text in batch) / 1e6
    with ExitStack() as stack:
        ours, peer = (stack.enter_context(Server(service)) for service in services)
        for server in (ours, peer):
            server.wait_until_ready(to_json(batches[0][:1]))
        loads, labels = {}, []
        for server, name in [*((ours, name) for name in FORMATS), (peer, "JSON")]:
            media_type, encode = FORMATS[name]
            load = partial(post, bodies=[encode(batch) for batch in sent], media_type=media_type)
            load(server)
            labels.append(read_labels(server.ask([encode(batches[0])], media_type)[0]))
            loads[f"{server.service.name}, {name}"] = (server, load)
        records = measure_in_turns(loads, rounds)
    rows = [
        [name, *format_record(record, megabytes), format_agreement(labels[0], own)]
        for (name, record), own in zip(records.items(), labels, strict=True)
    ]
    text = f"{megabytes / n_requests:.2f} MB of text in {len(batches[0]):,} rows per request"
    title = f"{collection.title}: {text}, {n_requests} requests per round"
    return f"{title}\n\n{format_markdown_table(HEAD, rows)}"


def post(server: Server, bodies: list[bytes], media_type: str) -> Load:
    return post_bodies(server, bodies, media_type, CONNECTIONS)


def format_record(record: Record, megabytes: float) -> list[str]:
    runs = record.runs
    return [
        format_range([megabytes / run.load.seconds for run in runs], "{:.1f}"),
        format_range([megabytes / run.server_seconds for run in runs], "{:.1f}"),
        format_range([other_cores(run) for run in runs], "{:.1f}"),
        f"{format_megabytes(record.memory_before)} → {format_megabytes(record.memory_after)}",
    ]
