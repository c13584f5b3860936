"""R1, R4: NIST's certified regression of Longley's figures, employment in the United States 1947 to 1962."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learn.linear.designs import classical
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.problem import Problem
from weigh.model.inference import Posterior

# Employed; deflator, gross national product, unemployed, armed forces, population, year.
LONGLEY = np.array(
    [
        [60323, 83.0, 234289, 2356, 1590, 107608, 1947],
        [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
        [60171, 88.2, 258054, 3682, 1616, 109773, 1949],
        [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
        [63221, 96.2, 328975, 2099, 3099, 112075, 1951],
        [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
        [64989, 99.0, 365385, 1870, 3547, 115094, 1953],
        [63761, 100.0, 363112, 3578, 3350, 116219, 1954],
        [66019, 101.2, 397469, 2904, 3048, 117388, 1955],
        [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
        [68169, 108.4, 442769, 2936, 2798, 120445, 1957],
        [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
        [68655, 112.6, 482704, 3813, 2552, 123366, 1959],
        [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
        [69331, 115.7, 518173, 4806, 2572, 127852, 1961],
        [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
    ]
)
INTERCEPT, INTERCEPT_ERROR = -3482258.63459582, 890420.383607373
WEIGHTS = [
    15.0618722713733,
    -0.0358191792925910,
    -2.02022980381683,
    -1.03322686717359,
    -0.0511041056535807,
    1829.15146461355,
]
ERRORS = [
    84.9149257747669,
    0.0334910077722432,
    0.488399681651699,
    0.214274163161675,
    0.226073200069370,
    455.478499142212,
]


def check(found: Posterior) -> None:
    np.testing.assert_allclose(found.mean, WEIGHTS, rtol=1e-9)
    assert found.intercept == pytest.approx(INTERCEPT, rel=1e-9)
    np.testing.assert_allclose(found.sd, ERRORS, rtol=1e-9)
    assert found.intercept_sd == pytest.approx(INTERCEPT_ERROR, rel=1e-9)
    assert found.dof == 9


def test_longley_to_nine_digits_from_the_rows() -> None:
    stated = Problem(DenseMatrix(LONGLEY[:, 1:]), LONGLEY[:, 0], np.zeros(6), np.zeros(6))
    check(classical(stated))


def test_longley_to_nine_digits_from_one_pass_over_the_rows() -> None:
    batches = [(DenseMatrix(LONGLEY[i : i + 4, 1:]), LONGLEY[i : i + 4, 0], None) for i in range(0, 16, 4)]
    check(classical(Moments.from_batches(batches)))


def test_longley_to_nine_digits_with_the_bias_as_a_feature() -> None:
    X = np.column_stack([np.ones(16), LONGLEY[:, 1:]])
    stated = Problem(DenseMatrix(X), LONGLEY[:, 0], np.zeros(7), np.zeros(7), has_intercept=False)
    found = classical(stated)
    np.testing.assert_allclose(found.mean, [INTERCEPT, *WEIGHTS], rtol=1e-9)
    np.testing.assert_allclose(found.sd, [INTERCEPT_ERROR, *ERRORS], rtol=1e-9)
