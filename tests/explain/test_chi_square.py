"""The tail of the chi-square distribution against scipy's and against closed forms."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from scipy.special import chdtrc

from weigh.explain.chi_square import chi_square_tail


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 37, 200, 1_001, 20_000, 300_000])
@pytest.mark.parametrize("share", [1e-6, 0.1, 0.5, 0.9, 0.99, 1.0, 1.001, 1.01, 1.1, 1.5, 3.0, 20.0])
def test_the_tail_equals_scipys(freedom, share):
    x = share * freedom
    assert chi_square_tail(x, freedom) == pytest.approx(float(chdtrc(freedom, x)), rel=1e-8, abs=1e-300)


def test_with_two_degrees_of_freedom_it_is_an_exponential():
    for x in (0.01, 1.0, 5.0, 100.0, 1000.0):
        assert chi_square_tail(x, 2) == pytest.approx(math.exp(-x / 2), rel=1e-12)


def test_with_one_degree_of_freedom_it_is_the_tail_of_a_squared_normal():
    for x in (0.01, 1.0, 5.0, 100.0):
        assert chi_square_tail(x, 1) == pytest.approx(math.erfc(math.sqrt(x / 2)), rel=1e-12)


def test_the_ends_are_one_and_zero():
    assert chi_square_tail(0.0, 3) == 1.0
    assert chi_square_tail(math.inf, 3) == 0.0
    assert chi_square_tail(1e6, 3) == 0.0


def test_explaining_imports_neither_scipy_nor_scikit_learn():
    code = (
        "import sys, weigh.explain, weigh.source, weigh.learn, weigh.engines\n"
        "columns = {'a': ['u', 'v'] * 30, 'y': ['p', 'q'] * 30}\n"
        "source = weigh.source.rows(columns, 'y')\n"
        "model = weigh.engines.run(weigh.learn.BayesTask.over(source, 'auto'), source)\n"
        "found = weigh.explain.unfamiliar(model, {'a': ['u'] * 60})\n"
        "assert found.shifted, found\n"
        "assert not {'scipy', 'sklearn'} & set(sys.modules), sorted(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
