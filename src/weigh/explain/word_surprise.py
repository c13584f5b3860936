"""How surprising the words of a text are, compared with training texts.

The surprise of a word with c occurrences among N is ln N − ln(c + ½). Training words without the text that
they are in give the mean and the variance of it. Words of one text are alike, so the mean over the m words of
a text varies more than that of independent words: its variance is v (1/m + ρ).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, SparseBlock
from weigh.features.words import TextBlock, as_sparse_block
from weigh.model.distributions.bernoulli import Bernoulli

# Chosen for about 1 % of false alarms on five sets of texts (benchmarks/quality/unfamiliar_rows.py).
TEXT_CORRELATION = 0.03
MAX_DEVIATIONS = 3.0
UNREPEATED_LENGTH = 20.0  # words: in longer texts, √(length / 20) occurrences of a word are in the same text
SMALLEST_EXCESS = 1e-9


class WordSurprise:
    """Scores the texts of a column by the mean surprise of their words."""

    def __init__(self, part: Any, n_texts: float) -> None:
        self.name: str = part.part.title
        counts = part.counts.present if isinstance(part, Bernoulli) else part.counts
        self._counts_texts = isinstance(part, Bernoulli) or counts.weighting is not None
        table = counts.table if isinstance(part, Bernoulli) else counts.frequencies
        self._counts = np.asarray(table.sum(axis=0), dtype=np.float64)
        self._index = {name: at for at, name in enumerate(counts.names)}
        self._total = float(self._counts.sum())
        self._mean, self._variance = self._training_moments(n_texts)

    def _training_moments(self, n_texts: float) -> tuple[float, float]:
        """Return mean and variance of the surprise of a training word without the text that it is in."""
        if not self._total:
            return 0.0, 0.0
        repeats = 1.0
        if not self._counts_texts:
            repeats = max(1.0, (self._total / max(n_texts, 1.0) / UNREPEATED_LENGTH) ** 0.5)
        surprise = self._surprise(np.maximum(self._counts - repeats, 0.0))
        share = self._counts / self._total
        mean = float(share @ surprise)
        return mean, max(0.0, float(share @ surprise**2) - mean**2)

    def _surprise(self, counts: Floats) -> Floats:
        return np.asarray(np.log(self._total) - np.log(counts + 0.5))

    def find(self, block: SparseBlock | TextBlock) -> list[tuple[int, str, str]]:
        """Return row, first word and reason of each text with surprising words."""
        words = as_sparse_block(block)
        rows = replace(words.rows, values=None) if self._counts_texts else words.rows
        amounts = rows.entry_values()
        length = rows.sum_by_row(amounts)
        counts = self._word_counts(words)[rows.indices] if len(rows.indices) else np.empty(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = rows.sum_by_row(amounts * self._surprise(counts)) / length - self._mean
            limit = MAX_DEVIATIONS * np.sqrt(self._variance * (1.0 / length + TEXT_CORRELATION))
            found = np.flatnonzero((length > 0) & (excess > limit + SMALLEST_EXCESS))
        n_unseen = rows.sum_by_row(np.where(counts == 0, amounts, 0.0))
        return [
            (
                row,
                words.names[rows.indices[rows.indptr[row]]] + (" …" if length[row] > 1 else ""),
                _explain_words(float(n_unseen[row]), float(length[row])),
            )
            for row in found.tolist()
        ]

    def _word_counts(self, words: SparseBlock) -> Floats:
        """Return the training count of each word of a block."""
        at = np.array([self._index.get(name, -1) for name in words.names], dtype=np.int64)
        return np.append(self._counts, 0.0)[at]


def _explain_words(n_unseen: float, length: float) -> str:
    if not n_unseen:
        return "its words are rare in training"
    return f"{'all' if n_unseen == length else f'{n_unseen:,.6g} of {length:,.6g}'} words never seen"
