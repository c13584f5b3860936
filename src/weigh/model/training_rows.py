"""A record of the training rows of a model: number, hashes, and a summary of their inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from weigh import _core
from weigh.features.blocks import Longs
from weigh.features.row_hashes import Hashes
from weigh.features.schema import Schema
from weigh.immutable import Immutable
from weigh.model.file import store
from weigh.model.input_summary import InputSummary
from weigh.source.sparse_rows import SparseRows

SAMPLE_SIZE = 256
MIN_COMPARED = 20  # rows that an estimated share needs
MAX_DUPLICATES = 0.05  # a larger share of repeated rows tells training rows from others no more
MAX_CHANCE = 1e-6  # that rows which repeat others are all known, although they are new
MODULUS = 2**64
MAX_ROWS = 2**63
KEY = "training_rows"


@dataclass(frozen=True, eq=False)
class TrainingRows(Immutable):
    """The number of rows, two sums of their hashes modulo 2^64, and the `SAMPLE_SIZE` smallest hashes.

    None of them depends on the order of the rows. The rows themselves cannot be recovered. `inputs` is None
    for models of earlier releases.
    """

    n: int = 0
    sums: tuple[int, int] = (0, 0)
    sample: Hashes = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    inputs: InputSummary | None = None

    @classmethod
    def from_hashes(cls, hashes: Hashes, inputs: InputSummary | None = None) -> Self:
        """Return the record of rows with these unfinished hashes, which are finished in place."""
        sums = _core.finish_row_hashes(hashes)
        return cls(len(hashes), sums, _smallest(hashes), inputs)

    def plus(self, other: TrainingRows) -> TrainingRows:
        """Return the record of the rows of both."""
        first, second = ((a + b) % MODULUS for a, b in zip(self.sums, other.sums, strict=True))
        sample = _smallest(np.concatenate([self.sample, other.sample]))
        pair = [each.inputs for each in (self, other) if each.n and each.inputs is not None]
        inputs = pair[0].plus(pair[1]) if len(pair) == 2 else next(iter(pair), None)
        return TrainingRows(self.n + other.n, (first, second), sample, inputs)

    def with_frequencies(self, rows: SparseRows) -> TrainingRows:
        """Return the record with the frequencies of the features of its rows."""
        return self if self.inputs is None else replace(self, inputs=self.inputs.with_frequencies(rows))

    def finish(self, orders: Sequence[Longs]) -> TrainingRows:
        """Return the record for a model that has the features of each column group in these orders."""
        return self if self.inputs is None else replace(self, inputs=self.inputs.finish(orders))

    def equals(self, other: TrainingRows) -> bool:
        """Whether both are records of the same rows."""
        return self.n == other.n and self.sums == other.sums

    @property
    def limit(self) -> np.uint64:
        """The largest hash up to which the sample has all rows."""
        return np.uint64(self.sample[-1] if self.n > len(self.sample) else MODULUS - 1)

    def share_of(self, hashes: Hashes) -> float | None:
        """Estimate the share of rows, given by their finished hashes, that are among these rows.

        All rows with a hash up to the largest of the sample are known. None if too few rows are that small,
        or if the rows repeat each other, so that equal rows are no evidence, unless all are equal to some.
        """
        compared = hashes[hashes <= self.limit]
        if not len(self.sample) or len(compared) < MIN_COMPARED:
            return None
        share = float(np.isin(compared, self.sample).mean())
        values, counts = np.unique(self.sample, return_counts=True)
        if len(values) >= (1 - MAX_DUPLICATES) * len(self.sample):
            return share
        # Good and Turing: a new row repeats a known one with the probability of not being unique.
        chance = 1 - (counts == 1).sum() / len(self.sample)
        return 1.0 if share == 1 and chance ** len(np.unique(compared)) < MAX_CHANCE else None

    def write_arrays(self, arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        """Add the record to the content of a model file."""
        # JSON numbers of this size lose digits in other languages.
        meta[KEY] = {"n": self.n, "sums": [f"{total:016x}" for total in self.sums]}
        arrays[f"{KEY}.sample"] = self.sample
        if self.inputs is not None:
            self.inputs.write_arrays(arrays, meta)

    @classmethod
    def read_arrays(cls, stored: store.FileContent, schema: Schema) -> TrainingRows | None:
        """Read the record that `write_arrays` added; None if there is none."""
        if KEY not in stored.meta:
            return None
        record = stored.meta[KEY]
        sample = store.read_array(stored, f"{KEY}.sample", (None,), [np.uint64])
        if not _is_record(record) or not _is_sample(sample, record["n"]):
            raise store.damaged_file_error(stored.path, "its record of the training rows is inconsistent")
        first, second = (int(digits, 16) for digits in record["sums"])
        return cls(record["n"], (first, second), sample, InputSummary.read_arrays(stored, schema))


def _is_record(data: object) -> bool:
    """Whether data read from a file has a number of rows and two sums as `write_arrays` writes them."""
    if not isinstance(data, Mapping) or data.keys() != {"n", "sums"}:
        return False
    n, sums = data["n"], data["sums"]
    is_count = isinstance(n, int) and not isinstance(n, bool) and 0 <= n < MAX_ROWS
    return is_count and isinstance(sums, list) and len(sums) == 2 and all(map(_is_sum, sums))


def _is_sum(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value) is not None


def _is_sample(hashes: Hashes, n: int) -> bool:
    return len(hashes) == min(n, SAMPLE_SIZE) and bool((hashes[1:] >= hashes[:-1]).all())


def _smallest(hashes: Hashes) -> Hashes:
    """Return the smallest hashes in ascending order."""
    if len(hashes) > SAMPLE_SIZE:
        hashes = np.partition(hashes, SAMPLE_SIZE)[:SAMPLE_SIZE]
    return np.sort(hashes)
