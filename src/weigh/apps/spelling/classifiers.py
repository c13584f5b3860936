"""Classifiers that choose a word of one confusion set from its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weigh import errors
from weigh.apps.spelling.contexts import CONTEXT_COLUMN, Occurrences
from weigh.features.blocks import Floats, Longs
from weigh.features.names import NameArray
from weigh.features.text_kinds import Tokens
from weigh.features.words import TextBlock
from weigh.immutable import Immutable
from weigh.model.decision import log_softmax
from weigh.model.distributions.word_weights import WordWeights

UNSEEN_WORD_SCORE = -np.inf  # the score of a word without training examples

Weights = NDArray[np.float32]


class WordClassifier(Protocol):
    """The interface of all classifiers of one confusion set."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the set."""

    @property
    def n_features(self) -> int:
        """The number of features in the model."""

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the probability of every word [n_rows, n_words] in the context of each occurrence."""


@dataclass(frozen=True, eq=False)
class LinearWordClassifier(Immutable):
    """score(word) = intercept[word] + Σ weights[feature, word] over the features of a context; P = softmax.

    `names` [n_features] are sorted; `weights` is [n_features, n_words]. Only differences within a row matter,
    so the intercept and every row of weights are centred: a positive weight favours a word over the others.
    """

    words: tuple[str, ...]
    intercept: Floats
    names: NameArray
    weights: Weights

    def __post_init__(self) -> None:
        super().__post_init__()
        n_words = len(self.words)
        has_shapes = self.intercept.shape == (n_words,) and self.weights.shape == (len(self.names), n_words)
        if not has_shapes or not self.names.are_sorted:
            raise errors.DataError(
                "A linear word classifier needs sorted feature names and one weight per feature and word."
            )

    @classmethod
    def from_model(cls, model: Any, words: Sequence[str]) -> LinearWordClassifier:
        """Return the classifier with the decisions of a fitted model; words unknown to the model score −∞.

        The contribution of absent features (Bernoulli naive Bayes) becomes part of the intercept.
        """
        linear = model.linear()
        coef, intercept = linear.coef, linear.intercept
        if coef.ndim == 1:
            # A binary model has one row of coefficients, for its second class.
            coef, intercept = np.stack([np.zeros_like(coef), coef]), np.array([0.0, float(intercept)])
        columns = [tuple(words).index(label) for label in linear.classes]
        all_intercepts = np.full(len(words), UNSEEN_WORD_SCORE)
        all_intercepts[columns] = _centre_rows(intercept[None])[0]
        weights = np.zeros((coef.shape[1], len(words)), dtype=np.float32)
        weights[:, columns] = _centre_rows(coef.T)
        names = linear.terms[0].names
        packed = names if isinstance(names, NameArray) else NameArray.from_strings(names)
        return cls(tuple(words), all_intercepts, packed, weights)

    @classmethod
    def constant(cls, words: Sequence[str], word: int = 0) -> LinearWordClassifier:
        """Return the classifier that always predicts the word with this index."""
        intercept = np.full(len(words), UNSEEN_WORD_SCORE)
        intercept[word] = 0.0
        no_weights = np.zeros((0, len(words)), dtype=np.float32)
        return cls(tuple(words), intercept, NameArray.from_strings([]), no_weights)

    @property
    def n_features(self) -> int:
        """The number of features in the model."""
        return len(self.names)

    @cached_property
    def _word_weights(self) -> WordWeights:
        return WordWeights(CONTEXT_COLUMN, self.names, self.weights.astype(np.float64), fixed=False)

    def scores(self, rows: Occurrences) -> Floats:
        """Return the scores [n_rows, n_words] of occurrences."""
        scores = np.tile(self.intercept, (len(rows), 1))
        if len(rows) and self.n_features:
            self._word_weights.add(_context_block(rows), scores)
        return scores

    def predict_proba(self, rows: Occurrences) -> Floats:
        """Return the probability of every word [n_rows, n_words] in the context of each occurrence."""
        return np.exp(log_softmax(self.scores(rows)))

    def contributions(self, context: Sequence[str]) -> list[tuple[str, Floats]]:
        """Return the contribution of each known feature of a context to the score of every word."""
        known = [name for name in context if name in self._row_by_name]
        return [(name, self.weights[self._row_by_name[name]].astype(np.float64)) for name in known]

    @cached_property
    def _row_by_name(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def select_strongest(self, n: int, rows: Occurrences | None = None) -> LinearWordClassifier:
        """Return the classifier with at most the n features whose weights differ most between words.

        With `rows`, the range of the weights is multiplied by the square root of the feature's frequency in
        them, because a rare feature with a large weight will rarely be used. Ties go to the first name.
        Features with equal weights for all words are always dropped.
        """
        strength = np.ptp(self.weights, axis=1).astype(np.float64)
        if rows is not None:
            strength *= np.sqrt(self._feature_frequencies(rows))
        order = np.argsort(-strength, kind="stable")[:n]
        selected = np.sort(order[strength[order] > 0])
        return replace(self, names=self.names.take(selected), weights=self.weights[selected])

    def _feature_frequencies(self, rows: Occurrences) -> Longs:
        """Return the number of occurrences that have each feature."""
        entries = self._word_weights.entries(_context_block(rows))
        return np.bincount(entries.indices, minlength=self.n_features)

    def with_temperature(self, temperature: float) -> LinearWordClassifier:
        """Return the classifier with all scores divided by a temperature; its predictions do not change."""
        weights = (self.weights / temperature).astype(np.float32)
        return replace(self, intercept=self.intercept / temperature, weights=weights)


def _context_block(rows: Occurrences) -> TextBlock:
    return TextBlock.from_column(rows.to_chunk().columns[CONTEXT_COLUMN], Tokens())


def _centre_rows(table: Floats) -> Floats:
    return np.asarray(table - table.mean(axis=1, keepdims=True))
