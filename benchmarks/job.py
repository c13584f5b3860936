"""Declarations of benchmark rows: what is measured, on which data, by whom, and how it is checked.

A row is a `Job` (timed contenders on the same data) or a `Quality` (tables of accuracy and the like). Its
name is area, letter and, if the row has several cases, the case: `tables.a`, `regression.d.ridge`. The
module `benchmarks.jobs.<area>` lists the rows of an area as `JOBS`; it is also imported in the peers'
environments, so it imports the libraries that it compares inside functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data"))
WORK = Path(os.environ.get("WEIGH_BENCH", ROOT / "build" / "bench"))
CORES = len(os.sched_getaffinity(0))
AREAS = (
    "tables", "text", "online", "regression", "judging", "mail", "spelling", "defaults", "advice", "additive",
    "serve", "engines",
)  # fmt: skip

Role = Literal["ours", "variant", "peer", "floor"]
Size = Mapping[str, int]


@dataclass(frozen=True)
class Contender:
    """One way to do a job's work: a call in a process of its own, or a whole process (`command`).

    `prepare` converts the job's data once, `before` runs before every call, `answer` turns the result into
    the form that the job's `facts` read; none of them is timed. The result of a command is the path of its
    output. With `tolerances`, loosest first, `run` takes one of them as its second argument, and the
    loosest one that passes the job's check is timed.
    """

    name: str
    run: Callable[..., Any] | None = None
    command: Callable[[Any], Sequence[str | Path]] | None = None
    role: Role = "peer"
    environment: str = "project"
    needs: tuple[str, ...] = ()  # distributions, and programs written as bin/name
    prepare: Callable[[Any], Any] | None = None
    before: Callable[[Any], object] | None = None
    answer: Callable[[Any, Any], Any] | None = None
    tolerances: tuple[float, ...] = ()
    tolerance_name: str = "tol"
    exit_codes: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Check:
    """Whether a contender did the same work: the distance of a fact is at most the tolerance.

    The distance is measured from our fact, from zero (duality gaps), or relative to the lowest fact of all
    runs (objectives).
    """

    fact: str
    tolerance: float
    distance_from: Literal["ours", "zero", "lowest"] = "ours"

    def distance(self, facts: Mapping[str, float], ours: Mapping[str, float], lowest: float) -> float:
        value = facts.get(self.fact, float("inf"))
        if self.distance_from == "zero":
            return value
        if self.distance_from == "lowest":
            return value / lowest - 1.0
        return abs(value - ours.get(self.fact, value))


@dataclass(frozen=True)
class Job:
    """A timed row.

    `data(**size)` makes or loads the data; `facts(data, answer)` returns what is compared and shown. `grow`
    has the base value of each size that is multiplied by ten, one at a time, to see how the cost grows.
    Warm-up is a run on `warm_up` data if given, otherwise on the data itself. Without `keep_alive` each
    repetition has its own process, for data too large to be held by all contenders at the same time.
    """

    name: str
    title: str
    data: Callable[..., Any]
    size: Size
    quick: Size
    contenders: tuple[Contender, ...]
    facts: Callable[[Any, Any], Mapping[str, float]] | None = None
    check: Check | None = None
    grow: Size = field(default_factory=dict)
    files: tuple[str, ...] = ()  # real data, relative to DATA
    warm_up: Size | None = None
    keep_alive: bool = True
    repeats: int = 5
    limit: float = 150.0  # seconds of one run
    reference: float | None = None  # tolerance of a first run of ours whose fact counts as known
    packages: tuple[str, ...] = ("weigh", "numpy", "scikit-learn")
    module: str = ""  # where JOBS lists the row, if not in benchmarks.jobs.<area>

    def contender(self, name: str) -> Contender:
        return next(contender for contender in self.contenders if contender.name == name)


@dataclass(frozen=True)
class Quality:
    """A row of tables that are not about time; `tables(quick)` returns them as Markdown."""

    name: str
    title: str
    tables: Callable[[bool], str]
    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    environment: str = "project"
    packages: tuple[str, ...] = ("weigh", "numpy", "scikit-learn")
    module: str = ""


Row = Job | Quality


def module_of(row: Row) -> str:
    return row.module or f"benchmarks.jobs.{row.name.split('.')[0]}"


def load_rows(module: str) -> list[Row]:
    rows: list[Row] = import_module(module).JOBS
    return rows


def select_rows(wanted: Sequence[str]) -> list[Row]:
    """Return the rows whose names begin with one of the wanted names; all rows if there are none."""
    rows = [row for area in AREAS for row in load_rows(f"benchmarks.jobs.{area}")]
    unknown = [name for name in wanted if not any(_begins_with(row.name, name) for row in rows)]
    if unknown:
        raise SystemExit(f"unknown row {', '.join(unknown)}; `make bench ARGS=--list` lists all rows")
    return [row for row in rows if not wanted or any(_begins_with(row.name, name) for name in wanted)]


def _begins_with(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")
