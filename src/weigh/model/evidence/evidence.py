"""Evidence for a row's verdict: named contributions that sum to the score difference."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, SupportsIndex, overload

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.decision import best_class, log_softmax
from weigh.model.distributions.weights import Contribution, format_value
from weigh.model.evidence.exact_products import ClassProduct, format_products, products_latex
from weigh.result import LINE_WIDTH, Facts, Section, Table, TabularResult, to_frame, to_json
from weigh.text import (
    escape_control_characters,
    format_probability,
    format_signed,
    html_paragraph,
    truncate,
)

MAX_PRINTED_ROWS = 40  # longer evidence is printed shortened
MAX_PRINTED_EVIDENCE = 10
MAX_UNKNOWN_WORDS = 20  # that the evidence names


@dataclass(frozen=True)
class EvidenceRow(Facts):
    """The contribution of one feature to the verdict; `nats` is in the `unit` of the evidence."""

    feature: str
    value: str
    nats: float
    _json = ("feature", "value", ("weight", "nats"))

    @property
    def title(self) -> str:
        """The feature with its value, for display."""
        if not self.value:
            return self.feature
        separator = " " if self.value.startswith("×") else " = "
        return f"{self.feature}{separator}{self.value}"


@dataclass(frozen=True, repr=False)
class Evidence(TabularResult):
    """The verdict for one row, compared with the runner-up.

    `table` lists the contribution of each feature, and `total` is their correctly rounded sum: the score of
    the verdict minus that of the runner-up, or the score itself if there is a single class. The scores of
    predictions round once per column, so that their difference may differ from `total` in the last bits. The
    `unit` is

    - "nats" for models with probabilities: natural logarithms, which start with the class prior and sum to
      log P(verdict | row) − log P(runner-up | row);
    - "points" for perceptrons: score differences, which start with the bias;
    - "votes" for voted perceptrons: differences of votes, without a bias;
    - "predicted" for regressions: parts of the prediction, which is the verdict.

    The first of the `n_unknown` words that the model does not know, which add nothing, are `unknown_words`.
    """

    verdict: Any
    runner_up: Any
    probabilities: dict[Any, float]
    table: tuple[EvidenceRow, ...]
    _class_products: Callable[[], list[ClassProduct]] = field(compare=False)
    unit: str = "nats"
    _pairwise_rows: Callable[[Any, Any], tuple[EvidenceRow, ...]] | None = field(default=None, compare=False)
    unknown_words: tuple[str, ...] = ()
    n_unknown: int = 0
    _frames = ("evidence",)

    def __post_init__(self) -> None:
        """Do nothing: evidence has no arrays, and there is one for every row."""

    @property
    def total(self) -> float:
        """The correctly rounded sum of the contributions; in nats, log-odds of verdict against runner-up."""
        return exact_sum([row.nats for row in self.table])

    @property
    def probability(self) -> float:
        """The posterior probability of the verdict; raises KeyError if the model has no probabilities."""
        return self.probabilities[self.verdict]

    def strongest(self, most: int = 10) -> tuple[EvidenceRow, ...]:
        """Return the rows with the largest absolute contributions."""
        return tuple(sorted(self.table, key=lambda row: -abs(row.nats))[:most])

    def shortened(self, most: int = 20) -> Evidence:
        """Return the evidence with all but the strongest rows summed in one row; the total is unchanged."""
        if len(self.table) <= most + 1:
            return self
        strongest = self.strongest(most)
        ids = set(map(id, strongest))
        others = [row.nats for row in self.table if id(row) not in ids]
        others_row = EvidenceRow(f"{len(others):,} others together", "", exact_sum(others))
        return replace(self, table=(*strongest, others_row))

    def rescale(self, factor: float, divisor: float) -> Evidence:
        """Return the evidence with all contributions multiplied by factor / divisor, both positive."""
        if factor == divisor:
            return self
        rows = (
            None
            if self._pairwise_rows is None
            else partial(_rescale_pairwise_rows, self._pairwise_rows, factor, divisor)
        )
        return replace(self, table=_rescale_rows(self.table, factor, divisor), _pairwise_rows=rows)

    def rows_between(self, first: Any, second: Any) -> tuple[EvidenceRow, ...]:
        """Return the contributions to the first class's score minus the second's; None means no second."""
        if (first, second) == (self.verdict, self.runner_up):
            return self.table
        if self._pairwise_rows is None:
            raise errors.Unsupported(f"This evidence only compares {self.verdict!r} with {self.runner_up!r}.")
        return self._pairwise_rows(first, second)

    def detach(self) -> Evidence:
        """Return the evidence without the data of other pairs of classes, to save memory."""
        return replace(self, _pairwise_rows=None)

    def with_flag_words(self, words: Mapping[str, tuple[str, str]]) -> Evidence:
        """Return the evidence with the words of flag columns, absent and present, instead of 0 and 1."""
        rows = self.table
        if words.keys().isdisjoint(row.feature for row in rows):
            return self
        return replace(self, table=tuple(_name_flag(row, words) for row in rows))

    def with_unknown_words(self, words: Sequence[str]) -> Evidence:
        """Return the evidence with the words of the row that the model does not know."""
        named = tuple(words[:MAX_UNKNOWN_WORDS])
        return replace(self, unknown_words=named, n_unknown=len(words)) if words else self

    def worked(self, format: str = "text") -> str:
        """Return the whole calculation in exact fractions, as "text" or "latex"."""
        format_calculation = {"text": format_products, "latex": products_latex}.get(format)
        if format_calculation is None:
            raise errors.parameter_error("worked", "format", "'text' or 'latex'", format)
        return format_calculation(self._class_products(), self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; contributions have the unit as their key."""
        return {
            "verdict": to_json(self.verdict),
            "runner_up": to_json(self.runner_up),
            **({"probabilities": to_json(self.probabilities)} if self.probabilities else {}),
            "evidence": [
                {"feature": row.feature, "value": row.value, self.unit: to_json(row.nats)}
                for row in self.table
            ],
            "total": to_json(self.total),
            **(
                {"unknown_words": list(self.unknown_words), "n_unknown": self.n_unknown}
                if self.n_unknown
                else {}
            ),
        }

    @property
    def headline(self) -> str:
        """The verdict with its probability or lead, and the runner-up."""
        if self.unit == "predicted":
            return f"predicted: {format_value(self.total)}"
        against = f" against {self.runner_up}" if self.runner_up is not None else ""
        return f"{self.verdict}: {self._lead}{against}"

    @property
    def _lead(self) -> str:
        if self.probabilities:
            is_rounded = self.runner_up is not None and math.isfinite(self.total)
            return f"probability {format_probability(self.probability, is_rounded)}"
        unit = self.unit.removesuffix("s") if self.total == 1 else self.unit
        return f"leads by {format_value(self.total)} {unit}"

    def sections(self) -> list[Section]:
        """Return the contributions, shortened if there are many."""
        table = self.shortened().table if len(self.table) > MAX_PRINTED_ROWS else self.table
        rows = [[row.feature, row.value, format_signed(row.nats, 4)] for row in table]
        rows = [["feature", "value", self.unit], *rows, ["total", "", format_signed(self.total, 4)]]
        sections = [Section("evidence", [Table(rows, left=2, bars=[row.nats for row in table])])]
        return [*sections, Section("unknown words", [self._unknown_line()])] if self.n_unknown else sections

    def _unknown_line(self) -> str:
        """Return the words that the model does not know, as a sentence."""
        more = self.n_unknown - len(self.unknown_words)
        listed = ", ".join(map(escape_control_characters, self.unknown_words))
        return f"Unknown words, which add nothing: {listed}" + (f" and {more:,} more." if more else ".")

    def __str__(self) -> str:
        if len(self.table) > MAX_PRINTED_ROWS:
            return str(self.shortened())
        lines = [escape_control_characters(self.headline), ""]
        names = [truncate(row.title, 44) for row in self.table]
        width = max(map(len, [*names, "total"]))
        largest = max((abs(r.nats) for r in self.table if math.isfinite(r.nats)), default=1.0) or 1.0
        numbers = [format_signed(row.nats, 4) for row in self.table]
        total = format_signed(self.total, 4)
        number_width = max(9, *map(len, numbers), len(total))
        for name, number, row in zip(names, numbers, self.table, strict=True):
            length = 12 if math.isinf(row.nats) else round(12 * (abs(row.nats) / largest))
            bar = ("+" if row.nats > 0 else "−") * length
            lines.append(f"  {name:<{width}}  {number:>{number_width}}  {bar}".rstrip())
        lines += [f"  {'total':<{width}}  {total:>{number_width}}  {self.unit}"]
        if self.n_unknown:
            lines += ["", *textwrap.wrap(self._unknown_line(), LINE_WIDTH)]
        return "\n".join(lines)

    def plot(self, most: int = 20) -> Any:
        """Plot the strongest contributions as bars; the others are summed in one bar."""
        from weigh.pictures import bar_chart
        from weigh.pictures.chart_data import clip_infinite

        rows = self.shortened(most).table
        values = clip_infinite([row.nats for row in rows])
        bars = [{"name": row.title, "value": value} for row, value in zip(rows, values, strict=True)]
        if self.unit == "predicted":
            return bar_chart(bars, x="adds to the prediction", title=self.headline)
        title = f"{self.headline}, total {format_signed(self.total, 4)} {self.unit}"
        return bar_chart(bars, x=f"{self.unit} for {self.verdict}", title=title)


