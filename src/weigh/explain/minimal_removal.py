"""Find the smallest set of features whose removal changes a verdict, exactly.

Scores are sums, so removing a set of features changes the lead of a class T over the verdict V by the
sum of the features' gains. Among sets of size k, the k largest gains have the largest sum: T can overtake
V with k removals if and only if it does with these. V loses as soon as any class overtakes it, so the
smallest of these sets over all T is optimal, for any number of classes.

For a given class T to win, it must overtake all other classes at once. Sets are then searched by
increasing size with branch and bound: a branch is pruned if even the largest gains cannot close the gap
to some class.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weigh.explain.additive_row import AdditiveRow
from weigh.features.blocks import Floats, Longs

MAX_SEARCH_STEPS = 50_000


@dataclass(frozen=True)
class RemovalSet:
    """Indices of the features to remove, None if no set was found; `is_smallest` if that is proved."""

    removed: tuple[int, ...] | None
    is_smallest: bool = True


def smallest_removal(row: AdditiveRow, verdict: int) -> RemovalSet:
    """Return the smallest set whose removal changes the verdict to any other class."""
    candidates: list[tuple[int, float, tuple[int, ...]]] = []
    for rival in range(len(row.base_scores)):
        if rival == verdict:
            continue
        order, leads = _removal_order(row, verdict, rival)
        # The model decides how ties are broken.
        for k in np.flatnonzero(leads >= -row.score_tolerance).tolist():
            removed = tuple(order[:k].tolist())
            if row.predict_without(removed) not in (verdict, None):
                candidates.append((len(removed), -float(leads[k]), removed))
                break
    return RemovalSet(min(candidates)[2] if candidates else None)


def _removal_order(row: AdditiveRow, verdict: int, rival: int) -> tuple[Longs, Floats]:
    """Return the features by decreasing gain for a rival, and its lead after each removal.

    Features that give the rival probability 0 come first; those whose absence would do so are excluded.
    """
    present, absent = row.present_scores[:, rival], row.absent_scores[:, rival]
    is_required = np.isneginf(present)
    with np.errstate(invalid="ignore"):
        gains = (absent - np.where(is_required, 0.0, present)) - (
            row.absent_scores[:, verdict] - row.present_scores[:, verdict]
        )
    lead = _class_score(row, rival, ~is_required) - _class_score(
        row, verdict, np.ones(len(present), dtype=bool)
    )
    if np.isneginf(row.base_scores[rival]) or (is_required & np.isneginf(absent)).any():
        return np.empty(0, dtype=np.int64), np.full(1, -np.inf)
    required = np.flatnonzero(is_required)
    others = np.flatnonzero(~is_required & (gains > 0))
    others = others[np.argsort(-gains[others], kind="stable")]
    leads = lead + gains[required].sum() + np.concatenate([[0.0], np.cumsum(gains[others])])
    # Until all required features are removed, the rival is impossible.
    return np.concatenate([required, others]), np.concatenate([np.full(len(required), -np.inf), leads])


def _class_score(row: AdditiveRow, c: int, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return float(row.base_scores[c] + row.present_scores[mask, c].sum())


def smallest_removal_to_class(row: AdditiveRow, verdict: int, goal: int) -> RemovalSet:
    """Return the smallest set whose removal makes `goal` the verdict."""
    leads = _removal_order(row, verdict, goal)[1]
    if leads.max() < -row.score_tolerance:
        return RemovalSet(None)
    if len(row.base_scores) == 2:
        return smallest_removal(row, verdict)
    return _RemovalSearch(row, goal).search()


@dataclass
class _RemovalSearch:
    """Branch-and-bound search for a set whose removal makes the target class win.

    Sums are kept as a pair: the finite part of the scores and the number of −∞ contributions, per class.
    """

    row: AdditiveRow
    target: int
    steps: int = 0
    tolerance: float = 0.0
    candidates: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tolerance = self.row.score_tolerance
        present, absent = self.row.present_scores, self.row.absent_scores
        self._finite_changes = np.where(np.isneginf(absent), 0.0, absent) - np.where(
            np.isneginf(present), 0.0, present
        )
        self._impossible_changes = np.isneginf(absent).astype(int) - np.isneginf(present).astype(int)
        self._required = np.flatnonzero(np.isneginf(present[:, self.target])).tolist()
        with np.errstate(invalid="ignore"):
            self._gains = np.where(
                self._impossible_changes > 0,
                np.inf,
                self._finite_changes[:, [self.target]] - self._finite_changes,
            )
        # Features that help the target against no class are excluded; the most helpful come first.
        total_gain = np.where(np.isfinite(self._gains), self._gains, 0.0).sum(axis=1)
        order = np.argsort(-total_gain, kind="stable").tolist()
        is_useless = (np.delete(self._gains, self.target, axis=1) <= 0).all(axis=1)
        is_excluded = np.isneginf(absent[:, self.target]) | is_useless
        self.candidates = [at for at in order if at not in set(self._required) and not is_excluded[at]]

    def search(self) -> RemovalSet:
        """Search sets by increasing size; fall back to a greedy set after `MAX_SEARCH_STEPS`."""
        start = self._score_sums(self._required)
        for size in range(len(self.candidates) + 1):
            removed = self._extend(list(self._required), start, 0, size)
            if self.steps > MAX_SEARCH_STEPS:
                return RemovalSet(self._greedy_removal(), is_smallest=False)
            if removed is not None:
                return RemovalSet(tuple(removed))
        return RemovalSet(None)

    def _score_sums(self, removed: list[int]) -> tuple[Floats, Floats]:
        row = self.row
        base = np.where(np.isneginf(row.base_scores), 0.0, row.base_scores)
        finite = base + np.where(np.isneginf(row.present_scores), 0.0, row.present_scores).sum(axis=0)
        impossible = np.isneginf(row.base_scores).astype(int) + np.isneginf(row.present_scores).sum(axis=0)
        return finite + self._finite_changes[removed].sum(axis=0), impossible + self._impossible_changes[
            removed
        ].sum(axis=0)

    def _extend(
        self, removed: list[int], sums: tuple[Floats, Floats], first: int, left: int
    ) -> list[int] | None:
        """Return a winning set with `left` more candidates from index `first` on; None if there is none."""
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
            feature = self.candidates[at]
            new_sums = sums[0] + self._finite_changes[feature], sums[1] + self._impossible_changes[feature]
            result = self._extend([*removed, feature], new_sums, at + 1, left - 1)
            if result is not None:
                return result
        return None

    def _is_target_ahead(self, sums: tuple[Floats, Floats]) -> bool:
        finite, impossible = sums
        rivals = np.delete(np.where(impossible > 0, -np.inf, finite), self.target)
        return not impossible[self.target] and bool((finite[self.target] - rivals >= -self.tolerance).all())

    def _can_target_lead(self, sums: tuple[Floats, Floats], first: int, left: int) -> bool:
        """Whether `left` more removals could put the target ahead of each class separately (the bound)."""
        finite, impossible = sums
        if impossible[self.target]:
            return False
        gains = self._gains[self.candidates[first:]]
        best = np.sort(gains, axis=0)[::-1][:left]
        max_lead = finite[self.target] - finite + np.maximum(best, 0.0).sum(axis=0)
        # A class that is impossible now may remain impossible.
        return bool(np.delete((max_lead >= -self.tolerance) | (impossible > 0), self.target).all())

    def _greedy_removal(self) -> tuple[int, ...] | None:
        """Return a winning set by greedily removing the best feature against the strongest rival."""
        removed, free = list(self._required), list(self.candidates)
        while self.row.predict_without(removed) != self.target:
            if not free:
                return None
            finite, impossible = self._score_sums(removed)
            rivals = np.where(impossible > 0, -np.inf, finite)
            rivals[self.target] = -np.inf
            strongest = int(np.argmax(rivals))
            best = max(free, key=lambda at: self._gains[at, strongest])
            removed.append(best)
            free.remove(best)
        return tuple(removed)
