"""Labels as a file spells them, and as chunks hold them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.source.chunk import Coded
from weigh.source.missing import Marker

# A number as people write it; the words "inf" and "nan" stay words.
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def numeral(text: str) -> int | float | None:
    """The number that a text means, whole ones as integers; None if it means none."""
    if not _NUMERAL.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    if not number.is_integer():
        return number
    return int(number) if set(text) & set(".eE") else int(text)


def coded_labels(
    codes: NDArray[np.int32], texts: Sequence[str], storage: str, missing: Sequence[Marker]
) -> Coded:
    """Labels of which each distinct one is read once; storage "mixed" makes numbers of numerals."""
    marks = {"", *map(str, missing)}
    place: dict[Any, int] = {}
    lookup = []
    for text in texts:
        number = numeral(text) if storage == "mixed" else None
        value = text if number is None else number
        lookup.append(-1 if text in marks else place.setdefault(value, len(place)))
    # A missing label's code is -1, which finds the last entry.
    return Coded(np.array([*lookup, -1], dtype=np.int32)[codes], list(place))
