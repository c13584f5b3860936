"""Measure a row: every contender in a fresh process, in turns, after a warm-up that is not counted.

Taking turns lets other load on the machine affect all contenders; ratios are formed round by round, so that
their spread shows how much it did.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.job import DATA, ROOT, WORK, Contender, Job, Quality, Row, Size, module_of

PYTHONS = {
    "project": sys.executable,
    "peers": str(ROOT / "build" / "peers" / "bin" / "python"),
    "older": str(ROOT / "build" / "peers-older" / "bin" / "python"),
    "gam": str(ROOT / "build" / "peers-gam" / "bin" / "python"),
    "serve": str(ROOT / "build" / "peers-serve" / "bin" / "python"),
    "spark": str(ROOT / "build" / "spark" / "bin" / "python"),
}
START_LIMIT = 1_800.0  # seconds for making the data, conversions and models that are not timed
GROWTH = 10


class ContenderFailed(Exception):
    """A contender cannot run; the message says why."""


class Skipped(Exception):
    """A row cannot be run here; the message says why."""


class Worker:
    """The process of one contender, started when it is first asked for something."""

    def __init__(self, row: Row, contender: str, environment: str, size: Size) -> None:
        self.limit = row.limit if isinstance(row, Job) else 10 * START_LIMIT
        self.python = PYTHONS[environment]
        arguments = [module_of(row), row.name, contender, json.dumps(dict(size))]
        self._command = [self.python, "-m", "benchmarks.worker", *arguments]
        self._process: subprocess.Popen[str] | None = None
        self.versions: dict[str, str] = {}
        self.tolerance: float | None = None

    def start(self) -> None:
        """Start the process and let it load its data, unless it is running."""
        if self._process is not None:
            return
        if not os.path.exists(self.python):
            raise ContenderFailed(
                f"{os.path.relpath(self.python, ROOT)} does not exist (`make bench` makes it)"
            )
        WORK.mkdir(parents=True, exist_ok=True)
        self._log = tempfile.TemporaryFile("w+", dir=WORK, errors="replace")  # noqa: SIM115  # until close
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,
        )
        self.versions = self._ask(START_LIMIT, action="start")["versions"]

    def warm_up(self) -> None:
        self.start()
        self._ask(4 * self.limit, action="warm up", tolerance=self.tolerance)

    def run(self, *, facts: bool) -> dict[str, Any]:
        """Make one run, after a warm-up if the process is new."""
        if self._process is None:
            self.warm_up()
        return self._ask(self.limit, action="run", tolerance=self.tolerance, facts=facts)

    def tables(self, quick: bool) -> str:
        self.start()
        return str(self._ask(self.limit, action="tables", quick=quick)["tables"])

    def close(self) -> None:
        if self._process is not None:
            # Its commands end with it: the worker leads a process group of its own.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._log.close()
            self._process = None

    def _ask(self, limit: float, **request: Any) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        print(json.dumps(request), file=process.stdin, flush=True)
        ready, _, _ = select.select([process.stdout], [], [], limit)
        reply: dict[str, Any] = json.loads((process.stdout.readline() if ready else "") or "{}")
        if not reply or "error" in reply:
            message = reply.get("error") or self._describe_end(bool(ready), limit)
            self.close()
            raise ContenderFailed(message)
        return reply

    def _describe_end(self, has_ended: bool, limit: float) -> str:
        if not has_ended:
            return f"cut off after {limit:.0f} s"
        self._log.seek(0)
        return (self._log.read().strip().splitlines() or ["its process ended"])[-1]


@dataclass
class Measured:
    """The runs of one contender."""

    contender: Contender
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    facts: dict[str, float] = field(default_factory=dict)
    tolerance: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    failure: str = ""

    @property
    def label(self) -> str:
        if self.tolerance is None:
            return self.contender.name
        return f"{self.contender.name}, {self.contender.tolerance_name} {self.tolerance:g}"


@dataclass
class Outcome:
    """The contenders of a job at one size; `growth` has the outcomes by size that was multiplied."""

    job: Job
    size: Size
    measured: list[Measured]
    growth: dict[str, Outcome] = field(default_factory=dict)
    growth_base: Outcome | None = None

    @property
    def ours(self) -> Measured:
        return next(m for m in self.measured if m.contender.role == "ours")

    def best(self, role: str) -> Measured | None:
        """Return the fastest contender of a role that did the same work."""
        done = [m for m in self.measured if m.contender.role == role and m.seconds and not m.failure]
        return min(done, key=lambda m: min(m.seconds), default=None)

    def ratios(self, other: Measured) -> list[float]:
        """Return the other's seconds divided by ours, round by round, in ascending order."""
        return sorted(b / a for a, b in zip(self.ours.seconds, other.seconds, strict=True))

    def lead(self) -> float | None:
        """Return the median ratio of the fastest peer to ours; None if there is no peer."""
        peer = self.best("peer")
        return statistics.median(self.ratios(peer)) if peer and self.ours.seconds else None


