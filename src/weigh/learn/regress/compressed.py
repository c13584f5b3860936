"""A file too large to be held, as a few rows that have the same moments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weigh import algebra
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.learn.reading import Reading
from weigh.learn.regress.gathered import Gathered, matrix_of
from weigh.learn.regress.matrix import DenseMatrix, Matrix
from weigh.learn.regress.moments import Moments


def compressed(schema: Schema, reading: Reading, bias: bool) -> tuple[Gathered, Moments]:
    """Return as many rows as there are features, and one, for which squared loss is what it is for all.

    With a bias they are counted from the means, so none is left to learn. Of the whole its moments are
    returned, from the means in any case.
    """
    whole = Moments.over(_batches(reading))
    counted = whole if bias else whole.from_zero()
    table = np.empty((whole.width + 1, whole.width + 1))
    table[:-1, :-1] = counted.gram
    table[-1, :-1] = table[:-1, -1] = counted.cross
    table[-1, -1] = counted.yy
    size = np.sqrt(np.maximum(np.diagonal(table), 0.0))
    size[size == 0] = 1.0
    # Scaled, so that columns of small numbers keep their digits beside those of large ones.
    values, vectors = algebra.eigen(table / size[:, None] / size[None, :])
    rows = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * size
    X = DenseMatrix(np.ascontiguousarray(rows[:, :-1]))
    y = np.ascontiguousarray(rows[:, -1])
    return Gathered(schema, reading.space, X, y, None, [], reading.gaps, []), whole


def _batches(reading: Reading) -> Iterator[tuple[Matrix, Floats, Floats | None]]:
    for part in reading.chunks():
        if len(part.codes):
            yield matrix_of([part], reading.space.width), part.codes, part.weights
