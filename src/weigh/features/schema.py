"""The schema: the kind of every column, inferred once and then frozen.

Levels and vocabularies are not part of it. They belong to the counts, where merging and forgetting add and
remove them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import _core, errors
from weigh.advice import Step
from weigh.features import kinds as kd
from weigh.features.blocks import ConstantSequence, NumberedNames, SparseBlock
from weigh.features.cells import FlagReading, NumberReading, Reading, reading_from_json
from weigh.features.curves import Curve, Pair, pair_title
from weigh.features.dates.kind import Date, expand_dates
from weigh.features.derived_columns import add_derived_columns
from weigh.features.inference.odd_cells import CellReader
from weigh.features.kind_registry import Derived, Lag, kind_from_json
from weigh.features.kinds import Flag, Kind, Products, Value
from weigh.features.text_kinds import BagOfWordsKind
from weigh.features.validation import check_exact_counts, check_magnitude, check_non_negative
from weigh.features.words import Block
from weigh.immutable import Immutable
from weigh.source.base import CHUNK_ROWS, PREFIX_ROWS, ChunkReader, Source
from weigh.source.cells import NumberFormat
from weigh.source.chunk import Chunk, is_text
from weigh.source.dialect import check_dialect
from weigh.source.memory.matrices import MemorySource
from weigh.source.missing import Marker
from weigh.source.sparse_rows import SparseRows

# The kinds of columns of numbers: those of NUMBER_KINDS, which files read as such, and flags.
NUMERIC_KINDS = (kd.Number, kd.Count, kd.Value, kd.Products, kd.Flag, Curve)
if TYPE_CHECKING:
    from weigh.features.dates.columns import DateReader

DOCUMENTS_PER_CHUNK = 4_096
MAX_PRODUCT_CELLS = 1_000_000
MAX_DENSE_CELLS = 10_000_000
MAX_QUOTED_COLUMNS = 3


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that are counted and scored together: all flags, all counts, or one other column.

    `named` says whether they are columns of a table with names, in which constant columns are left out.
    """

    kind: kd.Kind
    names: Sequence[str]
    named: bool = True

    @property
    def title(self) -> str:
        """The column's name, or the plural of the kind for several columns."""
        if isinstance(self.kind, Pair):
            return pair_title(self.names)
        return self.names[0] if len(self.names) == 1 else f"{self.kind.name.removesuffix('s')}s"

    @property
    def features(self) -> Sequence[str]:
        """The names of the features in the group's block, if the kind shares a block."""
        return self.kind.features(self.names)


