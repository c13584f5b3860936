"""Sparse matrices read straight into one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Entries, Mask
from weigh.features.count_checks import refuse_huge, refuse_negative
from weigh.features.kinds import Flag, Kind, Value
from weigh.features.value_checks import refuse_extreme


def wide_entries(matrix: Any, kind: Kind, names: Sequence[str]) -> Entries:
    """Return the entries of a sparse matrix whose columns are all flags, all counts or all values."""
    values = np.ascontiguousarray(matrix.data, dtype=np.float64)
    indices = matrix.indices.astype(np.int32, copy=False)
    indptr = matrix.indptr.astype(np.int64, copy=False)
    largest, has_nan, has_zeros, has_negative = _core.scan_values(values)
    if has_nan or np.isinf(largest):
        at = int(indices[np.argmin(np.isfinite(values))])
        raise errors.ColumnError(
            f"Column {names[at]!r} of the sparse matrix contains NaN or infinity. Entries of a sparse "
            f"matrix cannot be missing: leave absent entries out."
        )
    if isinstance(kind, Value):
        refuse_extreme(largest)
        entries = Entries(indptr, indices, values, names)
        return entries_without_zeros(entries) if has_zeros else entries
    if not isinstance(kind, Flag):
        if has_negative and (values < 0).any():
            at = int(np.argmax(values < 0))
            refuse_negative(values[at : at + 1], [names[int(indices[at])]])
        if len(values):
            at = int(np.argmax(values))
            refuse_huge(values[at : at + 1], [names[int(indices[at])]])
        return Entries(indptr, indices, values, names)
    if not has_zeros and not has_negative:
        return Entries(indptr, indices, None, names)
    return replace(_where(Entries(indptr, indices, values, names), values > 0), values=None)


def entries_without_zeros(entries: Entries) -> Entries:
    """Return only the entries that are not zero."""
    return _where(entries, np.asarray(entries.values != 0))


def _where(entries: Entries, kept: Mask) -> Entries:
    before = np.concatenate([[0], np.cumsum(kept)])[entries.indptr].astype(np.int64)
    values = None if entries.values is None else entries.values[kept]
    return Entries(before, entries.indices[kept], values, entries.names)
