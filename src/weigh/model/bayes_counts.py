"""Everything naive Bayes counts: rows per class, and each part's counts.

`plus` and `canonical` are the whole of learning: fitting adds chunks, merging adds models,
forgetting takes away. Smoothing never enters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Block, Part, Schema, Wordy
from weigh.features.blocks import Ints, Longs
from weigh.features.columns import encode
from weigh.model import store
from weigh.model.counts import FlagCounts, NumberCounts
from weigh.model.tally import Counting, Table, Tally, get_table, name_key, placed, whole
from weigh.model.word_tally import WordTally
from weigh.source import Chunk
from weigh.source.chunk import is_arrow

PartCounts = Tally | WordTally | FlagCounts | NumberCounts
Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class BayesCounts:
    """Rows per class and counts per part; `declared` classes stay without any row."""

    classes: list[Label]
    rows: Table
    parts: list[Any]
    declared: tuple[Label, ...] = ()

    def plus(self, other: BayesCounts, sign: int = 1) -> BayesCounts:
        """Return the sum or difference; classes are matched by their labels."""
        if other.classes == self.classes:
            first, second = self, other
        else:
            known = set(self.classes)
            classes = self.classes + [label for label in other.classes if label not in known]
            first, second = self._over(classes), other._over(classes)
        parts = [a.plus(b, sign) for a, b in zip(first.parts, second.parts, strict=True)]
        declared = tuple(dict.fromkeys([*self.declared, *(other.declared if sign > 0 else ())]))
        return BayesCounts(first.classes, first.rows + sign * second.rows, parts, declared)

    def _over(self, classes: Sequence[Label]) -> BayesCounts:
        place = {label: at for at, label in enumerate(classes)}
        places: Longs = np.array([place[label] for label in self.classes], dtype=np.int64)
        parts = [part.placed(places, len(classes)) for part in self.parts]
        return replace(self, classes=list(classes), rows=placed(self.rows, places, len(classes)), parts=parts)

    def declaring(self, classes: Iterable[Label]) -> BayesCounts:
        """Return the counts with classes that exist even without rows."""
        declared = sorted({*self.declared, *classes}, key=name_key)
        known = set(self.classes)
        over = self._over(self.classes + [label for label in declared if label not in known])
        return replace(over, declared=tuple(declared))

    def canonical(self) -> BayesCounts:
        """Return the one form that equal counts have: names sorted, what is empty gone."""
        stay = set(self.declared)
        kept = [at for at, n in enumerate(self.rows.tolist()) if n != 0 or self.classes[at] in stay]
        order: Longs = np.array(sorted(kept, key=lambda at: name_key(self.classes[at])), dtype=np.int64)
        parts = [part.taken(order).canonical() for part in self.parts]
        declared = tuple(sorted(self.declared, key=name_key))
        return BayesCounts([self.classes[at] for at in order], whole(self.rows[order]), parts, declared)

    def least(self) -> float:
        """Return the smallest of all counts."""
        return float(min([self.rows.min(initial=0), *(part.least() for part in self.parts)]))

    def put(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the counts to what a model file will hold."""
        store.put_names(arrays, meta, "classes", self.classes)
        store.put_names(arrays, meta, "declared", self.declared)
        arrays["rows"] = self.rows
        for at, part in enumerate(self.parts):
            part.put(arrays, meta, f"part{at}")

    @classmethod
    def get(cls, stored: store.Stored, schema: Schema) -> BayesCounts:
        """Return the counts that `put` added."""
        classes = store.get_distinct(stored, "classes")
        rows = get_table(stored, "rows", (len(classes),))
        parts = [get_part(stored, part, f"part{at}", len(classes)) for at, part in enumerate(schema.parts)]
        return cls(classes, rows, parts, tuple(store.get_distinct(stored, "declared")))


def count_part(part: Part, block: Block, by: Counting) -> PartCounts:
    """Count one block in the way its kind asks for."""
    counted: PartCounts = _COUNT[part.kind.family](part, block, by)
    return counted


def get_part(stored: store.Stored, part: Part, key: str, classes: int) -> PartCounts:
    """Return one part's counts from a model file."""
    kind = part.kind
    if kind.family == "normal":
        return NumberCounts.get(stored, key, classes)
    at = f"{key}.present" if kind.family == "bernoulli" else key
    counts: Tally | WordTally
    if isinstance(kind, Wordy):
        counts = WordTally.get(stored, at, classes, kind.buckets)
    else:
        counts = Tally.get(stored, at, classes, part.names if kind.gathers else None)
    return FlagCounts.get(stored, key, classes, counts) if kind.family == "bernoulli" else counts


_COUNT: dict[str, Any] = {
    "categorical": lambda part, block, by: Tally.of_codes(block, by),
    "multinomial": lambda part, block, by: Tally.of_entries(block, by, part.kind.gathers),
    "bernoulli": lambda part, block, by: FlagCounts.of(block, by, part.kind.gathers),
    "normal": lambda part, block, by: NumberCounts.of(block, by),
}


def encode_labels(chunk: Chunk) -> tuple[Ints, list[Label]]:
    """Return the classes of a chunk's rows as codes; a missing label is refused."""
    if chunk.labels is None:
        raise errors.LabelError(
            "There are no labels to learn from. Give the name of the label column, or y: one label per row."
        )
    if is_arrow(chunk.labels) and "list" in str(chunk.labels.type):
        raise errors.several_labels("lists")
    try:
        codes, values = encode(chunk.labels, "label")
    except errors.ColumnError as cause:
        raise errors.several_labels("values that cannot be compared") from cause
    if (codes < 0).any():
        missing = int((codes < 0).sum())
        first = chunk.first_row + int(np.argmax(codes < 0))
        raise errors.LabelError(
            f"The label is missing in {missing:,} of {chunk.n_rows:,} rows (first: row {first:,}). Leave "
            f"such rows out before fitting."
        )
    labels = [_label(value) for value in values]
    # As in the canonical order: booleans, numbers and strings are three sorts of labels.
    if len({name_key(label)[0] for label in labels}) > 1:
        raise errors.LabelError(
            f"The labels are of several types: {errors.listing(labels)}. Give them all as strings, or all as "
            f"whole numbers."
        )
    return codes, labels


def _label(value: object) -> Label:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, (str, int, float, bool)):
        return plain
    raise errors.LabelError(
        f"A label is {plain!r}, of type {type(plain).__name__}; labels must be strings, whole numbers or "
        f"booleans, one per row."
    )