def build_evidence(
    classes: Sequence[Any],
    base_scores: Floats,
    contributions: Sequence[Contribution],
    class_products: Callable[[], list[ClassProduct]],
    tie: str = "first",
    unit: str = "nats",
    verdict: int | None = None,
    base_name: str | None = None,
) -> Evidence:
    """Return the evidence for one row from the contributions of its features to each class's score.

    `base_scores` [classes] are the scores without features: log priors or biases.
    With the unit "nats", scores are logarithms and the evidence has probabilities. Pass `verdict` if it is
    known, because sums in another order may round differently. `base_name` names the first row.
    """
    score_parts = [base_scores, *(contribution.logs for contribution in contributions)]
    scores = np.array([[exact_sum([float(part[c]) for part in score_parts]) for c in range(len(classes))]])
    verdict = int(best_class(scores, tie)[0]) if verdict is None else verdict
    others = [c for c in range(len(classes)) if c != verdict]
    second = max(others, key=lambda c: (scores[0, c], -c)) if others else None
    names = [
        (base_name or ("class prior" if unit == "nats" else "bias"), ""),
        *((contribution.feature, contribution.value) for contribution in contributions),
    ]
    first_row = 1 if unit == "votes" else 0  # votes have no bias
    rows = partial(_contrast_rows, classes, names[first_row:], score_parts[first_row:])
    runner_up = None if second is None else classes[second]
    probabilities = {}
    if unit == "nats":
        probabilities = dict(zip(classes, np.exp(log_softmax(scores))[0].tolist(), strict=True))
    table = rows(classes[verdict], runner_up)
    return Evidence(classes[verdict], runner_up, probabilities, table, class_products, unit, rows)


