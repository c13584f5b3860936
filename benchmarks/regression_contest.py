"""Contests to a stated accuracy: everyone climbs a ladder of tolerances until its answer is good enough.

Tolerances mean something else in every package, so none of them is believed: how good an answer is, is
computed from the returned weights, by the same code for all. On the ladder everyone runs once with every
tolerance, the loosest first, up to the one that reaches the tightest target; this is the warm-up too. Of
each contestant the loosest run that reaches a target is then timed, everyone in turns. Who takes longer
than the limit is cut off, and out.
"""

from __future__ import annotations

import gc
import json
import signal
import statistics
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import ROOT, ProcessFailed, format_duration, format_markdown_table
from benchmarks.text_peers import CORES

TIME_LIMIT = 150.0  # seconds
NO_TOLERANCE = (0.0,)  # the ladder of those who have no tolerance


def tolerance_ladder(first: int, last: int) -> tuple[float, ...]:
    """Return tolerances from 10^−first to 10^−last, two to a power of ten."""
    return tuple(float(f"{10.0 ** (-k / 2):.0e}") for k in range(2 * first, 2 * last + 1))


class TimeLimitExceeded(Exception):
    """A run that took longer than it may."""


@dataclass(frozen=True)
class Solution:
    """Weights and bias as a package returned them; the seconds, if another process has taken the time."""

    weights: Any
    bias: Any = 0.0
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Solver:
    """A name, the call by tolerance, and its ladder of tolerances, the loosest first."""

    name: str
    run: Callable[[float], Solution]
    tolerances: Sequence[float] = NO_TOLERANCE
    tolerance_name: str = "tol"

    def format_tolerance(self, tolerance: float) -> str:
        return "" if tolerance == 0.0 else f"{self.tolerance_name} {tolerance:g}"


@dataclass(frozen=True)
class SolverRun:
    """One run on the ladder: how long, and how good."""

    tolerance: float
    seconds: float
    accuracy: float
    note: str = ""


