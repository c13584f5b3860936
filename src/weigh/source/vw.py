"""Files in the text format of Vowpal Wabbit: a label and namespaces of features per line."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weigh.errors import SourceError, listing
from weigh.source.base import PREFIX_ROWS, Kinds, Source
from weigh.source.chunk import Chunk, Lists, Texts
from weigh.source.file_source import FileSource
from weigh.source.line_block import LineBlock
from weigh.source.line_source import LineSource
from weigh.source.missing import Marker
from weigh.source.vw_tokens import Features, VwFault, VwTokens


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
        head = self.first(PREFIX_ROWS)
        self._describe(self._tokens(head).namespaces if namespaces is None else namespaces)

    def _describe(self, namespaces: Sequence[str]) -> VwSource:
        if self.label_column in namespaces:
            raise SourceError(
                f"{self.path} has a namespace {self.label_column!r}, and its labels are called so too. "
                f"Give label= another name.",
                self.path,
            )
        self.kinds = dict.fromkeys(namespaces, "tokens")
        return self.describe({self.label_column: "mixed", **self.kinds}, self.label_column)

    def completed(self, names: Sequence[str]) -> Source:
        """The same rows, with namespaces that they lack as empty columns."""
        lacking = [name for name in names if name not in self.types]
        return copy.copy(self)._describe([*self.kinds, *lacking]) if lacking else self

    def beside(self, files: Sequence[FileSource]) -> FileSource:
        """The same file, with the namespaces that only the others have."""
        every = dict.fromkeys(name for file in files for name in file.kinds)
        return copy.copy(self)._describe(list(every))

    def read(self, block: LineBlock, kinds: Kinds | None) -> Chunk:
        """The labels, weights and features of a block; the names are not copied."""
        tokens = self._tokens(block)
        try:
            unknown = [name for name in tokens.namespaces if name not in self.kinds]
            if unknown:
                raise VwFault(
                    tokens.first_of(unknown[0]),
                    f"the namespace {unknown[0]!r} is not among those of the first rows, "
                    f"{listing(self.kinds)}. Give names= all namespaces.",
                )
            head, features = tokens.head(), tokens.features()
        except VwFault as fault:
            raise self._told(block, fault) from fault
        labels = self.labels_of(head.codes, head.labels)
        number = {name: at for at, name in enumerate(tokens.namespaces)}
        columns = {name: _lists(block, features, number.get(name, -1)) for name in self.kinds}
        return self.chunk_of({self.label_column: labels, **columns}, block.first_row, kinds, head.weights)

    def _tokens(self, block: LineBlock) -> VwTokens:
        self.check_text(block.data)
        try:
            return VwTokens(block)
        except VwFault as fault:
            raise self._told(block, fault) from fault

    def _told(self, block: LineBlock, fault: VwFault) -> SourceError:
        """The fault with its line, and its column counted in characters."""
        before = block.data[: fault.place].tobytes()
        column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        return self.faults.told(f", column {column:,}: {fault}", self.faults.line(block.offset + fault.place))


def _lists(block: LineBlock, features: Features, namespace: int) -> Lists:
    """The features of one namespace."""
    own = np.flatnonzero(features.namespaces == namespace)
    counts = np.bincount(features.rows[own], minlength=block.n_rows)
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    values = features.values[own]
    names = Texts(features.begins[own], features.sizes[own], block.data)
    return Lists(indptr, names, None if (values == 1).all() else values)
