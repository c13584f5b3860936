"""Which words a finished model keeps: pruning happens here, never in the counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh import errors
from weigh.features import Kind, Names, Wordy
from weigh.features.blocks import Longs
from weigh.model.tally import Table


def kept_words(kind: Kind, table: Table) -> Longs | None:
    """Return the numbers of the words to keep, in order; None if all are kept."""
    if not isinstance(kind, Wordy) or (not kind.buckets and kind.min_count <= 1 and kind.max_words is None):
        return None
    if kind.buckets:
        # Buckets that nothing fell into are no words: to smooth over them would drown those that are.
        return np.flatnonzero(table.any(axis=0))
    totals = table.sum(axis=0, dtype=np.float64 if table.dtype == np.float64 else np.int64)
    kept = np.flatnonzero(totals >= kind.min_count)
    if kind.max_words is not None and len(kept) > kind.max_words:
        # Of words that are equally frequent the first in the alphabet stay.
        kept = np.sort(kept[np.argsort(-totals[kept], kind="stable")[: kind.max_words]])
    return None if len(kept) == table.shape[1] else kept


def taken_names(names: Sequence[str], kept: Longs | None) -> Sequence[str]:
    """Return the kept names."""
    if kept is None:
        return names
    return names.taken(kept) if isinstance(names, Names) else [names[at] for at in kept.tolist()]


def no_words(column: str) -> errors.Unsupported:
    """Word the refusal to draw texts from buckets."""
    return errors.Unsupported(
        f"The words of column {column!r} were hashed into buckets, and a bucket is no word that could be "
        f"drawn. Train without buckets."
    )
