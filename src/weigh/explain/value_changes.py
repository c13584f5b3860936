"""Single values of a row that, were they others, would change its verdict."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from weigh.explain.minimal_removal import AdditiveRow
from weigh.features.blocks import CategoryBlock, Floats, NumberBlock
from weigh.model.distributions.gaussian import GaussianWeights
from weigh.model.distributions.weights import LevelWeights, LinearNumberTerm, format_value
from weigh.model.distributions.word_weights import FlagWeights, ValueWeights
from weigh.model.evidence.strengths import MAX_PLAUSIBLE_DEVIATIONS
from weigh.text import to_json_value

MAX_NUMBER_COLUMNS = 200  # numbers side by side that are tried one by one
# How far past a crossing the verdict is asked for, of the way to it: far off, ties reach further.
CROSSING_MARGINS = (1e-9, 1e-6, 1e-3)


@dataclass(frozen=True)
class ValueChange:
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
        return {name: to_json_value(getattr(self, name)) for name in names}


@dataclass(frozen=True, eq=False)
class LevelAlternatives:
    """Other values of the feature with a key, each with what it adds to the scores, [values, classes]."""

    key: int
    feature: str
    now: str
    values: Sequence[str]
    contributions: Floats


@dataclass(frozen=True, eq=False)
class NumberVariation:
    """A number that may move by u: it adds `square` u² + `slope` u more to the scores.

    Values below `low` or above `high` are practically never met.
    """

    feature: str
    now: float
    quadratic: Floats
    linear: Floats
    low: float = -np.inf
    high: float = np.inf

    def has_values_beyond(self, threshold: float, side: int) -> bool:
        """Whether there are values on that side of a threshold."""
        return threshold < self.high if side > 0 else threshold > self.low


def find_value_changes(row: AdditiveRow, verdict: int, goal: int | None) -> list[ValueChange]:
    """Return every single change that flips the verdict: all other levels, and the nearest thresholds."""
    numbers = {(part, unit.key): at for at, (part, unit) in enumerate(row.removable_features)}
    scores = row.scores()
    found: list[ValueChange] = []
    terms: Any = zip(row.model.schema.column_groups, row.model.terms, row.blocks, strict=True)
    for at, (part, term, block) in enumerate(terms):
        for way in value_alternatives(term, block, part.kind.name):
            if isinstance(way, NumberVariation):
                found += _threshold_changes(row, way, scores, verdict)
            elif (at, way.key) in numbers:
                found += _level_changes(row, way, row.scores([numbers[at, way.key]]), verdict)
    return [each for each in found if goal is None or each.becomes == row.model.classes[goal]]


def _level_changes(
    row: AdditiveRow, choice: LevelAlternatives, rest: Floats, verdict: int
) -> Iterator[ValueChange]:
    scores = rest + choice.contributions
    for value, best, each in zip(choice.values, row.model.best(scores).tolist(), scores, strict=True):
        if best != verdict and not np.isneginf(each).all():
            yield ValueChange(choice.feature, choice.now, value, row.model.classes[best])


def _threshold_changes(
    row: AdditiveRow, way: NumberVariation, scores: Floats, verdict: int
) -> Iterator[ValueChange]:
    """Yield how far the number must rise, and how far it must fall, for another class to win."""
    a, b = (each[verdict] - each for each in (way.quadratic, way.linear))
    places = _score_crossings(a, b, scores[0, verdict] - scores[0])
    for side, word in ((1, "above"), (-1, "below")):
        ahead = sorted((u for u in places if u * side > 0), key=abs)
        for u, far in itertools.product(ahead, CROSSING_MARGINS):
            near = u * (1 + far)
            moved = scores + way.quadratic * near**2 + way.linear * near
            best = int(row.model.best(moved)[0])
            if best != verdict:
                at = way.now + (u if far == CROSSING_MARGINS[0] else near)
                if way.has_values_beyond(at, side):
                    told = f"{word} {at:.6g}"
                    yield ValueChange(way.feature, format_value(way.now), told, row.model.classes[best], at)
                break


def _score_crossings(a: Floats, b: Floats, lead: Floats) -> list[float]:
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
def value_alternatives(term: Any, block: Any, kind: str) -> list[LevelAlternatives | NumberVariation]:
    """Return in which ways the value of the one row of a block could be another; a text's are not tried."""
    return []


@value_alternatives.register
def _(term: LevelWeights, block: CategoryBlock, kind: str) -> list[LevelAlternatives | NumberVariation]:
    found = list(term.contributions(block, 0))
    if not found:
        return []
    levels, table = list(term.levels), term.table[:-1]
    if term.reference_level is not None:
        levels, table = [*levels, term.reference_level], np.vstack([table, np.zeros((1, table.shape[1]))])
    now = block.levels[int(block.codes[0])]
    other = [at for at, level in enumerate(levels) if level != now]
    return [
        LevelAlternatives(
            0, term.name, found[0].value, [format_value(levels[at]) for at in other], table[other]
        )
    ]


@value_alternatives.register
def _(term: GaussianWeights, block: NumberBlock, kind: str) -> list[LevelAlternatives | NumberVariation]:
    now = float(block.values[0])
    if np.isnan(now) or not len(term.mean):
        return []
    steep = 1.0 / term.deviation**2
    # Which values training held is not remembered, but where they are to be expected.
    low, high = (
        term.mean - MAX_PLAUSIBLE_DEVIATIONS * term.deviation,
        term.mean + MAX_PLAUSIBLE_DEVIATIONS * term.deviation,
    )
    return [
        NumberVariation(
            term.name, now, -0.5 * steep, -steep * (now - term.mean), float(low.min()), float(high.max())
        )
    ]


@value_alternatives.register
def _(term: LinearNumberTerm, block: NumberBlock, kind: str) -> list[LevelAlternatives | NumberVariation]:
    now = float(block.values[0])
    return (
        []
        if np.isnan(now)
        else [NumberVariation(term.name, now, np.zeros(len(term.slope)), np.asarray(term.slope))]
    )


@value_alternatives.register
def _(term: ValueWeights, block: Any, kind: str) -> list[LevelAlternatives | NumberVariation]:
    none = np.zeros(term.table.shape[1])
    found = term.occurrences(block, 0)[:MAX_NUMBER_COLUMNS]
    if kind == "flag":
        return [LevelAlternatives(at, name, "1", ["0"], none[None]) for at, _, name in found]
    return [NumberVariation(name, now, none, term.table[at]) for at, now, name in found]


@value_alternatives.register
def _(term: FlagWeights, block: Any, kind: str) -> list[LevelAlternatives | NumberVariation]:
    here, absent = term.flag_states(block, 0)
    if not term.fixed:
        return []
    on = [LevelAlternatives(at, term.names[at], "1", ["0"], term.absent[[at]]) for at in here]
    return [*on, *(LevelAlternatives(at, term.names[at], "0", ["1"], term.present[[at]]) for at in absent)]
