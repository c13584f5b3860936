"""The parameters of two naive Bayes models side by side, matched by their names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.model import BayesModel
from weigh.model.distributions import Distribution
from weigh.model.outcomes import Outcomes


@dataclass(frozen=True)
class Move:
    """A probability that changed: of what, in which class, from, to."""

    name: str
    label: Any
    old: float
    new: float

    @property
    def nats(self) -> float:
        """By how much its logarithm changed."""
        if self.old == self.new:
            return 0.0
        if not self.old or not self.new:
            return math.inf if self.new else -math.inf
        return math.log(self.new) - math.log(self.old)


@dataclass(frozen=True)
class NumberMove:
    """A number's normal curve that changed within a class."""

    name: str
    label: Any
    old_mean: float
    new_mean: float
    old_spread: float
    new_spread: float

    @property
    def shift(self) -> float:
        """By how many old spreads the mean moved."""
        return (self.new_mean - self.old_mean) / self.old_spread if self.old_spread else 0.0

    @property
    def size(self) -> float:
        """How large the change is, of the mean or of the spread."""
        wider = math.log(self.new_spread / self.old_spread) if self.old_spread and self.new_spread else 0.0
        return max(abs(self.shift), abs(wider))


def moves(old: BayesModel, new: BayesModel, most: int) -> tuple[Move, ...]:
    """The probabilities that both models have and that changed, largest change first."""
    found = list(_prior_moves(old, new))
    pairs = _shared_classes(old, new)
    for first, second in _shared_parts(old, new):
        for before, after in _shared_outcomes(first, second):
            found += _part_moves(before, after, pairs, old.classes, most)
    found = [move for move in found if abs(move.nats) > 1e-12]
    return tuple(sorted(found, key=lambda move: (-abs(move.nats), move.name))[:most])


def number_moves(old: BayesModel, new: BayesModel, most: int) -> tuple[NumberMove, ...]:
    """The means and spreads that changed, largest change first."""
    found = []
    for first, second in _shared_parts(old, new):
        before, after = first.curves(), second.curves()
        for a, b in _shared_classes(old, new) if before and after else ():
            (m, s), (n, t) = before[a], after[b]
            found.append(NumberMove(first.part.names[0], old.classes[a], m, n, s, t))
    found = [move for move in found if (move.old_mean, move.old_spread) != (move.new_mean, move.new_spread)]
    return tuple(sorted(found, key=lambda move: (-move.size, move.name))[:most])


def vocabulary(old: BayesModel, new: BayesModel) -> Iterator[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
    """Yield (column, values that appeared, values that vanished), most frequent first."""
    for first, second in _shared_parts(old, new):
        alike = first.part.kind.family == second.part.kind.family
        for left, right in _shared_outcomes(first, second) if alike else ():
            before, after = left.frequencies(), right.frequencies()
            appeared = _by_frequency({value: n for value, n in after.items() if value not in before})
            vanished = _by_frequency({value: n for value, n in before.items() if value not in after})
            if appeared or vanished:
                yield first.part.title, appeared, vanished


def _by_frequency(counts: dict[Any, float]) -> tuple[Any, ...]:
    return tuple(sorted(counts, key=lambda value: (-counts[value], str(value))))


def _shared_classes(old: BayesModel, new: BayesModel) -> list[tuple[int, int]]:
    place = {label: at for at, label in enumerate(new.classes)}
    return [(at, place[label]) for at, label in enumerate(old.classes) if label in place]


def _shared_outcomes(first: Distribution, second: Distribution) -> Iterator[tuple[Outcomes, Outcomes]]:
    """Yield the outcomes of both parts; that of absence follows from that of presence."""
    yield from list(zip(first.outcomes(), second.outcomes(), strict=False))[:1]


def _shared_parts(old: BayesModel, new: BayesModel) -> Iterator[tuple[Distribution, Distribution]]:
    """Yield the parts of both models that have a column in common."""
    place = {(part.part.kind.gathers, _first_of(part)): part for part in new.distributions}
    for part in old.distributions:
        found = place.get((part.part.kind.gathers, _first_of(part)))
        if found is not None:
            yield part, found


def _first_of(part: Distribution) -> str:
    """What a part is matched by: its column, or its kind where columns are gathered."""
    kind = part.part.kind
    return str(kind.name if kind.gathers else part.part.names[0])


def _prior_moves(old: BayesModel, new: BayesModel) -> Iterator[Move]:
    for a, b in _shared_classes(old, new):
        shares = float(old.class_belief.exact[a]), float(new.class_belief.exact[b])
        yield Move("P(class)", old.classes[a], *shares)


def _part_moves(
    before: Outcomes, after: Outcomes, pairs: list[tuple[int, int]], labels: list[Any], most: int
) -> Iterator[Move]:
    place = {name: at for at, name in enumerate(after.keys)}
    shared = [(at, place[name]) for at, name in enumerate(before.keys) if name in place]
    if not shared:
        return
    left, right = (np.array(side) for side in zip(*shared, strict=True))
    for a, b in pairs:
        p, q = before.probabilities[a, left], after.probabilities[b, right]
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.nan_to_num(np.abs(np.log(q) - np.log(p)), nan=0.0, posinf=np.inf)
        for at in np.argsort(-size, kind="stable")[:most].tolist():
            yield Move(before.title(int(left[at])), labels[a], float(p[at]), float(q[at]))
