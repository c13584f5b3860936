"""Online logistic regression: convergence, update rules, batches and new classes."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

import weigh
from weigh import errors
from weigh.learn.sgd import OnlineLogisticTask, SgdTraining
from weigh.priors import Penalty
from weigh.source import rows

# The five mails: CS373, investment, familiarity high, medium, low; whether they are spam.
MAILS = np.array([[0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 1, 1, 0, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]])
IS_SPAM = np.array([1, 0, 1, 0, 0])
EXACT = {"tol": 1e-12, "max_iter": 10_000}


def train(X: Any, y: Any, weights: Any = None, **params: Any) -> SgdTraining:
    source = rows(X, y, weights=weights)
    return OnlineLogisticTask.for_source(source, **params).train(source)


def weights(training: SgdTraining) -> tuple[Any, Any]:
    """Return the weights [features, columns] and biases."""
    return training.state.weights(np.concatenate(training.feature_index.feature_orders()))


def objective(X: Any, codes: Any, w: Any, b: Any, l2: float) -> float:
    scores = X @ w + b
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    loss = logsumexp(scores, axis=1) - scores[np.arange(len(X)), codes]
    return float(loss.sum() + 0.5 * l2 * np.square(w).sum())


def minimal_objective(X: Any, codes: Any, l2: float) -> float:
    """Return the objective at scikit-learn's optimum."""
    peer = LogisticRegression(C=1 / l2, **EXACT).fit(X, codes)
    return objective(X, codes, peer.coef_.T, peer.intercept_, l2)


def make_rows(classes: int, n: int = 400, width: int = 6, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width))
    scores = X @ rng.normal(size=(width, classes)) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("l2", [0.1, 1.0, 30.0])
def test_the_objective_comes_within_a_thousandth_of_the_minimum(classes: int, l2: float) -> None:
    X, y = make_rows(classes)
    value = objective(X, y, *weights(train(X, y, prior=Penalty(l2=l2), max_iter=100, tol=0)), l2)
    best = minimal_objective(X, y, l2)
    assert best - 1e-6 <= value <= 1.001 * best


def test_one_pass_comes_within_a_tenth_of_the_minimum() -> None:
    X, y = make_rows(2, 5000, 20)
    assert objective(X, y, *weights(train(X, y, max_iter=1)), 1.0) < 1.1 * minimal_objective(X, y, 1.0)


@pytest.mark.parametrize("size", [1e6, 1e-6, 1e50])
@pytest.mark.parametrize("classes", [2, 3])
def test_columns_of_any_scale_converge(size: float, classes: int) -> None:
    X, y = make_rows(classes)
    units = np.array([1, size, 1, size, 1, 1])
    training = train(X * units, y, prior=Penalty(l2=0.0), max_iter=10, tol=0)
    w, b = weights(training)
    plain = train(X, y, prior=Penalty(l2=0.0), max_iter=10, tol=0)
    np.testing.assert_allclose(w * units[:, None], weights(plain)[0], rtol=1e-6, atol=1e-9)
    assert objective(X * units, y, w, b, 0.0) < 0.6 * len(X) * np.log(classes)


def test_separable_rows_without_a_penalty_keep_finite_weights() -> None:
    X, y = np.array([[-1.0], [1.0], [-2.0], [2.0]]), [0, 1, 0, 1]
    w, b = weights(train(X, y, prior=Penalty(l2=0.0), max_iter=200, tol=0))
    assert np.isfinite(w).all()
    assert ((X @ w + b)[:, 0] > 0).tolist() == [False, True, False, True]


def test_a_rate_that_is_too_large_is_an_error() -> None:
    X, y = make_rows(2)
    with pytest.raises(errors.DataError, match="Leave out rate"):
        train(X, y, prior=Penalty(l2=1.0), rate=1e6, max_iter=300, tol=0)


