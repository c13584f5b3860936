"""Small design matrices for margins and mistake bounds."""

from __future__ import annotations

import numpy as np

from weigh.judge.margins import exact_margin
from weigh.learn.design_matrix import DesignMatrix
from weigh.source.sparse_rows import SparseRows

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


def make_design(X, codes, classes=("a", "b")):
    X = np.asarray(X, dtype=float)
    return DesignMatrix(
        names=[f"x{j}" for j in range(X.shape[1])],
        X=SparseRows.from_dense(X != 0, X),
        codes=np.asarray(codes, dtype=np.int32),
        classes=list(classes),
    )


def separable(rng, n, d):
    """Return random rows of two classes that a random plane separates."""
    while True:
        X = rng.normal(size=(n, d))
        codes = (X @ rng.normal(size=d) + 0.3 * rng.normal() > 0).astype(int)
        if 0 < codes.sum() < n:
            return X, codes


def without_fractions(monkeypatch):
    monkeypatch.setattr(exact_margin, "MAX_EXACT_VALUES", 0)
