"""One class of an evaluation: how surely it is found, and how well it is ranked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.judge.measures.areas import NOTHING
from weigh.judge.measures.confusion import Confusion, Shares
from weigh.judge.measures.measure import Measure
from weigh.text import plain


@dataclass(frozen=True)
class ClassRow:
    """One class: precision, recall, F1 and the weight of its rows; 0/0 is nan.

    `roc_area` and `pr_area` are those of the class against the rest, nan where it has no rows or all of
    them, or where the classifier gives no scores.
    """

    label: Any
    precision: Measure
    recall: Measure
    f1: float
    support: float
    f1_low: float = math.nan
    f1_high: float = math.nan
    roc_area: Measure = NOTHING[0]
    pr_area: Measure = NOTHING[1]

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "class": plain(self.label),
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
            "f1": plain(self.f1),
            "f1_low": plain(self.f1_low),
            "f1_high": plain(self.f1_high),
            "support": self.support,
            "roc_area": self.roc_area.to_dict(),
            "pr_area": self.pr_area.to_dict(),
        }


def class_rows(
    confusion: Confusion,
    shares: Shares,
    classes: Sequence[Any],
    areas: Sequence[tuple[Measure, Measure]],
) -> tuple[ClassRow, ...]:
    """The rows of all classes; `areas` are (ROC, PR) of each."""
    parts = (shares.precision, shares.recall, shares.f1)
    precision, recall, f1 = (zip(*(ends.tolist() for ends in part), strict=True) for part in parts)
    columns = zip(classes, precision, recall, f1, confusion.support().tolist(), areas, strict=True)
    return tuple(
        ClassRow(label, Measure("precision", *p), Measure("recall", *r), f[0], support, f[1], f[2], roc, pr)
        for label, p, r, f, support, (roc, pr) in columns
    )