@dataclass(frozen=True)
class Schema(Immutable):
    """Names and kinds of the columns that a model reads."""

    names: Sequence[str]
    kinds: Sequence[kd.Kind]
    named: bool = True
    label: str | None = None
    missing: tuple[Marker, ...] = ()
    made: Mapping[str, kd.Kind] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)
    dialect: Mapping[str, Any] = field(default_factory=dict, compare=False)  # of the file, as it was read
    label_reading: NumberReading | None = None  # of a regression whose labels are written as text
    pairs: tuple[tuple[str, str], ...] = ()  # of columns with a joint effect in an additive model

    @cached_property
    def column_groups(self) -> tuple[ColumnGroup, ...]:
        """The columns grouped as they are counted, in order of first appearance."""
        if self.accepts_sparse:
            return (ColumnGroup(self.kinds[0], self.names, self.named),)
        groups: dict[object, tuple[kd.Kind, list[str]]] = {}
        for name, kind in self._feature_kinds():
            if not isinstance(kind, kd.Skip):
                group = kind if kind.shares_block else (name,)
                groups.setdefault(group, (kind, []))[1].append(name)
        columns = tuple(ColumnGroup(kind, names, self.named) for kind, names in groups.values())
        return columns + tuple(self._pair_groups())

    @cached_property
    def unique_titles(self) -> tuple[str, ...]:
        """The titles of the column groups; the kind is added where a title repeats."""
        titles = [group.title for group in self.column_groups]
        pairs = zip(titles, self.column_groups, strict=True)
        return tuple(t if titles.count(t) == 1 else f"{t} ({group.kind.name})" for t, group in pairs)

    def _pair_groups(self) -> Iterator[ColumnGroup]:
        kinds = dict(self._feature_kinds()) if self.pairs else {}
        for left, right in self.pairs:
            are_numbers = isinstance(kinds[left], Curve), isinstance(kinds[right], Curve)
            yield ColumnGroup(Pair(are_numbers), [left, right], self.named)

    def _feature_kinds(self) -> Iterator[tuple[str, kd.Kind]]:
        """Yield the columns and the parts of dates that are encoded, and the derived columns."""
        yield from expand_dates(zip(self.names, self.kinds, strict=True))
        for name, kind in self.made.items():
            if isinstance(kind, (Derived, Lag)):
                yield name, kind.kind

    @property
    def feature_columns(self) -> list[str]:
        """The names of the columns, with parts instead of dates, and of the derived columns."""
        return [name for name, _ in self._feature_kinds()]

    def described_columns(self) -> Iterator[tuple[str, kd.Kind]]:
        """Yield the columns that are read with their kinds, each column of dates followed by its parts."""
        for name, kind in zip(self.names, self.kinds, strict=True):
            yield name, kind
            if isinstance(kind, Date):
                yield from kind.part_kinds(name)

    @cached_property
    def dates(self) -> dict[str, Date]:
        """The columns of dates."""
        if isinstance(self.kinds, ConstantSequence) and not isinstance(self.kinds.item, Date):
            return {}
        pairs = zip(self.names, self.kinds, strict=True)
        return {name: kind for name, kind in pairs if isinstance(kind, Date)}

    @property
    def is_uniform(self) -> bool:
        """Whether this is a bare matrix whose columns all have one kind."""
        has_one_kind = self.kinds.count(self.kinds[0]) == len(self.kinds)
        return isinstance(self.names, NumberedNames) and not self.made and has_one_kind

    @property
    def accepts_sparse(self) -> bool:
        """Whether all columns form one block that a sparse matrix can be read into directly."""
        return self.is_uniform and self.kinds[0].supports_sparse

    @cached_property
    def chunk_rows(self) -> int:
        """Rows per chunk: fewer if a row may be a whole document or has many products."""
        widest = max((len(p.features) for p in self.column_groups if isinstance(p.kind, Products)), default=1)
        max_rows = (
            DOCUMENTS_PER_CHUNK
            if any(isinstance(group.kind, BagOfWordsKind) for group in self.column_groups)
            else CHUNK_ROWS
        )
        return max(1, min(max_rows, MAX_PRODUCT_CELLS // widest))

    @cached_property
    def kinds_by_column(self) -> Mapping[str, str]:
        """The kind of every column, for sources that can read it accordingly."""
        if not self.named:
            return {}
        wanted = {name: kind.name for name, kind in zip(self.names, self.kinds, strict=True)}
        if self.made:
            # A derived column may read any other, even a skipped one.
            wanted = {name: word for name, word in wanted.items() if word != "skip"}
        return wanted

    def level_storage(self, levels: Mapping[str, Sequence[Any]]) -> dict[str, str]:
        """Return how text files must store columns whose levels are known, so that the levels match.

        The rows of a file cannot decide this: a short file may contain only digits where the training data
        had words, and one malformed value would turn integers into strings.
        """
        features = levels.keys() - {self.label}
        pairs = zip(self.names, self.kinds, strict=True) if features else ()
        categories = {name for name, kind in pairs if isinstance(kind, kd.Category)} | {self.label}
        return {
            name: "string" if all(isinstance(level, str) for level in known) else "mixed"
            for name, known in levels.items()
            if len(known) and name in categories
        }

    def chunks(self, source: Source, *, is_training: bool | None = False) -> Iterator[Chunk]:
        """Read a source chunk by chunk, as `chunk_readers` does."""
        return (reader.read() for reader in self.chunk_readers(source, is_training=is_training))

    def chunk_readers(
        self,
        source: Source,
        max_rows: int = CHUNK_ROWS,
        learner: str = "weigh",
        *,
        is_training: bool | None = False,
    ) -> Iterator[ChunkReader]:
        """Yield readers of a source, with its columns checked, renamed and read as this schema says.

        Odd cells are reported at the end of the pass, and are an error if a model is trained and a column
        has too many of them; `is_training` None reports nothing, for further passes. Errors name the learner.
        """
        source = self.align_source(source, learner)
        max_rows = min(max_rows, self.chunk_rows, self._max_dense_rows(source))
        readers = source.chunk_readers(self.kinds_to_read(source), max_rows)
        if not (self.named and source.named):
            readers = (reader.then(_name_columns, self) for reader in readers)
        if self.label_reading is not None:
            readers = (reader.then(_read_chunk_labels, self) for reader in readers)
        if self._cell_reader.numeric or not isinstance(source, MemorySource):
            readers = self._cell_reader.read(readers, is_training=is_training)
        if self.dates:
            readers = self._date_reader(source).read_all(readers)
        if self.made:
            # A lag looks back into the previous chunk, so these chunks must be read in order.
            chunks = add_derived_columns((reader.read() for reader in readers), self.made)
            readers = (ChunkReader(chunk.n_rows, chunk.slice, 0, chunk.n_rows) for chunk in chunks)
        return readers

    def read_labels(self, labels: Any) -> Any:
        """Return labels as numbers where this schema says how their texts are written."""
        if self.label_reading is None:
            return labels
        # Imported here because few labels are numbers written as text.
        from weigh.features.label_numbers import read_labels

        return read_labels(labels, self.label_reading, self.missing)

    def first_rows(self, source: Source) -> Chunk:
        """Return the first rows of a source, read once, with their columns renamed to this schema's names."""
        source = self.align_source(source)
        rows, kinds = source.prefix(min(PREFIX_ROWS, self._max_dense_rows(source))), self.kinds_by_column
        if any(is_text(rows.columns.get(name)) for name in self._cell_reader.numeric):
            # The source knows the format of its numbers.
            rows = source.prefix(kinds=kinds)
        for name, kind in kinds.items():
            if name in rows.unreadable and kind != "skip":
                raise rows.unreadable[name]
        rows = rows if self.named and source.named else _name_columns(rows, self)
        rows = self._cell_reader.convert(_read_chunk_labels(rows, self))
        if self.dates:
            rows = self._date_reader(None).add_parts(rows)
        return next(add_derived_columns([rows], self.made)) if self.made else rows

    @cached_property
    def _cell_reader(self) -> CellReader:
        """What reads the numeric columns; a bare array has no text that means numbers."""
        pairs = zip(self.names, self.kinds, strict=True) if self.named else ()
        numeric = [name for name, kind in pairs if isinstance(kind, NUMERIC_KINDS)]
        return CellReader(numeric, self.readings, self.missing)

    @cached_property
    def flag_words(self) -> Mapping[str, tuple[str, str]]:
        """The words of flags that are read from text: absent and present."""
        flags = {name: each for name, each in self.readings.items() if isinstance(each, FlagReading)}
        return {name: (reading.absent, reading.present) for name, reading in flags.items()}

    @cached_property
    def _number_formats(self) -> Mapping[str, NumberFormat]:
        readings = [*self.readings.items(), *([(self.label, self.label_reading)] if self.label else [])]
        return {str(name): each.format for name, each in readings if isinstance(each, NumberReading)}

    def _date_reader(self, source: Source | None) -> DateReader:
        # Imported here because most tables have no dates.
        from weigh.features.dates.columns import DateReader

        return DateReader(self.dates, self.missing, source)

    def _max_dense_rows(self, source: Source) -> int:
        """Return how many rows may be converted at once if the sparse rows of a source become dense."""
        if source.n_entries is None or self.accepts_sparse:
            return CHUNK_ROWS
        return max(1, MAX_DENSE_CELLS // max(1, source.width))

    def align_source(self, source: Source, learner: str = "weigh") -> Source:
        """Check a source, after adding columns that its format omits because they are empty."""
        source = source.with_columns(self.names)
        if self._number_formats:
            source = source.with_number_formats(self._number_formats)
        self.check(source, learner)
        return source

    def has_columns(self, names: Collection[str]) -> bool:
        """Whether all columns that a model needs are among the names."""
        return all(name in names for name in self._required_names)

    def check(self, source: Source, learner: str = "weigh") -> None:
        """Raise ColumnError if a source lacks columns of this schema; warn of columns that it has besides.

        Errors name the learner.
        """
        if self.named and source.named:
            self.check_names(source.names)
            _warn_of_extra_columns(self.extra_columns(source))
        elif source.width != len(self.names):
            raise errors.ColumnError(
                f"X has {source.width} features, but {learner} is expecting {len(self.names)} features "
                f"as input, as in training: {errors.quote_names(self.names)}."
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Raise ColumnError if columns of this schema are not among the names."""
        given = set(names)
        absent = [name for name in self._required_names if name not in given]
        if absent:
            raise errors.ColumnError(
                f"The rows lack the column {errors.quote_names(absent)} that the model was trained on; "
                f"they have {errors.quote_names(names)}.",
                hint=Step("missing value", "Use None for missing values."),
            )

    def extra_columns(self, source: Source) -> list[str]:
        """Return the columns of a source that this schema does not read."""
        if not (self.named and source.named):
            return []
        return [name for name in source.names if name not in self.accepted_names]

    def kinds_to_read(self, source: Source) -> Mapping[str, str]:
        """Return the kind of every column of a source; columns that this schema does not read are skipped."""
        extra = self.extra_columns(source)
        return {**self.kinds_by_column, **dict.fromkeys(extra, "skip")} if extra else self.kinds_by_column

    @cached_property
    def _required_names(self) -> list[str]:
        pairs = zip(self.names, self.kinds, strict=True)
        return [name for name, kind in pairs if self.made or not isinstance(kind, kd.Skip)]

    @cached_property
    def accepted_names(self) -> frozenset[str | None]:
        """The names of the columns that rows may have, with that of the label."""
        return frozenset({*self.names, self.label})

    def with_blocks(self, chunk: Chunk) -> Chunk:
        """Return a chunk from `chunks` that is encoded already."""
        return replace(chunk, encoded=(self, self.encode(chunk)))

    def blocks(self, chunk: Chunk) -> list[Block]:
        """Return the blocks of a chunk from `chunks`, encoded now unless it is encoded already."""
        schema, blocks = chunk.encoded or (None, [])
        return blocks if schema is self else self.encode(chunk)

    def encode(self, chunk: Chunk) -> list[Block]:
        """Return one block per column group for a chunk from `chunks`."""
        if chunk.sparse is not None:
            return [encode_sparse_rows(chunk.sparse, self.kinds[0], self.names)]
        return [group.kind.encode(chunk.columns, group.names, self.missing) for group in self.column_groups]

    def without_dialect(self) -> Schema:
        """Return the same columns, whatever file they came from."""
        return replace(self, dialect={}) if self.dialect else self

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain data."""
        columns: Any
        if self.is_uniform:
            columns = {"width": len(self.names), "kind": self.kinds[0].to_json()}
            if isinstance(self.names, NumberedNames) and self.names.start:
                columns["start"] = self.names.start
        else:
            columns = [[n, k.to_json()] for n, k in zip(self.names, self.kinds, strict=True)]
        data = {
            "columns": columns,
            "named": self.named,
            "label": self.label,
            "missing": list(self.missing),
            "made": [[name, kind.to_json()] for name, kind in self.made.items()],
            **({"dialect": dict(self.dialect)} if self.dialect else {}),
        }
        readings = [[name, reading.to_json()] for name, reading in self.readings.items()]
        data |= {"readings": readings} if readings else {}
        data |= {"pairs": [list(pair) for pair in self.pairs]} if self.pairs else {}
        return data if self.label_reading is None else {**data, "label_reading": self.label_reading.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schema:
        """Return the schema that `to_json` wrote."""
        columns = data["columns"]
        names: Sequence[str]
        kinds: Sequence[kd.Kind]
        if isinstance(columns, dict):
            names = NumberedNames(int(columns["width"]), int(columns.get("start", 0)))
            kinds = ConstantSequence(kind_from_json(columns["kind"]), len(names))
        else:
            names, kinds = [str(n) for n, _ in columns], [kind_from_json(k) for _, k in columns]
            names = names if data["named"] else NumberedNames(len(names))
        made = {str(name): kind_from_json(kind) for name, kind in data["made"]}
        if not isinstance(names, NumberedNames) and len({*names, *made}) < len(names) + len(data["made"]):
            raise ValueError("a column occurs twice")
        if not isinstance(data["label"], str | None):
            raise ValueError(f"the label {data['label']!r}")
        readings = _readings_from_json(data.get("readings", []), names, kinds)
        dialect = check_dialect(data.get("dialect", {}))
        missing = tuple(data["missing"])
        label_reading = reading_from_json(data["label_reading"]) if "label_reading" in data else None
        if isinstance(label_reading, FlagReading):
            raise ValueError("the labels are flags")
        named, label = bool(data["named"]), data["label"]
        pairs = tuple((str(left), str(right)) for left, right in data.get("pairs", []))
        schema = cls(names, kinds, named, label, missing, made, readings, dialect, label_reading, pairs)
        known = set(schema.feature_columns) if pairs else set()
        if len(set(pairs)) < len(pairs) or not all(a != b and {a, b} <= known for a, b in pairs):
            raise ValueError("pairs of columns that do not exist, or several times")
        return schema


def _readings_from_json(data: object, names: Sequence[str], kinds: Sequence[kd.Kind]) -> dict[str, Reading]:
    """Return the stored readings, each of one column of numbers; raises ValueError for others."""
    if not isinstance(data, list):
        raise ValueError("the readings are not a list")
    if not data:
        return {}
    numeric = {name for name, kind in zip(names, kinds, strict=True) if isinstance(kind, NUMERIC_KINDS)}
    readings = {str(name): reading_from_json(reading) for name, reading in data}
    if len(readings) < len(data) or not readings.keys() <= numeric:
        raise ValueError("readings of columns that are no numbers, or several of one")
    return readings


def _warn_of_extra_columns(names: Sequence[str]) -> None:
    if not names:
        return
    # Imported here because few rows have such columns.
    from weigh.deduplicated_warnings import warn

    quoted, pronoun = (
        errors.quote_names(names, MAX_QUOTED_COLUMNS),
        "it is" if len(names) == 1 else "they are",
    )
    columns = "column" if len(names) == 1 else "columns"
    warn(
        errors.ExtraColumns(
            f"The rows have the {columns} {quoted} that the model was not trained on; {pronoun} ignored."
        ),
        names,
    )


def _read_chunk_labels(chunk: Chunk, schema: Schema) -> Chunk:
    return replace(chunk, labels=schema.read_labels(chunk.labels))


def _name_columns(chunk: Chunk, schema: Schema) -> Chunk:
    """Give a chunk's columns the schema's names, by position."""
    is_encodable = chunk.sparse is not None and schema.accepts_sparse
    return chunk if is_encodable else chunk.with_names(schema.names)


def encode_sparse_rows(rows: SparseRows, kind: Kind, names: Sequence[str]) -> SparseBlock:
    """Return the block of sparse rows whose columns are all flags, all counts or all values."""
    values, indices = np.ascontiguousarray(rows.entry_values(), dtype=np.float64), rows.indices
    rows = replace(rows, values=values)
    largest, has_nan, has_zeros, has_negative = _core.scan_values(values)
    if has_nan or np.isinf(largest):
        at = int(indices[np.argmin(np.isfinite(values))])
        raise errors.ColumnError(
            f"Column {names[at]!r} of the sparse matrix contains NaN or infinity. Entries of a sparse "
            f"matrix cannot be missing: leave such entries out."
        )
    if isinstance(kind, Value):
        check_magnitude(largest)
        return SparseBlock(rows.select_entries(values != 0) if has_zeros else rows, names)
    if not isinstance(kind, Flag):
        if has_negative and (values < 0).any():
            at = int(np.argmax(values < 0))
            check_non_negative(values[at : at + 1], [names[int(indices[at])]])
        if len(values):
            at = int(np.argmax(values))
            check_exact_counts(values[at : at + 1], [names[int(indices[at])]])
        return SparseBlock(rows, names)
    flags = replace(rows, values=None)
    return SparseBlock(flags.select_entries(values > 0) if has_zeros or has_negative else flags, names)
