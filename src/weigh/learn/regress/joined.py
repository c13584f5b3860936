"""Pieces of an array put together again, without copying where they lie one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def joined(pieces: Sequence[Any]) -> Any:
    """Return the pieces as one array; it is a view if they are consecutive rows of one."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    begin = _begin(first)
    for piece in pieces:
        same = piece.dtype == first.dtype and piece.strides == first.strides
        # Without a common owner nothing would keep the memory of the later pieces.
        if not same or _begin(piece) != begin or _owner(piece) is not _owner(first):
            return np.concatenate(pieces)
        begin += len(piece) * piece.strides[0]
    shape = (sum(map(len, pieces)), *first.shape[1:])
    return np.lib.stride_tricks.as_strided(first, shape, first.strides, writeable=False)


def _owner(array: Any) -> Any:
    """Return the object whose memory an array is a view of."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def _begin(array: Any) -> int:
    return int(array.__array_interface__["data"][0])
