"""The columns that `weigh predict` writes for a regression."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.cli.output.tables import OutputColumn
from weigh.model.regression import RegressionModel
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.text import format_float

if TYPE_CHECKING:
    from weigh.explain.novelty_detection import NoveltyDetector

DIGITS = 10


class RegressionPredictor:
    """Predicts numbers, with standard deviations and the strongest contributions on request."""

    def __init__(
        self, model: RegressionModel, std: bool, reasons: int, detector: NoveltyDetector | None
    ) -> None:
        self._model, self._std, self._reasons, self._detector = model, std, reasons, detector
        self._n, self._sum, self._low, self._high = 0, 0.0, math.inf, -math.inf
        self.columns = [
            OutputColumn("prediction", DIGITS),
            *[OutputColumn("std", DIGITS)] * std,
            *(OutputColumn(f"reason_{k}") for k in range(1, reasons + 1)),
            *[OutputColumn("unfamiliar")] * (detector is not None),
        ]

    @classmethod
    def build(
        cls, model: RegressionModel, std: bool, reasons: int | None, check: bool, unsupported: Sequence[str]
    ) -> RegressionPredictor:
        """Return the predictor for the options, or raise Unsupported if a regression cannot do that."""
        if unsupported:
            raise errors.Unsupported(
                f"A regression predicts numbers, not classes, so {' and '.join(unsupported)} cannot be used. "
                f"--std writes the standard deviation of its predictions."
            )
        if std:
            # Raises an error before anything is written.
            _ = model.posterior
        detector = None
        if check:
            from weigh.explain.novelty_detection import NoveltyDetector

            detector = NoveltyDetector(model)
        return cls(model, std, reasons or 0, detector)

    def predict(self, source: Source) -> Iterator[list[Sequence[Any]]]:
        """Yield the values of all columns, batch by batch."""
        for chunk, values in self._model.map_chunks(self._predict_chunk, source):
            predictions = values[0]
            self._n += len(predictions)
            self._sum += math.fsum(predictions)
            self._low = min([self._low, *predictions])
            self._high = max([self._high, *predictions])
            yield values if self._detector is None else [*values, self._detector.reasons_by_row(chunk)]

    def _predict_chunk(self, chunk: Chunk) -> tuple[Chunk, list[Sequence[Any]]]:
        model = self._model
        columns = model.predict(chunk, return_std=True) if self._std else (model.predict(chunk),)
        values: list[Sequence[Any]] = [column.tolist() for column in columns]
        if self._reasons:
            from weigh.cli.prediction.classes import feature_rows, format_reasons, transpose

            values += transpose(
                [
                    format_reasons([row for row in feature_rows(each, each.table) if row.nats], self._reasons)
                    for each in model.explain(chunk)
                ]
            )
        return chunk, values

    @property
    def note(self) -> str:
        """What --check found in all rows, if it was given."""
        return self._detector.summary() if self._detector is not None and self._detector.n_rows else ""

    def summary(self) -> str:
        """Return the range and the mean of the predictions."""
        if not self._n:
            return "nothing to predict"
        low, high, mean = map(format_float, (self._low, self._high, self._sum / self._n))
        return f"from {low} to {high}, mean {mean}"
