"""Evidence: why a row got its verdict, as named contributions that sum to the score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, SupportsIndex, overload

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.decision import best_class, log_softmax
from weigh.model.distributions.weights import Contribution, format_value
from weigh.model.evidence.exact_products import ClassProduct, format_products, products_latex
from weigh.text import format_probability, format_signed, html_paragraph, html_table, to_json_value, truncate

MAX_PRINTED_ROWS = 40  # rows that are printed one by one; longer evidence is printed by its strongest


@dataclass(frozen=True)
class EvidenceRow:
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
    table: tuple[EvidenceRow, ...]
    _class_products: Callable[[], list[ClassProduct]] = field(compare=False)
    unit: str = "nats"
    _pairwise_rows: Callable[[Any, Any], tuple[EvidenceRow, ...]] | None = field(default=None, compare=False)

    @property
    def total(self) -> float:
        """The sum of all contributions: the log-odds of the verdict against the runner-up."""
        return exact_sum([row.nats for row in self.table])

    @property
    def probability(self) -> float:
        """The posterior probability of the verdict."""
        return self.probabilities[self.verdict]

    def strongest(self, most: int = 10) -> tuple[EvidenceRow, ...]:
        """Return the rows that weigh most, for or against."""
        return tuple(sorted(self.table, key=lambda row: -abs(row.nats))[:most])

    def shortened(self, most: int = 20) -> Evidence:
        """Return the evidence with all but the strongest rows added up in one; the total stays."""
        if len(self.table) <= most + 1:
            return self
        strong = self.strongest(most)
        kept = set(map(id, strong))
        rest = [row.nats for row in self.table if id(row) not in kept]
        return replace(
            self, table=(*strong, EvidenceRow(f"{len(rest):,} others together", "", exact_sum(rest)))
        )

    def rescale(self, factor: float, divisor: float) -> Evidence:
        """Return the evidence with all its amounts times one number above zero by another."""
        if factor == divisor:
            return self
        rows = (
            None
            if self._pairwise_rows is None
            else partial(_rescale_pairwise_rows, self._pairwise_rows, factor, divisor)
        )
        return replace(self, table=_rescale_rows(self.table, factor, divisor), _pairwise_rows=rows)

    def rows_between(self, first: Any, second: Any) -> tuple[EvidenceRow, ...]:
        """Return what each feature speaks for one class against any other; None is no other."""
        if (first, second) == (self.verdict, self.runner_up):
            return self.table
        if self._pairwise_rows is None:
            raise errors.Unsupported(
                f"This evidence is that for {self.verdict!r} against {self.runner_up!r}, and no other."
            )
        return self._pairwise_rows(first, second)

    def detach(self) -> Evidence:
        """Return the evidence without what other pairs of classes would need, to be kept."""
        return replace(self, _pairwise_rows=None)

    def worked(self, format: str = "text") -> str:
        """Return the whole calculation in exact fractions, as "text" or "latex"."""
        writer = {"text": format_products, "latex": products_latex}.get(format)
        if writer is None:
            raise errors.parameter_error("worked", "format", "'text' or 'latex'", format)
        return writer(self._class_products(), self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain data for JSON; infinite nats are the text "inf"."""
        shares = {"probabilities": {str(label): p for label, p in self.probabilities.items()}}
        return {
            "verdict": self.verdict,
            "runner_up": self.runner_up,
            **(shares if self.probabilities else {}),
            "evidence": [
                {"feature": row.feature, "value": row.value, self.unit: to_json_value(row.nats)}
                for row in self.table
            ],
            "total": to_json_value(self.total),
        }

    @property
    def _headline(self) -> str:
        if self.probabilities:
            is_rounded = self.runner_up is not None and math.isfinite(self.total)
            return f"probability {format_probability(self.probability, is_rounded)}"
        unit = self.unit.removesuffix("s") if self.total == 1 else self.unit
        return f"leads by {format_value(self.total)} {unit}"

    @property
    def _title(self) -> str:
        if self.unit == "predicted":
            return f"predicted: {format_value(self.total)}"
        against = f" against {self.runner_up}" if self.runner_up is not None else ""
        return f"{self.verdict}: {self._headline}{against}"

    def __str__(self) -> str:
        if len(self.table) > MAX_PRINTED_ROWS:
            return str(self.shortened())
        lines = [self._title, ""]
        names = [truncate(row.title, 44) for row in self.table]
        width = max(map(len, [*names, "total"]))
        largest = max((abs(r.nats) for r in self.table if math.isfinite(r.nats)), default=1.0) or 1.0
        room = max(
            9, *(len(format_signed(row.nats, 4)) for row in self.table), len(format_signed(self.total, 4))
        )
        for name, row in zip(names, self.table, strict=True):
            length = 12 if math.isinf(row.nats) else round(12 * abs(row.nats) / largest)
            bar = ("+" if row.nats > 0 else "−") * length
            lines.append(f"  {name:<{width}}  {format_signed(row.nats, 4):>{room}}  {bar}".rstrip())
        lines += [f"  {'total':<{width}}  {format_signed(self.total, 4):>{room}}  {self.unit}"]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, most: int = 20) -> Any:
        """Return a picture of what speaks for the verdict and against it; the weakest are added up."""
        from weigh.pictures import bar_chart
        from weigh.pictures.chart_data import clip_infinite

        shown = self.shortened(most).table
        sizes = clip_infinite([row.nats for row in shown])
        rows = [{"name": row.title, "value": size} for row, size in zip(shown, sizes, strict=True)]
        if self.unit == "predicted":
            return bar_chart(rows, x="adds to the prediction", title=self._title)
        title = f"{self._title}, total {format_signed(self.total, 4)} {self.unit}"
        return bar_chart(rows, x=f"{self.unit} for {self.verdict}", title=title)

    def _repr_html_(self) -> str:
        if len(self.table) > MAX_PRINTED_ROWS:
            return self.shortened()._repr_html_()
        rows = [[row.feature, row.value, format_signed(row.nats, 4)] for row in self.table]
        rows = [["feature", "value", self.unit], *rows, ["total", "", format_signed(self.total, 4)]]
        return html_table(self._title, rows, 2, [*(row.nats for row in self.table), None])


