"""Time solvers to a given accuracy.

A tolerance means something different in every package, so the accuracy of a solution is computed from the
returned weights, by the same code for all. Every solver first runs once per tolerance, loosest first, until
it reaches the tightest target; this is also the warm-up. Then the loosest run of each solver that reaches a
target is timed, the solvers in turns. A solver that exceeds the time limit is stopped and drops out.
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
NO_TOLERANCE = (0.0,)  # for solvers without a tolerance


def tolerance_ladder(first: int, last: int) -> tuple[float, ...]:
    """Return tolerances from 10^−first to 10^−last, two per power of ten."""
    return tuple(float(f"{10.0 ** (-k / 2):.0e}") for k in range(2 * first, 2 * last + 1))


class TimeLimitExceeded(Exception):
    """A run exceeded the time limit."""


@dataclass(frozen=True)
class Solution:
    """Weights and intercept as a package returned them, with the seconds if another process timed the run."""

    weights: Any
    bias: Any = 0.0
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Solver:
    """A solver: its name, its call by tolerance, and the tolerances to try, loosest first."""

    name: str
    run: Callable[[float], Solution]
    tolerances: Sequence[float] = NO_TOLERANCE
    tolerance_name: str = "tol"

    def format_tolerance(self, tolerance: float) -> str:
        return "" if tolerance == 0.0 else f"{self.tolerance_name} {tolerance:g}"


@dataclass(frozen=True)
class SolverRun:
    """The time and accuracy of one run at one tolerance."""

    tolerance: float
    seconds: float
    accuracy: float
    note: str = ""


@dataclass
class SolverComparison:
    """The runs of every solver by tolerance, its failures, and the seconds of the timed runs."""

    ours: str
    runs: dict[str, list[SolverRun]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    seconds: dict[tuple[str, float], list[float]] = field(default_factory=dict)

    def first_reaching(self, name: str, target: float) -> SolverRun | None:
        """Return the loosest run that reaches a target."""
        return next((run for run in self.runs.get(name, []) if run.accuracy <= target), None)

    def best(self, name: str, target: float) -> float:
        """Return a solver's minimum time to a target; infinite if it was not reached."""
        run = self.first_reaching(name, target)
        return min(self.seconds[name, run.tolerance]) if run else float("inf")


def compare_solvers(
    solvers: Sequence[Solver],
    quality: Callable[[Solution], float],
    targets: Sequence[float],
    repeats: int,
    limit: float = TIME_LIMIT,
) -> SolverComparison:
    """Find the tolerances that reach the targets, then time those runs in turns; ours is the first solver."""
    comparison = SolverComparison(solvers[0].name)
    for solver in solvers:
        tighten_tolerance(comparison, solver, quality, min(targets), limit)
    turns = {
        (solver.name, run.tolerance): solver
        for target in targets
        for solver in solvers
        if (run := comparison.first_reaching(solver.name, target))
    }
    for _ in range(repeats):
        for (name, tolerance), solver in turns.items():
            answer = time_solver(solver, tolerance, 4 * limit)
            comparison.seconds.setdefault((name, tolerance), []).append(answer.seconds or 0.0)
    return comparison


def tighten_tolerance(
    comparison: SolverComparison,
    solver: Solver,
    quality: Callable[[Solution], float],
    target: float,
    limit: float,
) -> None:
    """Add the runs of one solver until it reaches the target, fails or exceeds the limit."""
    for tolerance in solver.tolerances:
        try:
            answer = time_solver(solver, tolerance, limit)
        except TimeLimitExceeded:
            comparison.failures[solver.name] = f"cut off after {limit:.0f} s"
            return
        except ProcessFailed as failure:
            comparison.failures[solver.name] = f"failed: {failure}"
            return
        run = SolverRun(tolerance, answer.seconds or 0.0, quality(answer), answer.note)
        comparison.runs.setdefault(solver.name, []).append(run)
        setting = f"{solver.name} {solver.format_tolerance(tolerance)}"
        print(f"  {setting}: {run.seconds:.3f} s, {run.accuracy:.1e}", flush=True)
        if run.accuracy <= target:
            return


def time_solver(solver: Solver, tolerance: float, limit: float) -> Solution:
    """Run a solver and return its solution with the seconds, measured here unless the solver reports them."""
    gc.collect()
    gc.disable()
    try:
        with warnings.catch_warnings(), time_limit(limit):
            # The accuracy of the solution shows whether it converged.
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            answer = solver.run(tolerance)
            elapsed = time.perf_counter() - start
    finally:
        gc.enable()
    seconds = elapsed if answer.seconds is None else answer.seconds
    return Solution(answer.weights, answer.bias, seconds, answer.note)


@contextmanager
def time_limit(limit: float) -> Iterator[None]:
    """Raise TimeLimitExceeded after `limit` seconds; native code is interrupted only when it returns."""

    def stop(number: int, frame: object) -> None:
        raise TimeLimitExceeded

    previous_handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous_handler)


