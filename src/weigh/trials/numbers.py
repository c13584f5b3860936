"""Rows of any kind as numbers, for scikit-learn's learners."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from weigh.learn.linear_kinds import linear_schema
from weigh.learn.preparation import needs_preparation, prepare
from weigh.learn.space import Space
from weigh.source import Chunk
from weigh.source import rows as rows_of

DENSE_WIDTH = 512  # columns up to which rows are given with all their zeros


class AsNumbers(TransformerMixin, BaseEstimator):
    """One number per number, flag, level of a category and word, as our learners of weights see the rows.

    Numbers are in standard deviations from their mean if `scale` is "unit", so that no column is far away
    because of its unit. What is missing, and levels and words that were never seen, are zero. `columns` are
    kinds of columns, as our learners take them.
    """

    def __init__(self, scale: str | None = "unit", missing: Any = (), columns: Any = "auto") -> None:
        self.scale = scale
        self.columns = columns
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns' kinds, levels, words and scales; y is not looked at."""
        source = rows_of(X, missing=self.missing)
        self.schema_ = linear_schema(
            source, self.columns, scale=self.scale, missing=self.missing, owner="AsNumbers"
        )
        chunks = self.schema_.chunks
        known = prepare(self.schema_, chunks(source)) if needs_preparation(self.schema_) else {}
        self.space_ = Space(self.schema_, known)
        for chunk in chunks(source):
            self._rows(chunk, grow=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows as a matrix: with all its zeros if it is narrow, else sparse."""
        source = rows_of(X, missing=self.missing)
        parts = [self._rows(chunk, grow=False) for chunk in self.schema_.chunks(source)]
        matrix = vstack(parts, format="csr")
        return matrix.toarray() if matrix.shape[1] <= DENSE_WIDTH else matrix

    def _rows(self, chunk: Chunk, *, grow: bool) -> csr_matrix:
        blocks = self.space_.made(self.schema_.encode(chunk), None)
        indptr, indices, values = self.space_.rows(blocks, grow=grow)
        within = slice(int(indptr[0]), int(indptr[-1]))
        numbers = np.ones(len(indices[within])) if values is None else values[within]
        shape = (len(indptr) - 1, self.space_.width)
        return csr_matrix((numbers, indices[within], indptr - indptr[0]), shape=shape)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