def build_evidence(
    classes: Sequence[Any],
    log_prior: Floats,
    contributions: Sequence[Contribution],
    work: Callable[[], list[ClassProduct]],
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
    verdict = int(best_class(scores, tie)[0]) if verdict is None else verdict
    rest = [c for c in range(len(classes)) if c != verdict]
    second = max(rest, key=lambda c: (scores[0, c], -c)) if rest else None
    names = [
        (base or ("class prior" if unit == "nats" else "bias"), ""),
        *((found.feature, found.value) for found in contributions),
    ]
    skipped = unit == "votes"
    rows = partial(_contrast_rows, classes, names[skipped:], logs[skipped:])
    shares = np.exp(log_softmax(scores))[0].tolist() if unit == "nats" else []
    runner_up = None if second is None else classes[second]
    probabilities = dict(zip(classes, shares, strict=True)) if shares else {}
    return Evidence(
        classes[verdict], runner_up, probabilities, rows(classes[verdict], runner_up), work, unit, rows
    )


def _contrast_rows(
    classes: Sequence[Any],
    names: Sequence[tuple[str, str]],
    logs: Sequence[Floats],
    first: Any,
    second: Any,
) -> tuple[EvidenceRow, ...]:
    own, other = classes.index(first), None if second is None else classes.index(second)
    pairs = zip(names, logs, strict=True)
    return tuple(
        EvidenceRow(feature, value, _class_difference(part, own, other)) for (feature, value), part in pairs
    )


def _rescale_pairwise_rows(
    rows: Callable[[Any, Any], tuple[EvidenceRow, ...]],
    factor: float,
    divisor: float,
    first: Any,
    second: Any,
) -> tuple[EvidenceRow, ...]:
    return _rescale_rows(rows(first, second), factor, divisor)


def _rescale_rows(table: Sequence[EvidenceRow], factor: float, divisor: float) -> tuple[EvidenceRow, ...]:
    return tuple(replace(row, nats=row.nats * factor / divisor) for row in table)


def exact_sum(parts: Sequence[float]) -> float:
    """Return the correctly rounded sum; minus infinity outweighs everything."""
    return -math.inf if -math.inf in parts else math.fsum(parts)


def _class_difference(logs: Floats, first: int, second: int | None) -> float:
    if second is None:
        return float(logs[first])
    if logs[first] == logs[second]:
        return 0.0
    return float(logs[first]) - float(logs[second])


MAX_PRINTED_EVIDENCE = 10


class Explained(list[Evidence]):
    """What `explain` returns: the evidence for each row, in a list; prints and shows the first ten."""

    @overload
    def __getitem__(self, at: SupportsIndex) -> Evidence: ...
    @overload
    def __getitem__(self, at: slice) -> Explained: ...
    def __getitem__(self, at: Any) -> Any:
        found: Any = super().__getitem__(at)
        return Explained(found) if isinstance(at, slice) else found

    def __repr__(self) -> str:
        return "\n\n".join(self._with_remainder(map(str, self[:MAX_PRINTED_EVIDENCE]))) or "[]"

    def _repr_html_(self) -> str:
        shown = [evidence._repr_html_() for evidence in self[:MAX_PRINTED_EVIDENCE]]
        notes = [*self._with_remainder([]), *([] if self else ["No rows."])]
        return f"<div>{''.join([*shown, *map(html_paragraph, notes)])}</div>"

    def _with_remainder(self, shown: Iterable[str]) -> list[str]:
        more = len(self) - MAX_PRINTED_EVIDENCE
        return [*shown, *([f"… and {more:,} more"] if more > 0 else [])]
