"""What online learners share: examples pass by pass, and runs that go on when more rows come."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

from weigh import _core
from weigh.features import Schema
from weigh.features.blocks import Longs
from weigh.learn.class_weights import class_weights
from weigh.learn.order import pass_order
from weigh.learn.reading import Encoded, EncodedRows
from weigh.learn.space import Space


class Run(Protocol):
    """Weights on their way."""

    classes: list[Any]


RunT = TypeVar("RunT", bound=Run)


@dataclass
class OnlineCourse(Generic[RunT]):
    """A run together with the features it is over: what goes on when more rows come."""

    schema: Schema
    space: Space
    run: RunT

    def copy(self) -> Self:
        """Return a course that may go on without this one."""
        return replace(self, space=copy.deepcopy(self.space), run=copy.deepcopy(self.run))

    def storage(self) -> dict[str, str]:
        """Return how text files must be read to match what was learned, for `Source.stored`."""
        label = self.schema.label
        named = {} if label is None else {label: self.run.classes}
        return self.schema.spelling({**self.space.levels(), **named})


class Passes:
    """The examples of a reading, pass by pass: all at once if they are in memory."""

    def __init__(self, reading: EncodedRows, classes: Sequence[Any], class_weight: Any, owner: str) -> None:
        self._reading = reading
        self._places = reading.places(classes)
        self._weights = class_weights(owner, class_weight, classes, reading, self._places)
        self.is_weighted = self._weights is not None or reading.is_weighted
        self._all = self._joined(reading.chunks()) if reading.is_kept else None

    def examples(self, seed: int | None, number: int) -> Iterator[tuple[_core.Examples, Longs | None]]:
        """Yield examples with their order in this pass; without a seed they are in order.

        Rows that are read again for every pass are shuffled among those that are read together.
        """
        if self._all is not None:
            yield self._all, None if seed is None else pass_order(len(self._all), seed, number)
            return
        for at, chunk in enumerate(self._reading.chunks()):
            examples = self._joined(iter([chunk]))
            yield examples, None if seed is None else pass_order(len(examples), seed, number + 1_000_003 * at)

    def _joined(self, chunks: Iterator[Encoded]) -> _core.Examples:
        examples = _core.Examples()
        for chunk in chunks:
            codes, weights = self._places[chunk.codes], chunk.weights
            if self._weights is not None:
                weights = self._weights[codes] * (1.0 if weights is None else weights)
            examples.add(*chunk.rows, codes, weights, self._reading.space.width)
        return examples
