"""The smallest set of features whose removal changes a verdict, exactly.

Scores are sums, so a set of removals changes the lead of a class T over the verdict X by the sum of
its members' gains. Of all sets of k features the k largest gains have the largest sum: T can overtake
X by k removals if and only if it does by those k. The verdict is X no longer as soon as any class
overtakes it, so the smallest over all T of these sets is the smallest of all, for many classes too.

That T itself wins is more: it must overtake every class at once. Sets are then searched one size
after the other, and a branch is left where even the largest gains cannot make up for some class.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weigh.explain.removals import Removals
from weigh.features.blocks import Floats, Longs
from weigh.model.decision import ROUNDING

MOST_STEPS = 50_000


@dataclass(frozen=True)
class Found:
    """The features to remove, by number; None if no set was found. `is_smallest`: whether that is proved."""

    removed: tuple[int, ...] | None
    is_smallest: bool = True


def smallest_leaving(row: Removals, verdict: int) -> Found:
    """Return the smallest set without which the verdict is another, whichever."""
    found: list[tuple[int, float, tuple[int, ...]]] = []
    for rival in range(len(row.rest)):
        if rival == verdict:
            continue
        order, leads = _overtaking(row, verdict, rival)
        # Whether a tie is a win is asked of the model itself.
        for k in np.flatnonzero(leads >= -_rounding(row)).tolist():
            removed = tuple(order[:k].tolist())
            if row.verdict(removed) not in (verdict, None):
                found.append((len(removed), -float(leads[k]), removed))
                break
    return Found(min(found)[2] if found else None)


def _overtaking(row: Removals, verdict: int, rival: int) -> tuple[Longs, Floats]:
    """Return features in the order in which a rival overtakes soonest, and its lead after each.

    What makes the rival impossible must go first; what would make it so by its absence stays.
    """
    kept, gone = row.kept[:, rival], row.gone[:, rival]
    must = np.isneginf(kept)
    with np.errstate(invalid="ignore"):
        gains = (gone - np.where(must, 0.0, kept)) - (row.gone[:, verdict] - row.kept[:, verdict])
    lead = _total(row, rival, ~must) - _total(row, verdict, np.ones(len(kept), dtype=bool))
    if np.isneginf(row.rest[rival]) or (must & np.isneginf(gone)).any():
        return np.empty(0, dtype=np.int64), np.full(1, -np.inf)
    first = np.flatnonzero(must)
    others = np.flatnonzero(~must & (gains > 0))
    others = others[np.argsort(-gains[others], kind="stable")]
    leads = lead + gains[first].sum() + np.concatenate([[0.0], np.cumsum(gains[others])])
    # Before all that makes it impossible is gone, the rival has no lead.
    return np.concatenate([first, others]), np.concatenate([np.full(len(first), -np.inf), leads])


def _total(row: Removals, c: int, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return float(row.rest[c] + row.kept[chosen, c].sum())


def _rounding(row: Removals) -> float:
    sizes = np.where(np.isfinite(row.kept), np.abs(row.kept), 0.0).sum(axis=0)
    rest = np.where(np.isfinite(row.rest), np.abs(row.rest), 0.0)
    return 10 * ROUNDING * max(1.0, float((sizes + rest).max(initial=0.0)))


def smallest_reaching(row: Removals, verdict: int, goal: int) -> Found:
    """Return the smallest set without which the verdict is the goal."""
    leads = _overtaking(row, verdict, goal)[1]
    if leads.max() < -_rounding(row):
        return Found(None)
    if len(row.rest) == 2:
        return smallest_leaving(row, verdict)
    return _Search(row, goal).run()


@dataclass
class _Search:
    """A search for sets of features without which one class leads all others."""

    row: Removals
    goal: int
    steps: int = 0
    slack: float = 0.0
    free: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.slack = _rounding(self.row)
        kept, gone = self.row.kept, self.row.gone
        self._finite = np.where(np.isneginf(gone), 0.0, gone) - np.where(np.isneginf(kept), 0.0, kept)
        self._lost = np.isneginf(gone).astype(int) - np.isneginf(kept).astype(int)
        self._must = np.flatnonzero(np.isneginf(kept[:, self.goal])).tolist()
        with np.errstate(invalid="ignore"):
            self._gains = np.where(self._lost > 0, np.inf, self._finite[:, [self.goal]] - self._finite)
        # What hurts the goal against every class never helps; the most helpful come first.
        worth = np.where(np.isfinite(self._gains), self._gains, 0.0).sum(axis=1)
        order = np.argsort(-worth, kind="stable").tolist()
        barred = np.isneginf(gone[:, self.goal]) | (np.delete(self._gains, self.goal, axis=1) <= 0).all(
            axis=1
        )
        self.free = [at for at in order if at not in set(self._must) and not barred[at]]

    def run(self) -> Found:
        """Search sets of growing size."""
        start = self._sums(self._must)
        for size in range(len(self.free) + 1):
            found = self._extended(list(self._must), start, 0, size)
            if self.steps > MOST_STEPS:
                return Found(self._greedy(), is_smallest=False)
            if found is not None:
                return Found(tuple(found))
        return Found(None)

    def _sums(self, removed: list[int]) -> tuple[Floats, Floats]:
        row = self.row
        base = np.where(np.isneginf(row.rest), 0.0, row.rest)
        finite = base + np.where(np.isneginf(row.kept), 0.0, row.kept).sum(axis=0)
        lost = np.isneginf(row.rest).astype(int) + np.isneginf(row.kept).sum(axis=0)
        return finite + self._finite[removed].sum(axis=0), lost + self._lost[removed].sum(axis=0)

    def _extended(
        self, removed: list[int], sums: tuple[Floats, Floats], first: int, left: int
    ) -> list[int] | None:
        """Return the set with so many more of the free features from `first` on, if one does it."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            return None
        if not left:
            return removed if self._may_lead(sums) and self.row.verdict(removed) == self.goal else None
        if not self._can_lead(sums, first, left):
            return None
        for at in range(first, len(self.free) - left + 1):
            unit = self.free[at]
            more = sums[0] + self._finite[unit], sums[1] + self._lost[unit]
            found = self._extended([*removed, unit], more, at + 1, left - 1)
            if found is not None:
                return found
        return None

    def _may_lead(self, sums: tuple[Floats, Floats]) -> bool:
        finite, lost = sums
        rivals = np.delete(np.where(lost > 0, -np.inf, finite), self.goal)
        return not lost[self.goal] and bool((finite[self.goal] - rivals >= -self.slack).all())

    def _can_lead(self, sums: tuple[Floats, Floats], first: int, left: int) -> bool:
        """Whether so many more removals could put the goal ahead of each class by itself."""
        finite, lost = sums
        if lost[self.goal]:
            return False
        gains = self._gains[self.free[first:]]
        best = np.sort(gains, axis=0)[::-1][:left]
        reach = finite[self.goal] - finite + np.maximum(best, 0.0).sum(axis=0)
        # A class that is impossible now may stay so.
        return bool(np.delete((reach >= -self.slack) | (lost > 0), self.goal).all())

    def _greedy(self) -> tuple[int, ...] | None:
        """Return a set that does it, found by always removing what helps most against the hardest class."""
        removed, free = list(self._must), list(self.free)
        while self.row.verdict(removed) != self.goal:
            if not free:
                return None
            finite, lost = self._sums(removed)
            rivals = np.where(lost > 0, -np.inf, finite)
            rivals[self.goal] = -np.inf
            hardest = int(np.argmax(rivals))
            best = max(free, key=lambda at: self._gains[at, hardest])
            removed.append(best)
            free.remove(best)
        return tuple(removed)
