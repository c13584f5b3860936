"""A sample of the rows of a source that does not depend on their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import NumberBlock
from weigh.features.kinds import Category
from weigh.features.row_hashes import Hashes, add_label_hashes, hash_features
from weigh.features.schema import Schema
from weigh.model.counts.bayes_counts import CountedRows
from weigh.model.file.store import FileContent, name_from_json, name_to_json
from weigh.source.chunk import Chunk, Column, DictionaryColumn, TextColumn, is_arrow

Values = npt.NDArray[Any]

KEY = "row_sample"
MAX_ROWS = 512  # different rows; enough to detect dependent columns at negligible cost


@dataclass(frozen=True)
class RowSample:
    """The different rows with the smallest hashes, and how often each occurs.

    Rows leave the sample only for rows with smaller hashes, so the sample and its counts are the same for
    any order, any chunks and any number of threads. If there are at most `MAX_ROWS` different rows, it
    contains them all.
    """

    hashes: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint64))  # sorted
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    columns: Mapping[str, Values] = field(default_factory=dict)
    labels: Values = field(default_factory=lambda: np.empty(0, dtype=object))

    @property
    def limit(self) -> np.uint64 | None:
        """The largest hash of a full sample."""
        return self.hashes[-1] if len(self.hashes) == MAX_ROWS else None

    def plus(self, other: RowSample) -> RowSample:
        """Return the sample of both sets of rows."""
        if not (len(self.hashes) and len(other.hashes)):
            return self if len(self.hashes) else other
        hashes = np.concatenate([self.hashes, other.hashes])
        found, kept, counts = _distinct(hashes, np.concatenate([self.counts, other.counts]))
        columns = {name: _join(values, other.columns[name])[kept] for name, values in self.columns.items()}
        labels = np.concatenate([self.labels, other.labels])[kept]
        return RowSample(found, counts, columns, labels)

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any], schema: Schema) -> None:
        """Add the sample to the content of a file, with the columns that the schema encodes."""
        arrays[f"{KEY}.hashes"], arrays[f"{KEY}.counts"] = self.hashes, self.counts
        used = {name for group in schema.column_groups for name in group.names}
        columns = {name: values for name, values in self.columns.items() if name in used}
        values = [_to_plain(values) for values in columns.values()]
        meta[KEY] = {"names": list(columns), "values": values, "labels": _to_plain(self.labels)}

    @classmethod
    def read_arrays(cls, stored: FileContent) -> RowSample | None:
        """Return the sample that `write_arrays` added; None if there is none."""
        if KEY not in stored.meta:
            return None
        meta = stored.meta[KEY]
        columns = {
            name: _to_values(values) for name, values in zip(meta["names"], meta["values"], strict=True)
        }
        labels = _to_objects([_from_plain(value) for value in meta["labels"]["objects"]])
        return cls(stored.arrays[f"{KEY}.hashes"], stored.arrays[f"{KEY}.counts"], columns, labels)

    def to_chunk(self) -> Chunk:
        """Return the rows as a chunk, in the order of their hashes."""
        return Chunk(self.columns, len(self.labels), labels=self.labels)


def sample_rows(schema: Schema, chunk: Chunk, counted: CountedRows, limit: np.uint64 | None) -> RowSample:
    """Return the sample of a chunk that was counted, up to a hash; rows of zero weight are left out."""
    hashes = hash_features(schema, counted.blocks, chunk.n_rows)
    add_label_hashes(counted.labels, counted.codes, hashes)
    if chunk.weights is None:
        found, rows, counts = _smallest(hashes, limit)
    else:
        weighted = np.flatnonzero(chunk.weights > 0)
        found, rows, counts = _smallest(hashes[weighted], limit)
        rows = weighted[rows]
    columns = _take_columns(schema, chunk, counted.blocks, rows) if len(found) else {}
    labels = _to_objects([counted.labels[code] for code in counted.codes[rows].tolist()])
    return RowSample(found, counts, columns, labels)


def _take_columns(
    schema: Schema, chunk: Chunk, blocks: Sequence[Any], rows: npt.NDArray[np.int64]
) -> dict[str, Values]:
    """Return some rows of all columns, from the blocks that are encoded anyway where they have the values."""
    encoded: dict[str, Values] = {}
    for group, block in zip(schema.column_groups, blocks, strict=True):
        if isinstance(group.kind, Category):
            levels = _to_objects([*block.levels, None])  # the last is that of the code -1
            encoded[group.names[0]] = levels[block.codes[rows]]
        elif isinstance(block, NumberBlock):
            encoded[group.names[0]] = block.values[rows]
    return {
        name: encoded[name] if name in encoded else _take(column, rows)
        for name, column in chunk.columns.items()
    }


def _smallest(hashes: Hashes, limit: np.uint64 | None) -> tuple[Hashes, Any, Any]:
    """Return the smallest different hashes up to the limit, their first places and their counts."""
    if limit is None and len(hashes) > 4 * MAX_ROWS:
        # Sorting all hashes takes longer than trying a bound below which enough of them are expected.
        bound = np.uint64(2**64 * (2 * MAX_ROWS) // len(hashes))
        found = _smallest(hashes, bound)
        if len(found[0]) == MAX_ROWS:
            return found
    places = np.arange(len(hashes)) if limit is None else np.flatnonzero(hashes <= limit)
    values, rows, counts = _distinct(hashes[places], np.ones(len(places), dtype=np.int64))
    return values, places[rows], counts


def _distinct(hashes: Hashes, counts: npt.NDArray[np.int64]) -> tuple[Hashes, Any, npt.NDArray[np.int64]]:
    """Return the smallest different hashes in order, a place of each, and the sums of their counts.

    Rows with equal hashes are equal, so any place will do; `np.unique` would sort stably, which takes longer.
    """
    order = np.argsort(hashes)
    sorted_hashes = hashes[order]
    starts = np.flatnonzero(np.append(True, sorted_hashes[1:] != sorted_hashes[:-1])[: len(hashes)])
    if not len(starts):
        return hashes, order, counts
    sums = np.add.reduceat(counts[order], starts)
    kept = starts[:MAX_ROWS]
    return sorted_hashes[kept], order[kept], sums[:MAX_ROWS]


def _join(first: Values, second: Values) -> Values:
    if first.dtype != second.dtype:
        # Joining texts and numbers would turn the numbers into texts.
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])


def _take(column: Column, rows: npt.NDArray[np.int64]) -> Values:
    """Return some rows of a column, in their given order, as an array."""
    match column:
        case np.ndarray():
            return column[rows]
        case DictionaryColumn():
            return _to_objects(DictionaryColumn(column.codes[rows], column.values).to_pylist())
        case TextColumn():
            return _to_objects(column[rows].to_pylist())
    if is_arrow(column):
        # One by one: Arrow cannot select rows of all its types.
        return _to_objects([column[row].as_py() for row in rows.tolist()])
    is_taken = np.zeros(len(column), dtype=bool)
    is_taken[rows] = True
    return _to_objects(column.select(is_taken).to_pylist())[np.argsort(np.argsort(rows))]


def _to_plain(values: Values) -> dict[str, Any]:
    """Return sampled values as JSON can hold them: numbers with their type, other values one by one."""
    if values.dtype.kind in "fiub":
        return {"dtype": values.dtype.str, "numbers": [name_to_json(value) for value in values.tolist()]}
    return {"objects": [_value_to_plain(value) for value in values.tolist()]}


def _to_values(plain: dict[str, Any]) -> Values:
    if "numbers" in plain:
        return np.array([name_from_json(value) for value in plain["numbers"]], dtype=plain["dtype"])
    return _to_objects([_from_plain(value) for value in plain["objects"]])


def _value_to_plain(value: Any) -> Any:
    match value:
        case None:
            return None
        case list():
            return {"list": [_value_to_plain(each) for each in value]}
        case dict():
            return {"dict": [[_value_to_plain(key), _value_to_plain(each)] for key, each in value.items()]}
        case bool() | int() | float() | str():
            return name_to_json(value)
    return name_to_json(str(value))


def _from_plain(plain: Any) -> Any:
    match plain:
        case None:
            return None
        case {"list": values}:
            return [_from_plain(value) for value in values]
        case {"dict": pairs}:
            return {_from_plain(key): _from_plain(value) for key, value in pairs}
    return name_from_json(plain)


def _to_objects(values: list[Any]) -> Values:
    array = np.empty(len(values), dtype=object)
    if any(isinstance(value, (list, dict)) for value in values[:1] + values[-1:]):
        # One by one: NumPy would turn lists of equal length into a matrix.
        for place, value in enumerate(values):
            array[place] = value
    else:
        array[:] = values
    return array
