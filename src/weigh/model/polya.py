"""The Dirichlet-multinomial: word counts with their probabilities integrated out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weigh.features import Entries, Words
from weigh.features.blocks import Floats
from weigh.model.weights import Contribution, as_text
from weigh.model.word_weights import WordWeights

_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


@dataclass(frozen=True, eq=False)
class Polya:
    """log P(row | class) = Σ_w [lnΓ(α_w + x_w) − lnΓ(α_w)] − [lnΓ(A + n) − lnΓ(A)].

    α_w is the prior's parameter plus the count of word w in the class, A their sum, n the row's
    number of words. A second occurrence of a word surprises less than the first.
    """

    words: WordWeights
    alpha: Floats

    @cached_property
    def _total(self) -> Floats:
        return np.asarray(self.alpha.sum(axis=0))

    def add(self, block: Entries | Words, scores: Floats) -> None:
        """Add every row's log-probability to its scores."""
        for row in range(block.n_rows):
            for found in self.contributions(block, row):
                scores[row] += found.logs

    def contributions(self, block: Entries | Words, row: int) -> Iterator[Contribution]:
        """Yield what each word adds; the row's length is shared out among them."""
        found = self.words.occurrences(block, row)
        n = sum(count for _, count, _ in found)
        if not n:
            return
        length = _rise(self._total, n)
        for at, count, name in found:
            logs = _rise(self.alpha[at], count) - length * (count / n)
            yield Contribution(name, f"× {as_text(count)}", logs)


def _rise(alpha: Floats, count: float) -> Floats:
    """Return lnΓ(alpha + count) − lnΓ(alpha)."""
    with np.errstate(divide="ignore"):
        gain = _log_gamma(alpha + count) - np.where(alpha > 0, _log_gamma(np.maximum(alpha, 1e-300)), np.inf)
    return np.asarray(gain, dtype=np.float64)
