"""Evidence: why a row got its verdict, as named contributions that sum to the score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.decision import best, normalised
from weigh.model.weights import Contribution, as_text
from weigh.model.worked import ClassWork, worked_latex, worked_text
from weigh.text import cut, html_table, plain, probable, signed

LONGEST = 40  # rows that are printed one by one; longer evidence is printed by its strongest


@dataclass(frozen=True)
class Row:
    """One line of evidence: how many nats (or points of a score) a feature speaks for the verdict."""

    feature: str
    value: str
    nats: float

    @property
    def title(self) -> str:
        """The feature with its value, for people."""
        if not self.value:
            return self.feature
        return (
            f"{self.feature} {self.value}" if self.value.startswith("×") else f"{self.feature} = {self.value}"
        )


@dataclass(frozen=True, repr=False)
class Evidence:
    """The verdict for one row, weighed against the runner-up.

    `table` lists what each feature adds to log P(verdict | row) − log P(runner-up | row), in nats
    (natural logarithms), beginning with the class prior; `total` is their sum. With one class only
    there is no runner-up, and the contributions are those to the class's own score. Learners without
    probabilities tell differences of scores instead, in points or votes, as `unit` says, beginning
    with the bias. Of a regression they sum to the number that is predicted, which is the verdict.
    """

    verdict: Any
    runner_up: Any
    probabilities: dict[Any, float]
    table: tuple[Row, ...]
    _work: Callable[[], list[ClassWork]] = field(compare=False)
    unit: str = "nats"
    _rows: Callable[[Any, Any], tuple[Row, ...]] | None = field(default=None, compare=False)

    @property
    def total(self) -> float:
        """The sum of all contributions: the log-odds of the verdict against the runner-up."""
        return exact_sum([row.nats for row in self.table])

    @property
    def probability(self) -> float:
        """The posterior probability of the verdict."""
        return self.probabilities[self.verdict]

    def strongest(self, most: int = 10) -> tuple[Row, ...]:
        """Return the rows that weigh most, for or against."""
        return tuple(sorted(self.table, key=lambda row: -abs(row.nats))[:most])

    def shortened(self, most: int = 20) -> Evidence:
        """Return the evidence with all but the strongest rows added up in one; the total stays."""
        if len(self.table) <= most + 1:
            return self
        strong = self.strongest(most)
        kept = set(map(id, strong))
        rest = [row.nats for row in self.table if id(row) not in kept]
        return replace(self, table=(*strong, Row(f"{len(rest):,} others together", "", exact_sum(rest))))

    def scaled(self, factor: float, divisor: float) -> Evidence:
        """Return the evidence with all its amounts times one number above zero by another."""
        if factor == divisor:
            return self
        rows = None if self._rows is None else partial(_scaled_rows, self._rows, factor, divisor)
        return replace(self, table=_scaled(self.table, factor, divisor), _rows=rows)

    def rows_between(self, first: Any, second: Any) -> tuple[Row, ...]:
        """Return what each feature speaks for one class against any other; None is no other."""
        if (first, second) == (self.verdict, self.runner_up):
            return self.table
        if self._rows is None:
            raise errors.Unsupported(
                f"This evidence is that for {self.verdict!r} against {self.runner_up!r}, and no other."
            )
        return self._rows(first, second)

    def settled(self) -> Evidence:
        """Return the evidence without what other pairs of classes would need, to be kept."""
        return replace(self, _rows=None)

    def worked(self, format: str = "text") -> str:
        """Return the whole calculation in exact fractions, as "text" or "latex"."""
        writer = {"text": worked_text, "latex": worked_latex}.get(format)
        if writer is None:
            raise errors.parameter("worked", "format", "'text' or 'latex'", format)
        return writer(self._work(), self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain data for JSON; infinite nats are the text "inf"."""
        shares = {"probabilities": {str(label): p for label, p in self.probabilities.items()}}
        return {
            "verdict": self.verdict,
            "runner_up": self.runner_up,
            **(shares if self.probabilities else {}),
            "evidence": [
                {"feature": row.feature, "value": row.value, self.unit: plain(row.nats)} for row in self.table
            ],
            "total": plain(self.total),
        }

    @property
    def _headline(self) -> str:
        if self.probabilities:
            is_rounded = self.runner_up is not None and math.isfinite(self.total)
            return f"probability {probable(self.probability, is_rounded)}"
        unit = self.unit.removesuffix("s") if self.total == 1 else self.unit
        return f"leads by {as_text(self.total)} {unit}"

    @property
    def _title(self) -> str:
        if self.unit == "predicted":
            return f"predicted: {as_text(self.total)}"
        against = f" against {self.runner_up}" if self.runner_up is not None else ""
        return f"{self.verdict}: {self._headline}{against}"

    def __str__(self) -> str:
        if len(self.table) > LONGEST:
            return str(self.shortened())
        lines = [self._title, ""]
        names = [cut(row.title, 44) for row in self.table]
        width = max(map(len, [*names, "total"]))
        largest = max((abs(r.nats) for r in self.table if math.isfinite(r.nats)), default=1.0) or 1.0
        room = max(9, *(len(signed(row.nats, 4)) for row in self.table), len(signed(self.total, 4)))
        for name, row in zip(names, self.table, strict=True):
            length = 12 if math.isinf(row.nats) else round(12 * abs(row.nats) / largest)
            bar = ("+" if row.nats > 0 else "−") * length
            lines.append(f"  {name:<{width}}  {signed(row.nats, 4):>{room}}  {bar}".rstrip())
        lines += [f"  {'total':<{width}}  {signed(self.total, 4):>{room}}  {self.unit}"]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, most: int = 20) -> Any:
        """Return a picture of what speaks for the verdict and against it; the weakest are added up."""
        from weigh.pictures import bars
        from weigh.pictures.ends import bounded

        shown = self.shortened(most).table
        sizes = bounded([row.nats for row in shown])
        rows = [{"name": row.title, "value": size} for row, size in zip(shown, sizes, strict=True)]
        if self.unit == "predicted":
            return bars(rows, x="adds to the prediction", title=self._title)
        title = f"{self._title}, total {signed(self.total, 4)} {self.unit}"
        return bars(rows, x=f"{self.unit} for {self.verdict}", title=title)

    def _repr_html_(self) -> str:
        if len(self.table) > LONGEST:
            return self.shortened()._repr_html_()
        rows = [[row.feature, row.value, signed(row.nats, 4)] for row in self.table]
        rows = [["feature", "value", self.unit], *rows, ["total", "", signed(self.total, 4)]]
        return html_table(self._title, rows, 2, [*(row.nats for row in self.table), None])


