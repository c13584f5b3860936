"""Sparse matrices read straight into one block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Entries
from weigh.features.count_checks import refuse_huge, refuse_negative
from weigh.features.kinds import Flag, Kind, Value


def wide_entries(matrix: Any, kind: Kind, names: Sequence[str]) -> Entries:
    """Return the entries of a sparse matrix whose columns are all flags, all counts or all values."""
    values = matrix.data.astype(np.float64, copy=False)
    indices = matrix.indices.astype(np.int32, copy=False)
    indptr = matrix.indptr.astype(np.int64, copy=False)
    if not np.isfinite(values).all():
        at = int(indices[np.argmin(np.isfinite(values))])
        raise errors.ColumnError(
            f"Column {names[at]!r} of the sparse matrix contains NaN or infinity. Entries of a sparse "
            f"matrix cannot be missing: leave absent entries out."
        )
    if isinstance(kind, Value):
        return Entries(indptr, indices, values, names)
    if not isinstance(kind, Flag):
        if (values < 0).any():
            at = int(np.argmax(values < 0))
            refuse_negative(values[at : at + 1], [names[int(indices[at])]])
        if len(values):
            at = int(np.argmax(values))
            refuse_huge(values[at : at + 1], [names[int(indices[at])]])
        return Entries(indptr, indices, values, names)
    present = values > 0
    if present.all():
        return Entries(indptr, indices, None, names)
    kept = np.concatenate([[0], np.cumsum(present)])[indptr]
    return Entries(kept.astype(np.int64), indices[present], None, names)
