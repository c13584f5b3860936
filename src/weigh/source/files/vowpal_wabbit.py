"""Vowpal Wabbit text files, tokenised a block at a time with vectorised operations."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.advice import Setting, Text
from weigh.errors import MAX_WEIGHT, MIN_WEIGHT, WEIGHT_RANGE, SourceError, quote_names
from weigh.source.base import PREFIX_ROWS, ColumnKinds, Source
from weigh.source.chunk import Chunk, ListColumn, TextColumn
from weigh.source.files.base import FileSource
from weigh.source.files.lines import IS_BLANK, NEWLINE, LineBlock, LineSource, Offsets, encode_spans
from weigh.source.missing import Marker
from weigh.source.values import shorten_repr

DEFAULT_NAMESPACE = "features"  # name of the anonymous namespace
_PIPE, _COLON, _QUOTE = b"|:'"
_IS_SEPARATOR = IS_BLANK.copy()
_IS_SEPARATOR[[NEWLINE, _PIPE]] = True


class VwSyntaxError(ValueError):
    """A syntax error at an offset of a block."""

    def __init__(self, offset: int, problem: str, hint: Text = "") -> None:
        super().__init__(problem)
        self.offset = int(offset)
        self.hint = hint


@dataclass(frozen=True, eq=False)
class VwHeads:
    """The part of each row before its first '|': the label (code -1: missing) and the weight."""

    codes: NDArray[np.int32]
    labels: list[str]
    weights: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class VwFeatures:
    """The features of all namespaces: their rows, namespace codes, spans of their names, and values."""

    rows: Offsets
    namespaces: NDArray[np.int32]
    starts: Offsets
    sizes: Offsets
    values: NDArray[np.float64]


class VwTokens:
    """The words of a block, separated by blanks, line ends and '|'."""

    def __init__(self, block: LineBlock) -> None:
        self.block = block
        is_word = np.zeros(len(block.data) + 2, dtype=bool)
        is_word[1:-1] = ~_IS_SEPARATOR[block.data]
        edges = np.flatnonzero(is_word[1:] != is_word[:-1])
        self.starts, self.ends = edges[::2], edges[1::2]
        self.rows = block.rows_at(self.starts)
        self.pipes = np.flatnonzero(block.data == _PIPE)
        pipe_rows = block.rows_at(self.pipes)
        rows_without_pipe = np.flatnonzero(np.bincount(pipe_rows, minlength=block.n_rows) == 0)
        if len(rows_without_pipe):
            raise VwSyntaxError(block.starts[rows_without_pipe[0]], "there is no '|' before the features.")
        # The pipe before each word; the words before the first pipe of a line are its head.
        self._pipe_index = np.searchsorted(self.pipes, self.starts) - 1
        self._is_head = (self._pipe_index < 0) | (pipe_rows[self._pipe_index] != self.rows)
        self._is_namespace = ~self._is_head & (self.pipes[self._pipe_index] == self.starts - 1)
        colons = np.append(np.flatnonzero(block.data == _COLON), len(block.data))
        self._colons = np.minimum(colons[np.searchsorted(colons, self.starts)], self.ends)
        self._namespace_codes, self.namespaces = self._find_namespaces()

    def _find_namespaces(self) -> tuple[NDArray[np.int32], list[str]]:
        """Return the namespace code of each pipe, and the namespaces."""
        starts, sizes = self.pipes.copy(), np.zeros(len(self.pipes), dtype=np.int64)
        named_pipes = self._pipe_index[self._is_namespace]
        starts[named_pipes] = self.starts[self._is_namespace]
        sizes[named_pipes] = (self._colons - self.starts)[self._is_namespace]
        codes, names = encode_spans(self.block.data, starts, sizes)
        code_of_name: dict[str, int] = {}
        lookup = [code_of_name.setdefault(name or DEFAULT_NAMESPACE, len(code_of_name)) for name in names]
        return np.array(lookup, dtype=np.int32)[codes], list(code_of_name)

    def first_offset(self, namespace: str) -> int:
        """Return the offset at which a namespace first occurs."""
        return int(self.pipes[np.argmax(self._namespace_codes == self.namespaces.index(namespace))])

    def features(self) -> VwFeatures:
        """Return all features in the order of their rows."""
        scales = np.ones(len(self.pipes))
        scaled = np.flatnonzero(self._is_namespace & (self._colons < self.ends))
        scales[self._pipe_index[scaled]] = self._parse_numbers(self._colons[scaled] + 1, self.ends[scaled])
        words = np.flatnonzero(~self._is_head & ~self._is_namespace)
        starts, pipes = self.starts[words], self._pipe_index[words]
        sizes = self._colons[words] - starts
        if not sizes.all():
            raise VwSyntaxError(starts[np.argmin(sizes)], "a feature has no name before its ':'.")
        values = scales[pipes]
        has_value = np.flatnonzero(self._colons[words] < self.ends[words])
        valued = words[has_value]
        values[has_value] *= self._parse_numbers(self._colons[valued] + 1, self.ends[valued])
        return VwFeatures(self.rows[words], self._namespace_codes[pipes], starts, sizes, values)

    def heads(self) -> VwHeads:
        """Return the label and the weight of every row, ignoring tags."""
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
        starts = self.starts[labelled]
        codes[self.rows[labelled]], labels = encode_spans(
            self.block.data, starts, self.ends[labelled] - starts
        )
        return VwHeads(codes, labels, self._weights(words[order == 1]))

    def _without_tags(self, words: Offsets) -> Offsets:
        """Remove tags: a last word of a head that begins with ' or touches the pipe."""
        is_last = np.append(self.rows[words][1:] != self.rows[words][:-1], True)[: len(words)]
        touches_pipe = self.block.data[np.minimum(self.ends[words], len(self.block.data) - 1)] == _PIPE
        is_quoted = self.block.data[self.starts[words]] == _QUOTE
        is_only = is_last & np.append(True, is_last[:-1])[: len(words)]
        for word in words[is_only & touches_pipe & ~is_quoted]:
            if len(_core.parse_numbers(self.block.data, self.starts[[word]], self.ends[[word]])):
                raise VwSyntaxError(
                    self.starts[word],
                    "a number that touches '|' is a tag. Put a blank between label and '|'.",
                )
        without_tags: Offsets = words[~(is_last & (touches_pipe | is_quoted))]
        return without_tags

    def _check_labels(self, words: Offsets) -> None:
        """Raise VwSyntaxError for a label that is not a number."""
        starts, ends = self.starts[words], self.ends[words]
        n_valid = len(_core.parse_numbers(self.block.data, starts, ends))
        if n_valid == len(words):
            return
        word = self._word(starts[n_valid], ends[n_valid])
        problem = f"the label {shorten_repr(word)} is not a number."
        if ":" in word or word == "shared":
            problem = (
                f"{shorten_repr(word)} is a multiline or cost-sensitive label; only plain numbers are read."
            )
        raise VwSyntaxError(starts[n_valid], problem)

    def _weights(self, words: Offsets) -> NDArray[np.float64] | None:
        if not len(words):
            return None
        importances = self._parse_numbers(self.starts[words], self.ends[words])
        is_allowed = (importances == 0) | ((importances >= MIN_WEIGHT) & (importances <= MAX_WEIGHT))
        if not is_allowed.all():
            at = int(np.argmin(is_allowed))
            raise VwSyntaxError(
                self.starts[words[at]], f"the importance {importances[at]:g} must be {WEIGHT_RANGE}."
            )
        weights = np.ones(self.block.n_rows)
        weights[self.rows[words]] = importances
        return weights

    def _parse_numbers(self, starts: Offsets, ends: Offsets) -> NDArray[np.float64]:
        numbers = _core.parse_numbers(self.block.data, starts, ends)
        n_valid = len(numbers)
        if n_valid < len(starts):
            word = self._word(starts[n_valid], ends[n_valid])
            raise VwSyntaxError(starts[n_valid], f"{shorten_repr(word)} is not a number.")
        return numbers

    def _word(self, start: int, end: int) -> str:
        return self.block.data[start:end].tobytes().decode()


