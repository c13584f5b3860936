"""Folds, tracks of penalties, and files that are not held as a few rows of the same moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import law, problem
from weigh import errors
from weigh.learn.dataset import EncodedChunk
from weigh.learn.design_matrix import linear_schema
from weigh.learn.linear.cross_validation import ValidationCurve, consecutive_folds, stratified_folds
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.path import LinearPathSolver, LogisticPathSolver
from weigh.learn.linear.ridge import solve_ridge
from weigh.learn.linear.training_data import compress_dataset, read_dataset
from weigh.source import rows as rows_of


@law
@given(n=st.integers(2, 100), folds=st.integers(2, 20))
def test_consecutive_folds_are_nearly_equal_and_hold_every_row_once(n: int, folds: int) -> None:
    if n < folds:
        with pytest.raises(errors.DataError, match=f"There are {n} rows for {folds} folds"):
            consecutive_folds(n, folds)
        return
    found = consecutive_folds(n, folds)
    assert [at for start, stop in found for at in range(start, stop)] == list(range(n))
    sizes = [stop - start for start, stop in found]
    assert max(sizes) - min(sizes) <= 1


@law
@given(codes=st.lists(st.integers(0, 3), min_size=4, max_size=60), folds=st.integers(2, 6))
def test_folds_of_classes_share_out_every_class(codes: list[int], folds: int) -> None:
    y = np.array(codes, dtype=float)
    counts = np.bincount(codes)
    if 1 in counts or max(counts) < folds:
        with pytest.raises(errors.DataError, match=r"leave some fold without any|A class has one row only"):
            stratified_folds(y, folds)
        return
    found = np.array(stratified_folds(y, folds))
    assert (found.sum(axis=0) == 1).all()
    for code in set(codes):
        sizes = found[:, y == code].sum(axis=1)
        assert sizes.max() - sizes.min() <= 1


def test_the_choice_is_the_least_mean_loss_and_errors_are_of_folds() -> None:
    choice = ValidationCurve.from_fold_sums(
        np.array([3.0, 2.0, 1.0]), np.array([[4.0, 2.0, 6.0], [8.0, 4.0, 2.0]]), np.array([2.0, 4.0])
    )
    assert choice.mean_errors.tolist() == [2.0, 1.0, 8 / 6]
    assert (choice.best_index, choice.best_scale) == (1, 2.0)
    assert choice.standard_errors[2] == pytest.approx(np.std([3.0, 0.5], ddof=1) / np.sqrt(2))


def some_problem(n: int = 40, d: int = 3, **given: Any) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 1
    return problem(X, X @ np.arange(1.0, d + 1) + rng.normal(size=n), **given)


@pytest.mark.parametrize("shape", [(40, 3), (20, 60)])
@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_scales_are_judged_from_moments_as_from_rows(shape: tuple[int, int], l1: float) -> None:
    rng = np.random.default_rng(1)
    stated = some_problem(*shape, weights=rng.uniform(0.5, 2, shape[0]), offset=rng.normal(size=shape[0]))
    d = shape[1]
    track = LinearPathSolver(stated, np.full(d, l1), np.ones(d), 1e-10, 10_000)
    scales = track.make_scales(5, 0.1)
    assert (np.diff(scales) < 0).all()
    by_rows = LinearPathSolver(stated, np.full(d, l1), np.ones(d), 1e-10, 10_000)
    track.uses_moments, track.uses_rows = True, False
    by_rows.uses_moments = not l1 and not by_rows.uses_rows
    one, two = track.cross_validate(scales, 4), by_rows.cross_validate(scales, 4)
    np.testing.assert_allclose(one.mean_errors, two.mean_errors, rtol=1e-4)
    fold = slice(*consecutive_folds(shape[0], 4)[0])
    rest = np.ones(shape[0], dtype=bool)
    rest[fold] = False
    fitted = LinearPathSolver(stated.select_rows(rest), np.full(d, l1), np.ones(d), 1e-10, 10_000).solve(scales)
    own = stated.slice_rows(fold.start, fold.stop)
    left = (own.y - own.offset)[:, None] - own.X.times(fitted.weights.T) - fitted.intercepts
    np.testing.assert_allclose(one.fold_errors[0], own.weights @ np.square(left) / own.total_weight, rtol=1e-4)


def test_folds_of_any_rows_are_judged_as_if_each_scale_were_solved_without_them() -> None:
    draw = np.random.default_rng(5)
    X = draw.normal(size=(50, 6)) + 3
    y, s = X @ draw.normal(size=6) + 4 * draw.normal(size=50), draw.uniform(0.5, 2, 50)
    direction, scales = draw.uniform(0.5, 2, 6), np.geomspace(0.01, 1000, 9)
    direction[0] = 0.0
    parts = [np.arange(50) % 5 == k for k in range(5)]
    folds = [Moments.from_problem(problem(X[p], y[p], weights=s[p])) for p in parts]
    track = LinearPathSolver(problem(X, y, weights=s), np.zeros(6), direction, 1e-10, 10_000)
    found = track.cross_validate_moments(scales, folds)
    errors = np.empty((5, 9))
    for k, part in enumerate(parts):
        for j, scale in enumerate(scales):
            fit = solve_ridge(problem(X[~part], y[~part], scale * direction, weights=s[~part]))
            errors[k, j] = s[part] @ np.square(y[part] - fit.b - X[part] @ fit.w)
    totals = np.array([s[part].sum() for part in parts])
    np.testing.assert_allclose(found.fold_errors, errors / totals[:, None], rtol=1e-9)
    np.testing.assert_allclose(found.mean_errors, errors.sum(axis=0) / s.sum(), rtol=1e-9)
    assert found.best_index == int(np.argmin(errors.sum(axis=0)))
    assert 0 < found.best_index < 8


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_every_scale_of_a_logistic_track_is_judged_by_log_loss(classes: int, l1: float) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = np.argmax(X @ rng.normal(size=(3, classes)) + rng.gumbel(size=(60, classes)), axis=1).astype(float)
    offset = rng.normal(size=60) if classes == 2 else None
    stated = problem(X, y, offset=offset)
    track = LogisticPathSolver(stated, np.full(3, l1), np.full(3, 1 - l1), classes, 1e-9, 1000)
    scales = track.make_scales(4, 0.01)
    judged = track.cross_validate(scales, 3)
    held = stratified_folds(y, 3)[0]
    own = LogisticPathSolver(
        stated.select_rows(~held), np.full(3, l1), np.full(3, 1 - l1), classes, 1e-9, 1000
    ).solve(scales)
    for at in range(4):
        Z = X[held] @ own.weights[at].reshape(3, -1) + own.intercepts[at]
        Z = np.column_stack([np.zeros(len(Z)), Z[:, 0] + offset[held]]) if offset is not None else Z
        log_p = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
        loss = -log_p[np.arange(len(Z)), y[held].astype(int)].mean()
        assert judged.fold_errors[0, at] == pytest.approx(loss, rel=1e-7)


@pytest.mark.parametrize("bias", [True, False])
def test_a_few_rows_have_the_moments_of_all(bias: bool) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 4)) * [1, 10, 0.1, 1] + [0, 5, 2, 1], rng.normal(size=50)
    X[:, 3] = 7.0
    weights = rng.uniform(0.5, 2, 50)
    source = rows_of(X, y, weights)
    schema = linear_schema(source)
    reading = read_dataset(schema, source, measured=True)
    few, whole = compress_dataset(schema, reading, bias)
    assert few.X.n_rows == 5
    assert whole.has_intercept
    assert whole.total_weight == pytest.approx(weights.sum())
    np.testing.assert_allclose(whole.mean_x, np.average(X, axis=0, weights=weights))
    rest = whole if bias else whole.without_intercept()
    mean, mean_y = (
        (np.average(X, axis=0, weights=weights), np.average(y, weights=weights)) if bias else (0.0, 0.0)
    )
    A, t = X - mean, y - mean_y
    np.testing.assert_allclose(rest.gram, (A * weights[:, None]).T @ A, atol=1e-9)
    np.testing.assert_allclose(rest.cross, (A * weights[:, None]).T @ t, atol=1e-9)
    assert rest.yy == pytest.approx(float(weights @ np.square(t)))
    own = Moments.from_rows(few.X, few.y, None, bias=False)
    np.testing.assert_allclose(own.gram, rest.gram, atol=1e-8)
    np.testing.assert_allclose(own.cross, rest.cross, atol=1e-8)
    assert own.yy == pytest.approx(rest.yy)


def test_the_size_of_encoded_rows_counts_all_arrays() -> None:
    reading = read_dataset(
        linear_schema(rows_of(np.ones((4, 2)), np.ones(4))),
        rows_of(np.ones((4, 2)), np.ones(4)),
        measured=True,
    )
    (part,) = reading.chunks()
    assert isinstance(part, EncodedChunk)
    assert part.n_bytes >= 4 * 2 * 8 + 4 * 8
