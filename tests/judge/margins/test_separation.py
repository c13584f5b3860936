"""Proofs that no plane separates two classes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.judge.margins.designs import XOR, make_design, without_fractions
from weigh.judge.margins import exact_margin
from weigh.judge.margins.margin import margin
from weigh.judge.margins.separation import find_shared_row


def test_negative_weights_are_not_a_proof():
    vertices = exact_margin.exact_vertices(
        make_design([[0], [1], [2]], [0, 0, 1]), [-1, -1, 1], constant=False
    )
    assert exact_margin.exact_common_point(vertices, [0, 0, 1], [0, 1, 2]) is None


def test_xor_has_an_exact_inseparability_proof():
    result = margin(make_design(XOR, [0, 1, 1, 0]))
    half = Fraction(1, 2)
    assert result.separable is False
    assert (result.proof.first, result.proof.second) == ({0: half, 3: half}, {1: half, 2: half})
    assert (result.proof.exact, result.proof.residual) == (True, 0.0)
    assert (result.distance, result.augmented, result.exact, result.gap) == (None, None, None, 0.0)


def test_one_row_with_both_labels_is_the_simplest_proof():
    rows = make_design([[1, 0], [2.5, 7], [0, 1], [2.5, 7]], [0, 1, 0, 0])
    assert find_shared_row(rows, rows.codes) is not None
    result = margin(rows)
    assert (result.proof.first, result.proof.second) == ({3: 1}, {1: 1})
    assert result.proof.exact


def test_hulls_that_only_touch_are_not_separable():
    result = margin(make_design([[0, 0], [2, 2], [1, 1], [2, 0]], [0, 0, 1, 1]))
    assert result.separable is False
    assert (result.proof.first, result.proof.second) == ({0: Fraction(1, 2), 1: Fraction(1, 2)}, {2: 1})


def test_rows_without_any_feature_are_not_separable():
    assert margin(make_design(np.zeros((2, 3)), [0, 1])).proof.exact
    assert margin(make_design(np.zeros((2, 0)), [0, 1])).separable is False


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_proofs_for_random_overlapping_rows_are_valid(seed, exact, monkeypatch):
    if not exact:
        without_fractions(monkeypatch)
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(60, int(rng.integers(1, 6)))), 3) * 10.0 ** rng.integers(-6, 7)
    codes = rng.integers(0, 2, 60)
    proof = margin(make_design(X, codes)).proof
    assert proof.exact is exact
    proofs = [(0, proof.first), (1, proof.second)]
    assert all(codes[row] == code for code, weights in proofs for row in weights)
    assert all(weight > 0 for _, weights in proofs for weight in weights.values())
    if exact:
        cells = [
            [[Fraction(repr(float(v))) * w for v in X[r]] for r, w in weights.items()]
            for _, weights in proofs
        ]
        means = [[sum(column) for column in zip(*row_values, strict=True)] for row_values in cells]
        assert [sum(weights.values()) for _, weights in proofs] == [1, 1]
        assert means[0] == means[1]
    else:
        means = [sum(weight * X[row] for row, weight in weights.items()) for _, weights in proofs]
        assert [sum(weights.values()) for _, weights in proofs] == pytest.approx([1, 1], abs=1e-14)
        assert np.abs(means[0] - means[1]).max() <= 1e-12 * np.abs(X).max()
        assert proof.residual <= 1e-12 * np.abs(X).max()


def test_wide_rows_have_a_proof():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(900, 210)), rng.integers(0, 2, 900)
    result = margin(make_design(X, codes))
    assert result.separable is False
    assert result.proof.residual < 1e-13
