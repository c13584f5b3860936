"""What an evaluation keeps of single rows, for measures that no sums can give: up to a stated size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.measures.losses import Codes, Floats

# Bytes kept: of two classes 7 million rows. Ranking so many takes 1.4 GB at its peak, 200 bytes for each.
MOST = 1 << 28
MOST_WORDS = f"{MOST >> 20} MB"


@dataclass(eq=False)
class Held:
    """Truth, weight, scores and the verdict's probability of every row, each kept once.

    Once they are too large scores are given up, and once the rest is too large, that is given up too.
    """

    lacks_scores: bool = False
    lacks_odds: bool = False
    _row_bytes: int = 0
    _score_bytes: int = 0
    _truth: list[Any] = field(default_factory=list)
    _weights: list[Any] = field(default_factory=list)
    _scores: list[Any] = field(default_factory=list)
    _odds: list[Any] = field(default_factory=list)
    _right: list[Any] = field(default_factory=list)

    def add(
        self,
        truth: Codes,
        weights: Floats,
        scores: Floats | None = None,
        odds: Floats | None = None,
        is_right: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Keep rows of positive weight; scores are [n, C], odds the probabilities of the verdicts."""
        if self.lacks_odds:
            return
        columns = (truth.astype(np.int32), weights, odds, is_right)
        lists = (self._truth, self._weights, self._odds, self._right)
        self._row_bytes += sum(_put(column, kept) for column, kept in zip(columns, lists, strict=True))
        if not self.lacks_scores:
            self._score_bytes += _put(scores, self._scores)
        if self.bytes > MOST:
            self.lacks_scores, self._score_bytes = True, 0
            self._scores.clear()
        if self._row_bytes > MOST:
            self.lacks_odds = True
            for kept in lists:
                kept.clear()

    @property
    def bytes(self) -> int:
        """How much is kept."""
        return self._row_bytes + self._score_bytes

    @property
    def has_scores(self) -> bool:
        """Whether there are scores of the classes."""
        return bool(self._scores)

    @property
    def has_odds(self) -> bool:
        """Whether there are probabilities of the verdicts."""
        return bool(self._odds)

    @property
    def truth(self) -> Codes:
        """What is true of each row, as a code."""
        return np.asarray(_joined(self._truth), np.int32)

    @property
    def weights(self) -> Floats:
        """The weight of each row."""
        return np.asarray(_joined(self._weights), np.float64)

    @property
    def odds(self) -> Floats:
        """The probability that each row's verdict was given."""
        return np.asarray(_joined(self._odds), np.float64)

    @property
    def is_right(self) -> npt.NDArray[np.bool_]:
        """Whether each row's verdict is right."""
        return np.asarray(_joined(self._right), np.bool_)

    def column(self, code: int) -> Floats:
        """The score of one class for each row."""
        return np.concatenate([table[:, code] for table in self._scores])


def _put(column: npt.NDArray[Any] | None, kept: list[Any]) -> int:
    """Keep what there is, and return its bytes."""
    if column is None:
        return 0
    kept.append(column)
    return column.nbytes


def _joined(kept: list[Any]) -> Any:
    """Return the parts of a column as one, which takes their place."""
    if len(kept) > 1:
        kept[:] = [np.concatenate(kept)]
    return kept[0]
