"""The smallest set of features whose removal changes a verdict, exactly.

Scores are sums, so a set of removals changes the lead of a class T over the verdict X by the sum of
its members' gains. Of all sets of k features the k largest gains have the largest sum: T can overtake
X by k removals if and only if it does by those k. The verdict is X no longer as soon as any class
overtakes it, so the smallest over all T of these sets is the smallest of all, for many classes too.

That T itself wins is more: it must overtake every class at once. Sets are then searched one size
after the other, and a branch is left where even the largest gains cannot make up for some class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Products
from weigh.features.blocks import Floats, Longs
from weigh.model.base import Model
from weigh.model.calibrated import CalibratedModel
from weigh.model.calibration import Calibration
from weigh.model.decision import SCORE_TOLERANCE, equalise_ties, log_softmax
from weigh.model.distributions.weights import RemovableFeature
from weigh.model.linear import LinearModel
from weigh.model.naive_bayes import BayesModel
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.source import Chunk

MAX_SEARCH_STEPS = 50_000


@dataclass(frozen=True)
class RemovalSet:
    """The features to remove, by number; None if no set was found. `is_smallest`: whether that is proved."""

    removed: tuple[int, ...] | None
    is_smallest: bool = True


def smallest_removal(row: AdditiveRow, verdict: int) -> RemovalSet:
    """Return the smallest set without which the verdict is another, whichever."""
    found: list[tuple[int, float, tuple[int, ...]]] = []
    for rival in range(len(row.base_scores)):
        if rival == verdict:
            continue
        order, leads = _removal_order(row, verdict, rival)
        # Whether a tie is a win is asked of the model itself.
        for k in np.flatnonzero(leads >= -_score_tolerance(row)).tolist():
            removed = tuple(order[:k].tolist())
            if row.predict_without(removed) not in (verdict, None):
                found.append((len(removed), -float(leads[k]), removed))
                break
    return RemovalSet(min(found)[2] if found else None)


def _removal_order(row: AdditiveRow, verdict: int, rival: int) -> tuple[Longs, Floats]:
    """Return features in the order in which a rival overtakes soonest, and its lead after each.

    What makes the rival impossible must go first; what would make it so by its absence stays.
    """
    kept, gone = row.present_scores[:, rival], row.absent_scores[:, rival]
    must = np.isneginf(kept)
    with np.errstate(invalid="ignore"):
        gains = (gone - np.where(must, 0.0, kept)) - (
            row.absent_scores[:, verdict] - row.present_scores[:, verdict]
        )
    lead = _class_score(row, rival, ~must) - _class_score(row, verdict, np.ones(len(kept), dtype=bool))
    if np.isneginf(row.base_scores[rival]) or (must & np.isneginf(gone)).any():
        return np.empty(0, dtype=np.int64), np.full(1, -np.inf)
    first = np.flatnonzero(must)
    others = np.flatnonzero(~must & (gains > 0))
    others = others[np.argsort(-gains[others], kind="stable")]
    leads = lead + gains[first].sum() + np.concatenate([[0.0], np.cumsum(gains[others])])
    # Before all that makes it impossible is gone, the rival has no lead.
    return np.concatenate([first, others]), np.concatenate([np.full(len(first), -np.inf), leads])


def _class_score(row: AdditiveRow, c: int, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return float(row.base_scores[c] + row.present_scores[chosen, c].sum())


def _score_tolerance(row: AdditiveRow) -> float:
    sizes = np.where(np.isfinite(row.present_scores), np.abs(row.present_scores), 0.0).sum(axis=0)
    rest = np.where(np.isfinite(row.base_scores), np.abs(row.base_scores), 0.0)
    return 10 * SCORE_TOLERANCE * max(1.0, float((sizes + rest).max(initial=0.0)))


def smallest_removal_to_class(row: AdditiveRow, verdict: int, goal: int) -> RemovalSet:
    """Return the smallest set without which the verdict is the goal."""
    leads = _removal_order(row, verdict, goal)[1]
    if leads.max() < -_score_tolerance(row):
        return RemovalSet(None)
    if len(row.base_scores) == 2:
        return smallest_removal(row, verdict)
    return _RemovalSearch(row, goal).search()


@dataclass
class _RemovalSearch:
    """A search for sets of features without which one class leads all others."""

    row: AdditiveRow
    target: int
    steps: int = 0
    tolerance: float = 0.0
    candidates: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tolerance = _score_tolerance(self.row)
        kept, gone = self.row.present_scores, self.row.absent_scores
        self._finite_changes = np.where(np.isneginf(gone), 0.0, gone) - np.where(np.isneginf(kept), 0.0, kept)
        self._impossible_changes = np.isneginf(gone).astype(int) - np.isneginf(kept).astype(int)
        self._required = np.flatnonzero(np.isneginf(kept[:, self.target])).tolist()
        with np.errstate(invalid="ignore"):
            self._gains = np.where(
                self._impossible_changes > 0,
                np.inf,
                self._finite_changes[:, [self.target]] - self._finite_changes,
            )
        # What hurts the goal against every class never helps; the most helpful come first.
        worth = np.where(np.isfinite(self._gains), self._gains, 0.0).sum(axis=1)
        order = np.argsort(-worth, kind="stable").tolist()
        barred = np.isneginf(gone[:, self.target]) | (np.delete(self._gains, self.target, axis=1) <= 0).all(
            axis=1
        )
        self.candidates = [at for at in order if at not in set(self._required) and not barred[at]]

    def search(self) -> RemovalSet:
        """Search sets of growing size."""
        start = self._score_sums(self._required)
        for size in range(len(self.candidates) + 1):
            found = self._extend(list(self._required), start, 0, size)
            if self.steps > MAX_SEARCH_STEPS:
                return RemovalSet(self._greedy_removal(), is_smallest=False)
            if found is not None:
                return RemovalSet(tuple(found))
        return RemovalSet(None)

    def _score_sums(self, removed: list[int]) -> tuple[Floats, Floats]:
        row = self.row
        base = np.where(np.isneginf(row.base_scores), 0.0, row.base_scores)
        finite = base + np.where(np.isneginf(row.present_scores), 0.0, row.present_scores).sum(axis=0)
        lost = np.isneginf(row.base_scores).astype(int) + np.isneginf(row.present_scores).sum(axis=0)
        return finite + self._finite_changes[removed].sum(axis=0), lost + self._impossible_changes[
            removed
        ].sum(axis=0)

    def _extend(
        self, removed: list[int], sums: tuple[Floats, Floats], first: int, left: int
    ) -> list[int] | None:
        """Return the set with so many more of the free features from `first` on, if one does it."""
        self.steps += 1
        if self.steps > MAX_SEARCH_STEPS:
            return None
        if not left:
            return (
                removed
                if self._is_target_ahead(sums) and self.row.predict_without(removed) == self.target
                else None
            )
        if not self._can_target_lead(sums, first, left):
            return None
        for at in range(first, len(self.candidates) - left + 1):
            unit = self.candidates[at]
            more = sums[0] + self._finite_changes[unit], sums[1] + self._impossible_changes[unit]
            found = self._extend([*removed, unit], more, at + 1, left - 1)
            if found is not None:
                return found
        return None

    def _is_target_ahead(self, sums: tuple[Floats, Floats]) -> bool:
        finite, lost = sums
        rivals = np.delete(np.where(lost > 0, -np.inf, finite), self.target)
        return not lost[self.target] and bool((finite[self.target] - rivals >= -self.tolerance).all())

    def _can_target_lead(self, sums: tuple[Floats, Floats], first: int, left: int) -> bool:
        """Whether so many more removals could put the goal ahead of each class by itself."""
        finite, lost = sums
        if lost[self.target]:
            return False
        gains = self._gains[self.candidates[first:]]
        best = np.sort(gains, axis=0)[::-1][:left]
        reach = finite[self.target] - finite + np.maximum(best, 0.0).sum(axis=0)
        # A class that is impossible now may stay so.
        return bool(np.delete((reach >= -self.tolerance) | (lost > 0), self.target).all())

    def _greedy_removal(self) -> tuple[int, ...] | None:
        """Return a set that does it, found by always removing what helps most against the hardest class."""
        removed, free = list(self._required), list(self.candidates)
        while self.row.predict_without(removed) != self.target:
            if not free:
                return None
            finite, lost = self._score_sums(removed)
            rivals = np.where(lost > 0, -np.inf, finite)
            rivals[self.target] = -np.inf
            hardest = int(np.argmax(rivals))
            best = max(free, key=lambda at: self._gains[at, hardest])
            removed.append(best)
            free.remove(best)
        return tuple(removed)


@dataclass(frozen=True, eq=False)
class AdditiveRow:
    """One row of a model: score(class) = rest + Σ `kept` of features that stay + Σ `gone` of the others.

    `kept` and `gone` are [features, classes]. The sums are those of the model's own terms, so that what is
    found from them holds for the model; `verdict` asks the terms themselves.
    """

    sum: AdditiveModel
    blocks: Sequence[Any]
    removable_features: Sequence[tuple[int, RemovableFeature]]
    base_scores: Floats

    @classmethod
    def from_chunk(cls, model: Model, row: Chunk) -> AdditiveRow:
        """Return the features of the one row of a chunk."""
        summed = as_additive_model(model)
        blocks = [block.row(0) for block in summed.model.schema.encode(row)]
        rest = summed.base_scores
        units: list[tuple[int, RemovableFeature]] = []
        for part, (term, block) in enumerate(zip(summed.model.terms, blocks, strict=True)):
            found, beyond = term.removable(block)
            units += [(part, unit) for unit in found]
            rest = rest + beyond
        return cls(summed, blocks, units, rest)

    @property
    def model(self) -> BayesModel | LinearModel:
        """The model that decides."""
        return self.sum.model

    @property
    def base_name(self) -> str:
        """What the sums start from, for people; the absence of many words may be part of it."""
        name = self.sum.base_name
        return name if (self.base_scores == self.sum.base_scores).all() else f"{name} and what is absent"

    @property
    def report_scale(self) -> float:
        """What the sums are multiplied by where they are told."""
        return self.sum.scale * (1.0 if self.sum.calibration is None else self.sum.calibration.slope)

    def probabilities(self, scores: Floats) -> Floats | None:
        """Return the probabilities of sums; a model without any, and without a calibration, has none."""
        probable, scores = self.model.has_probabilities, scores * self.sum.scale
        if self.sum.calibration is not None:
            return np.exp(self.sum.calibration.apply(equalise_ties(scores) if probable else scores))
        return np.exp(log_softmax(scores)) if probable else None

    @cached_property
    def present_scores(self) -> Floats:
        """What each feature adds to the score of each class."""
        return np.array([unit.present_scores for _, unit in self.removable_features]).reshape(
            -1, len(self.base_scores)
        )

    @cached_property
    def absent_scores(self) -> Floats:
        """What is added to the scores where a feature is gone."""
        return np.array([unit.removed_scores for _, unit in self.removable_features]).reshape(
            -1, len(self.base_scores)
        )

    def scores(self, removed: Iterable[int] = ()) -> Floats:
        """Return the scores of the row without some of its features, by the terms themselves."""
        keys: dict[int, list[int]] = {}
        for at in removed:
            part, unit = self.removable_features[at]
            keys.setdefault(part, []).append(unit.key)
        scores = np.tile(self.sum.base_scores, (1, 1))
        pairs: Any = zip(self.model.terms, self.blocks, strict=True)
        for part, (term, block) in enumerate(pairs):
            term.add(term.without(block, keys[part]) if part in keys else block, scores)
        return scores

    def predict_without(self, removed: Iterable[int] = ()) -> int | None:
        """Return the number of the winning class; None where no class is possible."""
        scores = self.scores(removed)
        return None if np.isneginf(scores).all() else int(self.model.best(scores)[0])


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """A model whose scores are `scale` times sums, what they start from, and a map that calibrates them."""

    model: BayesModel | LinearModel
    base_scores: Floats
    base_name: str
    scale: float = 1.0
    calibration: Calibration | None = None


@singledispatch
def as_additive_model(model: Any) -> AdditiveModel:
    """Return the sum that a model's scores are, or say why there is none."""
    what = "A regression has no verdict" if not hasattr(model, "classes") else "Its score is no sum"
    raise errors.Unsupported(
        f"flip needs a classifier whose score is a sum of what each feature adds: naive Bayes, a "
        f"perceptron, logistic regression. {what} ({type(model).__name__})."
    )


