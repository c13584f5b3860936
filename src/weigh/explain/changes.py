"""Single values of a row that, were they others, would change its verdict."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from weigh.explain.removals import Removals
from weigh.features.blocks import Codes, Floats, Numbers
from weigh.model.flag_weights import FlagWeights
from weigh.model.normal import NormalWeights
from weigh.model.ranges import NEVER
from weigh.model.weights import LevelWeights, Slope, as_text
from weigh.model.word_weights import ValueWeights
from weigh.text import plain

MOST_COLUMNS = 200  # numbers side by side that are tried one by one
# How far past a crossing the verdict is asked for, of the way to it: far off, ties reach further.
BEYOND = (1e-9, 1e-6, 1e-3)


@dataclass(frozen=True)
class Change:
    """A value that is `now` so and would change the verdict to `becomes`.

    `to` is another level of a category or flag; of a number it says "above" or "below" which `threshold`.
    """

    feature: str
    now: str
    to: str
    becomes: Any
    threshold: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The change for JSON."""
        names = ("feature", "now", "to", "becomes", "threshold")
        return {name: plain(getattr(self, name)) for name in names}


@dataclass(frozen=True, eq=False)
class Choice:
    """Other values of the feature with a key, each with what it adds to the scores, [values, classes]."""

    key: int
    feature: str
    now: str
    values: Sequence[str]
    added: Floats


@dataclass(frozen=True, eq=False)
class Way:
    """A number that may move by u: it adds `square` u² + `slope` u more to the scores.

    Values below `low` or above `high` are practically never met.
    """

    feature: str
    now: float
    square: Floats
    slope: Floats
    low: float = -np.inf
    high: float = np.inf

    def is_met(self, threshold: float, side: int) -> bool:
        """Whether there are values on that side of a threshold."""
        return threshold < self.high if side > 0 else threshold > self.low


def changes_of(row: Removals, verdict: int, goal: int | None) -> list[Change]:
    """Return every single change that flips the verdict: all other levels, and the nearest thresholds."""
    numbers = {(part, unit.key): at for at, (part, unit) in enumerate(row.units)}
    scores = row.scores()
    found: list[Change] = []
    terms: Any = zip(row.model.schema.parts, row.model.terms, row.blocks, strict=True)
    for at, (part, term, block) in enumerate(terms):
        for way in ways(term, block, part.kind.name):
            if isinstance(way, Way):
                found += _thresholds(row, way, scores, verdict)
            elif (at, way.key) in numbers:
                found += _choices(row, way, row.scores([numbers[at, way.key]]), verdict)
    return [each for each in found if goal is None or each.becomes == row.model.classes[goal]]


def _choices(row: Removals, choice: Choice, rest: Floats, verdict: int) -> Iterator[Change]:
    scores = rest + choice.added
    for value, best, each in zip(choice.values, row.model.best(scores).tolist(), scores, strict=True):
        if best != verdict and not np.isneginf(each).all():
            yield Change(choice.feature, choice.now, value, row.model.classes[best])


def _thresholds(row: Removals, way: Way, scores: Floats, verdict: int) -> Iterator[Change]:
    """Yield how far the number must rise, and how far it must fall, for another class to win."""
    a, b = (each[verdict] - each for each in (way.square, way.slope))
    places = _crossings(a, b, scores[0, verdict] - scores[0])
    for side, word in ((1, "above"), (-1, "below")):
        ahead = sorted((u for u in places if u * side > 0), key=abs)
        for u, far in itertools.product(ahead, BEYOND):
            near = u * (1 + far)
            moved = scores + way.square * near**2 + way.slope * near
            best = int(row.model.best(moved)[0])
            if best != verdict:
                at = way.now + (u if far == BEYOND[0] else near)
                if way.is_met(at, side):
                    told = f"{word} {at:.6g}"
                    yield Change(way.feature, as_text(way.now), told, row.model.classes[best], at)
                break


def _crossings(a: Floats, b: Floats, lead: Floats) -> list[float]:
    """Return where a u² + b u + lead is zero for some class, in a form that loses no digits."""
    found: list[float] = []
    for square, slope, ahead in zip(a.tolist(), b.tolist(), lead.tolist(), strict=True):
        if not np.isfinite(ahead) or (square == 0 and slope == 0):
            continue
        if square == 0:
            found.append(-ahead / slope)
            continue
        inside = slope * slope - 4 * square * ahead
        if inside < 0:
            continue
        q = -0.5 * (slope + np.copysign(np.sqrt(inside), slope))
        found += [float(u) for u in ((q / square), (ahead / q if q else 0.0))]
    return [u for u in found if np.isfinite(u) and u != 0]


@singledispatch
def ways(term: Any, block: Any, kind: str) -> list[Choice | Way]:
    """Return in which ways the value of the one row of a block could be another; a text's are not tried."""
    return []


@ways.register
def _(term: LevelWeights, block: Codes, kind: str) -> list[Choice | Way]:
    found = list(term.contributions(block, 0))
    if not found:
        return []
    levels, table = list(term.levels), term.table[:-1]
    if term.against is not None:
        levels, table = [*levels, term.against], np.vstack([table, np.zeros((1, table.shape[1]))])
    now = block.levels[int(block.codes[0])]
    other = [at for at, level in enumerate(levels) if level != now]
    return [Choice(0, term.name, found[0].value, [as_text(levels[at]) for at in other], table[other])]


@ways.register
def _(term: NormalWeights, block: Numbers, kind: str) -> list[Choice | Way]:
    now = float(block.values[0])
    if np.isnan(now) or not len(term.mean):
        return []
    steep = 1.0 / term.deviation**2
    # Which values training held is not remembered, but where they are to be expected.
    low, high = term.mean - NEVER * term.deviation, term.mean + NEVER * term.deviation
    return [
        Way(term.name, now, -0.5 * steep, -steep * (now - term.mean), float(low.min()), float(high.max()))
    ]


@ways.register
def _(term: Slope, block: Numbers, kind: str) -> list[Choice | Way]:
    now = float(block.values[0])
    return [] if np.isnan(now) else [Way(term.name, now, np.zeros(len(term.slope)), np.asarray(term.slope))]


@ways.register
def _(term: ValueWeights, block: Any, kind: str) -> list[Choice | Way]:
    none = np.zeros(term.table.shape[1])
    found = term.occurrences(block, 0)[:MOST_COLUMNS]
    if kind == "flag":
        return [Choice(at, name, "1", ["0"], none[None]) for at, _, name in found]
    return [Way(name, now, none, term.table[at]) for at, now, name in found]


@ways.register
def _(term: FlagWeights, block: Any, kind: str) -> list[Choice | Way]:
    here, absent = term.states(block, 0)
    if not term.fixed:
        return []
    on = [Choice(at, term.names[at], "1", ["0"], term.absent[[at]]) for at in here]
    return [*on, *(Choice(at, term.names[at], "0", ["1"], term.present[[at]]) for at in absent)]
