"""The schema: every column's kind, found once and then frozen.

Levels and vocabularies are not part of it: they live with the counts, where merging and
forgetting make them appear and vanish.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from weigh import errors
from weigh.features import kinds as kd
from weigh.features.blocks import Numbered, Repeated
from weigh.features.derived import with_derived
from weigh.features.made_kinds import Derived, Lag, from_json
from weigh.features.products import Products
from weigh.features.sparse import wide_entries
from weigh.features.text_kinds import Wordy
from weigh.features.words import Block
from weigh.source import Chunk, Source
from weigh.source.base import CHUNK_ROWS, Piece, as_pieces
from weigh.source.matrix_columns import renamed
from weigh.source.missing import Marker

DOCUMENTS = 4_096  # texts that are read at a time
PRODUCT_CELLS = 1_000_000


@dataclass(frozen=True)
class Part:
    """Columns that are counted and scored together: all flags, all counts, or one other column."""

    kind: kd.Kind
    names: Sequence[str]

    @property
    def title(self) -> str:
        """The column's name, or a word for a group of columns."""
        return self.names[0] if len(self.names) == 1 else f"{self.kind.name.removesuffix('s')}s"

    @property
    def features(self) -> Sequence[str]:
        """The names of the block that the columns form, for a kind that gathers."""
        return self.kind.features(self.names)


