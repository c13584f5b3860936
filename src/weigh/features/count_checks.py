"""Refusals of counts that are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh import errors

MOST_COUNTED = 2.0**53  # beyond it, adding one changes nothing


def refuse_negative(least: Any, names: Sequence[str]) -> None:
    """Refuse counts whose least value in a column is below zero."""
    if (least < 0).any():
        at = int(np.argmax(least < 0))
        raise errors.ColumnError(
            f"Column {names[at]!r} holds counts, but one of them is negative ({least[at]:g}). Counts "
            f"start at 0; for other numbers use columns={{{names[at]!r}: 'number'}}."
        )


def refuse_huge(greatest: Any, names: Sequence[str]) -> None:
    """Refuse counts whose greatest value in a column is beyond what is counted exactly."""
    if (greatest > MOST_COUNTED).any():
        at = int(np.argmax(greatest > MOST_COUNTED))
        raise errors.ColumnError(
            f"Column {names[at]!r} holds counts, but one of them is {greatest[at]:g}, too large to count "
            f"exactly. For such numbers use columns={{{names[at]!r}: 'number'}}."
        )
