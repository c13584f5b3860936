"""Count rows again, one value at a time in plain Python, to check models that were counted natively.

It shares no code with training, implements the documented meaning of each kind, and sums fractions. It is
slow and simple on purpose. The second half is a reference implementation of the tokeniser and its hash.
"""

from __future__ import annotations

import bisect
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from weigh.features.columns import bin_names
from weigh.features.kinds import Kind, Number
from weigh.features.schema import ColumnGroup, Schema
from weigh.features.text_kinds import STOP_WORDS_ENGLISH, BagOfWordsKind, Text
from weigh.source.base import Source
from weigh.source.chunk import Chunk, to_pylist
from weigh.source.sparse_rows import SparseRows

ExactCount = Any  # int, or Fraction if a value or a weight is not whole
CountKey = tuple[str, Any, Any]  # (statistic, class, name)

COUNT = "count"
KNOWN = "known"
SUM = "sum"
SQUARES = "sum of squares"
CELL = "cell"
VALUES, TEXTS, ALL_TEXTS = "sum of values", "texts", "all texts"
ALL_CLASSES = "any"  # the class of statistics that do not distinguish classes
FIXED_POINT_SCALE = 2**32


class Recount:
    """The counts of all rows: of the classes, and of each column group of a schema.

    `parts[k]` maps (statistic, class, name) to a count; the statistic is "count" for levels, words and flags,
    "known" for values that are not missing, "sum", "sum of squares" and "cell" for numbers. With
    `whole_rows`, whole rows are counted instead: see `joint_counts`.
    """

    def __init__(self, schema: Schema, *, whole_rows: bool = False) -> None:
        self.schema = schema
        self.n_rows = 0
        self.classes: dict[Any, ExactCount] = defaultdict(int)
        self.parts: list[dict[CountKey, ExactCount]] = [defaultdict(int) for _ in schema.column_groups]
        self._counts_whole_rows = whole_rows
        self._row_counts: dict[CountKey, ExactCount] = defaultdict(int)

    def count_source(self, source: Source) -> Recount:
        """Count every row of a source."""
        for chunk in self.schema.chunks(source):
            labels = to_pylist(chunk.labels)
            floats = [1.0] * chunk.n_rows if chunk.weights is None else chunk.weights.tolist()
            weights = [int(weight) if weight.is_integer() else Fraction(weight) for weight in floats]
            self.n_rows += chunk.n_rows
            for label, weight in zip(labels, weights, strict=True):
                self.classes[label] += weight
            add = self._add_rows if self._counts_whole_rows else self._add_parts
            add(chunk, labels, weights)
        return self

    def joint_counts(self) -> Mapping[CountKey, ExactCount]:
        """Return how often each whole row occurred, by ("count", class, (value, ...)); None if missing."""
        return self._row_counts

    def _add_parts(self, chunk: Chunk, labels: list[Any], weights: list[ExactCount]) -> None:
        for part, counts in zip(self.schema.column_groups, self.parts, strict=True):
            if chunk.sparse is not None:
                cells = _sparse_cells(part, chunk.sparse)
            else:
                columns = [to_pylist(chunk.columns[name], name) for name in part.names]
                cells = _part_cells(part, columns, frozenset(self.schema.missing))
            for row, statistic, name, amount in cells:
                if statistic in (TEXTS, ALL_TEXTS):
                    counts[statistic, ALL_CLASSES, name] += weights[row] * amount
                elif statistic == VALUES:
                    counts[statistic, labels[row], name] += round(weights[row] * amount)
                else:
                    counts[statistic, labels[row], name] += weights[row] * amount

    def _add_rows(self, chunk: Chunk, labels: list[Any], weights: list[ExactCount]) -> None:
        markers = frozenset(self.schema.missing)
        kinds = {name: part.kind for part in self.schema.column_groups for name in part.names}
        dense = None if chunk.sparse is None else chunk.sparse.to_dense()
        columns = []
        for j, name in enumerate(self.schema.feature_columns):
            if name in kinds:
                column = to_pylist(chunk.columns[name] if dense is None else dense[:, j], name)
                columns.append(
                    [None if _is_missing(v, markers) else _joint_level(kinds[name], v) for v in column]
                )
        for label, weight, *row in zip(labels, weights, *columns, strict=True):
            self._row_counts[COUNT, label, tuple(row)] += weight


def _is_missing(value: Any, markers: frozenset[Any]) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, float) and math.isnan(value):
        return True
    return isinstance(value, str | int | float) and value in markers


