"""Folds, regularisation paths, and datasets compressed to a few rows of the same moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learn.linear.designs import law, make_problem
from weigh import errors
from weigh.learn.chunk_encoder import EncodedChunk
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
    result = consecutive_folds(n, folds)
    assert [row for start, stop in result for row in range(start, stop)] == list(range(n))
    sizes = [stop - start for start, stop in result]
    assert max(sizes) - min(sizes) <= 1


@law
@given(codes=st.lists(st.integers(0, 3), min_size=4, max_size=60), folds=st.integers(2, 6))
def test_stratified_folds_spread_every_class_evenly(codes: list[int], folds: int) -> None:
    y = np.array(codes, dtype=float)
    counts = np.bincount(codes)
    if 1 in counts or len(codes) < folds:
        with pytest.raises(errors.DataError, match=r"without leaving a fold empty|A class has only one row"):
            stratified_folds(y, folds)
        return
    result = np.array(stratified_folds(y, folds))
    assert (result.sum(axis=0) == 1).all()
    assert result.any(axis=1).all()
    for code in set(codes):
        sizes = result[:, y == code].sum(axis=1)
        assert sizes.max() - sizes.min() <= 1


def test_the_best_scale_has_the_smallest_mean_error_over_folds() -> None:
    curve = ValidationCurve.from_fold_sums(
        np.array([3.0, 2.0, 1.0]), np.array([[4.0, 2.0, 6.0], [8.0, 4.0, 2.0]]), np.array([2.0, 4.0])
    )
    assert curve.mean_errors.tolist() == [2.0, 1.0, 8 / 6]
    assert (curve.best_index, curve.best_scale) == (1, 2.0)
    assert curve.standard_errors[2] == pytest.approx(np.std([3.0, 0.5], ddof=1) / np.sqrt(2))


def random_problem(n: int = 40, d: int = 3, **kwargs: Any) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 1
    return make_problem(X, X @ np.arange(1.0, d + 1) + rng.normal(size=n), **kwargs)


@pytest.mark.parametrize("shape", [(40, 3), (20, 60)])
@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_cross_validation_from_moments_equals_that_from_rows(shape: tuple[int, int], l1: float) -> None:
    rng = np.random.default_rng(1)
    problem = random_problem(*shape, weights=rng.uniform(0.5, 2, shape[0]), offset=rng.normal(size=shape[0]))
    d = shape[1]
    solver = LinearPathSolver(problem, np.full(d, l1), np.ones(d), 1e-10, 10_000)
    scales = solver.make_scales(5, 0.1)
    assert (np.diff(scales) < 0).all()
    row_solver = LinearPathSolver(problem, np.full(d, l1), np.ones(d), 1e-10, 10_000)
    solver.uses_moments, solver.uses_rows = True, False
    row_solver.uses_moments = not l1 and not row_solver.uses_rows
    from_moments, from_rows = solver.cross_validate(scales, 4), row_solver.cross_validate(scales, 4)
    np.testing.assert_allclose(from_moments.mean_errors, from_rows.mean_errors, rtol=1e-4)
    fold = slice(*consecutive_folds(shape[0], 4)[0])
    in_training = np.ones(shape[0], dtype=bool)
    in_training[fold] = False
    training = problem.select_rows(in_training)
    path = LinearPathSolver(training, np.full(d, l1), np.ones(d), 1e-10, 10_000).solve(scales)
    held_out = problem.slice_rows(fold.start, fold.stop)
    residuals = (held_out.y - held_out.offset)[:, None] - held_out.X.times(path.weights.T) - path.intercepts
    expected = held_out.weights @ np.square(residuals) / held_out.total_weight
    np.testing.assert_allclose(from_moments.fold_errors[0], expected, rtol=1e-4)


def test_cross_validation_from_moments_equals_separate_fits() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 6)) + 3
    y, s = X @ rng.normal(size=6) + 4 * rng.normal(size=50), rng.uniform(0.5, 2, 50)
    direction, scales = rng.uniform(0.5, 2, 6), np.geomspace(0.01, 1000, 9)
    direction[0] = 0.0
    parts = [np.arange(50) % 5 == k for k in range(5)]
    folds = [Moments.from_problem(make_problem(X[p], y[p], weights=s[p])) for p in parts]
    solver = LinearPathSolver(make_problem(X, y, weights=s), np.zeros(6), direction, 1e-10, 10_000)
    result = solver.cross_validate_moments(scales, folds)
    errors = np.empty((5, 9))
    for k, part in enumerate(parts):
        for j, scale in enumerate(scales):
            fit = solve_ridge(make_problem(X[~part], y[~part], scale * direction, weights=s[~part]))
            errors[k, j] = s[part] @ np.square(y[part] - fit.b - X[part] @ fit.w)
    totals = np.array([s[part].sum() for part in parts])
    np.testing.assert_allclose(result.fold_errors, errors / totals[:, None], rtol=1e-9)
    np.testing.assert_allclose(result.mean_errors, errors.sum(axis=0) / s.sum(), rtol=1e-9)
    assert result.best_index == int(np.argmin(errors.sum(axis=0)))
    assert 0 < result.best_index < 8


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_a_logistic_path_is_cross_validated_by_log_loss(classes: int, l1: float) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = np.argmax(X @ rng.normal(size=(3, classes)) + rng.gumbel(size=(60, classes)), axis=1).astype(float)
    offset = rng.normal(size=60) if classes == 2 else None
    problem = make_problem(X, y, offset=offset)
    solver = LogisticPathSolver(problem, np.full(3, l1), np.full(3, 1 - l1), classes, 1e-9, 1000)
    scales = solver.make_scales(4, 0.01)
    curve = solver.cross_validate(scales, 3)
    mask = stratified_folds(y, 3)[0]
    path = LogisticPathSolver(
        problem.select_rows(~mask), np.full(3, l1), np.full(3, 1 - l1), classes, 1e-9, 1000
    ).solve(scales)
    for k in range(4):
        Z = X[mask] @ path.weights[k].reshape(3, -1) + path.intercepts[k]
        Z = np.column_stack([np.zeros(len(Z)), Z[:, 0] + offset[mask]]) if offset is not None else Z
        log_p = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
        loss = -log_p[np.arange(len(Z)), y[mask].astype(int)].mean()
        assert curve.fold_errors[0, k] == pytest.approx(loss, rel=1e-7)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_the_selected_scale_is_the_best_of_the_whole_curve(classes: int, l1: float) -> None:
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(80, 30))
    y = np.argmax(X[:, :classes] + rng.gumbel(size=(80, classes)), axis=1).astype(float)
    arguments = (make_problem(X, y), np.full(30, l1), np.full(30, 1 - l1), classes, 1e-9, 1000)
    solver = LogisticPathSolver(*arguments)
    scales = solver.make_scales(12, 0.001)
    curve = solver.cross_validate(scales, 4)
    assert curve.best_index < 8
    assert solver.select_scale(scales, 4) == curve.best_scale


def test_selection_stops_after_three_worse_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(np.eye(6), np.arange(6.0) % 2)
    solver = LogisticPathSolver(problem, np.zeros(6), np.ones(6), 2, 1e-9, 1000)
    losses, used = [5.0, 6.0, 6.0, 4.0, 4.5, 4.2, 4.1, 1.0], []

    def iterate_losses(self: Any, scales: Any, mask: Any) -> Any:
        for loss in losses:
            used.append(loss)
            yield loss

    monkeypatch.setattr(LogisticPathSolver, "_iterate_losses", iterate_losses)
    assert solver.select_scale(np.arange(8.0), 2) == 3.0
    assert max(used) == 6.0
    assert min(used) == 4.0


@pytest.mark.parametrize("bias", [True, False])
def test_compressed_rows_have_the_moments_of_all_rows(bias: bool) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 4)) * [1, 10, 0.1, 1] + [0, 5, 2, 1], rng.normal(size=50)
    X[:, 3] = 7.0
    weights = rng.uniform(0.5, 2, 50)
    source = rows_of(X, y, weights)
    schema = linear_schema(source)
    dataset = read_dataset(schema, source, is_regression=True)
    compressed, moments = compress_dataset(schema, dataset, bias)
    assert compressed.X.n_rows == 5
    assert moments.has_intercept
    assert moments.total_weight == pytest.approx(weights.sum())
    np.testing.assert_allclose(moments.mean_x, np.average(X, axis=0, weights=weights))
    expected = moments if bias else moments.without_intercept()
    mean, mean_y = (
        (np.average(X, axis=0, weights=weights), np.average(y, weights=weights)) if bias else (0.0, 0.0)
    )
    A, t = X - mean, y - mean_y
    np.testing.assert_allclose(expected.gram, (A * weights[:, None]).T @ A, atol=1e-9)
    np.testing.assert_allclose(expected.cross, (A * weights[:, None]).T @ t, atol=1e-9)
    assert expected.yy == pytest.approx(float(weights @ np.square(t)))
    compressed_moments = Moments.from_rows(compressed.X, compressed.y, None, has_intercept=False)
    np.testing.assert_allclose(compressed_moments.gram, expected.gram, atol=1e-8)
    np.testing.assert_allclose(compressed_moments.cross, expected.cross, atol=1e-8)
    assert compressed_moments.yy == pytest.approx(expected.yy)


def test_the_size_of_an_encoded_chunk_includes_all_arrays() -> None:
    dataset = read_dataset(
        linear_schema(rows_of(np.ones((4, 2)), np.ones(4))),
        rows_of(np.ones((4, 2)), np.ones(4)),
        is_regression=True,
    )
    (chunk,) = dataset.chunks()
    assert isinstance(chunk, EncodedChunk)
    assert chunk.n_bytes >= 4 * 2 * 8 + 4 * 8


def test_scales_of_logistic_paths_do_not_depend_on_the_means_of_the_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(float)
    scales = [
        LogisticPathSolver(make_problem(X + shift, y), np.zeros(3), np.ones(3), 2, 1e-9, 1000).make_scales(
            5, 1e-3
        )
        for shift in (0.0, 1000.0)
    ]
    np.testing.assert_allclose(*scales, rtol=1e-6)
