"""Terms of words, flags and numeric columns: weights that are looked up by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import DenseBlock, Floats, Ints, Longs, SparseBlock
from weigh.features.names import LazyNames, NameArray
from weigh.features.schema import ColumnGroup
from weigh.features.text_kinds import Tokens
from weigh.features.words import TextBlock
from weigh.immutable import Immutable
from weigh.model.counts.count_table import CountArray, have_same_names
from weigh.model.distributions.weights import Contribution, LinearFeatures, RemovableFeature, format_value
from weigh.source.sparse_rows import SparseRows

if TYPE_CHECKING:
    from weigh.features.term_weighting import TermWeighting


@dataclass(frozen=True, eq=False)
class HashBuckets(Immutable):
    """The hash buckets used in training; the others were never seen and contribute nothing."""

    n_buckets: int
    used: Longs

    @classmethod
    def from_counts(cls, table: CountArray) -> HashBuckets:
        """Return the buckets with non-zero counts in a table [classes, buckets]."""
        return cls(table.shape[1], np.flatnonzero(table.any(axis=0)))

    def columns(self) -> Ints:
        """Return the index of each bucket among the used ones, −1 if it is not used."""
        indices: Ints = np.full(self.n_buckets, -1, dtype=np.int32)
        indices[self.used] = np.arange(len(self.used))
        return indices

    def vocabulary(self) -> _core.Vocabulary:
        """Return the native lookup from a word to the index of its bucket among the used ones."""
        return _core.Vocabulary.from_buckets(self.columns())


class VocabularyWeights(Immutable):
    """Base class of terms with a row of weights per name.

    `fixed` names are columns of the schema; other names are words. Hashed words are looked up by bucket and
    displayed as they occur in the explained row. With a `weighting`, texts are converted to values; sparse
    rows have values already.
    """

    title: str
    names: Sequence[str]
    fixed: bool
    buckets: HashBuckets | None
    weighting: TermWeighting | None = None

    @cached_property
    def index_by_name(self) -> dict[str, int]:
        """The index of each name; used only if the names of a block differ."""
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def vocabulary(self) -> _core.Vocabulary:
        """The native lookup from a word to its index."""
        if self.buckets is not None:
            return self.buckets.vocabulary()
        packed = self.names if isinstance(self.names, NameArray) else NameArray.from_strings(self.names)
        return _core.Vocabulary.from_names(packed.text, packed.offsets)

    def display_name(self, j: int) -> str:
        """Return the name of feature j for display."""
        return self.names[j] if self.fixed else f"{self.title}: {self.bucket_word(j)}"

    def bucket_word(self, j: int) -> str:
        """Return word j; a bucket without a name (it has only very long words) is shown by its number."""
        if self.buckets is None or self.names[j]:
            return self.names[j]
        return f"bucket {self.buckets.used[j]:,}"

    def entries(self, block: SparseBlock | DenseBlock | TextBlock) -> SparseRows:
        """Return the rows of a block with columns numbered as `names`; unknown names are dropped."""
        if isinstance(block, TextBlock):
            if self.weighting is None:
                return block.look_up(self.vocabulary, len(self.names))
            columns = None if self.buckets is None else self.buckets.columns()
            return self.weighting.look_up(block, self.vocabulary, len(self.names), columns)
        if isinstance(block, DenseBlock):
            block = block.to_sparse()
        if self.fixed and have_same_names(block.names, self.names):
            return block.rows
        lookup = np.array([self.index_by_name.get(name, -1) for name in block.names], dtype=np.int32)
        return block.rows.renumber(lookup, len(self.names))

    def unknown_words(self, block: SparseBlock | DenseBlock | TextBlock, row: int) -> list[str]:
        """Return the words of a text that the model does not know, by their display names."""
        if not isinstance(block, TextBlock):
            return []
        return [f"{self.title}: {word}" for word in block.row(row).unknown_words(self.vocabulary)]

    def entries_without(
        self, block: SparseBlock | DenseBlock | TextBlock, keys: Collection[int]
    ) -> SparseRows:
        """Return the entries of a block without the columns `keys`."""
        entries = self.entries(block)
        return entries.select_entries(~np.isin(entries.indices, list(keys)))


def unknown_words(terms: Iterable[Any], blocks: Iterable[Any], row: int) -> list[str]:
    """Return the words of a row that none of the terms knows; they add nothing to the scores."""
    return [
        word
        for term, block in zip(terms, blocks, strict=True)
        if isinstance(term, VocabularyWeights)
        for word in term.unknown_words(block, row)
    ]


class DisplayNames(LazyNames):
    """The display names of a term, computed lazily because often only their number is needed."""

    def __init__(self, term: VocabularyWeights) -> None:
        self._term = term

    def __len__(self) -> int:
        return len(self._term.names)

    def _name(self, k: int) -> str:
        return self._term.display_name(k)


@dataclass(frozen=True, eq=False)
class VocabularyLookup(VocabularyWeights):
    """A vocabulary without weights, for learners that keep their weights elsewhere."""

    names: Sequence[str]
    buckets: HashBuckets | None = None
    title: str = "text"
    fixed: bool = False
    weighting: TermWeighting | None = None


@dataclass(frozen=True, eq=False)
class WordWeights(VocabularyWeights):
    """Weights [V, C] per occurrence, or per unit of the value, of a word; unknown words add nothing."""

    title: str
    names: Sequence[str]
    table: Floats
    fixed: bool
    buckets: HashBuckets | None = None
    weighting: TermWeighting | None = None

    def add(self, block: SparseBlock | DenseBlock | TextBlock, scores: Floats) -> None:
        """Add count × weights, or value × weights, of each word to the scores of its row."""
        if isinstance(block, TextBlock) and block.kind.counts and self.weighting is None:
            self.vocabulary.score(block.documents, block.settings, self.table, scores)
        else:
            self.entries(block).add_product(self.table, scores)

    def occurrences(
        self, block: SparseBlock | DenseBlock | TextBlock, row: int
    ) -> list[tuple[int, float, str]]:
        """Return the words of a row: index, number of occurrences or value, display name."""
        if isinstance(block, TextBlock):
            words = block.row(row).count_known_words(self.vocabulary)
            if self.weighting is not None:
                entries = self.entries(block.row(row))
                values = dict(zip(entries.indices.tolist(), entries.entry_values().tolist(), strict=True))
                return [(j, values[j], f"{self.title}: {word}") for j, _, word in words]
            return [(j, count, f"{self.title}: {word}") for j, count, word in words]
        entries = self.entries(block.row(row))
        totals: dict[int, float] = {}
        for j, count in zip(entries.indices.tolist(), entries.entry_values().tolist(), strict=True):
            totals[j] = totals.get(j, 0.0) + count
        return [(j, count, self.display_name(j)) for j, count in sorted(totals.items())]

    def contributions(self, block: SparseBlock | DenseBlock | TextBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of each word of the row."""
        for j, count, name in self.occurrences(block, row):
            yield Contribution(name, self.format_amount(count), count * self.table[j])

    def removable(self, block: SparseBlock | DenseBlock | TextBlock) -> tuple[list[RemovableFeature], float]:
        """Return the removable features of the single row of a block, and the scores of all others."""
        zeros = np.zeros(self.table.shape[1])
        features = [
            RemovableFeature(j, name, self.format_amount(n), n * self.table[j], zeros)
            for j, n, name in self.occurrences(block, 0)
        ]
        return features, 0.0

    def without(self, block: SparseBlock | DenseBlock | TextBlock, keys: Collection[int]) -> SparseBlock:
        """Return the single row of a block without the words `keys`."""
        return SparseBlock(self.entries_without(block, keys), self.names).row(0)

    def format_amount(self, count: float) -> str:
        """Format the number of occurrences of a word, or its value."""
        if self.weighting is not None:
            return f"{self.weighting.label} {count:.4g}"
        return f"× {format_value(count)}"

    def features(self) -> LinearFeatures:
        """Return one feature per word."""
        names = self.names if self.fixed else DisplayNames(self)
        return LinearFeatures(names, self.table, np.zeros(self.table.shape[1]))

    def trained_weights(self) -> Floats:
        """Return the trained weights [features, classes]."""
        return self.table

    def with_weights(self, table: Floats) -> WordWeights:
        """Return the same words with other weights."""
        return replace(self, table=table)

    def append_rows(
        self, builder: _core.CsrBuilder, block: SparseBlock | DenseBlock | TextBlock, first: int
    ) -> None:
        """Append the rows of a block to a sparse matrix, as the columns from `first` on."""
        entries = self.entries(block)
        columns = np.arange(first, first + max(1, len(self.names)), dtype=np.int32)
        builder.add_entries(*entries.csr, columns)


