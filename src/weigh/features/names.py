"""Vocabularies as two arrays (bytes and offsets), read without creating a string per name."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from weigh import _core
from weigh.features.blocks import Ints, Longs
from weigh.immutable import Immutable

Bytes = npt.NDArray[np.uint8]


class LazyNames(Sequence[str]):
    """A sequence of names whose strings are created on access."""

    @abstractmethod
    def _name(self, k: int) -> str:
        """Return the name with number k."""

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        numbers = range(len(self))[at]
        if isinstance(numbers, range):
            return [self._name(k) for k in numbers]
        return self._name(numbers)


class JoinedNames(LazyNames):
    """Several sequences of names as one."""

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self._parts = parts
        self._starts = [0, *accumulate(map(len, parts))]

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._parts)

    def _name(self, k: int) -> str:
        part = bisect_right(self._starts, k) - 1
        return self._parts[part][k - self._starts[part]]


def join_names(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return several sequences of names as one, without copying them."""
    return parts[0] if len(parts) == 1 else JoinedNames(parts)


@dataclass(frozen=True, eq=False)
class NameArray(LazyNames, Immutable):
    """A list of names as their bytes of UTF-8; name k is text[offsets[k] : offsets[k + 1]]."""

    text: Bytes
    offsets: Longs

    @classmethod
    def from_strings(cls, names: Iterable[str]) -> NameArray:
        """Return names that were strings."""
        # Half a surrogate pair occurs in names read from broken data; it must come back as it went in.
        pieces = [name.encode("utf-8", "surrogatepass") for name in names]
        offsets = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(pieces), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _name(self, k: int) -> str:
        return _decode(self.text[self.offsets[k] : self.offsets[k + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        whole = self.text.tobytes()
        return (_decode(whole[start:stop]) for start, stop in pairwise(self.offsets.tolist()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NameArray):
            return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.text, other.text)
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self.text.tobytes())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) >= 0

    def find(self, name: str) -> int:
        """Return a name's number, or -1; the names must be sorted."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._name(middle) < name:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._name(low) == name else -1

    @cached_property
    def are_sorted(self) -> bool:
        """Whether the names are strictly increasing."""
        return _core.are_names_sorted(self.text, self.offsets)

    def argsort(self) -> Ints:
        """Return the numbers that sort the names by their code points, as Python sorts strings."""
        return _core.argsort_names(self.text, self.offsets)

    def take(self, numbers: npt.NDArray[Any]) -> NameArray:
        """Return the names with these numbers."""
        return NameArray(*_core.take_names(self.text, self.offsets, numbers.astype(np.int32)))

    def merge_sorted(self, other: NameArray) -> tuple[NameArray, Longs, Longs]:
        """Return the sorted union, and the positions of our and of the other names in it.

        Both arrays must be sorted.
        """
        text, offsets, ours, theirs = _core.merge_names(self.text, self.offsets, other.text, other.offsets)
        return NameArray(text, offsets), ours, theirs


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")