def weighed(
    classes: Sequence[Any],
    log_prior: Floats,
    contributions: Sequence[Contribution],
    work: Callable[[], list[ClassWork]],
    tie: str = "first",
    unit: str = "nats",
    verdict: int | None = None,
    base: str | None = None,
) -> Evidence:
    """Return the evidence of one row from what each feature adds to each class's score.

    In nats scores are logarithms and have probabilities. A verdict that is known stays the verdict,
    also where sums in another order would round otherwise. `base` is what the first row is called.
    """
    logs = [log_prior, *(found.logs for found in contributions)]
    scores = np.array([[exact_sum([float(part[c]) for part in logs]) for c in range(len(classes))]])
    verdict = int(best(scores, tie)[0]) if verdict is None else verdict
    rest = [c for c in range(len(classes)) if c != verdict]
    second = max(rest, key=lambda c: (scores[0, c], -c)) if rest else None
    names = [
        (base or ("class prior" if unit == "nats" else "bias"), ""),
        *((found.feature, found.value) for found in contributions),
    ]
    skipped = unit == "votes"
    rows = partial(_rows, classes, names[skipped:], logs[skipped:])
    shares = np.exp(normalised(scores))[0].tolist() if unit == "nats" else []
    runner_up = None if second is None else classes[second]
    probabilities = dict(zip(classes, shares, strict=True)) if shares else {}
    return Evidence(
        classes[verdict], runner_up, probabilities, rows(classes[verdict], runner_up), work, unit, rows
    )


def _rows(
    classes: Sequence[Any],
    names: Sequence[tuple[str, str]],
    logs: Sequence[Floats],
    first: Any,
    second: Any,
) -> tuple[Row, ...]:
    own, other = classes.index(first), None if second is None else classes.index(second)
    pairs = zip(names, logs, strict=True)
    return tuple(Row(feature, value, _difference(part, own, other)) for (feature, value), part in pairs)


def _scaled_rows(
    rows: Callable[[Any, Any], tuple[Row, ...]], factor: float, divisor: float, first: Any, second: Any
) -> tuple[Row, ...]:
    return _scaled(rows(first, second), factor, divisor)


def _scaled(table: Sequence[Row], factor: float, divisor: float) -> tuple[Row, ...]:
    return tuple(replace(row, nats=row.nats * factor / divisor) for row in table)


def exact_sum(parts: Sequence[float]) -> float:
    """Return the correctly rounded sum; minus infinity outweighs everything."""
    return -math.inf if -math.inf in parts else math.fsum(parts)


def _difference(logs: Floats, first: int, second: int | None) -> float:
    if second is None:
        return float(logs[first])
    if logs[first] == logs[second]:
        return 0.0
    return float(logs[first]) - float(logs[second])
