"""The parameters of two naive Bayes models side by side, matched by their names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.model import BayesModel
from weigh.model.bernoulli import Bernoulli
from weigh.model.categorical import Categorical
from weigh.model.multinomial import Multinomial
from weigh.model.normal import Normal
from weigh.model.weights import as_text


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
        before, after = _named(first), _named(second)
        if before is not None and after is not None:
            found += _part_moves(before, after, pairs, old.classes, most)
    found = [move for move in found if abs(move.nats) > 1e-12]
    return tuple(sorted(found, key=lambda move: (-abs(move.nats), move.name))[:most])


def number_moves(old: BayesModel, new: BayesModel, most: int) -> tuple[NumberMove, ...]:
    """The means and spreads that changed, largest change first."""
    found = []
    for first, second in _shared_parts(old, new):
        if isinstance(first, Normal) and isinstance(second, Normal):
            curves = [
                [(float(p.mean[c]), float(p.deviation[c])) for c in range(len(p.mean))]
                for p in (first, second)
            ]
            for a, b in _shared_classes(old, new):
                (m, s), (n, t) = curves[0][a], curves[1][b]
                found.append(NumberMove(first.part.names[0], old.classes[a], m, n, s, t))
    found = [move for move in found if (move.old_mean, move.old_spread) != (move.new_mean, move.new_spread)]
    return tuple(sorted(found, key=lambda move: (-move.size, move.name))[:most])


def vocabulary(old: BayesModel, new: BayesModel) -> Iterator[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
    """Yield (column, values that appeared, values that vanished), most frequent first."""
    for first, second in _shared_parts(old, new):
        if isinstance(first, Categorical | Bernoulli | Multinomial) and type(first) is type(second):
            before, after = _frequencies(first), _frequencies(second)
            appeared = _by_frequency({value: n for value, n in after.items() if value not in before})
            vanished = _by_frequency({value: n for value, n in before.items() if value not in after})
            if appeared or vanished:
                yield first.part.title, appeared, vanished


def _frequencies(part: Any) -> dict[Any, float]:
    if isinstance(part, Categorical):
        return dict(zip(part.levels, part.table.sum(axis=0).tolist(), strict=True))
    table = part.present if isinstance(part, Bernoulli) else part.table
    names = part.names if isinstance(part, Bernoulli) else part.words
    return dict(zip(names, table.sum(axis=0).tolist(), strict=True))


def _by_frequency(counts: dict[Any, float]) -> tuple[Any, ...]:
    return tuple(sorted(counts, key=lambda value: (-counts[value], str(value))))


def _shared_classes(old: BayesModel, new: BayesModel) -> list[tuple[int, int]]:
    place = {label: at for at, label in enumerate(new.classes)}
    return [(at, place[label]) for at, label in enumerate(old.classes) if label in place]


def _shared_parts(old: BayesModel, new: BayesModel) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of both models that have a column in common."""
    place = {(part.part.kind.gathers, _first_of(part)): part for part in new.distributions}
    for part in old.distributions:
        found = place.get((part.part.kind.gathers, _first_of(part)))
        if found is not None:
            yield part, found


def _first_of(part: Any) -> str:
    """What a part is matched by: its column, or its kind where columns are gathered."""
    kind = part.part.kind
    return str(kind.name if kind.gathers else part.part.names[0])


def _prior_moves(old: BayesModel, new: BayesModel) -> Iterator[Move]:
    for a, b in _shared_classes(old, new):
        shares = float(old.class_belief.exact[a]), float(new.class_belief.exact[b])
        yield Move("P(class)", old.classes[a], *shares)


def _named(part: Any) -> tuple[Sequence[Any], Floats, Any] | None:
    """A part's names, its probabilities [C, names], and how to call a name."""
    if isinstance(part, Categorical):
        return part.levels, part.probabilities, lambda level: f"{part.name} = {as_text(level)}"
    if isinstance(part, Bernoulli):
        title = "" if part.weights.fixed else f"{part.part.title}: "
        return part.names, part.probabilities, lambda name: f"{title}{name}"
    if isinstance(part, Multinomial):
        title = "" if part.counts.fixed else f"{part.part.title}: "
        return part.words, part.probabilities, lambda name: f"{title}{name}"
    return None


def _part_moves(
    before: Any, after: Any, pairs: list[tuple[int, int]], labels: list[Any], most: int
) -> Iterator[Move]:
    names, old, called = before
    place = {name: at for at, name in enumerate(after[0])}
    shared = [(at, place[name]) for at, name in enumerate(names) if name in place]
    if not shared:
        return
    left, right = (np.array(side) for side in zip(*shared, strict=True))
    for a, b in pairs:
        p, q = old[a, left], after[1][b, right]
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.nan_to_num(np.abs(np.log(q) - np.log(p)), nan=0.0, posinf=np.inf)
        for at in np.argsort(-size, kind="stable")[:most].tolist():
            yield Move(called(names[left[at]]), labels[a], float(p[at]), float(q[at]))
