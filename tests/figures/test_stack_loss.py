"""R3: least absolute deviations of Brownlee's stack losses."""

from __future__ import annotations

import numpy as np
import pytest

from weigh.learn.linear.lad import solve_lad
from weigh.learn.linear.matrix import DenseMatrix
from weigh.learn.linear.problem import Problem

# Loss; air flow, water temperature, acid concentration.
STACK_LOSS = np.array(
    [
        [42, 80, 27, 89],
        [37, 80, 27, 88],
        [37, 75, 25, 90],
        [28, 62, 24, 87],
        [18, 62, 22, 87],
        [18, 62, 23, 87],
        [19, 62, 24, 93],
        [20, 62, 24, 93],
        [15, 58, 23, 87],
        [14, 58, 18, 80],
        [14, 58, 18, 89],
        [13, 58, 17, 88],
        [11, 58, 18, 82],
        [12, 58, 19, 93],
        [8, 50, 18, 89],
        [7, 50, 18, 86],
        [8, 50, 19, 72],
        [8, 50, 19, 79],
        [9, 50, 20, 80],
        [15, 56, 20, 82],
        [15, 70, 20, 91],
    ],
    dtype=np.float64,
)


def test_the_published_weights_of_the_stack_losses() -> None:
    stated = Problem(DenseMatrix(STACK_LOSS[:, 1:]), STACK_LOSS[:, 0], np.zeros(3), np.zeros(3))
    found = solve_lad(stated)
    # Rows meet the plane exactly, so the weights are fractions: of 345ths.
    np.testing.assert_allclose(found.w, [287 / 345, 198 / 345, -21 / 345], rtol=1e-11)
    np.testing.assert_allclose(found.w, [0.83188406, 0.57391304, -0.06086957], atol=5e-9)
    assert float(found.b) == pytest.approx(-39.68985507, abs=5e-9)
    assert found.gap == pytest.approx(0.0, abs=1e-11)
