"""Words of texts, and lists of ready-made names, as sparse rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Entries
from weigh.features.columns import is_gap
from weigh.source.chunk import Column, to_pylist

Splitter = Callable[[str], list[str]]


def text_entries(
    column: Column, name: str, split: Splitter, *, counts: bool, markers: Collection[object]
) -> Entries:
    """Return the words of every text; a missing text is a row that is not known."""

    def words(value: object) -> Iterable[str]:
        if not isinstance(value, str):
            raise errors.ColumnError(
                f"Column {name!r} holds text, but one value is {value!r}. Turn it into a string, or "
                f"give the column another kind, such as columns={{{name!r}: 'category'}}."
            )
        return split(value)

    return _gather(to_pylist(column), words, counts, markers)


def token_entries(column: Column, name: str, *, counts: bool, markers: Collection[object]) -> Entries:
    """Return the names in every list; a missing list is a row that is not known."""

    def words(value: object) -> Iterable[str]:
        names: list[Any] = [None]
        if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            names = list(value)
        if not all(isinstance(word, str) for word in names):
            raise errors.ColumnError(
                f"Column {name!r} holds lists of names, but one value is {value!r}. Give every row a "
                f"list of strings."
            )
        return names

    return _gather(to_pylist(column), words, counts, markers)


def tokenizer(min_length: int, ngrams: tuple[int, int]) -> Splitter:
    """Return the function from a text to its words (and n-grams), lower-cased."""
    pattern = re.compile(rf"\b\w{{{min_length},}}\b")
    low, high = ngrams

    def split(text: str) -> list[str]:
        words = pattern.findall(text.lower())
        if (low, high) == (1, 1):
            return words
        most = min(high, len(words))
        return [" ".join(words[i : i + n]) for n in range(low, most + 1) for i in range(len(words) - n + 1)]

    return split


def _gather(
    values: list[Any],
    words: Callable[[object], Iterable[str]],
    counts: bool,
    markers: Collection[object],
) -> Entries:
    place: dict[str, int] = {}
    indices: list[int] = []
    known = np.ones(len(values), dtype=bool)
    indptr = np.zeros(len(values) + 1, dtype=np.int64)
    for row, value in enumerate(values):
        if is_gap(value, markers):
            known[row] = False
        else:
            found = words(value)
            for word in found if counts else dict.fromkeys(found):
                indices.append(place.setdefault(word, len(place)))
        indptr[row + 1] = len(indices)
    block = np.asarray(indices, dtype=np.int32)
    return Entries(indptr, block, None, list(place), known=None if known.all() else known)
