"""Training of online learners: shuffled passes over the examples, and state that later calls continue."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats, Ints, Longs
from weigh.features.schema import Schema
from weigh.learn.chunk_encoder import EncodedChunk
from weigh.learn.class_weights import dataset_class_weights, weigh_rows, zero_weight_classes
from weigh.learn.dataset import EncodedDataset
from weigh.learn.feature_index import FeatureIndex
from weigh.model.base import Model
from weigh.model.fit import OnlineSettings
from weigh.model.training_rows import TrainingRows
from weigh.source.sparse_rows import SparseRows


class TrainingState(Protocol):
    """The weights of a learner during training."""

    classes: list[Any]


StateT = TypeVar("StateT", bound=TrainingState)
ModelT = TypeVar("ModelT", bound=Model)


@dataclass
class OnlineTraining(ABC, Generic[StateT, ModelT]):
    """A training state with its schema and feature index; further rows continue from it.

    Training changes the state in place. `cached_model` is the model before the rows that are being learned.
    """

    schema: Schema
    feature_index: FeatureIndex
    state: StateT
    cached_model: ModelT | None = None
    training_rows: TrainingRows | None = None
    online: OnlineSettings | None = None  # None if the passes cannot be made again

    def model(self) -> ModelT:
        """Return the model of the current state."""
        if self.cached_model is None:
            self.cached_model = self.build_model()
        return self.cached_model

    def add_rows(self, rows: TrainingRows) -> None:
        """Record rows that were learned, and discard the model of the rows before."""
        self.cached_model = None
        if self.training_rows is None:
            self.training_rows = rows
        elif not self.training_rows.equals(rows):  # further passes over the same rows add none
            self.training_rows = self.training_rows.plus(rows)

    def finished_rows(self, orders: Sequence[Longs]) -> TrainingRows | None:
        """Return the record of the rows for a model that has its features in these orders."""
        return None if self.training_rows is None else self.training_rows.finish(orders)

    @abstractmethod
    def build_model(self) -> ModelT:
        """Build the model of the current state."""

    def copy(self) -> Self:
        """Return an independent copy without the cached model."""
        return replace(
            self,
            feature_index=copy.deepcopy(self.feature_index),
            state=copy.deepcopy(self.state),
            cached_model=None,
        )

    def storage(self) -> dict[str, str]:
        """Return how text files must be read to match the learned levels, for `Source.with_storage`."""
        label = self.schema.label
        classes = {} if label is None else {label: self.state.classes}
        return self.schema.level_storage({**self.feature_index.levels(), **classes})


class TrainingPasses:
    """The examples of a data set, pass by pass; built once if the data set is cached."""

    def __init__(
        self, dataset: EncodedDataset, classes: Sequence[Any], class_weight: Any, owner: str
    ) -> None:
        self._dataset = dataset
        self._class_indices = dataset.class_indices(classes)
        self._class_weights = dataset_class_weights(
            owner, class_weight, classes, dataset, self._class_indices
        )
        self.is_weighted = self._class_weights is not None or dataset.is_weighted
        self._class_weight, self._ignored_classes = class_weight, tuple(zero_weight_classes(class_weight))
        self._all_examples = self._to_examples(dataset.chunks()) if dataset.is_cached else None

    def examples(self, seed: int | None, number: int) -> Iterator[tuple[_core.Examples, Longs | None]]:
        """Yield examples with their order in pass `number`; without a seed the order is None, as read.

        Rows that are not cached are shuffled within each chunk only.
        """
        if self._all_examples is not None:
            n = len(self._all_examples)
            yield self._all_examples, None if seed is None else pass_order(n, seed, number)
            return
        for i, chunk in enumerate(self._dataset.chunks()):
            examples = self._to_examples(iter([chunk]))
            yield examples, None if seed is None else pass_order(len(examples), seed, number + 1_000_003 * i)

    def settings(self, seed: int | None, **details: Any) -> OnlineSettings | None:
        """Return the settings for making the passes again; None if the chunks decided on the order."""
        are_labels = all(isinstance(label, str | int | float) for label in self._ignored_classes)
        if not are_labels or (seed is not None and self._all_examples is None):
            return None
        weights: Any = self._class_weight
        if isinstance(weights, Mapping):
            weights = None if self._class_weights is None else tuple(self._class_weights.tolist())
        return OnlineSettings(
            seed=seed, class_weight=weights, ignored_classes=self._ignored_classes, **details
        )

    def rows(self) -> Iterator[tuple[SparseRows, Ints]]:
        """Yield the rows of each chunk, as read, with the index of their class."""
        for chunk in self._dataset.chunks():
            rows, codes, _ = self._weighted_rows(chunk)
            yield rows, codes

    def _weighted_rows(self, chunk: EncodedChunk) -> tuple[SparseRows, Ints, Floats | None]:
        """Return the rows of a chunk that have a weight, the index of their class and their weight."""
        codes, weights, rows = self._class_indices[chunk.targets], chunk.weights, chunk.rows
        if self._class_weights is not None:
            weights = weigh_rows(self._class_weights, codes, weights)
            if not weights.all():
                # Candidates with other class weights share the data set, so it has rows of all classes.
                is_used = weights > 0
                codes, weights, rows = codes[is_used], weights[is_used], rows.select(is_used)
        return rows, codes, weights

    def _to_examples(self, chunks: Iterator[EncodedChunk]) -> _core.Examples:
        examples = _core.Examples()
        for chunk in chunks:
            rows, codes, weights = self._weighted_rows(chunk)
            examples.add(*rows.csr, codes, weights, self._dataset.feature_index.width)
        return examples


def pass_order(n: int, seed: int, number: int) -> Longs:
    """Return a permutation of n rows for pass `number` (from 0), independent of earlier passes."""
    return np.random.default_rng([seed, number]).permutation(n)