@as_additive_model.register
def _(model: BayesModel) -> AdditiveModel:
    return AdditiveModel(_check_removable_columns(model), model.log_prior, "class prior")


@as_additive_model.register
def _(model: LinearModel) -> AdditiveModel:
    return AdditiveModel(_check_removable_columns(model), model.base, "bias")


@as_additive_model.register
def _(model: PerceptronModel) -> AdditiveModel:
    return AdditiveModel(_check_removable_columns(model), model.base, "bias", model.rate / model.divisor)


@as_additive_model.register
def _(model: VotedModel) -> AdditiveModel:
    raise errors.Unsupported(
        "A vote of many planes is no sum of what features add. Ask for model.keep('averaged')."
    )


@as_additive_model.register
def _(model: CalibratedModel) -> AdditiveModel:
    if not model.calibration.preserves_verdicts:
        raise errors.Unsupported(
            f"Calibration by {model.calibration.method} moves the cuts between the classes, so that verdicts "
            f"are no sums of what features add. Ask for model.uncalibrated."
        )
    return replace(as_additive_model(model.uncalibrated), calibration=model.calibration)


def _check_removable_columns(model: Any) -> Any:
    """Return a model, refused where its columns cannot be taken out one by one."""
    if any(isinstance(part.kind, Products) for part in model.schema.column_groups):
        raise errors.Unsupported(
            "A column that is multiplied with others cannot be taken out of the sum alone. Train without "
            "Products."
        )
    return model
