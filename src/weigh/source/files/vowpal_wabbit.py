"""Lines in the text format of Vowpal Wabbit, taken apart for a whole block at once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.errors import SourceError, quote_names
from weigh.source.base import PREFIX_ROWS, ColumnKinds, Source
from weigh.source.chunk import Chunk, ListColumn, TextColumn
from weigh.source.files.base import FileSource
from weigh.source.files.lines import IS_BLANK, NEWLINE, LineBlock, LineSource, Offsets, encode_spans
from weigh.source.missing import Marker
from weigh.source.values import shorten_repr

DEFAULT_NAMESPACE = "features"  # what the namespace without a name is called
_PIPE, _COLON, _QUOTE = b"|:'"
_IS_SEPARATOR = IS_BLANK.copy()
_IS_SEPARATOR[[NEWLINE, _PIPE]] = True


class VwSyntaxError(ValueError):
    """What is wrong at a place of a block, as the end of a sentence."""

    def __init__(self, place: int, told: str) -> None:
        super().__init__(told)
        self.offset = int(place)


@dataclass(frozen=True, eq=False)
class VwHeads:
    """What stands before the first '|' of each row: the label (code -1: none) and the weight."""

    codes: NDArray[np.int32]
    labels: list[str]
    weights: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class VwFeatures:
    """The features of all namespaces: their rows, namespaces, names and values."""

    rows: Offsets
    namespaces: NDArray[np.int32]
    starts: Offsets
    sizes: Offsets
    values: NDArray[np.float64]


class VwTokens:
    """The words of a block: what separates them are blanks, ends of lines and '|'."""

    def __init__(self, block: LineBlock) -> None:
        self.block = block
        inside = np.zeros(len(block.data) + 2, dtype=bool)
        inside[1:-1] = ~_IS_SEPARATOR[block.data]
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        self.starts, self.ends = edges[::2], edges[1::2]
        self.rows = block.rows_at(self.starts)
        self.pipes = np.flatnonzero(block.data == _PIPE)
        pipe_rows = block.rows_at(self.pipes)
        lacking = np.flatnonzero(np.bincount(pipe_rows, minlength=block.n_rows) == 0)
        if len(lacking):
            raise VwSyntaxError(block.starts[lacking[0]], "there is no '|' before the features.")
        # The pipe before each word; words before the first one of their line are the line's head.
        self._pipe_index = np.searchsorted(self.pipes, self.starts) - 1
        self._is_head = (self._pipe_index < 0) | (pipe_rows[self._pipe_index] != self.rows)
        self._is_namespace = ~self._is_head & (self.pipes[self._pipe_index] == self.starts - 1)
        colons = np.append(np.flatnonzero(block.data == _COLON), len(block.data))
        self._colons = np.minimum(colons[np.searchsorted(colons, self.starts)], self.ends)
        self._namespace_codes, self.namespaces = self._find_namespaces()

    def _find_namespaces(self) -> tuple[NDArray[np.int32], list[str]]:
        """The namespace of each pipe, and their names."""
        begins, sizes = self.pipes.copy(), np.zeros(len(self.pipes), dtype=np.int64)
        parts = self._pipe_index[self._is_namespace]
        begins[parts] = self.starts[self._is_namespace]
        sizes[parts] = (self._colons - self.starts)[self._is_namespace]
        codes, names = encode_spans(self.block.data, begins, sizes)
        place: dict[str, int] = {}
        lookup = [place.setdefault(name or DEFAULT_NAMESPACE, len(place)) for name in names]
        return np.array(lookup, dtype=np.int32)[codes], list(place)

    def first_offset(self, namespace: str) -> int:
        """Where a namespace first stands."""
        return int(self.pipes[np.argmax(self._namespace_codes == self.namespaces.index(namespace))])

    def features(self) -> VwFeatures:
        """All features, in the order of their rows."""
        scales = np.ones(len(self.pipes))
        named = np.flatnonzero(self._is_namespace & (self._colons < self.ends))
        scales[self._pipe_index[named]] = self._parse_numbers(self._colons[named] + 1, self.ends[named])
        own = np.flatnonzero(~self._is_head & ~self._is_namespace)
        sizes = self._colons[own] - self.starts[own]
        if not sizes.all():
            raise VwSyntaxError(self.starts[own[np.argmin(sizes)]], "a feature has no name before its ':'.")
        values = scales[self._pipe_index[own]]
        valued = np.flatnonzero(self._colons[own] < self.ends[own])
        given = own[valued]
        values[valued] *= self._parse_numbers(self._colons[given] + 1, self.ends[given])
        return VwFeatures(
            self.rows[own], self._namespace_codes[self._pipe_index[own]], self.starts[own], sizes, values
        )

    def heads(self) -> VwHeads:
        """The label and the weight of every row; tags are passed over."""
        words = self._without_tags(np.flatnonzero(self._is_head))
        rows = self.rows[words]
        counts = np.bincount(rows, minlength=self.block.n_rows)
        order = np.arange(len(words)) - (np.cumsum(counts) - counts)[rows]
        if (order > 1).any():
            raise VwSyntaxError(
                self.starts[words[np.argmax(order > 1)]],
                "only a label, an importance and a 'tag may stand before '|'.",
            )
        labelled = words[order == 0]
        self._check_labels(labelled)
        codes = np.full(self.block.n_rows, -1, dtype=np.int32)
        begins = self.starts[labelled]
        codes[self.rows[labelled]], labels = encode_spans(
            self.block.data, begins, self.ends[labelled] - begins
        )
        return VwHeads(codes, labels, self._weights(words[order == 1]))

    def _without_tags(self, words: Offsets) -> Offsets:
        """The words of heads without the tags: a last one that begins with ' or touches the pipe."""
        last = np.append(self.rows[words][1:] != self.rows[words][:-1], True)[: len(words)]
        touching = self.block.data[np.minimum(self.ends[words], len(self.block.data) - 1)] == _PIPE
        quoted = self.block.data[self.starts[words]] == _QUOTE
        alone = last & np.append(True, last[:-1])[: len(words)]
        for word in words[alone & touching & ~quoted]:
            if len(_core.parse_numbers(self.block.data, self.starts[[word]], self.ends[[word]])):
                raise VwSyntaxError(
                    self.starts[word],
                    "a number that touches '|' is a tag. Put a blank between label and '|'.",
                )
        rest: Offsets = words[~(last & (touching | quoted))]
        return rest

    def _check_labels(self, words: Offsets) -> None:
        """Refuse labels that are no numbers."""
        begins, ends = self.starts[words], self.ends[words]
        at = len(_core.parse_numbers(self.block.data, begins, ends))
        if at == len(words):
            return
        word = self._word(begins[at], ends[at])
        told = f"the label {shorten_repr(word)} is not a number."
        if ":" in word or word == "shared":
            told = (
                f"{shorten_repr(word)} is a multiline or cost-sensitive label; only plain numbers are read."
            )
        raise VwSyntaxError(begins[at], told)

    def _weights(self, words: Offsets) -> NDArray[np.float64] | None:
        if not len(words):
            return None
        given = self._parse_numbers(self.starts[words], self.ends[words])
        if (given < 0).any():
            raise VwSyntaxError(
                self.starts[words[np.argmax(given < 0)]], "an importance must not be negative."
            )
        weights = np.ones(self.block.n_rows)
        weights[self.rows[words]] = given
        return weights

    def _parse_numbers(self, begins: Offsets, ends: Offsets) -> NDArray[np.float64]:
        numbers = _core.parse_numbers(self.block.data, begins, ends)
        if len(numbers) < len(begins):
            at = len(numbers)
            raise VwSyntaxError(
                begins[at], f"{shorten_repr(self._word(begins[at], ends[at]))} is not a number."
            )
        return numbers

    def _word(self, begin: int, end: int) -> str:
        return self.block.data[begin:end].tobytes().decode()


