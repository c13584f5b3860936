"""Learners that are tried on the same rows."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.trials.entrant import Entrant
from weigh.trials.learners import named
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Groups, Split, groups_of, repeated_folds
from weigh.trials.trial import LOSSES, checked_loss


@dataclass(frozen=True, eq=False)
class Contest:
    """Learners by name, each ready for the rows, the groups of the rows, and the loss they are judged by."""

    entrants: dict[str, Entrant]
    rows: LabelledRows
    groups: Groups
    loss: str

    @classmethod
    def of(cls, learners: Any, X: Any, y: Any, loss: str | None, owner: str) -> Contest:
        """Look once, before any trial, whether learners, rows and loss go together."""
        tried = named(learners, owner)
        judged = checked_loss(loss, tried, owner)
        rows = LabelledRows.of(X, y)
        if LOSSES[judged].of_numbers:
            rows = rows.measured()
        groups = groups_of(rows.labels, LOSSES[judged].of_numbers)
        entrants = {name: Entrant.of(name, learner, rows) for name, learner in tried.items()}
        return cls(entrants, rows, groups, judged)

    def splits(self, folds: int, repeats: int, seed: int, owner: str) -> list[Split]:
        """Cut the rows into folds, `repeats` times anew, and warn of classes that some folds lack."""
        found = repeated_folds(self.groups, folds, repeats, seed, owner)
        sizes = Counter(self.groups.tolist())
        label = dict(zip(self.groups.tolist(), self.rows.labels.tolist(), strict=True))
        rare = [label[group] for group, size in sizes.items() if len(sizes) > 1 and size < folds]
        if rare:
            warnings.warn(
                f"{owner}: of {errors.listing(rare)} there are fewer rows than the {folds} folds, so some "
                f"folds hold out none of them, or leave none to learn from. Give more of them, or fewer "
                f"folds.",
                errors.OddClasses,
                stacklevel=3,
            )
        return found
