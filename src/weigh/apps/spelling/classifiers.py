"""Choosers: the chances of every word of one confusion set in a context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weigh import errors
from weigh.apps.spelling.contexts import CONTEXT_COLUMN, Occurrences
from weigh.features import NameArray, TextBlock, Tokens
from weigh.features.blocks import Floats, Longs
from weigh.model.decision import log_softmax
from weigh.model.distributions.word_weights import WordWeights

UNSEEN_WORD_SCORE = -np.inf  # the score of a word without an example

Weights = NDArray[np.float32]


class WordClassifier(Protocol):
    """What tells the words of one set apart."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the set."""

    @property
    def n_features(self) -> int:
        """How many features it knows."""

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the probability of every word [rows, words] in the context of each occurrence."""


@dataclass(frozen=True, eq=False)
class LinearWordClassifier:
    """score(word) = base(word) + Σ weight(feature, word) over the features of a context; P is its softmax.

    `names` are sorted, and `table` has a row of weights for each. Only differences within a row matter:
    base and rows have a mean of zero, so that a weight is what speaks for a word against the others.
    """

    words: tuple[str, ...]
    base: Floats
    names: NameArray
    table: Weights

    def __post_init__(self) -> None:
        right = self.base.shape == (len(self.words),)
        if not right or self.table.shape != (len(self.names), len(self.words)) or not self.names.are_sorted:
            raise errors.DataError("A chooser has sorted names, and a weight of each for every word.")

    @classmethod
    def from_model(cls, model: Any, words: Sequence[str]) -> LinearWordClassifier:
        """Return the chooser that decides like a model of contexts; words that it never saw are never chosen.

        Absence, where it is evidence (Bernoulli), is part of the base.
        """
        plane = model.linear()
        coef, intercept = plane.coef, plane.intercept
        if coef.ndim == 1:
            # Of two classes a model tells what speaks for the second.
            coef, intercept = np.stack([np.zeros_like(coef), coef]), np.array([0.0, float(intercept)])
        places = [tuple(words).index(label) for label in plane.classes]
        base, table = np.full(len(words), UNSEEN_WORD_SCORE), np.zeros((coef.shape[1], len(words)))
        base[places], table[:, places] = _centre_rows(intercept[None])[0], _centre_rows(coef.T)
        names = plane.terms[0].names
        packed = names if isinstance(names, NameArray) else NameArray.from_strings(names)
        return cls(tuple(words), base, packed, table.astype(np.float32))

    @classmethod
    def constant(cls, words: Sequence[str], word: int = 0) -> LinearWordClassifier:
        """Return the chooser that always answers one word."""
        base = np.full(len(words), UNSEEN_WORD_SCORE)
        base[word] = 0.0
        return cls(
            tuple(words), base, NameArray.from_strings([]), np.zeros((0, len(words)), dtype=np.float32)
        )

    @property
    def n_features(self) -> int:
        """How many features it knows."""
        return len(self.names)

    @cached_property
    def _weights(self) -> WordWeights:
        return WordWeights(CONTEXT_COLUMN, self.names, self.table.astype(np.float64), fixed=False)

    def scores(self, rows: Occurrences) -> Floats:
        """Return the scores [rows, words] of occurrences."""
        found = np.tile(self.base, (len(rows), 1))
        if len(rows) and self.n_features:
            self._weights.add(_context_words(rows), found)
        return found

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the probability of every word [rows, words] in the context of each occurrence."""
        return np.exp(log_softmax(self.scores(rows)))

    def contributions(self, context: Sequence[str]) -> list[tuple[str, Floats]]:
        """Return what each known feature of a context adds to every word's score, beyond the base."""
        known = [name for name in context if name in self._row_by_name]
        return [(name, self.table[self._row_by_name[name]].astype(np.float64)) for name in known]

    @cached_property
    def _row_by_name(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def select_strongest(self, n: int, rows: Occurrences | None = None) -> LinearWordClassifier:
        """Return the chooser with the n features whose weights differ most among words, at most.

        With rows the difference counts times the root of how many of them have the feature: what was met
        twice may have as large a weight as what was met often, and will be met less. Of features that are
        equally strong the first by name stay; those that say nothing go in any case.
        """
        strength = np.ptp(self.table, axis=1).astype(np.float64)
        if rows is not None:
            strength *= np.sqrt(self._feature_frequencies(rows))
        order = np.argsort(-strength, kind="stable")[:n]
        kept = np.sort(order[strength[order] > 0])
        return replace(self, names=self.names.take(kept), table=self.table[kept])

    def _feature_frequencies(self, rows: Occurrences) -> Longs:
        """Return how many of some occurrences have each feature."""
        entries = self._weights.entries(_context_words(rows))
        return np.bincount(entries.indices, minlength=self.n_features)

    def with_temperature(self, temperature: float) -> LinearWordClassifier:
        """Return the chooser whose scores are divided by a temperature; its choices stay."""
        return replace(
            self, base=self.base / temperature, table=(self.table / temperature).astype(np.float32)
        )


def _context_words(rows: Occurrences) -> TextBlock:
    return TextBlock.from_column(rows.to_chunk().columns[CONTEXT_COLUMN], Tokens())


def _centre_rows(table: Floats) -> Floats:
    return np.asarray(table - table.mean(axis=1, keepdims=True))
