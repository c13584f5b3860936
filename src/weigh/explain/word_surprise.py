"""How surprising the words of a text are, compared with training texts.

The surprise of a word with c occurrences among N is ln N − ln(c + ½). Training words without the text that
they are in give the mean and the variance of it. Words of one text are alike, so the mean over the m words of
a text varies more than that of independent words: its variance is v (1/m + ρ).
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, SparseBlock
from weigh.features.words import TextBlock, as_sparse_block
from weigh.model.counts.count_table import CountTable
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.word_weights import VocabularyLookup
from weigh.source.sparse_rows import SparseRows

# Chosen for about 1 % of false alarms on five sets of texts (benchmarks/quality/unfamiliar_rows.py).
TEXT_CORRELATION = 0.03
MAX_DEVIATIONS, MEASURED_RATE = 3.0, 0.01
UNREPEATED_LENGTH = 20.0  # words: in longer texts, √(length / 20) occurrences of a word are in the same text
SMALLEST_EXCESS = 1e-9


def deviations_for(rate: float) -> float:
    """Return how many standard deviations above the mean are allowed, for a rate of false alarms.

    The measured deviations at 1 % are scaled like the quantiles of the normal distribution.
    """
    normal = NormalDist()
    return MAX_DEVIATIONS * normal.inv_cdf(1.0 - rate) / normal.inv_cdf(1.0 - MEASURED_RATE)


class WordSurprise:
    """Scores the texts of a column by the mean surprise of their words, or of their hash buckets."""

    def __init__(self, part: Any, n_texts: float, unit: float = 1.0) -> None:
        self.name: str = part.part.title
        self._part = part
        counts = part.counts.present if isinstance(part, Bernoulli) else part.counts
        self._counts_texts = isinstance(part, Bernoulli) or counts.weighting is not None
        table = counts.table if isinstance(part, Bernoulli) else counts.frequencies
        self._counts = np.asarray(table.sum(axis=0), dtype=np.float64) / unit
        self._is_hashed = not isinstance(counts, CountTable) and counts.is_hashed
        if self._is_hashed:
            self._counts = self._counts[self._counts > 0]
        self._index = {} if self._is_hashed else {name: at for at, name in enumerate(counts.names)}
        self._total = float(self._counts.sum())
        self._mean, self._variance = self._training_moments(n_texts)

    @property
    def has_words(self) -> bool:
        """Whether the training texts have words to compare with."""
        return self._total > 0

    def _training_moments(self, n_texts: float) -> tuple[float, float]:
        """Return mean and variance of the surprise of a training word without the text that it is in."""
        if not self.has_words:
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

    def find(self, block: SparseBlock | TextBlock, rate: float) -> list[tuple[int, str, str]]:
        """Return row, first word and reason of each text with surprising words, at a rate of false alarms."""
        words = as_sparse_block(block)
        # Words in one bucket are one entry, so that only their occurrences can be subtracted.
        ignores_repeats = self._counts_texts and not self._is_hashed
        rows = replace(words.rows, values=None) if ignores_repeats else words.rows
        length = rows.sum_by_row(rows.entry_values())
        known, counts = self._match(block, rows, words)
        n_known = known.sum_by_row(known.entry_values())
        surprise = known.sum_by_row(known.entry_values() * self._surprise(counts))
        n_unseen = np.maximum(length - n_known, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise += n_unseen * self._surprise(np.zeros(1))
            deviation = np.sqrt(self._variance * (1.0 / length + TEXT_CORRELATION))
            limit = deviations_for(rate) * deviation + SMALLEST_EXCESS
            found = np.flatnonzero((length > 0) & (surprise / length - self._mean > limit))
        return [
            (
                row,
                words.names[rows.indices[rows.indptr[row]]] + (" …" if length[row] > 1 else ""),
                _explain_words(float(n_unseen[row]), float(length[row])),
            )
            for row in found.tolist()
        ]

    def _match(
        self, block: SparseBlock | TextBlock, rows: SparseRows, words: SparseBlock
    ) -> tuple[SparseRows, Floats]:
        """Return the entries of words that training has seen, and the training count of each entry."""
        if self._is_hashed:
            weights = self._part.weights
            known = VocabularyLookup(weights.names, weights.buckets).entries(block)
        else:
            at = np.array([self._index.get(name, -1) for name in words.names], dtype=np.int32)
            known = rows.renumber(at, len(self._counts))
        return known, self._counts[known.indices]


def _explain_words(n_unseen: float, length: float) -> str:
    if not n_unseen:
        return "its words are rare in training"
    return f"{'all' if n_unseen == length else f'{n_unseen:,.6g} of {length:,.6g}'} words never seen"