class VwSource(LineSource):
    """Lines `[label [importance]] ['tag] |namespace[:scale] feature[:value] ...`.

    Each namespace is a column of lists of names; labels are numbers, and importances are weights. The
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
                f"{self.path} has a namespace {self.label_column!r}, which is also the name of its labels.",
                self.path,
                hint=("Give ", Setting("label"), " another name."),
            )
        self.kinds = dict.fromkeys(namespaces, "tokens")
        return self.set_columns({self.label_column: "mixed", **self.kinds}, self.label_column)

    def with_columns(self, names: Sequence[str]) -> Source:
        """Return the same rows with absent namespaces as empty columns."""
        absent = [name for name in names if name not in self.types]
        return copy.copy(self)._set_namespaces([*self.kinds, *absent]) if absent else self

    def align_with(self, files: Sequence[FileSource]) -> FileSource:
        """Return the same file with the namespaces of all files."""
        namespaces = dict.fromkeys(name for file in files for name in file.kinds)
        return copy.copy(self)._set_namespaces(list(namespaces))

    def parse_block(self, block: LineBlock, kinds: ColumnKinds | None) -> Chunk:
        """Parse the labels, weights and features of a block; names are not copied."""
        tokens = self._tokenise(block)
        try:
            unknown = [name for name in tokens.namespaces if name not in self.kinds]
            if unknown:
                raise VwSyntaxError(
                    tokens.first_offset(unknown[0]),
                    f"the namespace {unknown[0]!r} is not among those of the first rows, "
                    f"{quote_names(self.kinds)}.",
                    ("Give ", Setting("names"), " all namespaces."),
                )
            head, features = tokens.heads(), tokens.features()
        except VwSyntaxError as fault:
            raise self._syntax_error(block, fault) from fault
        labels = self.encode_labels(head.codes, head.labels)
        codes = {name: code for code, name in enumerate(tokens.namespaces)}
        columns = {name: _namespace_column(block, features, codes.get(name, -1)) for name in self.kinds}
        return self.make_chunk({self.label_column: labels, **columns}, block.first_row, kinds, head.weights)

    def _tokenise(self, block: LineBlock) -> VwTokens:
        self.check_utf8(block.data)
        try:
            return VwTokens(block)
        except VwSyntaxError as fault:
            raise self._syntax_error(block, fault) from fault

    def _syntax_error(self, block: LineBlock, fault: VwSyntaxError) -> SourceError:
        """Return the error with its line and its column, counted in characters."""
        before = block.data[: fault.offset].tobytes()
        column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        return self.file_errors.line_error(
            f", column {column:,}: {fault}",
            self.file_errors.line_number(block.offset + fault.offset),
            fault.hint,
        )


def _namespace_column(block: LineBlock, features: VwFeatures, namespace: int) -> ListColumn:
    """Return the column of one namespace code."""
    selected = np.flatnonzero(features.namespaces == namespace)
    counts = np.bincount(features.rows[selected], minlength=block.n_rows)
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    values = features.values[selected]
    names = TextColumn(features.starts[selected], features.sizes[selected], block.data)
    return ListColumn(indptr, names, None if (values == 1).all() else values)