@dataclass
class SolverComparison:
    """What everyone did on the ladder, and the seconds of the runs that were timed."""

    ours: str
    runs: dict[str, list[SolverRun]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    seconds: dict[tuple[str, float], list[float]] = field(default_factory=dict)

    def first_reaching(self, name: str, target: float) -> SolverRun | None:
        """The loosest run that reaches a target."""
        return next((run for run in self.runs.get(name, []) if run.accuracy <= target), None)

    def best(self, name: str, target: float) -> float:
        """The least seconds of a contestant to a target; infinite if it was not reached."""
        run = self.first_reaching(name, target)
        return min(self.seconds[name, run.tolerance]) if run else float("inf")


def compare_solvers(
    entrants: Sequence[Solver],
    quality: Callable[[Solution], float],
    targets: Sequence[float],
    repeats: int,
    limit: float = TIME_LIMIT,
) -> SolverComparison:
    """Let everyone climb, then time the runs that reach the targets in turns; ours is the first."""
    found = SolverComparison(entrants[0].name)
    for entrant in entrants:
        tighten_tolerance(found, entrant, quality, min(targets), limit)
    turns = {
        (entrant.name, run.tolerance): entrant
        for target in targets
        for entrant in entrants
        if (run := found.first_reaching(entrant.name, target))
    }
    for _ in range(repeats):
        for (name, tolerance), entrant in turns.items():
            answer = time_solver(entrant, tolerance, 4 * limit)
            found.seconds.setdefault((name, tolerance), []).append(answer.seconds or 0.0)
    return found


def tighten_tolerance(
    found: SolverComparison,
    entrant: Solver,
    quality: Callable[[Solution], float],
    target: float,
    limit: float,
) -> None:
    """Add the runs of one contestant until it is good enough; what goes wrong ends it."""
    for tolerance in entrant.tolerances:
        try:
            answer = time_solver(entrant, tolerance, limit)
        except TimeLimitExceeded:
            found.failures[entrant.name] = f"cut off after {limit:.0f} s"
            return
        except ProcessFailed as failure:
            found.failures[entrant.name] = f"failed: {failure}"
            return
        run = SolverRun(tolerance, answer.seconds or 0.0, quality(answer), answer.note)
        found.runs.setdefault(entrant.name, []).append(run)
        print(
            f"  {entrant.name} {entrant.format_tolerance(tolerance)}: {run.seconds:.3f} s, {run.accuracy:.1e}",
            flush=True,
        )
        if run.accuracy <= target:
            return


def time_solver(entrant: Solver, tolerance: float, limit: float) -> Solution:
    """Return an answer with its seconds, those of this process unless another one has told them."""
    gc.collect()
    gc.disable()
    try:
        with warnings.catch_warnings(), time_limit(limit):
            # What did not converge is seen in the answer.
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            answer = entrant.run(tolerance)
            elapsed = time.perf_counter() - start
    finally:
        gc.enable()
    seconds = elapsed if answer.seconds is None else answer.seconds
    return Solution(answer.weights, answer.bias, seconds, answer.note)


@contextmanager
def time_limit(limit: float) -> Iterator[None]:
    """Raise CutOff in what runs longer; native code is let to its next return."""

    def stop(number: int, frame: object) -> None:
        raise TimeLimitExceeded

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def format_solver_table(
    found: SolverComparison, entrants: Sequence[Solver], target: float, heading: str, notes: str | None = None
) -> str:
    """Return one target's table: seconds, ratio to ours, what was reached; who did not reach it below."""
    base = found.best(found.ours, target)
    reached, missed = [], []
    for entrant in entrants:
        run = found.first_reaching(entrant.name, target)
        if run is None:
            missed.append(_format_failure(found, entrant))
            continue
        seconds = found.seconds[entrant.name, run.tolerance]
        best, median = min(seconds), statistics.median(seconds)
        cells = [format_duration(best), format_duration(median), f"{best / base:.2f}", f"{run.accuracy:.1e}"]
        said = [run.note] if notes else []
        reached.append(
            [", ".join(filter(None, [entrant.name, entrant.format_tolerance(run.tolerance)])), *cells, *said]
        )
    head = ["", "min", "median", "min ÷ weigh", heading, *([notes] if notes else [])]
    return "\n\n".join([format_markdown_table(head, reached), *(["; ".join(missed) + "."] if missed else [])])


def _format_failure(found: SolverComparison, entrant: Solver) -> str:
    climbs = found.runs.get(entrant.name, [])
    said = found.failures.get(entrant.name, "not reached")
    if climbs:
        last = min(climbs, key=lambda run: run.accuracy)
        rung = entrant.format_tolerance(last.tolerance)
        said = f"{said}; at best {last.accuracy:.1e} after {format_duration(last.seconds)} ({rung})"
    return f"{entrant.name}: {said}"


def format_lead(found: SolverComparison, target: float, wanted: float | None = None) -> str:
    """Say how ours stands to the fastest other that reaches the target."""
    ours = found.best(found.ours, target)
    peers: Mapping[str, float] = {
        name: found.best(name, target)
        for name in found.runs
        if not name.startswith(("weigh", "bare")) and found.first_reaching(name, target)
    }
    asked = f" (wanted: at least {wanted:g})" if wanted else ""
    if found.first_reaching(found.ours, target) is None:
        return "weigh does not reach this."
    if not peers:
        slowest = f"{TIME_LIMIT / ours:.0f}"
        return f"weigh is alone; the others were cut off at more than {slowest} times its seconds{asked}."
    name = min(peers, key=lambda each: peers[each])
    return f"weigh is {peers[name] / ours:.2f} times as fast as the fastest peer, {name}{asked}."


WORKER_MODULE = "benchmarks.regression_worker"


class RemotePeers:
    """The peers of another Python; None if there is no such Python."""

    def __init__(self, python: Path | None, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self._process: subprocess.Popen[str] | None = None

    def versions(self) -> str:
        """Say which packages the other environment has."""
        if self.python is None:
            return "adelie and glmnet left out, for no --elsewhere was given"
        said = self._request({"job": "versions"})["versions"]
        return f"in an environment of their own {said}"

    def save_data(self, name: str, X: Any, y: npt.NDArray[np.float64]) -> Path:
        """Write rows and targets where the other process finds them."""
        home = self.folder / name
        home.mkdir(parents=True, exist_ok=True)
        np.save(home / "y.npy", y)
        if isinstance(X, np.ndarray):
            np.save(home / "X.npy", X)
        else:
            for part in ("data", "indices", "indptr", "shape"):
                np.save(home / f"X_{part}.npy", getattr(X, part))
        return home

    def make_call(self, job: str, home: Path, l1: Any) -> Callable[[float], Solution]:
        """Return the call by tolerance of one job."""

        def run(tol: float) -> Solution:
            answer = home / "answer.npz"
            asked = {"job": job, "folder": str(home), "l1": np.atleast_1d(l1).tolist()}
            asked["tol"] = tol
            asked |= {"answer": str(answer), "threads": CORES}
            seconds = float(self._request(asked)["seconds"])
            with np.load(answer) as found:
                note = "".join(f"{chosen:.0f}" for chosen in found["chosen"])
                return Solution(found["weights"], found["bias"], seconds, note)

        return run

    def _request(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Ask the other process and wait for its answer; one that is cut off is ended."""
        process = self._start_worker()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            told: dict[str, Any] = json.loads(process.stdout.readline() or '{"error": "it ended"}')
        except TimeLimitExceeded:
            self.close()
            raise
        if "error" in told:
            self.close()
            raise ProcessFailed(told["error"])
        return told

    def _start_worker(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [str(self.python), "-m", WORKER_MODULE],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._process

    def close(self) -> None:
        """End the other process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
