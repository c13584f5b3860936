"""Lines in the text format of Vowpal Wabbit, taken apart for a whole block at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weigh import _core
from weigh.source.line_block import IS_BLANK, NEWLINE, LineBlock, Places, encoded
from weigh.source.values import shorten

DEFAULT = "features"  # what the namespace without a name is called
_PIPE, _COLON, _QUOTE = b"|:'"
_SEPARATES = IS_BLANK.copy()
_SEPARATES[[NEWLINE, _PIPE]] = True


class VwFault(ValueError):
    """What is wrong at a place of a block, as the end of a sentence."""

    def __init__(self, place: int, told: str) -> None:
        super().__init__(told)
        self.place = int(place)


@dataclass(frozen=True, eq=False)
class Head:
    """What stands before the first '|' of each row: the label (code -1: none) and the weight."""

    codes: NDArray[np.int32]
    labels: list[str]
    weights: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Features:
    """The features of all namespaces: their rows, namespaces, names and values."""

    rows: Places
    namespaces: NDArray[np.int32]
    begins: Places
    sizes: Places
    values: NDArray[np.float64]


class VwTokens:
    """The words of a block: what separates them are blanks, ends of lines and '|'."""

    def __init__(self, block: LineBlock) -> None:
        self.block = block
        inside = np.zeros(len(block.data) + 2, dtype=bool)
        inside[1:-1] = ~_SEPARATES[block.data]
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        self.begins, self.ends = edges[::2], edges[1::2]
        self.rows = block.rows_of(self.begins)
        self.pipes = np.flatnonzero(block.data == _PIPE)
        pipe_rows = block.rows_of(self.pipes)
        lacking = np.flatnonzero(np.bincount(pipe_rows, minlength=block.n_rows) == 0)
        if len(lacking):
            raise VwFault(block.begins[lacking[0]], "there is no '|' before the features.")
        # The pipe before each word; words before the first one of their line are the line's head.
        self._part = np.searchsorted(self.pipes, self.begins) - 1
        self._is_head = (self._part < 0) | (pipe_rows[self._part] != self.rows)
        self._is_name = ~self._is_head & (self.pipes[self._part] == self.begins - 1)
        colons = np.append(np.flatnonzero(block.data == _COLON), len(block.data))
        self._colons = np.minimum(colons[np.searchsorted(colons, self.begins)], self.ends)
        self._numbered, self.namespaces = self._find_namespaces()

    def _find_namespaces(self) -> tuple[NDArray[np.int32], list[str]]:
        """The namespace of each pipe, and their names."""
        begins, sizes = self.pipes.copy(), np.zeros(len(self.pipes), dtype=np.int64)
        parts = self._part[self._is_name]
        begins[parts] = self.begins[self._is_name]
        sizes[parts] = (self._colons - self.begins)[self._is_name]
        codes, names = encoded(self.block.data, begins, sizes)
        place: dict[str, int] = {}
        lookup = [place.setdefault(name or DEFAULT, len(place)) for name in names]
        return np.array(lookup, dtype=np.int32)[codes], list(place)

    def first_of(self, namespace: str) -> int:
        """Where a namespace first stands."""
        return int(self.pipes[np.argmax(self._numbered == self.namespaces.index(namespace))])

    def features(self) -> Features:
        """All features, in the order of their rows."""
        scales = np.ones(len(self.pipes))
        named = np.flatnonzero(self._is_name & (self._colons < self.ends))
        scales[self._part[named]] = self._numbers(self._colons[named] + 1, self.ends[named])
        own = np.flatnonzero(~self._is_head & ~self._is_name)
        sizes = self._colons[own] - self.begins[own]
        if not sizes.all():
            raise VwFault(self.begins[own[np.argmin(sizes)]], "a feature has no name before its ':'.")
        values = scales[self._part[own]]
        valued = np.flatnonzero(self._colons[own] < self.ends[own])
        given = own[valued]
        values[valued] *= self._numbers(self._colons[given] + 1, self.ends[given])
        return Features(self.rows[own], self._numbered[self._part[own]], self.begins[own], sizes, values)

    def head(self) -> Head:
        """The label and the weight of every row; tags are passed over."""
        words = self._untagged(np.flatnonzero(self._is_head))
        rows = self.rows[words]
        counts = np.bincount(rows, minlength=self.block.n_rows)
        order = np.arange(len(words)) - (np.cumsum(counts) - counts)[rows]
        if (order > 1).any():
            raise VwFault(
                self.begins[words[np.argmax(order > 1)]],
                "only a label, an importance and a 'tag may stand before '|'.",
            )
        labelled = words[order == 0]
        self._check_labels(labelled)
        codes = np.full(self.block.n_rows, -1, dtype=np.int32)
        begins = self.begins[labelled]
        codes[self.rows[labelled]], labels = encoded(self.block.data, begins, self.ends[labelled] - begins)
        return Head(codes, labels, self._weights(words[order == 1]))

    def _untagged(self, words: Places) -> Places:
        """The words of heads without the tags: a last one that begins with ' or touches the pipe."""
        last = np.append(self.rows[words][1:] != self.rows[words][:-1], True)[: len(words)]
        touching = self.block.data[np.minimum(self.ends[words], len(self.block.data) - 1)] == _PIPE
        quoted = self.block.data[self.begins[words]] == _QUOTE
        alone = last & np.append(True, last[:-1])[: len(words)]
        for word in words[alone & touching & ~quoted]:
            if len(_core.parse_numbers(self.block.data, self.begins[[word]], self.ends[[word]])):
                raise VwFault(
                    self.begins[word],
                    "a number that touches '|' is a tag. Put a blank between label and '|'.",
                )
        rest: Places = words[~(last & (touching | quoted))]
        return rest

    def _check_labels(self, words: Places) -> None:
        """Refuse labels that are no numbers."""
        begins, ends = self.begins[words], self.ends[words]
        at = len(_core.parse_numbers(self.block.data, begins, ends))
        if at == len(words):
            return
        word = self._spelled(begins[at], ends[at])
        told = f"the label {shorten(word)} is not a number."
        if ":" in word or word == "shared":
            told = f"{shorten(word)} is a multiline or cost-sensitive label; only plain numbers are read."
        raise VwFault(begins[at], told)

    def _weights(self, words: Places) -> NDArray[np.float64] | None:
        if not len(words):
            return None
        given = self._numbers(self.begins[words], self.ends[words])
        if (given < 0).any():
            raise VwFault(self.begins[words[np.argmax(given < 0)]], "an importance must not be negative.")
        weights = np.ones(self.block.n_rows)
        weights[self.rows[words]] = given
        return weights

    def _numbers(self, begins: Places, ends: Places) -> NDArray[np.float64]:
        numbers = _core.parse_numbers(self.block.data, begins, ends)
        if len(numbers) < len(begins):
            at = len(numbers)
            raise VwFault(begins[at], f"{shorten(self._spelled(begins[at], ends[at]))} is not a number.")
        return numbers

    def _spelled(self, begin: int, end: int) -> str:
        return self.block.data[begin:end].tobytes().decode()
