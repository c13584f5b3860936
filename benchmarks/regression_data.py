"""The rows of the benchmarks of regression, made by numbers drawn with fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.online_speed import noisy, rows_like_texts

Floats = npt.NDArray[np.float64]
KIN = 0.5  # correlation of neighbouring columns of the dense tables
TOLD = 0.2  # share of the dense columns that matter


@dataclass(frozen=True)
class Table:
    """Rows in C order and targets, with copies as some peers want them, made before anything is timed."""

    X: Floats
    y: Floats

    @cached_property
    def fortran(self) -> Floats:
        return np.asfortranarray(self.X)

    @cached_property
    def centred(self) -> tuple[Floats, Floats]:
        """Fortran rows and targets without their means, for paths that know no bias."""
        return np.asfortranarray(self.X - self.X.mean(axis=0)), self.y - self.y.mean()


def dense(rows: int, width: int) -> Table:
    """Return correlated normal columns around means of their own; a fifth of them matters."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(0)
    X = lfilter([np.sqrt(1 - KIN**2)], [1.0, -KIN], rng.standard_normal((rows, width)), axis=1)
    X += rng.standard_normal(width)
    w = rng.standard_normal(width) * (rng.random(width) < TOLD)
    y = X @ w + 10.0 * rng.standard_normal(rows)
    return Table(np.ascontiguousarray(X), y)


def wide(rows: int, width: int) -> Table:
    """Return few rows of many normal columns, of which 50 matter; the rows are in Fortran order."""
    rng = np.random.default_rng(1)
    X = np.asfortranarray(rng.standard_normal((rows, width)))
    w = np.zeros(width)
    w[rng.choice(width, 50, replace=False)] = rng.standard_normal(50)
    return Table(X, X @ w + rng.standard_normal(rows))


def wide_sparse(rows: int, width: int, entries: int) -> tuple[Any, Floats]:
    """Return rows like texts with a number each, which 200 of the columns tell in part."""
    X, _ = rows_like_texts(rows, width, entries)
    rng = np.random.default_rng(2)
    w = np.zeros(width)
    w[rng.choice(width // 10, 200, replace=False)] = rng.standard_normal(200)
    signal = X @ w
    return X, np.asarray(signal + 0.5 * signal.std() * rng.standard_normal(rows))


def labelled(rows: int, width: int, entries: int, *, with_noise: bool) -> tuple[Any, Floats]:
    """Return rows like texts with labels of −1 and 1, as they are or a third of them flipped."""
    X, y = rows_like_texts(rows, width, entries)
    return X, (noisy(y) if with_noise else y).astype(np.float64)
