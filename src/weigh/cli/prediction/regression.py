"""The columns that `weigh predict` writes for a regression."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from weigh import errors
from weigh.cli.output.tables import OutputColumn
from weigh.model.regression import RegressionModel
from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.text import format_float

DIGITS = 10


class RegressionPredictor:
    """Predicts numbers, with standard deviations and the strongest contributions on request."""

    note = ""

    def __init__(self, model: RegressionModel, std: bool, reasons: int) -> None:
        self._model, self._std, self._reasons = model, std, reasons
        self._n, self._sum, self._low, self._high = 0, 0.0, math.inf, -math.inf
        self.columns = [
            OutputColumn("prediction", DIGITS),
            *[OutputColumn("std", DIGITS)] * std,
            *(OutputColumn(f"reason_{k}") for k in range(1, reasons + 1)),
        ]

    @classmethod
    def build(
        cls, model: RegressionModel, std: bool, reasons: int | None, unsupported: Sequence[str]
    ) -> RegressionPredictor:
        """Return the predictor for the options, or raise Unsupported if a regression cannot do that."""
        if "--check" in unsupported:
            from weigh.explain.novelty_detection import NoveltyDetector

            NoveltyDetector(model)  # raises the error that says why this is not possible
        if unsupported:
            raise errors.Unsupported(
                f"A regression predicts numbers, not classes, so {' and '.join(unsupported)} cannot be used. "
                f"--std writes the standard deviation of its predictions."
            )
        if std:
            # Raises an error before anything is written.
            _ = model.posterior
        return cls(model, std, reasons or 0)

    def predict(self, source: Source) -> Iterator[list[Sequence[Any]]]:
        """Yield the values of all columns, batch by batch."""
        for values in self._model.map_chunks(self._predict_chunk, source):
            predictions = values[0]
            self._n += len(predictions)
            self._sum += math.fsum(predictions)
            self._low = min([self._low, *predictions])
            self._high = max([self._high, *predictions])
            yield values

    def _predict_chunk(self, chunk: Chunk) -> list[Sequence[Any]]:
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
        return values

    def summary(self) -> str:
        """Return the range and the mean of the predictions."""
        if not self._n:
            return "nothing to predict"
        low, high, mean = map(format_float, (self._low, self._high, self._sum / self._n))
        return f"from {low} to {high}, mean {mean}"