class VwSource(LineSource):
    """Lines `[label [importance]] ['tag] |namespace[:scale] feature[:value] ...`.

    Each namespace is a column of lists of names; labels are numbers, importances weights. The
    namespaces are those given, or those of the first 10,000 rows.
    """

    def __init__(
        self,
        path: Path,
        label: str | None,
        missing: tuple[Marker, ...],
        *,
        encoding: str,
        block: int,
        namespaces: Sequence[str] | None = None,
    ) -> None:
        super().__init__(path, label, missing, encoding=encoding, block=block)
        head = self.first_block(PREFIX_ROWS)
        self._set_namespaces(self._tokenise(head).namespaces if namespaces is None else namespaces)

    def _set_namespaces(self, namespaces: Sequence[str]) -> VwSource:
        if self.label_column in namespaces:
            raise SourceError(
                f"{self.path} has a namespace {self.label_column!r}, and its labels are called so too. "
                f"Give label= another name.",
                self.path,
            )
        self.kinds = dict.fromkeys(namespaces, "tokens")
        return self.set_columns({self.label_column: "mixed", **self.kinds}, self.label_column)

    def with_columns(self, names: Sequence[str]) -> Source:
        """The same rows, with namespaces that they lack as empty columns."""
        lacking = [name for name in names if name not in self.types]
        return copy.copy(self)._set_namespaces([*self.kinds, *lacking]) if lacking else self

    def align_with(self, files: Sequence[FileSource]) -> FileSource:
        """The same file, with the namespaces that only the others have."""
        every = dict.fromkeys(name for file in files for name in file.kinds)
        return copy.copy(self)._set_namespaces(list(every))

    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """The labels, weights and features of a block; the names are not copied."""
        tokens = self._tokenise(block)
        try:
            unknown = [name for name in tokens.namespaces if name not in self.kinds]
            if unknown:
                raise VwSyntaxError(
                    tokens.first_offset(unknown[0]),
                    f"the namespace {unknown[0]!r} is not among those of the first rows, "
                    f"{quote_names(self.kinds)}. Give names= all namespaces.",
                )
            head, features = tokens.heads(), tokens.features()
        except VwSyntaxError as fault:
            raise self._syntax_error(block, fault) from fault
        labels = self.encode_labels(head.codes, head.labels)
        number = {name: at for at, name in enumerate(tokens.namespaces)}
        columns = {name: _namespace_column(block, features, number.get(name, -1)) for name in self.kinds}
        return self.make_chunk({self.label_column: labels, **columns}, block.first_row, kinds, head.weights)

    def _tokenise(self, block: LineBlock) -> VwTokens:
        self.check_utf8(block.data)
        try:
            return VwTokens(block)
        except VwSyntaxError as fault:
            raise self._syntax_error(block, fault) from fault

    def _syntax_error(self, block: LineBlock, fault: VwSyntaxError) -> SourceError:
        """The fault with its line, and its column counted in characters."""
        before = block.data[: fault.offset].tobytes()
        column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        return self.file_errors.line_error(
            f", column {column:,}: {fault}", self.file_errors.line_number(block.offset + fault.offset)
        )


def _namespace_column(block: LineBlock, features: VwFeatures, namespace: int) -> ListColumn:
    """The features of one namespace."""
    own = np.flatnonzero(features.namespaces == namespace)
    counts = np.bincount(features.rows[own], minlength=block.n_rows)
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    values = features.values[own]
    names = TextColumn(features.starts[own], features.sizes[own], block.data)
    return ListColumn(indptr, names, None if (values == 1).all() else values)
