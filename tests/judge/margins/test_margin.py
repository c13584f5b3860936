"""`margin`: certified intervals and exact squares."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from tests.judge.margins.designs import make_design, separable, without_fractions
from weigh import errors
from weigh.judge.margins import exact_margin
from weigh.judge.margins import minimum_norm_point as minimum_norm_module
from weigh.judge.margins.convex_hulls import augmented_vertices, distance_vertices
from weigh.judge.margins.margin import margin
from weigh.judge.margins.minimum_norm_point import minimum_norm_point
from weigh.judge.margins.separation import fraction_sqrt
from weigh.learn.design_matrix import DesignMatrix
from weigh.source.sparse_rows import SparseRows


def plane_margins(X, codes, plane):
    """Return the distance and the augmented margin of a plane, by direct calculation."""
    w = np.array([plane.w.get(f"x{j}", 0.0) for j in range(X.shape[1])])
    min_score = ((2 * np.asarray(codes) - 1) * (X @ w + plane.b)).min()
    return min_score / np.linalg.norm(w), min_score / math.hypot(np.linalg.norm(w), plane.b)


def solver_margin(X, codes, *, constant):
    """Return the margin that SLSQP finds for min ‖w‖² subject to y(w·x + b) ≥ 1."""
    signs = 2.0 * np.asarray(codes) - 1
    Z = np.column_stack([X, np.ones(len(X))])
    penalty = np.append(np.ones(X.shape[1]), 1.0 if constant else 0.0)
    start = np.linalg.lstsq(Z, 3 * signs, rcond=None)[0]
    result = minimize(
        lambda w: w @ (penalty * w),
        start,
        jac=lambda w: 2 * penalty * w,
        constraints={
            "type": "ineq",
            "fun": lambda w: signs * (Z @ w) - 1,
            "jac": lambda w: signs[:, None] * Z,
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert (signs * (Z @ result.x)).min() > 1 - 1e-8
    return 1 / math.sqrt(result.fun)


@pytest.mark.parametrize("seed", range(12))
def test_both_margins_equal_those_of_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    X, codes = separable(rng, int(rng.integers(4, 30)), int(rng.integers(1, 8)))
    result = margin(make_design(X, codes))
    assert result.separable
    assert result.distance.upper == pytest.approx(solver_margin(X, codes, constant=False), rel=1e-5)
    assert result.augmented.upper == pytest.approx(solver_margin(X, codes, constant=True), rel=1e-5)


@pytest.mark.parametrize("seed", range(30))
def test_float_intervals_contain_the_exact_margins(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X, codes = separable(rng, int(rng.integers(3, 25)), int(rng.integers(1, 9)))
    rows = make_design(X * 10.0 ** rng.integers(-3, 4, X.shape[1]), codes)
    # Floats differ from the decimals they print as by more than the width of the interval.
    monkeypatch.setattr(exact_margin, "decimal_fraction", Fraction)
    exact = margin(rows).exact
    without_fractions(monkeypatch)
    result = margin(rows)
    assert result.exact is None
    assert result.gap <= 1e-9
    for name in ("distance", "augmented"):
        plane, square = getattr(result, name), getattr(exact, name).square
        assert Fraction(plane.lower) ** 2 <= square <= Fraction(plane.upper) ** 2


@pytest.mark.parametrize("exact", [True, False])
def test_planes_have_their_stated_margins(exact, monkeypatch):
    if not exact:
        without_fractions(monkeypatch)
    rng = np.random.default_rng(5)
    for _ in range(20):
        X, codes = separable(rng, 20, 4)
        result = margin(make_design(X, codes))
        assert plane_margins(X, codes, result.distance)[0] == pytest.approx(result.distance.lower, rel=1e-10)
        assert plane_margins(X, codes, result.augmented)[1] == pytest.approx(
            result.augmented.lower, rel=1e-10
        )
        assert sum(value**2 for value in result.distance.w.values()) == pytest.approx(1, rel=1e-12)
        norm = sum(value**2 for value in result.augmented.w.values()) + result.augmented.b**2
        assert norm == pytest.approx(1, rel=1e-12)
        assert result.augmented.upper <= result.distance.upper


def test_support_points_are_twice_the_margin_apart():
    X, codes = separable(np.random.default_rng(3), 30, 3)
    result = margin(make_design(X, codes)).distance
    points = [
        sum(weight * X[row] for row, weight in result.support.items() if codes[row] == code)
        for code in (0, 1)
    ]
    for code in (0, 1):
        assert sum(w for row, w in result.support.items() if codes[row] == code) == pytest.approx(1)
    assert np.linalg.norm(points[1] - points[0]) / 2 == pytest.approx(result.upper, rel=1e-9)


def test_two_points_on_a_line_match_a_hand_calculation():
    result = margin(make_design([[1], [4]], [0, 1]))
    assert result.exact.distance.square == Fraction(9, 4)
    assert (result.exact.distance.w, result.exact.distance.b) == ({"x0": Fraction(2, 3)}, Fraction(-5, 3))
    # The minimum-norm point of the segment from (−1, −1) to (4, 1).
    assert result.exact.augmented.square == Fraction(9, 29)
    assert (result.exact.radius, result.exact.radius_plain) == (17, 16)
    assert (result.radius, result.radius_plain) == (math.sqrt(17), 4.0)


def test_support_rows_score_one_on_the_exact_plane():
    X, codes = separable(np.random.default_rng(8), 15, 3)
    X = np.round(X, 2)
    result = margin(make_design(X, codes)).exact.distance
    scores = {
        row: sum((w * Fraction(repr(float(X[row, int(name[1:])]))) for name, w in result.w.items()), result.b)
        for row in range(15)
    }
    assert all(scores[row] == (1 if codes[row] else -1) for row in result.support)
    assert min(abs(score) for score in scores.values()) == 1


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("exact", [True, False])
def test_the_distance_margin_scales_with_the_rows(scale, exact, monkeypatch):
    if not exact:
        without_fractions(monkeypatch)
    X, codes = separable(np.random.default_rng(1), 20, 3)
    one, scaled = margin(make_design(X, codes)), margin(make_design(scale * X, codes))
    assert scaled.distance.lower == pytest.approx(scale * one.distance.lower, rel=1e-9)
    assert scaled.distance.upper == pytest.approx(scale * one.distance.upper, rel=1e-9)
    assert scaled.radius_plain == pytest.approx(scale * one.radius_plain, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_values_whose_squares_overflow_are_measured(scale):
    X, codes = separable(np.random.default_rng(1), 20, 3)
    one, scaled = margin(make_design(X, codes)), margin(make_design(scale * X, codes))
    assert scaled.distance.upper == pytest.approx(scale * one.distance.upper, rel=1e-12)


def test_translation_keeps_the_distance_margin_and_lowers_the_augmented_one(monkeypatch):
    without_fractions(monkeypatch)
    X, codes = separable(np.random.default_rng(2), 20, 3)
    here, there = margin(make_design(X, codes)), margin(make_design(X + 1000.0, codes))
    assert there.distance.upper == pytest.approx(here.distance.upper, rel=1e-9)
    assert there.augmented.upper < here.augmented.upper
    assert plane_margins(X + 1000.0, codes, there.distance)[0] == pytest.approx(
        there.distance.lower, rel=1e-8
    )


def test_columns_of_different_scales_reach_the_tolerance(monkeypatch):
    without_fractions(monkeypatch)
    X, codes = separable(np.random.default_rng(4), 60, 4)
    result = margin(make_design(X * [1.0, 1e-3, 1e3, 1.0], codes))
    assert result.separable
    assert result.gap <= 1e-9


def test_the_order_of_rows_and_repeated_rows_do_not_matter():
    rng = np.random.default_rng(6)
    X, codes = separable(rng, 25, 4)
    order = np.concatenate([rng.permutation(25), rng.integers(0, 25, 30)])
    one, other = margin(make_design(X, codes)), margin(make_design(X[order], codes[order]))
    assert other.exact.distance.square == one.exact.distance.square
    assert other.exact.augmented.square == one.exact.augmented.square
    assert {int(order[row]) for row in other.distance.support} == set(one.distance.support)


def test_swapping_the_classes_negates_the_plane():
    X, codes = separable(np.random.default_rng(7), 12, 3)
    one, other = margin(make_design(X, codes)), margin(make_design(X, 1 - codes))
    assert other.exact.distance.square == one.exact.distance.square
    assert other.exact.distance.w == {name: -value for name, value in one.exact.distance.w.items()}
    assert other.exact.distance.b == -one.exact.distance.b


def test_a_duplicated_feature_scales_the_margin_by_the_square_root_of_two():
    result = margin(make_design([[0, 0], [1, 1], [3, 3]], [0, 0, 1]))
    assert result.exact.distance.square == 2
    assert result.distance.support == {1: 1.0, 2: 1.0}


def test_collinear_rows_are_separated_at_their_nearest_ends():
    X = np.outer([0, 1, 2, 5, 6, 9], [1, 2, 2])
    result = margin(make_design(X, [0, 0, 0, 1, 1, 1]))
    assert result.exact.distance.square == Fraction(81, 4)
    assert result.distance.support == {2: 1.0, 3: 1.0}


def test_equal_rows_within_a_class_and_rows_of_zeros_are_separated():
    result = margin(make_design([[0, 0], [0, 0], [3, 4], [3, 4]], [0, 0, 1, 1]))
    assert result.exact.distance.square == Fraction(25, 4)
    assert result.separable


def test_a_wide_sparse_table_is_measured_without_densifying(monkeypatch):
    without_fractions(monkeypatch)
    rng = np.random.default_rng(0)
    n, d = 300, 20_000
    codes = rng.integers(0, 2, n)
    words = np.sort(rng.integers(0, d // 2, (n, 20)) + (d // 4 * codes)[:, None], axis=1)
    keep = np.diff(words, axis=1, prepend=-1) > 0
    indptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    X = SparseRows(indptr, words[keep].astype(np.int32), np.ones(keep.sum()), d)
    rows = DesignMatrix([f"x{j}" for j in range(d)], X, codes, ["a", "b"])
    result = margin(rows)
    assert result.separable
    assert result.gap <= 1e-12
    assert result.radius_plain == pytest.approx(math.sqrt(keep.sum(axis=1).max()))


def test_projection_and_inverse_hulls_agree(monkeypatch):
    rng = np.random.default_rng(9)
    for _ in range(5):
        X, codes = separable(rng, 60, 10)
        signs = 2.0 * codes - 1
        for vertices in (
            distance_vertices(make_design(X, codes), signs),
            augmented_vertices(make_design(X, codes), signs),
        ):
            monkeypatch.setattr(minimum_norm_module, "MAX_PROJECTION_FEATURES", 200)
            narrow = minimum_norm_point(vertices)
            monkeypatch.setattr(minimum_norm_module, "MAX_PROJECTION_FEATURES", 0)
            wide = minimum_norm_point(vertices)
            assert wide.upper == pytest.approx(narrow.upper, rel=1e-11)
            assert wide.lower == pytest.approx(narrow.lower, rel=1e-11)


def test_exact_margin_corrects_a_wrong_initial_support():
    X, codes = separable(np.random.default_rng(10), 12, 3)
    rows, signs = make_design(X, codes), (2 * codes - 1).tolist()
    right = margin(rows).exact.distance
    for first in np.flatnonzero(codes == 0).tolist():
        for second in np.flatnonzero(codes == 1).tolist():
            result = exact_margin.exact_distance_margin(rows, signs, [first, second])
            assert (result.square, result.w, result.b) == (right.square, right.w, right.b)


def test_a_column_far_from_zero_loses_no_precision():
    X, codes = separable(np.random.default_rng(12), 40, 3)
    near = np.round(X * 1024) / 1024
    far = near + np.array([0.0, 2.0**30, -(2.0**33)])
    ends = []
    for rows in (near, far):
        vertices = distance_vertices(make_design(rows, codes), 2.0 * codes - 1)
        result = minimum_norm_point(vertices)
        ends.append((result.lower * vertices.scale, result.upper * vertices.scale))
    assert ends[1] == pytest.approx(ends[0], rel=1e-13)


def test_stopping_early_warns_about_a_wide_interval(monkeypatch):
    without_fractions(monkeypatch)
    X, codes = separable(np.random.default_rng(11), 200, 10)
    exact = margin(make_design(X, codes)).distance
    with pytest.warns(errors.WeighWarning, match="more than tol=1e-09; raise max_iter"):
        result = margin(make_design(X, codes), max_iter=12)
    assert result.separable
    assert result.gap > 1e-9
    assert result.distance.lower <= exact.upper
    assert exact.lower <= result.distance.upper


def test_tables_arrays_and_sparse_rows_give_the_same_margin():
    X = np.array([[0, 1.5, 0], [2, 0, 1], [0.5, 3, 0], [4, 0, 2]])
    y = ["no", "yes", "no", "yes"]
    table = {"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2], "label": y}
    squares = {
        margin(rows, label, columns="number", scale=None).exact.distance.square
        for rows, label in ((X, y), (csr_array(X), y), (table, "label"))
    }
    assert squares == {margin(make_design(X, [0, 1, 0, 1])).exact.distance.square}


def test_fraction_sqrt_is_accurate_beyond_the_range_of_floats():
    assert fraction_sqrt(Fraction(3, 20)) == math.sqrt(0.15)
    assert fraction_sqrt(Fraction(10) ** 400) == 1e200
    assert fraction_sqrt(Fraction(1, 10**400)) == pytest.approx(1e-200, rel=1e-15)
    assert fraction_sqrt(Fraction(0)) == 0.0


def test_the_margin_of_a_named_table_is_that_of_its_standardised_numbers():
    X = np.array([[10.0, 0.3], [20.0, 0.1], [50.0, 0.4], [80.0, 0.9]] * 3)
    y = ["no", "no", "yes", "yes"] * 3
    found = margin({"x": X[:, 0], "y": X[:, 1], "flag": [0, 1, 0, 1] * 3, "label": y}, "label")
    by_hand = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), [0, 1, 0, 1] * 3])
    assert found.distance.lower == pytest.approx(margin(by_hand, y).distance.lower, rel=1e-6)
    assert found.standardised == ("x", "y")
    sentence = " ".join(str(found).split()[-9:])
    assert sentence == "without. Numbers are standardised, as a perceptron learns them."
