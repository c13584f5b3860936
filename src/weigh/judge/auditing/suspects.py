"""Rows whose labels a model doubts: the worst of them kept, with the reasons against their labels."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weigh.model.evidence import Row
from weigh.text import plain


@dataclass(frozen=True)
class Suspect:
    """A row at odds with the model: `row` is its number, the first is 0, `said` what the model says instead.

    `probability` is that of the given `label`, `loss` its −log; `said_probability` that of what is said. A
    model without probabilities has none of them, and `lead` tells by how much what it says leads the label:
    in nats of log-odds, or in points of its scores. `reasons` are the strongest features that speak for what
    is said against the label.
    """

    row: int
    label: Any
    said: Any
    lead: float
    probability: float | None = None
    said_probability: float | None = None
    loss: float | None = None
    reasons: tuple[Row, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        named = ("row", "label", "said", "lead", "probability", "said_probability", "loss")
        reasons = [
            {"feature": each.feature, "value": each.value, "weight": plain(each.nats)}
            for each in self.reasons
        ]
        return {name: plain(getattr(self, name)) for name in named} | {"reasons": reasons}


@dataclass(frozen=True)
class ClassPair:
    """How many rows of one label are said to be of another class, and how many of them look wrong."""

    label: Any
    said: Any
    rows: int
    wrong: int | None

    def to_dict(self) -> dict[str, Any]:
        """The pair for JSON."""
        return {
            "label": plain(self.label),
            "said": plain(self.said),
            "rows": self.rows,
            "look_wrong": self.wrong,
        }


class Worst:
    """The rows most at odds so far, in bounded memory; reasons are worked out while a row is at hand."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, int, Suspect]] = []

    def add(self, found: Sequence[tuple[float, int]], made: Callable[[int], Suspect]) -> None:
        """Take in rows by how much they are at odds; `made` tells all about row i of this batch.

        Each of `found` is (how much, number of the row within its batch).
        """
        best = heapq.nlargest(self._most, found, key=lambda pair: (pair[0], -pair[1]))
        for size, at in best:
            if len(self._heap) == self._most and size <= self._heap[0][0]:
                break
            suspect = made(at)
            entry = (size, -suspect.row, suspect)
            if len(self._heap) < self._most:
                heapq.heappush(self._heap, entry)
            else:
                heapq.heapreplace(self._heap, entry)

    def rows(self) -> tuple[Suspect, ...]:
        """Return the rows, the worst first."""
        return tuple(suspect for *_, suspect in sorted(self._heap, key=lambda entry: (-entry[0], -entry[1])))
