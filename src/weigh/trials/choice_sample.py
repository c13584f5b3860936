"""The sample of rows that `choose_learner` compares learners on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.row_hashes import add_label_hashes, add_target_hashes, hash_features
from weigh.features.schema import Schema
from weigh.learn.holdout import is_held_out
from weigh.source.base import Source
from weigh.source.memory.table import rows as rows_of
from weigh.source.selected_rows import SelectedRows
from weigh.trials.candidates import Candidate
from weigh.trials.rows import LabelledRows

MAX_ROWS = 20_000  # of the sample


@dataclass(frozen=True, eq=False)
class Sample:
    """At most about `MAX_ROWS` rows in memory, the number of all rows, and that of their columns."""

    rows: LabelledRows
    n_rows: int
    n_columns: int

    @classmethod
    def of(cls, source: Source, n_rows: int, seed: int, is_regression: bool) -> Sample:
        """Read a sample of a source of n rows chunk by chunk; it depends only on the numbers of the rows."""
        if n_rows > MAX_ROWS:
            source = SelectedRows(source, is_held_out(0, n_rows, seed, MAX_ROWS / n_rows))
        rows = LabelledRows.of(source)
        return cls(rows.with_numeric_labels() if is_regression else rows, n_rows, source.width)

    def __len__(self) -> int:
        return len(self.rows)

    def count_labels(self) -> list[int]:
        """Return how often each label occurs, most frequent first."""
        return [count for _, count in Counter(self.rows.labels.tolist()).most_common()]


def canonical_order(candidate: Candidate, is_regression: bool) -> Any:
    """Return the rows [n] in an order that depends on what they contain, not on where they are.

    Rows that the schema cannot tell apart are interchangeable.
    """
    rows, schema = candidate.rows, candidate.prepared.columns
    if not isinstance(schema, Schema):
        return np.arange(len(rows))
    chunks = list(schema.chunks(rows_of(rows.data)))
    hashes = np.concatenate([hash_features(schema, schema.blocks(chunk), chunk.n_rows) for chunk in chunks])
    if is_regression:
        add_target_hashes(np.ascontiguousarray(rows.labels, np.float64), hashes)
    else:
        add_label_hashes(rows.labels.tolist(), None, hashes)
    return np.argsort(hashes, kind="stable")