def format_solver_table(
    comparison: SolverComparison,
    solvers: Sequence[Solver],
    target: float,
    heading: str,
    notes: str | None = None,
) -> str:
    """Return one target's table of times, ratios and accuracies, followed by the solvers that missed it."""
    base = comparison.best(comparison.ours, target)
    reached, missed = [], []
    for solver in solvers:
        run = comparison.first_reaching(solver.name, target)
        if run is None:
            missed.append(_format_failure(comparison, solver))
            continue
        seconds = comparison.seconds[solver.name, run.tolerance]
        best, median = min(seconds), statistics.median(seconds)
        cells = [format_duration(best), format_duration(median), f"{best / base:.2f}", f"{run.accuracy:.1e}"]
        note_cell = [run.note] if notes else []
        reached.append(
            [
                ", ".join(filter(None, [solver.name, solver.format_tolerance(run.tolerance)])),
                *cells,
                *note_cell,
            ]
        )
    head = ["", "min", "median", "min ÷ weigh", heading, *([notes] if notes else [])]
    return "\n\n".join([format_markdown_table(head, reached), *(["; ".join(missed) + "."] if missed else [])])


def _format_failure(comparison: SolverComparison, solver: Solver) -> str:
    runs = comparison.runs.get(solver.name, [])
    failure = comparison.failures.get(solver.name, "not reached")
    if runs:
        best = min(runs, key=lambda run: run.accuracy)
        tolerance = solver.format_tolerance(best.tolerance)
        failure = (
            f"{failure}; at best {best.accuracy:.1e} after {format_duration(best.seconds)} ({tolerance})"
        )
    return f"{solver.name}: {failure}"


def format_lead(comparison: SolverComparison, target: float, wanted: float | None = None) -> str:
    """Return a sentence that compares ours with the fastest peer that reaches the target."""
    ours = comparison.best(comparison.ours, target)
    peers: Mapping[str, float] = {
        name: comparison.best(name, target)
        for name in comparison.runs
        if not name.startswith(("weigh", "bare")) and comparison.first_reaching(name, target)
    }
    target_note = f" (wanted: at least {wanted:g})" if wanted else ""
    if comparison.first_reaching(comparison.ours, target) is None:
        return "weigh does not reach this."
    if not peers:
        slowest = f"{TIME_LIMIT / ours:.0f}"
        return (
            f"weigh is alone; the others were cut off at more than {slowest} times its seconds{target_note}."
        )
    name = min(peers, key=lambda peer: peers[peer])
    return f"weigh is {peers[name] / ours:.2f} times as fast as the fastest peer, {name}{target_note}."


WORKER_MODULE = "benchmarks.regression_worker"


class RemotePeers:
    """Solvers that run in another Python environment; `python` is None if there is none."""

    def __init__(self, python: Path | None, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self._process: subprocess.Popen[str] | None = None

    def versions(self) -> str:
        """Return the versions of the packages in the other environment."""
        if self.python is None:
            return "adelie and glmnet are left out because --elsewhere was not given"
        versions = self._request({"job": "versions"})["versions"]
        return f"in an environment of their own {versions}"

    def save_data(self, name: str, X: Any, y: npt.NDArray[np.float64]) -> Path:
        """Write rows and targets to files for the other process; return their folder."""
        data_folder = self.folder / name
        data_folder.mkdir(parents=True, exist_ok=True)
        np.save(data_folder / "y.npy", y)
        if isinstance(X, np.ndarray):
            np.save(data_folder / "X.npy", X)
        else:
            for part in ("data", "indices", "indptr", "shape"):
                np.save(data_folder / f"X_{part}.npy", getattr(X, part))
        return data_folder

    def make_call(self, job: str, data_folder: Path, l1: Any) -> Callable[[float], Solution]:
        """Return a call by tolerance that runs one job in the other process."""

        def run(tol: float) -> Solution:
            answer = data_folder / "answer.npz"
            request = {"job": job, "folder": str(data_folder), "l1": np.atleast_1d(l1).tolist()}
            request |= {"tol": tol, "answer": str(answer), "threads": CORES}
            seconds = float(self._request(request)["seconds"])
            with np.load(answer) as arrays:
                note = "".join(f"{chosen:.0f}" for chosen in arrays["chosen"])
                return Solution(arrays["weights"], arrays["bias"], seconds, note)

        return run

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the other process and return its reply; errors and timeouts end the process."""
        process = self._start_worker()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            reply: dict[str, Any] = json.loads(process.stdout.readline() or '{"error": "the process ended"}')
        except TimeLimitExceeded:
            self.close()
            raise
        if "error" in reply:
            self.close()
            raise ProcessFailed(reply["error"])
        return reply

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
