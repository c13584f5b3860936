"""What online learners share: examples pass by pass, and runs that go on when more rows come."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from weigh import _core
from weigh.features import Schema
from weigh.features.blocks import Longs
from weigh.learn.class_weights import dataset_class_weights
from weigh.learn.dataset import EncodedChunk, EncodedDataset
from weigh.learn.feature_index import FeatureIndex


class TrainingState(Protocol):
    """Weights on their way."""

    classes: list[Any]


RunT = TypeVar("RunT", bound=TrainingState)


@dataclass
class OnlineTraining(Generic[RunT]):
    """A run together with the features it is over: what goes on when more rows come."""

    schema: Schema
    feature_index: FeatureIndex
    state: RunT

    def copy(self) -> Self:
        """Return a course that may go on without this one."""
        return replace(self, feature_index=copy.deepcopy(self.feature_index), state=copy.deepcopy(self.state))

    def storage(self) -> dict[str, str]:
        """Return how text files must be read to match what was learned, for `Source.stored`."""
        label = self.schema.label
        named = {} if label is None else {label: self.state.classes}
        return self.schema.level_storage({**self.feature_index.levels(), **named})


class TrainingPasses:
    """The examples of a reading, pass by pass: all at once if they are in memory."""

    def __init__(
        self, reading: EncodedDataset, classes: Sequence[Any], class_weight: Any, owner: str
    ) -> None:
        self._dataset = reading
        self._class_indices = reading.class_indices(classes)
        self._class_weights = dataset_class_weights(
            owner, class_weight, classes, reading, self._class_indices
        )
        self.is_weighted = self._class_weights is not None or reading.is_weighted
        self._all_examples = self._to_examples(reading.chunks()) if reading.is_cached else None

    def examples(self, seed: int | None, number: int) -> Iterator[tuple[_core.Examples, Longs | None]]:
        """Yield examples with their order in this pass; without a seed they are in order.

        Rows that are read again for every pass are shuffled among those that are read together.
        """
        if self._all_examples is not None:
            yield (
                self._all_examples,
                None if seed is None else pass_order(len(self._all_examples), seed, number),
            )
            return
        for at, chunk in enumerate(self._dataset.chunks()):
            examples = self._to_examples(iter([chunk]))
            yield examples, None if seed is None else pass_order(len(examples), seed, number + 1_000_003 * at)

    def _to_examples(self, chunks: Iterator[EncodedChunk]) -> _core.Examples:
        examples = _core.Examples()
        for chunk in chunks:
            codes, weights = self._class_indices[chunk.targets], chunk.weights
            if self._class_weights is not None:
                weights = self._class_weights[codes] * (1.0 if weights is None else weights)
            examples.add(*chunk.rows, codes, weights, self._dataset.feature_index.width)
        return examples


def pass_order(n: int, seed: int, number: int) -> Longs:
    """Return the shuffled order of n rows in pass `number`, which counts from 0.

    It depends on nothing else, so that a pass can be repeated without those before it.
    """
    return np.random.default_rng([seed, number]).permutation(n)
