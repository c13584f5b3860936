"""The rows of an online learner, its features numbered as in training, and the order of each pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Longs
from weigh.judge.verification.checks import Check, Mismatch
from weigh.learn.dataset import SourceDataset
from weigh.model.fit import OnlineSettings

MAX_PLAIN_COST = 500_000  # steps of a perceptron with few features; about five seconds of computing time
ENTRIES_PER_STEP = 2_000  # products that cost as much as the overhead of a step


@dataclass(frozen=True, eq=False)
class OnlineRows:
    """Rows as (features, values) with the column of their class and their weight, times that of the class."""

    rows: Sequence[tuple[Longs, Floats]]
    codes: Sequence[int]
    weights: Sequence[float]
    width: int
    settings: OnlineSettings

    @classmethod
    def from_dataset(
        cls, dataset: SourceDataset, classes: Sequence[Any], settings: OnlineSettings
    ) -> OnlineRows:
        """Read the rows of a data set with these classes."""
        class_indices = dataset.class_indices(classes)
        rows: list[tuple[Longs, Floats]] = []
        codes, weights = [], []
        for chunk in dataset.chunks():
            values = chunk.rows.entry_values().astype(np.float64)
            ends = chunk.rows.indptr.tolist()
            spans = pairwise(ends)
            rows += [(chunk.rows.indices[a:b].astype(np.int64), values[a:b]) for a, b in spans]
            codes.append(class_indices[chunk.targets])
            weights.append(np.ones(len(chunk.targets)) if chunk.weights is None else chunk.weights)
        all_codes, all_weights = np.concatenate(codes), np.concatenate(weights)
        factors = class_factors(settings, all_codes, all_weights, len(classes))
        return cls(
            rows,
            all_codes.tolist(),
            (all_weights * factors[all_codes]).tolist(),
            dataset.feature_index.width,
            settings,
        )

    def order(self, number: int) -> Iterator[int]:
        """Iterate over the rows in the order of pass `number`, from 0."""
        n, seed = len(self.rows), self.settings.seed
        if seed is None:
            return iter(range(n))
        return iter(np.random.default_rng([seed, number]).permutation(n).tolist())


def class_factors(settings: OnlineSettings, codes: Any, weights: Floats, n_classes: int) -> Floats:
    """Return the weight of each class; balanced ones are inverse to the weight of its rows."""
    if settings.class_weight is None:
        return np.ones(n_classes)
    if isinstance(settings.class_weight, tuple):
        return np.array(settings.class_weight)
    totals = np.bincount(codes, weights, minlength=n_classes)
    factors = np.zeros(n_classes)
    np.divide(totals.sum(), n_classes * totals, out=factors, where=totals > 0)
    return factors


def plain_cost(dataset: SourceDataset, passes: int, columns: int, *, visits_all: bool = False) -> float:
    """Return the cost of making passes over a data set in plain code, in steps with few features.

    `visits_all` says that every step changes all weights.
    """
    n_entries = sum(len(chunk.rows.indices) for chunk in dataset.chunks())
    n_entries += dataset.n_rows * dataset.feature_index.width * visits_all
    return passes * (dataset.n_rows + n_entries * columns / ENTRIES_PER_STEP)


def check_weights(
    names: Sequence[str], classes: Sequence[Any], model: Floats, replayed: Floats, allowed: Floats
) -> Check:
    """Compare weights [features, columns] that differ by rounding only; the first row is the bias."""
    wrong = np.argwhere(~(np.abs(model - replayed) <= allowed)).tolist()
    differing = []
    for row, column in wrong:
        name = "bias" if row == 0 else names[row - 1]
        of_class = f" of class {classes[column]!r}" if model.shape[1] > 1 else ""
        numbers = (f"{float(table[row, column]):.10g}" for table in (model, replayed))
        differing.append(Mismatch(f"{name}{of_class}", *numbers))
    return Check("weights", model.size, tuple(differing))
