from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from benchmarks.load import servers
from benchmarks.load.batches import FORMATS
from benchmarks.load.measuring import Load, Record, Run, measure_in_turns, post_bodies, run_wrk
from benchmarks.load.servers import (
    Server,
    Service,
    list_processes,
    read_cpu_seconds,
    read_labels,
    read_machine_seconds,
    read_resident_bytes,
)
from benchmarks.load.single_rows import format_agreement, format_record
from benchmarks.load.texts import COLUMN, fill, to_json
from benchmarks.worker import find_program_version

import weigh
from tests.serve.client import Client

ECHO = Path(__file__).with_name("echo_server.py")
TEXTS = ["cheap pills", 'minutes, of "today"\nagain', "Käse\tund Brot"]
needs_wrk = pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")


def echo_service(record: Path, path: str = "/") -> Service:
    return Service("echo", path, lambda port: [sys.executable, "-S", ECHO, record, str(port)])


@pytest.fixture(autouse=True)
def wait_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "QUIET_SECONDS", 0.2)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record"


@pytest.fixture
def server(record: Path) -> Iterator[Server]:
    with Server(echo_service(record)) as server:
        server.wait_until_ready(b"{}")
        record.unlink()
        yield server


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has collected yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_the_processes_of_a_server_are_measured_together_and_end_with_it(record: Path) -> None:
    with Server(echo_service(record)) as server:
        server.wait_until_ready(b"{}")
        pids = list_processes(server._process.pid)
        assert len(pids) == 2
        assert server.resident_bytes() == sum(map(read_resident_bytes, pids))
        assert not any(map(has_ended, pids))
    deadline = time.monotonic() + 5
    while not all(map(has_ended, pids)):
        assert time.monotonic() < deadline


def test_cpu_seconds_are_those_that_the_process_used() -> None:
    before, used = read_cpu_seconds(os.getpid()), time.process_time()
    machine = read_machine_seconds()
    while time.process_time() - used < 0.1:
        pass
    assert read_cpu_seconds(os.getpid()) - before == pytest.approx(0.1, abs=0.03)
    assert read_machine_seconds() - machine >= 0.08


@needs_wrk
def test_wrk_posts_the_lines_of_a_file_in_turns(server: Server, record: Path, tmp_path: Path) -> None:
    (tmp_path / "bodies").write_bytes(b'{"a": 1}\n{"b": 2}\n{"c": 3}\n')
    load = run_wrk(server.address, tmp_path / "bodies", 2, 1)
    counts = Counter(record.read_text().splitlines())
    assert set(counts) == {'{"a": 1}', '{"b": 2}', '{"c": 3}'}
    assert max(counts.values()) - min(counts.values()) <= 2
    assert load.failures == 0
    # The last answers may arrive after the end.
    assert load.requests == pytest.approx(sum(counts.values()), abs=2)
    assert 0 < load.p50 <= load.p99 < 1


@needs_wrk
def test_answers_with_an_error_are_failures(record: Path, tmp_path: Path) -> None:
    (tmp_path / "bodies").write_bytes(b"{}\n")
    with Server(echo_service(record, "/fails")) as server:
        while not record.exists():
            with pytest.raises((OSError, RuntimeError)):
                server.ask([b"{}"])
        with pytest.raises(RuntimeError, match=r"^echo answered 500: b'\{\}'$"):
            server.ask([b"{}"])
        load = run_wrk(server.address, tmp_path / "bodies", 1, 1)
    assert load.requests > 0
    assert load.failures == load.requests


def test_loads_take_turns_and_every_body_is_posted_once(server: Server, record: Path) -> None:
    loads = {
        name: (server, lambda server, name=name: post_bodies(server, [name.encode()] * 3, "text/csv", 2))
        for name in ("first", "second")
    }
    records = measure_in_turns(loads, 2)
    assert record.read_text().split() == ["first"] * 3 + ["second"] * 3 + ["first"] * 3 + ["second"] * 3
    assert {name: each.n_requests for name, each in records.items()} == {"first": 6, "second": 6}
    assert records["second"].memory_after > 0


def test_costs_are_per_request_and_shown_with_their_range(record: Path) -> None:
    runs = [
        Run(Load(1_000, failures, 0.5, 0.004, p99), cpu, 0.1, 0.25)
        for cpu, failures, p99 in ((0.3, 0, 0.01), (0.5, 1, 0.02), (0.4, 0, 0.03))
    ]
    cells = format_record(Record(Server(echo_service(record)), runs, 1_000_000, 2_000_000))
    assert cells == [
        "2,000 (2,000 to 2,000)",
        "4.0 ms",
        "20 (10 to 30) ms",
        "400 (300 to 500) µs",
        "100 (100 to 100) µs",
        "0.5 (0.5 to 0.5)",
        "3,000",
        "1",
        "1.0 MB → 2.0 MB",
    ]


def test_batches_reach_their_size_without_a_text_twice() -> None:
    assert fill(["aa", "é", "b", "cc", "d"], 3) == [["aa", "é"], ["b", "cc"]]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gets_the_labels_of_the_library(name: str) -> None:
    learner = weigh.NaiveBayes({COLUMN: "text"}).fit(pd.DataFrame({COLUMN: TEXTS}), ["spam", "ham", "food"])
    media_type, encode = FORMATS[name]
    headers = {"Content-Type": media_type}
    client = Client({"texts": learner.model_})
    answer = client.post("/v1/models/texts/predict", content=encode(TEXTS), headers=headers)
    assert answer.status_code == 200, answer.text
    assert read_labels(answer.content) == ["spam", "ham", "food"]


def test_labels_are_read_from_objects_and_bare_lists() -> None:
    predictions = [{"label": "ham"}, {"label": "spam"}]
    for answer in (predictions, {"predictions": predictions}):
        assert read_labels(json.dumps(answer).encode()) == ["ham", "spam"]
    assert json.loads(to_json(["Käse"])) == {"rows": [{"text": "Käse"}]}
    assert format_agreement(["ham", "spam"], ["ham", "ham"]) == "1 of 2"


def test_the_version_of_a_program_is_found_by_either_option(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\n[ "$1" = -v ] && echo program 4.1.0 || echo no option $1\n')
    program.chmod(0o755)
    assert find_program_version(str(program)) == "4.1.0"
    program.write_text("#!/bin/sh\n")
    assert find_program_version(str(program)) == "of an unknown version"