def _contrast_rows(
    classes: Sequence[Any],
    names: Sequence[tuple[str, str]],
    score_parts: Sequence[Floats],
    first: Any,
    second: Any,
) -> tuple[EvidenceRow, ...]:
    """Return the contributions to the first class's score minus those to the second's."""
    a, b = classes.index(first), None if second is None else classes.index(second)
    pairs = zip(names, score_parts, strict=True)
    return tuple(
        EvidenceRow(feature, value, _class_difference(part, a, b)) for (feature, value), part in pairs
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
    """Return the correctly rounded sum, or −inf if any part is −inf."""
    return -math.inf if -math.inf in parts else math.fsum(parts)


def _class_difference(scores: Floats, first: int, second: int | None) -> float:
    if second is None:
        return float(scores[first])
    if scores[first] == scores[second]:
        return 0.0
    return float(scores[first]) - float(scores[second])


def _name_flag(row: EvidenceRow, words: Mapping[str, tuple[str, str]]) -> EvidenceRow:
    if row.feature not in words or row.value not in ("0", "1"):
        return row
    return replace(row, value=words[row.feature][int(row.value)])


class Explained(list[Evidence]):
    """The list of evidence that `explain` returns; it displays the first ten."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Evidence: ...
    @overload
    def __getitem__(self, index: slice) -> Explained: ...
    def __getitem__(self, index: Any) -> Any:
        item: Any = super().__getitem__(index)
        return Explained(item) if isinstance(index, slice) else item

    def to_frame(self) -> Any:
        """Return the contributions to all verdicts as a pandas DataFrame of unrounded numbers."""
        return to_frame(
            [
                {"row": i, "verdict": evidence.verdict, "runner_up": evidence.runner_up, **record}
                for i, evidence in enumerate(self)
                for record in evidence.to_dict()["evidence"]
            ]
        )

    def __repr__(self) -> str:
        return "\n\n".join(self._with_remainder(map(str, self[:MAX_PRINTED_EVIDENCE]))) or "[]"

    def _repr_html_(self) -> str:
        tables = [evidence._repr_html_() for evidence in self[:MAX_PRINTED_EVIDENCE]]
        notes = [*self._with_remainder([]), *([] if self else ["No rows."])]
        return f"<div>{''.join([*tables, *map(html_paragraph, notes)])}</div>"

    def _with_remainder(self, parts: Iterable[str]) -> list[str]:
        n_hidden = len(self) - MAX_PRINTED_EVIDENCE
        return [*parts, *([f"… and {n_hidden:,} more"] if n_hidden > 0 else [])]