@dataclass(frozen=True, eq=False)
class ValueWeights(WordWeights):
    """Weights [d, C] per unit of numeric columns, including 0/1 flags."""

    def format_amount(self, count: float) -> str:
        """Format the value of a column."""
        return format_value(count)


@dataclass(frozen=True, eq=False)
class GridWeights(ValueWeights):
    """Value weights applied by a matrix product, for learners that do not need a fixed order of summation."""

    def add(self, block: SparseBlock | DenseBlock | TextBlock, scores: Floats) -> None:
        """Add value × weights of each column to the scores of its row."""
        if isinstance(block, DenseBlock) and have_same_names(block.names, self.names):
            scores += block.matrix @ self.table
        else:
            super().add(block, scores)


MAX_SAMPLED_WORDS = 100_000_000
MAX_LISTED_ABSENT = 100  # more absent flags than this are shown as one contribution


@dataclass(frozen=True, eq=False)
class FlagWeights(VocabularyWeights):
    """Weights [d, C] of flags when present and when absent; absence is evidence too.

    Flags that are `constant` (their indices) add nothing and are not listed.
    """

    title: str
    names: Sequence[str]
    present: Floats
    absent: Floats
    fixed: bool
    buckets: HashBuckets | None = None
    constant: Longs | None = None

    @cached_property
    def _impossible_if_absent(self) -> Floats:
        """1 where the absence of a flag makes a class impossible (log-probability −∞), otherwise 0."""
        return np.isneginf(self.absent).astype(np.float64)

    @cached_property
    def _n_impossible_if_absent(self) -> Floats:
        return np.asarray(self._impossible_if_absent.sum(axis=0))

    @cached_property
    def _finite_absent(self) -> Floats:
        return np.where(np.isneginf(self.absent), 0.0, self.absent)

    @cached_property
    def _all_absent(self) -> Floats:
        return np.asarray(self._finite_absent.sum(axis=0))

    @cached_property
    def _presence_gain(self) -> Floats:
        """The difference between the weights of presence and absence."""
        return np.ascontiguousarray(self.present - self._finite_absent)

    def _known_column(self, block: SparseBlock | TextBlock) -> Floats:
        known = np.ones(block.n_rows) if block.known is None else block.known.astype(np.float64)
        return known[:, None]

    def add(self, block: SparseBlock | TextBlock, scores: Floats) -> None:
        """Add the weights of present and of absent flags to the scores of each row."""
        # Start from "all absent" and correct the entries; absences of weight −∞ are counted separately.
        entries = self.entries(block)
        added = self._known_column(block) * self._all_absent
        entries.add_product(self._presence_gain, added)
        n_impossible = self._known_column(block) * self._n_impossible_if_absent
        if n_impossible.any():
            entries.add_product(-self._impossible_if_absent, n_impossible)
        if block.missing is not None:
            missing = self.entries(block.missing)
            missing.add_product(-self._finite_absent, added)
            missing.add_product(-self._impossible_if_absent, n_impossible)
        scores += np.where(n_impossible > 0.5, -np.inf, added)

    def flag_states(self, block: SparseBlock | TextBlock, row: int) -> tuple[list[int], Longs]:
        """Return the indices of the flags that are present in a row, and of those absent."""
        if block.known is not None and not block.known[row]:
            return [], np.zeros(0, dtype=np.int64)
        present = self._flag_indices(block, row)
        missing = set() if block.missing is None else self._flag_indices(block.missing, row)
        is_absent = np.ones(len(self.names), dtype=bool)
        is_absent[[*present, *missing]] = False
        return sorted(present), np.flatnonzero(is_absent)

    def listed_states(self, block: SparseBlock | TextBlock, row: int) -> tuple[list[int], Longs]:
        """Return the indices of the flags that are present, and of those absent, without constant ones."""
        present, absent = self.flag_states(block, row)
        if self.constant is None or not len(self.constant):
            return present, absent
        constant = set(self.constant.tolist())
        return [j for j in present if j not in constant], absent[~np.isin(absent, self.constant)]

    def row_names(self, block: SparseBlock | TextBlock, row: int) -> dict[int, str]:
        """Return the display names of hashed words as they occur in the row, by index."""
        if self.buckets is None or isinstance(block, SparseBlock):
            return {}
        words = block.row(row).count_known_words(self.vocabulary)
        return {j: f"{self.title}: {word}" for j, _, word in words}

    def contributions(self, block: SparseBlock | TextBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of each flag; many absent flags are combined into one."""
        present, absent = self.listed_states(block, row)
        row_names = self.row_names(block, row)
        for j in present:
            name = row_names.get(j) or self.display_name(j)
            yield Contribution(name, self.format_state(True), self.present[j])
        if len(absent) <= MAX_LISTED_ABSENT and self.buckets is None:
            for j in absent.tolist():
                yield Contribution(self.display_name(j), self.format_state(False), self.absent[j])
        else:
            yield Contribution(f"{len(absent):,} others", "absent", self.absent[absent].sum(axis=0))

    def removable(self, block: SparseBlock | TextBlock) -> tuple[list[RemovableFeature], Floats]:
        """Return the removable features of the single row of a block, and the scores of all others.

        A removed flag is missing; a removed word is absent, which is evidence too. Absent flags are removable
        only if they are listed one by one.
        """
        present, absent = self.listed_states(block, 0)
        row_names, zeros = self.row_names(block, 0), np.zeros(self.present.shape[1])
        features = [
            RemovableFeature(
                j,
                row_names.get(j) or self.display_name(j),
                self.format_state(True),
                self.present[j],
                zeros if self.fixed else self.absent[j],
            )
            for j in present
        ]
        if not self.fixed or len(absent) > MAX_LISTED_ABSENT:
            return features, np.asarray(self.absent[absent].sum(axis=0))
        features += [
            RemovableFeature(j, self.display_name(j), self.format_state(False), self.absent[j], zeros)
            for j in absent.tolist()
        ]
        return features, zeros

    def without(self, block: SparseBlock | TextBlock, keys: Collection[int]) -> SparseBlock:
        """Return the single row of a block without the words `keys`, or with these flags missing."""
        kept = SparseBlock(self.entries_without(block, keys), self.names, known=block.known)
        if not self.fixed:
            return kept.row(0)
        missing = set() if block.missing is None else self._flag_indices(block.missing, 0)
        indices = np.array(sorted(missing.union(keys)), dtype=np.int32)
        row = SparseRows(np.array([0, len(indices)], dtype=np.int64), indices, None, len(self.names))
        return replace(kept, missing=SparseBlock(row, self.names))

    def format_state(self, is_present: bool) -> str:
        """Format the state of a flag: 1 or 0 for a column, present or absent for a word."""
        return str(int(is_present)) if self.fixed else ("present" if is_present else "absent")

    def _flag_indices(self, block: SparseBlock | TextBlock, row: int) -> set[int]:
        return set(self.entries(block.row(row)).indices.tolist())

    def features(self) -> LinearFeatures:
        """Return one 0/1 feature per flag; the weights of absence become the offset."""
        return LinearFeatures(DisplayNames(self), self.present - self.absent, self.absent.sum(axis=0))


def words_column(part: ColumnGroup, names: Sequence[str], counts: Any) -> dict[str, Any]:
    """Return drawn counts of words [rows, words] as a column of token lists or texts."""
    n_words = int(counts.sum())
    if n_words > MAX_SAMPLED_WORDS:
        raise errors.Unsupported(
            f"The sampled rows have {n_words:,} words; at most {MAX_SAMPLED_WORDS:,} are sampled at a time. "
            "Sample fewer rows."
        )
    column = np.empty(len(counts), dtype=object)
    for row, repeats in enumerate(counts.astype(np.int64)):
        present = np.flatnonzero(repeats).tolist()
        words = [word for j in present for word in [names[j]] * int(repeats[j])]
        column[row] = words if isinstance(part.kind, Tokens) else " ".join(words)
    return {part.names[0]: column}