@given(st.integers(0, 10_000), st.sampled_from(["safe", 0.3]), st.integers(2, 3))
@settings(max_examples=25, deadline=None)
def test_the_same_seed_gives_the_same_bytes(seed: int, rate: Any, classes: int) -> None:
    X, y = make_rows(classes, 40, 4, seed)
    trainings = [train(X, y, rate=rate, random_state=seed, max_iter=3) for _ in range(2)]
    assert trainings[0].state.table.tobytes() == trainings[1].state.table.tobytes()
    assert trainings[0].state.objective == trainings[1].state.objective


def batches(X: Any, y: Any, cuts: list[int], classes: tuple[Any, ...] = (), **params: Any) -> SgdTraining:
    """Learn the rows in several batches with one pass each."""
    training: SgdTraining | None = None
    for a, b in itertools.pairwise([0, *cuts, len(X)]):
        source = rows(X[a:b], y[a:b])
        task = OnlineLogisticTask.for_source(
            source, "auto" if training is None else training.schema, **params
        )
        task = replace(task, max_iter=1, shuffle=False, classes=classes)
        training = task.train(source, training, check=lambda labels: None)
    assert training is not None
    return training


@given(st.lists(st.integers(1, 59), max_size=5), st.sampled_from(["safe", 0.1]), st.integers(2, 3))
@settings(max_examples=25, deadline=None)
def test_batches_of_any_size_give_the_same_weights(cuts: list[int], rate: Any, classes: int) -> None:
    X, y = make_rows(classes, 60, 4)
    names = tuple(range(classes))
    whole = batches(X, y, [], names, rate=rate, prior=Penalty(l2=3.0)).state
    parts = batches(X, y, sorted(set(cuts)), names, rate=rate, prior=Penalty(l2=3.0)).state
    assert (whole.table[: parts.table.shape[0]] == parts.table[: whole.table.shape[0]]).all()
    assert (whole.n_rows, whole.steps, whole.scale) == (parts.n_rows, parts.steps, parts.scale)


@pytest.mark.parametrize("rate", ["safe", 0.05])
def test_chunk_sizes_do_not_matter_without_shuffling(
    rate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = make_rows(2, 30_000, 3)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "y": y.astype(str)})
    csv.write_csv(table, tmp_path / "rows.csv")
    # Forces the file to be read again for every pass.
    monkeypatch.setattr("weigh.learn.dataset.MAX_CACHED_BYTES", 0)
    results = []
    for source in (weigh.open(tmp_path / "rows.csv", label="y"), rows(table, "y")):
        task = OnlineLogisticTask.for_source(source, "number", rate=rate, shuffle=False, max_iter=3, tol=0)
        results.append(weights(task.train(source)))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_class_may_first_appear_in_a_later_batch() -> None:
    X, y = make_rows(3, 600)
    early = y < 2
    X, y = np.vstack([X[early], X, X]), np.concatenate([y[early], y, y])
    training = batches(X, y, [int(early.sum())])
    assert training.state.classes == [0, 1, 2]
    w, b = weights(training)
    assert np.mean((X @ w + b).argmax(axis=1) == y) > 0.6


@pytest.mark.parametrize("rate", ["safe", 0.1])
def test_adding_a_class_keeps_the_weight_difference_of_the_first_two(rate: Any) -> None:
    X, y = make_rows(2, 50)
    training = train(X, y, rate=rate, max_iter=2)
    w, b = weights(training)
    training.state.add_classes([0, 0.5, 1])
    separate, biases = weights(training)
    np.testing.assert_allclose(separate[:, 2] - separate[:, 0], w[:, 0], rtol=1e-12)
    np.testing.assert_allclose(biases[2] - biases[0], b[0], rtol=1e-12)
    assert not separate[:, 1].any()


