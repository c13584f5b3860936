"""Models whose scores are no logarithms: the greatest wins, and that is all they say."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.model.base import Model
from weigh.model.decision import Decision, best
from weigh.source import Chunk


class ScoredModel(Model):
    """A classifier without probabilities; only scores that are equal are a tie."""

    probable: ClassVar[bool] = False

    @property
    def tie(self) -> str:
        """The second of two classes wins at a tie, as a score of zero speaks for it; else the first."""
        return "last" if len(self.classes) == 2 else "first"

    @property
    def generative(self) -> bool:
        """Scores are no joint probabilities."""
        return False

    @property
    def log_prior(self) -> Floats:
        """Refuse: there is no prior in scores."""
        raise self._no_probabilities()

    def log_proba(self, rows: Any) -> Floats:
        """Refuse: scores are no probabilities."""
        raise self._no_probabilities()

    def _no_probabilities(self) -> errors.Unsupported:
        return errors.Unsupported(
            "A perceptron's scores are no probabilities, only their order has a meaning. Ask for predict or "
            "scores, or train NaiveBayes for probabilities."
        )

    def _verdicts(self, decision: Decision | None, chunk: Chunk) -> Any:
        if decision is not None:
            raise self._no_probabilities()
        return super()._verdicts(None, chunk)

    def checked(self, chunk: Chunk) -> Floats:
        """Return the scores of a chunk, refused where they decide nothing."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.score_chunk(chunk)
        wrong = ~np.isfinite(scores).all(axis=1)
        if wrong.any():
            raise errors.DataError(
                f"Row {chunk.first_row + int(np.argmax(wrong)):,} has values so large that its score is no "
                f"number any more. Divide the columns by their largest values, as in training."
            )
        return scores

    def best(self, scores: Floats) -> Any:
        """Return the number of the best class of each row; equal scores are a tie."""
        return best(scores, self.tie, 0.0)

    def leads(self, scores: Floats) -> Floats:
        """Return by how much each row's best class leads the next."""
        if scores.shape[1] < 2:
            return scores[:, 0]
        two = np.partition(scores, -2, axis=1)[:, -2:]
        return np.asarray(two[:, 1] - two[:, 0])
