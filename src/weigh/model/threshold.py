"""The threshold model (decision stump): one numeric column, one cut, one verdict per side."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from weigh.features.blocks import Floats, Ints
from weigh.features.schema import Schema
from weigh.immutable import read_only
from weigh.model.base import EncodedRows, Model
from weigh.model.counts.count_table import CountArray, read_counts_array
from weigh.model.distributions.weights import Contribution, format_value
from weigh.model.evidence.evidence import Evidence, build_evidence
from weigh.model.evidence.exact_products import ClassProduct, Factor, smoothed_ratio, to_fraction
from weigh.model.file import store
from weigh.model.training_rows import TrainingRows
from weigh.result import Table
from weigh.text import format_count, truncate

LEFT, RIGHT, MISSING = 0, 1, 2


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdModel(Model):
    """score(class) = log P(class | side), with P = (n_class + 1) / (n + C) on each side of the cut.

    The sides are x ≤ cut, x > cut and x missing; `counts` are their class counts [3, C]. If no value was
    missing in training, a missing value has the class frequencies of all rows. Every cut in [low, high)
    splits the training rows in the same way; `cut` is the midpoint.
    """

    type_name: ClassVar[str] = "threshold"
    learner: ClassVar[str] = "Threshold"

    schema: Schema
    class_list: list[Any]
    cut: float
    low: float
    high: float
    counts: CountArray
    training_rows: TrainingRows | None = field(default=None, kw_only=True)

    @property
    def classes(self) -> list[Any]:
        """The classes, in canonical order."""
        return self.class_list

    @property
    def is_generative(self) -> bool:
        """The scores are log P(class | x), not joint log-probabilities."""
        return False

    @property
    def column(self) -> str:
        """The name of the column to which the cut applies."""
        return self.schema.column_groups[0].names[0]

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of equivalent cuts: low ≤ cut < high."""
        return self.low, self.high

    @property
    def mistakes(self) -> float:
        """The number, or total weight, of misclassified training rows."""
        return float(self.counts.sum() - self.counts.max(axis=1).sum())

    @cached_property
    @read_only
    def log_prior(self) -> Floats:
        """The log smoothed frequency of each class among all training rows."""
        return _log_frequencies(self.counts.sum(axis=0))

    @cached_property
    @read_only
    def weights(self) -> Floats:
        """The contribution of each side to the scores, [3, C]: log P(class | side) − log P(class)."""
        has_rows = self.counts.any(axis=1, keepdims=True)
        return np.where(has_rows, _log_frequencies(self.counts) - self.log_prior, 0.0)

    def display_tables(self) -> Iterator[Table]:
        """Yield the tables of the HTML display, with the class counts on each side of the cut."""
        yield from super().display_tables()
        cut = format_value(self.cut)
        sides = zip((f"≤ {cut}", f"> {cut}", "missing"), self.counts.tolist(), strict=True)
        rows = [
            [side, *map(format_count, counts)] for side, counts in sides if side != "missing" or any(counts)
        ]
        header = ["", *(truncate(c, 20) for c in self.classes)]
        yield Table([header, *rows], caption=f"Rows by {truncate(self.column, 40)}")

    def _sides(self, rows: EncodedRows) -> tuple[Floats, Ints]:
        block: Any = rows.blocks[0]
        values: Floats = block.values
        sides = np.where(values <= self.cut, LEFT, np.where(np.isnan(values), MISSING, RIGHT))
        return values, sides.astype(np.int32)

    def score_rows(self, rows: EncodedRows) -> Floats:
        """Return the scores [rows, classes]."""
        return np.asarray(self.log_prior + self.weights[self._sides(rows)[1]])

    def explain_rows(self, rows: EncodedRows, scores: Floats) -> Iterator[Evidence]:
        """Yield the evidence for each row: the side of the cut on which it lies."""
        for value, side in zip(*self._sides(rows), strict=True):
            text = self._describe_side(float(value), int(side))
            contributions = [Contribution(self.column, text, self.weights[side])]
            class_products = partial(self._class_products, int(side))
            yield build_evidence(self.classes, self.log_prior, contributions, class_products)

    def _describe_side(self, value: float, side: int) -> str:
        if side == MISSING:
            return "missing"
        return f"{format_value(value)} {'≤' if side == LEFT else '>'} {format_value(self.cut)}"

    def _class_products(self, side: int) -> list[ClassProduct]:
        counts = self.counts[side] if self.counts[side].any() else self.counts.sum(axis=0)
        condition = ("≤ " + format_value(self.cut), "> " + format_value(self.cut), "missing")[side]
        exact_counts = [to_fraction(n) for n in counts.tolist()]
        return [
            ClassProduct(label, (self._factor(condition, exact_counts, c),))
            for c, label in enumerate(self.classes)
        ]

    def _factor(self, condition: str, counts: list[Fraction], c: int) -> Factor:
        total, n_classes = sum(counts, Fraction(0)), Fraction(len(counts))
        name = f"class | {self.column} {condition}"
        return smoothed_ratio(name, "", counts[c], Fraction(1), total, n_classes)

    def to_store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of a model file: JSON metadata and arrays."""
        arrays: dict[str, Any] = {"counts": self.counts, "cut": np.array([self.low, self.cut, self.high])}
        meta: dict[str, Any] = {"schema": self.schema.to_json()}
        store.write_names(arrays, meta, "classes", self.class_list)
        if self.training_rows is not None:
            self.training_rows.write_arrays(arrays, meta)
        return meta, arrays

    @classmethod
    def from_store(cls, stored: store.FileContent, schema: Schema) -> ThresholdModel:
        """Read a model that `to_store` described."""
        classes = store.read_distinct_names(stored, "classes")
        cut = store.read_array(stored, "cut", (3,), [np.float64])
        if not cut[0] <= cut[1] < cut[2]:
            raise store.damaged_file_error(stored.path, "its cut lies outside its interval")
        if (
            not math.isfinite(cut[1])
            or len(schema.column_groups) != 1
            or schema.column_groups[0].kind.family != "normal"
        ):
            raise store.damaged_file_error(stored.path, "it does not cut exactly one numeric column")
        low, middle, high = cut.tolist()
        counts = read_counts_array(stored, "counts", (3, len(classes)))
        rows = TrainingRows.read_arrays(stored, schema)
        return cls(schema, classes, middle, low, high, counts, training_rows=rows)


def _log_frequencies(counts: CountArray) -> Floats:
    """Return log((n_class + 1) / (n + C)) along the last axis."""
    total = counts.sum(axis=-1, keepdims=True, dtype=np.float64) + counts.shape[-1]
    return np.asarray(np.log((counts + 1.0) / total))