@dataclass(frozen=True)
class Schema:
    """Names and kinds of the columns a model reads."""

    names: Sequence[str]
    kinds: Sequence[kd.Kind]
    named: bool = True
    label: str | None = None
    missing: tuple[Marker, ...] = ()
    made: Mapping[str, kd.Kind] = field(default_factory=dict)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The columns grouped as they are counted, in order of first appearance."""
        if self.is_wide:
            return (Part(self.kinds[0], self.names),)
        groups: dict[object, tuple[kd.Kind, list[str]]] = {}
        for name, kind in [*zip(self.names, self.kinds, strict=True), *self._made_kinds()]:
            if not isinstance(kind, kd.Skip):
                group = kind if kind.gathers else (name,)
                groups.setdefault(group, (kind, []))[1].append(name)
        return tuple(Part(kind, names) for kind, names in groups.values())

    def _made_kinds(self) -> Iterator[tuple[str, kd.Kind]]:
        for name, kind in self.made.items():
            if isinstance(kind, (Derived, Lag)):
                yield name, kind.kind

    @property
    def is_uniform(self) -> bool:
        """Whether this is a bare matrix whose columns all have one kind."""
        one = self.kinds.count(self.kinds[0]) == len(self.kinds)
        return isinstance(self.names, Numbered) and not self.made and one

    @property
    def is_wide(self) -> bool:
        """Whether all columns form one block that a sparse matrix can be read into directly."""
        return self.is_uniform and self.kinds[0].sparse

    @cached_property
    def chunk_rows(self) -> int:
        """How many rows are read at a time: fewer where each may be a whole document, or many products."""
        widest = max((len(p.features) for p in self.parts if isinstance(p.kind, Products)), default=1)
        most = DOCUMENTS if any(isinstance(part.kind, Wordy) for part in self.parts) else CHUNK_ROWS
        return max(1, min(most, PRODUCT_CELLS // widest))

    def storage(self) -> Mapping[str, str]:
        """Return what every column holds, for sources that can read it as such."""
        return self._storage

    @cached_property
    def _storage(self) -> Mapping[str, str]:
        if not self.named:
            return {}
        wanted = {name: kind.name for name, kind in zip(self.names, self.kinds, strict=True)}
        if self.made:
            # A derived column may read any other, also one that is itself left out.
            wanted = {name: word for name, word in wanted.items() if word != "skip"}
        return wanted

    def spelling(self, levels: Mapping[str, Sequence[Any]]) -> dict[str, str]:
        """Return how text files shall store columns whose levels are known, so that they match.

        A file's own rows cannot tell: a short one may hold only digits where training had words,
        and one odd value makes text of what were whole numbers.
        """
        own = levels.keys() - {self.label}
        pairs = zip(self.names, self.kinds, strict=True) if own else ()
        spelled = {name for name, kind in pairs if isinstance(kind, kd.Category)} | {self.label}
        return {
            name: "string" if all(isinstance(level, str) for level in seen) else "mixed"
            for name, seen in levels.items()
            if len(seen) and name in spelled
        }

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read a source chunk by chunk, columns checked, in this schema's names."""
        source = self.matched(source)
        by_name = self.named and source.named
        chunks = (self._renamed(c, by_name) for c in source.chunks(self.storage(), self.chunk_rows))
        return with_derived(chunks, self.made) if self.made else chunks

    def pieces(self, source: Source) -> Iterator[Piece]:
        """Read like `chunks`, but leave making each chunk to whoever calls it, in any thread."""
        if self.made:
            # A lag looks back into the chunk before, so these can only be made in order.
            return as_pieces(self.chunks(source))
        source = self.matched(source)
        by_name = self.named and source.named
        pieces = source.pieces(self.storage(), self.chunk_rows)
        return (self._renamed_piece(piece, by_name) for piece in pieces)

    def matched(self, source: Source) -> Source:
        """Return the source with columns that its format left out because they are empty, checked."""
        source = source.completed(self.names)
        self.check(source)
        return source

    def _renamed_piece(self, piece: Piece, by_name: bool) -> Piece:
        return lambda: self._renamed(piece(), by_name)

    def check(self, source: Source) -> None:
        """Refuse a source whose columns are not this schema's."""
        if self.named and source.named:
            given, known = set(source.names), self._known
            lacking = [n for n in self._needed if n not in given]
            if lacking:
                raise errors.ColumnError(
                    f"The rows lack the column {errors.listing(lacking)} that the model was trained on; "
                    f"they have {errors.listing(source.names)}. Give None where a value is missing."
                )
            beyond = [n for n in source.names if n not in known]
            if beyond:
                raise errors.ColumnError(
                    f"The rows have the column {errors.listing(beyond)} that the model was not trained "
                    f"on; it knows {errors.listing(self.names)}. Drop the column, or train again with it."
                )
        elif source.width != len(self.names):
            raise errors.ColumnError(
                f"X has {source.width} features, but weigh is expecting {len(self.names)} features "
                f"as input, as in training: {errors.listing(self.names)}."
            )

    @cached_property
    def _needed(self) -> list[str]:
        pairs = zip(self.names, self.kinds, strict=True)
        return [name for name, kind in pairs if self.made or not isinstance(kind, kd.Skip)]

    @cached_property
    def _known(self) -> frozenset[str | None]:
        return frozenset({*self.names, self.label})

    def _renamed(self, chunk: Chunk, by_name: bool) -> Chunk:
        """Put a chunk's columns under this schema's names: by name, or in their order."""
        if chunk.wide is not None:
            if self.is_wide:
                return chunk
            dense = chunk.wide.toarray()
            columns = {name: dense[:, j] for j, name in enumerate(self.names)}
            return replace(chunk, columns=columns, wide=None)
        if by_name:
            return chunk
        return replace(chunk, columns=renamed(chunk.columns, self.names))

    def encode(self, chunk: Chunk) -> list[Block]:
        """Return one block per part for a chunk that `chunks` gave."""
        if chunk.wide is not None:
            return [wide_entries(chunk.wide, self.kinds[0], self.names)]
        return [part.kind.encode(chunk.columns, part.names, self.missing) for part in self.parts]

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain data."""
        columns: Any
        if self.is_uniform:
            columns = {"width": len(self.names), "kind": self.kinds[0].to_json()}
            if isinstance(self.names, Numbered) and self.names.start:
                columns["start"] = self.names.start
        else:
            columns = [[n, k.to_json()] for n, k in zip(self.names, self.kinds, strict=True)]
        return {
            "columns": columns,
            "named": self.named,
            "label": self.label,
            "missing": list(self.missing),
            "made": [[name, kind.to_json()] for name, kind in self.made.items()],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schema:
        """Return the schema that `to_json` wrote."""
        columns = data["columns"]
        names: Sequence[str]
        kinds: Sequence[kd.Kind]
        if isinstance(columns, dict):
            names = Numbered(int(columns["width"]), int(columns.get("start", 0)))
            kinds = Repeated(from_json(columns["kind"]), len(names))
        else:
            names, kinds = [str(n) for n, _ in columns], [from_json(k) for _, k in columns]
            names = names if data["named"] else Numbered(len(names))
        made = {str(name): from_json(kind) for name, kind in data["made"]}
        if not isinstance(data["label"], str | None):
            raise ValueError(f"the label {data['label']!r}")
        return cls(names, kinds, bool(data["named"]), data["label"], tuple(data["missing"]), made)
