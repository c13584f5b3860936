"""Rows with contenders that only sleep, for the tests of the harness."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.job import Check, Contender, Job, Quality, Row


def make_data(rows: int) -> int:
    return rows


def sleep(seconds_per_row: float, answer: float, rows: int) -> float:
    time.sleep(seconds_per_row * rows)
    return answer


def solve(rows: int, tolerance: float) -> float:
    return 10 * tolerance


def fail(rows: int) -> float:
    raise ValueError("no luck")


def accuracy(rows: int, answer: float) -> Mapping[str, float]:
    return {"accuracy": answer}


def job(name: str, contenders: tuple[Contender, ...], check: Check | None, **fields: Any) -> Job:
    sizes = {"size": {"rows": 20}, "quick": {"rows": 2}}
    module = "tests.benchmarks.fake_jobs"
    shared: dict[str, Any] = {"facts": accuracy, "check": check, "repeats": 2, "module": module, **sizes}
    return Job(f"fake.{name}", "Sleep", make_data, contenders=contenders, **(shared | fields))


def sleeper(name: str, seconds: float, answer: float = 0.9, **fields: Any) -> Contender:
    run: Callable[[int], float] = partial(sleep, seconds, answer)
    return Contender(name, run, **fields)


OURS = sleeper("ours", 0.001, role="ours")
SAME = Check("accuracy", 0.01)
JOBS: list[Row] = [
    job(
        "turns", (OURS, sleeper("slow", 0.003), sleeper("floor", 0.0, role="floor")), SAME, grow={"rows": 10}
    ),
    job("other-work", (OURS, sleeper("worse", 0.0, 0.5), sleeper("slow", 0.003)), SAME),
    job(
        "failures",
        (
            OURS,
            Contender("failing", fail),
            sleeper("missing", 0.0, needs=("no-such-package",)),
            sleeper("too slow", 3.0),
        ),
        SAME,
        limit=1.0,
    ),
    job(
        "tolerances",
        (
            Contender("ours", solve, role="ours", tolerances=(1e-1, 1e-2, 1e-3)),
            Contender("never there", solve, tolerances=(1.0, 0.1)),
        ),
        Check("accuracy", 0.1, "zero"),
    ),
    job(
        "processes",
        (Contender("ours", command=lambda rows: [sys.executable, "-S", "-c", "print(1)"], role="ours"),),
        None,
        facts=None,
    ),
    job("no-data", (OURS, sleeper("slow", 0.003)), SAME, files=("no/such/file",)),
    Quality("fake.quality", "A table", lambda quick: f"quick: {quick}", module="tests.benchmarks.fake_jobs"),
]
