"""Find the smallest set of features whose removal changes a verdict, in a model with effects of pairs.

The effect of a pair of columns goes with the value of either, so the gains of features do not simply add up.
Sets are searched by increasing size with branch and bound. The gain of a feature is bounded by its own gain
plus the gains of its pairs that are left; a loss of a pair is shared by its columns, because they pay it
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.explain import minimal_removal
from weigh.explain.additive_row import AdditiveRow
from weigh.explain.minimal_removal import RemovalSet
from weigh.features.blocks import Floats, Mask


def smallest_removal_with_pairs(row: AdditiveRow, verdict: int, goal: int | None) -> RemovalSet:
    """Return the smallest set whose removal makes `goal` the verdict, or any other class if it is None."""
    classes = range(len(row.base_scores))
    if goal is not None:
        return _PairRemovalSearch(row, goal, [c for c in classes if c != goal], {goal}).search()
    others = {c for c in classes if c != verdict}
    found = [_PairRemovalSearch(row, target, [verdict], others).search() for target in sorted(others)]
    sets = [each.removed for each in found if each.removed is not None]
    is_smallest = all(each.is_smallest for each in found)
    return RemovalSet(min(sets, key=len) if sets else None, is_smallest)


@dataclass(frozen=True, eq=False)
class _Gains:
    """What removals add to the leads of the target over its rivals, [features or pairs, rivals].

    `needs` [pairs, features] tells the features of each pair.
    """

    features: Floats
    pairs: Floats
    needs: Mask

    @classmethod
    def of_row(cls, row: AdditiveRow, target: int, rivals: Sequence[int]) -> _Gains:
        changes = row.absent_scores - row.present_scores
        effects = np.array([effect.scores for effect in row.pair_contributions]).reshape(
            -1, len(row.base_scores)
        )
        needs = np.zeros((len(effects), len(changes)), dtype=bool)
        for at, effect in enumerate(row.pair_contributions):
            needs[at, list(effect.features)] = True
        return cls(
            changes[:, [target]] - changes[:, rivals], effects[:, rivals] - effects[:, [target]], needs
        )

    def upper_bounds(self, is_left: Mask) -> Floats:
        """Bound what each feature adds to the gain of a set, while some pairs are left."""
        shares = self.pairs / np.maximum(self.needs.sum(axis=1, keepdims=True), 1)
        bounds = np.where(self.pairs > 0, self.pairs, shares)
        return np.asarray(self.features + self.needs[is_left].T.astype(np.float64) @ bounds[is_left])

    def largest(self) -> Floats:
        """Bound what the removal of a feature alone adds, after any others."""
        return np.asarray(self.features + self.needs.T.astype(np.float64) @ np.maximum(self.pairs, 0.0))

    def remove(self, feature: int, is_left: Mask) -> tuple[Floats, Mask]:
        """Return what the removal of a feature adds, and the pairs that are left after it."""
        gone = is_left & self.needs[:, feature]
        return np.asarray(self.features[feature] + self.pairs[gone].sum(axis=0)), is_left & ~gone


class _PairRemovalSearch:
    """Branch-and-bound search for a set whose removal puts the target ahead of its rivals."""

    def __init__(self, row: AdditiveRow, target: int, rivals: list[int], accepted: set[int]) -> None:
        self._row, self._accepted, self._tolerance, self._steps = row, accepted, row.score_tolerance, 0
        self._gains = _Gains.of_row(row, target, rivals)
        scores = row.scores()[0]
        self._leads = scores[target] - scores[rivals]
        largest = self._gains.largest()
        # Features that help against no rival are excluded; the most helpful come first.
        order = np.argsort(-largest.sum(axis=1), kind="stable").tolist()
        self._candidates = [at for at in order if (largest[at] > 0).any()]

    def search(self) -> RemovalSet:
        """Search sets by increasing size; fall back to a greedy set after the limit of steps."""
        all_pairs = np.ones(len(self._gains.pairs), dtype=bool)
        for size in range(len(self._candidates) + 1):
            removed = self._extend([], self._leads, all_pairs, 0, size)
            if self._steps > minimal_removal.MAX_SEARCH_STEPS:
                return RemovalSet(self._greedy_removal(), is_smallest=False)
            if removed is not None:
                return RemovalSet(tuple(removed))
        return RemovalSet(None)

    def _extend(
        self, removed: list[int], leads: Floats, is_left: Mask, first: int, n_more: int
    ) -> list[int] | None:
        """Return an accepted set with `n_more` more candidates from index `first` on, or None."""
        self._steps += 1
        if self._steps > minimal_removal.MAX_SEARCH_STEPS:
            return None
        if not n_more:
            is_ahead = bool((leads >= -self._tolerance).all())
            return removed if is_ahead and self._accepts(removed) else None
        if not self._can_lead(leads, is_left, first, n_more):
            return None
        for at in range(first, len(self._candidates) - n_more + 1):
            feature = self._candidates[at]
            gain, left = self._gains.remove(feature, is_left)
            found = self._extend([*removed, feature], leads + gain, left, at + 1, n_more - 1)
            if found is not None:
                return found
        return None

    def _accepts(self, removed: list[int]) -> bool:
        """Whether the verdict without some features is one of those accepted."""
        return self._row.predict_without(removed) in self._accepted

    def _can_lead(self, leads: Floats, is_left: Mask, first: int, n_more: int) -> bool:
        """Whether `n_more` removals could put the target ahead of each rival separately (the bound)."""
        bounds = self._gains.upper_bounds(is_left)[self._candidates[first:]]
        best = np.sort(bounds, axis=0)[::-1][:n_more]
        return bool((leads + np.maximum(best, 0.0).sum(axis=0) >= -self._tolerance).all())

    def _greedy_removal(self) -> tuple[int, ...] | None:
        """Return an accepted set by greedily removing the best feature against the strongest rival."""
        removed: list[int] = []
        leads, is_left = self._leads, np.ones(len(self._gains.pairs), dtype=bool)
        while not self._accepts(removed):
            free = [at for at in self._candidates if at not in removed]
            if not free:
                return None
            strongest = int(np.argmin(leads))
            gains = {at: self._gains.remove(at, is_left) for at in free}
            best = max(free, key=lambda at: gains[at][0][strongest])
            leads, is_left = leads + gains[best][0], gains[best][1]
            removed.append(best)
        return tuple(removed)
