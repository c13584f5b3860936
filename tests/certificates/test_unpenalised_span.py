"""The projection onto unpenalised columns is bounded from above, compared with exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from weigh.features.blocks import Floats
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.unpenalised_span import UnpenalisedSpan


@pytest.mark.parametrize("seed", [4, 31, 74, 85, 117, 120, 142])
def test_no_projection_onto_nearly_collinear_columns_is_above_its_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(9, 2))
    U[:, 1] = U[:, 0] + 10.0 ** -rng.uniform(12, 15.5) * U[:, 1]
    repeated = U @ rng.normal(size=(2, 1))
    repeated *= 1 + 10.0 ** -rng.uniform(14, 17) * rng.normal(size=repeated.shape)
    U = np.column_stack([U, repeated])
    point = remove_projection(U, rng.normal(size=9)) + 10.0 ** -rng.uniform(6, 16) * rng.normal(size=9)
    products = exact_products(U, point)
    rounded = np.array([float(product) for product in products])
    span = UnpenalisedSpan.decompose(DenseMatrix(U), np.ones(9))
    bound = span.projection_norm(rounded, np.finfo(float).eps * np.abs(rounded), point)
    squares = (p * c for p, c in zip(products, coefficients(U, point), strict=True))
    assert sum(squares, Fraction(0)) <= Fraction(bound) ** 2


def exact_products(U: Floats, point: Floats) -> list[Fraction]:
    entries = [Fraction(p) for p in point.tolist()]
    return [
        sum((Fraction(u) * p for u, p in zip(column, entries, strict=True)), Fraction(0))
        for column in U.T.tolist()
    ]


def coefficients(U: Floats, point: Floats) -> list[Fraction]:
    """Return exact coefficients of the projection, by Gauss–Jordan elimination of the normal equations."""
    rows = [
        [*exact_products(U, column), product]
        for column, product in zip(U.T, exact_products(U, point), strict=True)
    ]
    n, rank, pivots = len(rows), 0, []
    for column in range(n):
        found = next((row for row in range(rank, n) if rows[row][column]), None)
        if found is None:
            continue
        rows[rank], rows[found] = rows[found], rows[rank]
        for row in range(n):
            if row != rank:
                factor = rows[row][column] / rows[rank][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[rank], strict=True)]
        pivots.append(column)
        rank += 1
    solution = [Fraction(0)] * n
    for row, column in enumerate(pivots):
        solution[column] = rows[row][-1] / rows[row][column]
    return solution


def remove_projection(U: Floats, point: Floats) -> Floats:
    c = coefficients(U, point)
    return np.array(
        [
            float(Fraction(p) - sum((Fraction(u) * x for u, x in zip(row, c, strict=True)), Fraction(0)))
            for p, row in zip(point.tolist(), U.tolist(), strict=True)
        ]
    )