def test_doubling_weights_and_penalty_changes_nothing() -> None:
    X, y = make_rows(3, 80)
    trainings = [
        train(X, y, np.full(80, by), prior=Penalty(l2=4.0 * by), max_iter=3, tol=0) for by in (1.0, 2.0)
    ]
    for one, other in zip(*(weights(training) for training in trainings), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_class_weights_multiply_the_weights_of_their_rows() -> None:
    X, y = make_rows(2, 80)
    by_class = train(X, y, class_weight={1: 3.0}, max_iter=3)
    by_row = train(X, y, np.where(y == 1, 3.0, 1.0), max_iter=3)
    np.testing.assert_array_equal(by_class.state.table, by_row.state.table)


def test_the_first_steps_from_zero_sum_to_the_gradient() -> None:
    steps = [
        weights(batches(MAILS[i : i + 1], IS_SPAM[i : i + 1], [], (0, 1), rate=1.0, prior=Penalty(l2=0.0)))
        for i in range(5)
    ]
    assert sum(w for w, _ in steps)[:, 0].tolist() == [-0.5, 0.5, 0.0, -0.5, 0.0]
    assert sum(b for _, b in steps).tolist() == [-0.5]


@pytest.mark.parametrize(("l2", "rate"), list(itertools.product([0.0, 2.0], [0.5, 0.01])))
def test_a_numeric_rate_gives_the_textbook_update(l2: float, rate: float) -> None:
    training = train(MAILS, IS_SPAM, rate=rate, prior=Penalty(l2=l2), shuffle=False, max_iter=2, tol=0)
    w, b = np.zeros(5), 0.0
    for x, label in [*zip(MAILS, IS_SPAM, strict=True)] * 2:
        residual = label - 1 / (1 + np.exp(-(w @ x + b)))
        w, b = w + rate * (x * residual - l2 * w / 5), b + rate * residual
    np.testing.assert_allclose(weights(training)[0][:, 0], w, rtol=1e-12)
    np.testing.assert_allclose(weights(training)[1], b, rtol=1e-12)


def test_training_stops_when_the_objective_stops_decreasing() -> None:
    X, y = make_rows(2)
    loose, tight = (train(X, y, tol=tol, max_iter=200).state for tol in (0.05, 1e-3))
    assert loose.converged
    assert tight.converged
    assert loose.passes < tight.passes < 200
    assert not train(X, y, tol=0, max_iter=4).state.converged


def test_the_model_gives_probabilities() -> None:
    X, y = make_rows(3)
    training = train(X, np.array(["a", "b", "c"])[y], max_iter=5)
    model = training.model()
    w, b = weights(training)
    scores = X @ w + b
    expected = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)
    assert model.classes == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"prior": -1.0}, "prior"),
        ({"prior": float("nan")}, "prior"),
        ({"rate": 0.0}, "rate"),
        ({"rate": "quick"}, "rate"),
        ({"tol": -1e-3}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"bias": 1}, "bias"),
        ({"class_weight": {0: -1.0}}, "class_weight"),
        ({"class_weight": {"x": 1.0}}, "class_weight"),
    ],
)
def test_invalid_parameters_are_errors(params: dict[str, Any], message: str) -> None:
    X, y = make_rows(2, 10)
    with pytest.raises(errors.ParameterError, match=f"^LogisticRegression.*{message}"):
        train(X, y, **params)


def test_one_class_is_an_error() -> None:
    with pytest.raises(errors.LabelError, match="of one class"):
        train(np.ones((3, 1)), [0, 0, 0])


def test_the_type_of_step_cannot_change_during_training() -> None:
    X, y = make_rows(2, 20)
    state = train(X, y).state
    state.check_settings(replace(state.settings, l2=7.0))
    for other in (replace(state.settings, rate=0.1), replace(state.settings, bias=False)):
        with pytest.raises(errors.ParameterError, match="cannot change"):
            state.check_settings(other)


def test_a_copy_trains_independently() -> None:
    X, y = make_rows(2, 30)
    first = train(X, y)
    before, other = weights(first)[0].copy(), first.copy()
    source = rows(X, y)
    OnlineLogisticTask.for_source(source).train(source, other)
    np.testing.assert_array_equal(weights(first)[0], before)
    assert not np.array_equal(weights(other)[0], before)