def run_job(job: Job, *, quick: bool = False, repeats: int | None = None, grows: bool = True) -> Outcome:
    """Measure a job at its full or quick size, and how its cost grows."""
    require_files(job)
    keep_alive = job.keep_alive or quick
    size = job.quick if quick else job.size
    outcome = measure(job, size, job.contenders, repeats or job.repeats, keep_alive=keep_alive)
    if not grows or not job.grow or outcome.ours.failure:
        return outcome
    base = {**job.quick, **job.grow}
    if quick:
        base = {key: min(value, job.quick.get(key, value)) for key, value in base.items()}
    peer = outcome.best("peer")
    contenders = [outcome.ours.contender, *([peer.contender] if peer else [])]
    measure_growth = partial(
        measure, job, contenders=contenders, repeats=1 if quick else 3, facts=False, keep_alive=keep_alive
    )
    outcome.growth_base = measure_growth(base)
    for dimension in job.grow:
        outcome.growth[dimension] = measure_growth({**base, dimension: GROWTH * base[dimension]})
    return outcome


def run_quality(row: Quality, quick: bool) -> tuple[str, dict[str, str]]:
    """Return a quality row's tables and versions."""
    require_files(row)
    worker = Worker(row, "", row.environment, {})
    try:
        return worker.tables(quick), worker.versions
    except ContenderFailed as failure:
        raise Skipped(str(failure)) from failure
    finally:
        worker.close()


def require_files(row: Row) -> None:
    if missing := [name for name in row.files if not (DATA / name).exists()]:
        raise Skipped(f"{DATA} (set WEIGH_DATA to change it) has no {', '.join(missing)}")


def measure(
    job: Job,
    size: Size,
    contenders: Sequence[Contender],
    repeats: int,
    *,
    facts: bool = True,
    keep_alive: bool = True,
) -> Outcome:
    """Choose tolerances and warm up, then let the contenders take turns; the last round has the facts."""
    turns = [(Worker(job, c.name, c.environment, size), Measured(c)) for c in contenders]
    outcome = Outcome(job, size, [measured for _, measured in turns])
    known: list[float] = []  # values of the checked fact
    try:
        for worker, measured in turns:
            _attempt(measured, partial(_prepare, job, worker, measured, outcome, known))
            if not keep_alive:
                worker.close()
        for round_number in range(repeats):
            for worker, measured in turns:
                if not measured.failure:
                    has_facts = facts and round_number == repeats - 1
                    _attempt(measured, partial(_run_once, worker, measured, has_facts))
                if not keep_alive:
                    worker.close()
    finally:
        for worker, _ in turns:
            worker.close()
    if job.check:
        _apply_check(job, outcome, known)
    return outcome


def _attempt(measured: Measured, action: Callable[[], None]) -> None:
    try:
        action()
    except ContenderFailed as failure:
        measured.failure = str(failure)
        measured.seconds.clear()


def _prepare(job: Job, worker: Worker, measured: Measured, outcome: Outcome, known: list[float]) -> None:
    worker.start()
    measured.versions = worker.versions
    tolerances = measured.contender.tolerances
    worker.tolerance = tolerances[0] if tolerances else None
    worker.warm_up()
    if not tolerances:
        return
    assert job.check is not None
    is_ours = measured.contender.role == "ours"
    if is_ours and job.reference is not None:
        worker.tolerance = job.reference
        known.append(worker.run(facts=True)["facts"][job.check.fact])
    for tolerance in tolerances:
        worker.tolerance = measured.tolerance = tolerance
        measured.facts = worker.run(facts=True)["facts"]
        known.append(measured.facts[job.check.fact])
        if job.check.distance(measured.facts, outcome.ours.facts, min(known)) <= job.check.tolerance:
            return
    raise ContenderFailed(f"reaches {job.check.fact} {measured.facts[job.check.fact]:.2g} only")


def _run_once(worker: Worker, measured: Measured, facts: bool) -> None:
    reply = worker.run(facts=facts)
    measured.seconds.append(reply["seconds"])
    measured.memory.append(reply["memory"])
    measured.facts = reply["facts"] or measured.facts


def _apply_check(job: Job, outcome: Outcome, known: Sequence[float]) -> None:
    """Mark the contenders that did other work; a floor with facts must have exactly ours."""
    check, ours = job.check, outcome.ours.facts
    assert check is not None
    values = [m.facts[check.fact] for m in outcome.measured if check.fact in m.facts]
    lowest = min([*known, *values], default=0.0)
    for measured in outcome.measured:
        facts = measured.facts
        if measured.failure or not facts:
            continue
        passes = check.distance(facts, ours, lowest) <= check.tolerance
        if measured.contender.role == "floor" and check.distance_from == "ours":
            passes = all(math.isclose(value, ours[name], rel_tol=1e-6) for name, value in facts.items())
        if not passes:
            measured.failure = f"did other work: {check.fact} {facts[check.fact]:.6g}"