def _part_cells(
    part: ColumnGroup, columns: Sequence[list[Any]], markers: frozenset[Any]
) -> Iterator[tuple[int, str, Any, ExactCount]]:
    """Yield (row, statistic, name, amount) for every value that is not missing."""
    for name, column in zip(part.names, columns, strict=True):
        for row, value in enumerate(column):
            if not _is_missing(value, markers):
                for statistic, key, amount in _value_counts(part.kind, name, value):
                    yield row, statistic, key, amount


def _value_counts(kind: Kind, name: str, value: Any) -> Iterator[tuple[str, Any, ExactCount]]:
    """Yield what one value of a kind adds to the counts, as (statistic, name, amount)."""
    if isinstance(kind, Number):
        yield from _number_counts(kind, float(value))
    elif isinstance(kind, BagOfWordsKind):
        yield from _word_counts(kind, value)
    elif kind.name == "flag":
        yield KNOWN, name, 1
        if float(value) > 0:
            yield COUNT, name, 1
    elif kind.name == "count":
        yield COUNT, name, Fraction(float(value))
    else:
        yield COUNT, _category_level(value), 1


def _word_counts(kind: BagOfWordsKind, value: Any) -> Iterator[tuple[str, Any, ExactCount]]:
    if isinstance(value, dict):
        amounts: list[tuple[str, ExactCount]] = [
            (w, Fraction(amount)) for w, amount in value.items() if amount
        ]
    else:
        words = tokenise_text(value, kind) if isinstance(kind, Text) else list(value)
        amounts = [(word, 1) for word in words]
    keys = [(hash_bucket(word, kind.buckets) if kind.buckets else word, amount) for word, amount in amounts]
    if kind.is_weighted:
        yield from _word_values(kind, keys)
        return
    if not kind.counts:
        yield KNOWN, "", 1
        keys = [(key, 1) for key in {key for key, _ in keys}]
    for key, amount in keys:
        yield COUNT, key, amount


def _word_values(
    kind: BagOfWordsKind, amounts: list[tuple[Any, ExactCount]]
) -> Iterator[tuple[str, Any, ExactCount]]:
    """Yield the values of weighted words without idf, in units of 2⁻³², and the texts that contain them."""
    counts: dict[Any, float] = defaultdict(float)
    for key, amount in amounts:
        counts[key] += float(amount)
    values = {
        key: 1 + _natural_log(count) if kind.takes_logs and count > 1 else count
        for key, count in counts.items()
    }
    length = _vector_norm(sorted(values.values()), kind.norm)
    yield ALL_TEXTS, "", 1
    for key, value in values.items():
        yield TEXTS, key, 1
        yield VALUES, key, round(value / length * FIXED_POINT_SCALE if length else value)


def _vector_norm(values: list[float], norm: str | None) -> float:
    if norm is None:
        return 1.0
    total = 0.0
    for value in values:
        total += value if norm == "l1" else value * value
    return total if norm == "l1" else math.sqrt(total)


def _natural_log(x: float) -> float:
    """Return ln x by the series of training, because `math.log` may differ in the last bit.

    ln x = k ln 2 + 2 artanh((m − 1) / (m + 1)), with x = m 2^k and √½ ≤ m < √2.
    """
    m, k = math.frexp(x)
    if m < math.sqrt(2) / 2:
        m, k = 2 * m, k - 1
    s = (m - 1) / (m + 1)
    series = 0.0
    for n in range(25, 2, -2):
        series = (series + 1 / n) * (s * s)
    ln_2_high, ln_2_low = 0.693147180369123816490, 1.90821492927058770002e-10
    return k * ln_2_high + (2 * s + (2 * s * series + k * ln_2_low))


def _number_counts(kind: Number, value: float) -> Iterator[tuple[str, Any, ExactCount]]:
    if isinstance(kind.bins, tuple):
        yield COUNT, bin_names(kind.bins)[bisect.bisect_left(kind.bins, value)], 1
        return
    exact = Fraction(value)
    yield KNOWN, "", 1
    yield SUM, "", exact
    yield SQUARES, "", exact * exact
    if kind.has_grid:
        yield CELL, _grid_cell(exact), 1


