"""Lines that a stray quote has swallowed: they look like rows, but are the inside of a quoted field."""

from __future__ import annotations

import numpy as np

from weigh.source.bytes import Bytes

NEARLY_ALL = 0.99  # of the lines look like rows where quotes are no quotes; within real texts, few do


def lines_like_rows(data: Bytes, delimiter: str, width: int, n_rows: int) -> int:
    """How many lines look like rows of so many fields, if they are more than the rows; else 0.

    Texts of several lines have other numbers of delimiters in each. Fields of quotes that were never meant
    hold whole rows, each with as many delimiters as any.
    """
    text = data.tobytes()
    if width < 2 or b'"' not in text or text.count(b"\n") <= n_rows:
        return 0
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
    lengths = np.diff(ends, prepend=-1) - 1
    before = np.searchsorted(np.flatnonzero(data == ord(delimiter)), ends)
    like = int((np.diff(before, prepend=0) == width - 1).sum())
    return like if like > n_rows and like >= NEARLY_ALL * (lengths > 0).sum() else 0
