"""Predictions and explanations as plain JSON values, equal to those of the library."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.model.base import Model
from weigh.model.decision import log_softmax


class Predictor:
    """Answers for the rows of one model."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, rows: Any) -> list[dict[str, Any]]:
        """Return the predictions of rows."""
        model = self.model
        if not isinstance(model, Model):
            return [{"prediction": value} for value in model.predict(rows).tolist()]
        scores = model.scores(rows)
        labels = model.labels[model.best(scores)].tolist()
        names = [str(label) for label in model.classes]
        key, values = (
            ("probabilities", np.exp(log_softmax(scores))) if model.has_probabilities else ("scores", scores)
        )
        return [
            {"label": label, key: dict(zip(names, row, strict=True))}
            for label, row in zip(labels, values.tolist(), strict=True)
        ]

    def explain(self, rows: Any) -> list[dict[str, Any]]:
        """Return the evidence for rows."""
        return [evidence.to_dict() for evidence in self.model.explain(rows)]