def _grid_cell(value: Fraction) -> int:
    """Return the cell of a number: 1024 cells between neighbouring powers of two,."""
    magnitude = abs(value)
    if not magnitude:
        return 0
    exponent = max(math.frexp(float(magnitude))[1] - 1, -1022)
    # Subnormal numbers are spaced like the smallest normal ones.
    cell = math.floor(magnitude * Fraction(2) ** (10 - exponent)) + 1024 * (exponent + 1022) + 1
    return -cell if value < 0 else cell


def _joint_level(kind: Kind, value: Any) -> Any:
    """Return the level of a value in a joint table: a category, a bin, a flag's 0 or 1, or a number."""
    if isinstance(kind, Number):
        number, edges = float(value), kind.bins
        return bin_names(edges)[bisect.bisect_left(edges, number)] if isinstance(edges, tuple) else number
    return int(float(value) > 0) if kind.name == "flag" else _category_level(value)


def _category_level(value: Any) -> Any:
    """Return the level of a category; equal numbers are one level, whatever their type."""
    if isinstance(value, str):
        return str(value)
    number = value.item() if hasattr(value, "item") else value
    return int(number) if float(number).is_integer() else float(number)


def _sparse_cells(part: ColumnGroup, rows: SparseRows) -> Iterator[tuple[int, str, Any, ExactCount]]:
    """Yield (row, statistic, name, amount) for the stored values of sparse flags or counts."""
    indptr, indices, values = rows.indptr.tolist(), rows.indices.tolist(), rows.entry_values().tolist()
    is_flag = part.kind.name == "flag"
    for row in range(rows.n_rows):
        if is_flag:
            yield row, KNOWN, "", 1
        for i in range(indptr[row], indptr[row + 1]):
            name = part.names[indices[i]]
            if not is_flag:
                yield row, COUNT, name, Fraction(values[i])
            elif values[i] > 0:
                yield row, COUNT, name, 1


UINT64_MASK = 2**64 - 1
FIRST_HASH_CONSTANT, SECOND_HASH_CONSTANT = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
MAX_INLINE_KEY_BYTES = 16  # shorter words are hashed directly


def tokenise_text(text: str, kind: Text) -> list[str]:
    """Return the n-grams of words, or of characters, that a text kind counts."""
    text = _normalise_text(text, kind)
    if kind.chars == "words":
        return [ngram for word in text.split() for ngram in _word_ngrams(f" {word} ", *kind.ngrams)]
    if kind.chars:
        return list(_ngrams(re.sub(r"\s\s+", " ", text), "", *kind.ngrams))
    stop_list = STOP_WORDS_ENGLISH if kind.stop_words == "english" else kind.stop_words
    stop_words = {_normalise_text(word, kind) for word in stop_list}
    words = [w for w in _split_words(text) if len(w) >= kind.min_length and w not in stop_words]
    return list(_ngrams(words, " ", *kind.ngrams))


def _normalise_text(text: str, kind: Text) -> str:
    text = text.lower() if kind.lowercase else text
    return _strip_accents(text) if kind.strip_accents else text


def _strip_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _split_words(text: str) -> list[str]:
    return "".join(char if char.isalnum() or char == "_" else " " for char in text).split(" ")


def _ngrams(units: str | list[str], separator: str, low: int, high: int) -> Iterator[str]:
    for n in range(low, high + 1):
        for i in range(len(units) - n + 1):
            yield separator.join(units[i : i + n])


def _word_ngrams(word: str, low: int, high: int) -> Iterator[str]:
    if len(word) < low:
        yield word
    yield from _ngrams(word, "", low, high)


def hash_bucket(word: str, buckets: int) -> int:
    """Return the bucket of a word, its hash modulo the number of buckets."""
    data = word.encode("utf-8", "surrogatepass")
    if len(data) <= MAX_INLINE_KEY_BYTES:
        padded = data.ljust(MAX_INLINE_KEY_BYTES, b"\0")
        return _mix_hash(int.from_bytes(padded[:8], "little"), int.from_bytes(padded[8:], "little")) % buckets
    key = len(data)
    for offset in range(0, len(data), 8):
        start = min(offset, len(data) - 8)
        mixed = key ^ int.from_bytes(data[start : start + 8], "little")
        key = ((mixed << 23 | mixed >> 41) & UINT64_MASK) * FIRST_HASH_CONSTANT & UINT64_MASK
    return _mix_hash(key, 0) % buckets


def _mix_hash(low: int, high: int) -> int:
    product = (low ^ FIRST_HASH_CONSTANT) * (high ^ SECOND_HASH_CONSTANT)
    return (product ^ product >> 64) & UINT64_MASK
