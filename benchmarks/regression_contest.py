"""Contests to a stated accuracy: everyone climbs a ladder of tolerances until its answer is good enough.

Tolerances mean something else in every package, so none of them is believed: how good an answer is, is
computed from the returned weights, by the same code for all. On the ladder everyone runs once with every
tolerance, the loosest first, up to the one that reaches the tightest target; this is the warm-up too. Of
each contestant the loosest run that reaches a target is then timed, everyone in turns. Who takes longer
than the limit is cut off, and out.
"""

from __future__ import annotations

import gc
import signal
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.harness import duration, markdown
from benchmarks.processes import Failed

LIMIT = 150.0  # seconds
EXACT = (0.0,)  # the ladder of those who have no tolerance


def ladder(first: int, last: int) -> tuple[float, ...]:
    """Return tolerances from 10^−first to 10^−last, two to a power of ten."""
    return tuple(float(f"{10.0 ** (-k / 2):.0e}") for k in range(2 * first, 2 * last + 1))


class CutOff(Exception):
    """A run that took longer than it may."""


@dataclass(frozen=True)
class Answer:
    """Weights and bias as a package returned them; the seconds, if another process has taken the time."""

    weights: Any
    bias: Any = 0.0
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Entrant:
    """A name, the call by tolerance, and its ladder of tolerances, the loosest first."""

    name: str
    run: Callable[[float], Answer]
    tolerances: Sequence[float] = EXACT
    says: str = "tol"

    def rung(self, tolerance: float) -> str:
        return "" if tolerance == 0.0 else f"{self.says} {tolerance:g}"


@dataclass(frozen=True)
class Climbed:
    """One run on the ladder: how long, and how good."""

    tolerance: float
    seconds: float
    reached: float
    note: str = ""


@dataclass
class Contest:
    """What everyone did on the ladder, and the seconds of the runs that were timed."""

    ours: str
    climbs: dict[str, list[Climbed]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    seconds: dict[tuple[str, float], list[float]] = field(default_factory=dict)

    def chosen(self, name: str, target: float) -> Climbed | None:
        """The loosest run that reaches a target."""
        return next((run for run in self.climbs.get(name, []) if run.reached <= target), None)

    def best(self, name: str, target: float) -> float:
        """The least seconds of a contestant to a target; infinite if it was not reached."""
        run = self.chosen(name, target)
        return min(self.seconds[name, run.tolerance]) if run else float("inf")


def contest(
    entrants: Sequence[Entrant],
    quality: Callable[[Answer], float],
    targets: Sequence[float],
    repeats: int,
    limit: float = LIMIT,
) -> Contest:
    """Let everyone climb, then time the runs that reach the targets in turns; ours is the first."""
    found = Contest(entrants[0].name)
    for entrant in entrants:
        climb(found, entrant, quality, min(targets), limit)
    turns = {
        (entrant.name, run.tolerance): entrant
        for target in targets
        for entrant in entrants
        if (run := found.chosen(entrant.name, target))
    }
    for _ in range(repeats):
        for (name, tolerance), entrant in turns.items():
            answer = timed(entrant, tolerance, 4 * limit)
            found.seconds.setdefault((name, tolerance), []).append(answer.seconds or 0.0)
    return found


def climb(
    found: Contest, entrant: Entrant, quality: Callable[[Answer], float], target: float, limit: float
) -> None:
    """Add the runs of one contestant until it is good enough; what goes wrong ends it."""
    for tolerance in entrant.tolerances:
        try:
            answer = timed(entrant, tolerance, limit)
        except CutOff:
            found.failures[entrant.name] = f"cut off after {limit:.0f} s"
            return
        except Failed as failure:
            found.failures[entrant.name] = f"failed: {failure}"
            return
        run = Climbed(tolerance, answer.seconds or 0.0, quality(answer), answer.note)
        found.climbs.setdefault(entrant.name, []).append(run)
        print(
            f"  {entrant.name} {entrant.rung(tolerance)}: {run.seconds:.3f} s, {run.reached:.1e}", flush=True
        )
        if run.reached <= target:
            return


def timed(entrant: Entrant, tolerance: float, limit: float) -> Answer:
    """Return an answer with its seconds, those of this process unless another one has told them."""
    gc.collect()
    gc.disable()
    try:
        with warnings.catch_warnings(), cut_off(limit):
            # What did not converge is seen in the answer.
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            answer = entrant.run(tolerance)
            elapsed = time.perf_counter() - start
    finally:
        gc.enable()
    seconds = elapsed if answer.seconds is None else answer.seconds
    return Answer(answer.weights, answer.bias, seconds, answer.note)


@contextmanager
def cut_off(limit: float) -> Iterator[None]:
    """Raise CutOff in what runs longer; native code is let to its next return."""

    def stop(number: int, frame: object) -> None:
        raise CutOff

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def table(
    found: Contest, entrants: Sequence[Entrant], target: float, heading: str, notes: str | None = None
) -> str:
    """Return one target's table: seconds, ratio to ours, what was reached; who did not reach it below."""
    base = found.best(found.ours, target)
    reached, missed = [], []
    for entrant in entrants:
        run = found.chosen(entrant.name, target)
        if run is None:
            missed.append(_missed(found, entrant))
            continue
        seconds = found.seconds[entrant.name, run.tolerance]
        best, median = min(seconds), statistics.median(seconds)
        cells = [duration(best), duration(median), f"{best / base:.2f}", f"{run.reached:.1e}"]
        said = [run.note] if notes else []
        reached.append([", ".join(filter(None, [entrant.name, entrant.rung(run.tolerance)])), *cells, *said])
    head = ["", "min", "median", "min ÷ weigh", heading, *([notes] if notes else [])]
    return "\n\n".join([markdown(head, reached), *(["; ".join(missed) + "."] if missed else [])])


def _missed(found: Contest, entrant: Entrant) -> str:
    climbs = found.climbs.get(entrant.name, [])
    said = found.failures.get(entrant.name, "not reached")
    if climbs:
        last = min(climbs, key=lambda run: run.reached)
        rung = entrant.rung(last.tolerance)
        said = f"{said}; at best {last.reached:.1e} after {duration(last.seconds)} ({rung})"
    return f"{entrant.name}: {said}"


def leads(found: Contest, target: float, wanted: float | None = None) -> str:
    """Say how ours stands to the fastest other that reaches the target."""
    ours = found.best(found.ours, target)
    peers: Mapping[str, float] = {
        name: found.best(name, target)
        for name in found.climbs
        if not name.startswith(("weigh", "bare")) and found.chosen(name, target)
    }
    asked = f" (wanted: at least {wanted:g})" if wanted else ""
    if found.chosen(found.ours, target) is None:
        return "weigh does not reach this."
    if not peers:
        slowest = f"{LIMIT / ours:.0f}"
        return f"weigh is alone; the others were cut off at more than {slowest} times its seconds{asked}."
    name = min(peers, key=lambda each: peers[each])
    return f"weigh is {peers[name] / ours:.2f} times as fast as the fastest peer, {name}{asked}."
