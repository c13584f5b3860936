"""After a pass without an update, averaging continues until the average itself makes no errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import weigh
from tests.perceptrons import ReferencePerceptron
from weigh.learn.holdout import evaluate_on_holdout, is_held_out
from weigh.learn.perceptron import PerceptronTask
from weigh.source.memory.table import rows

XOR = {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "odd": [False, True, True, False]}
seeds = st.integers(0, 2**32 - 1)
law = settings(max_examples=40, derandomize=True, deadline=None, database=None)


def separable_rows(seed: int, classes: int) -> tuple[Any, Any]:
    """Return rows of small integers whose classes planes separate, and the classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (int(rng.integers(classes, 20)), 4)) * 1.0
    scores = X @ rng.integers(-3, 4, (4, classes)) * 1.0
    X, codes = X[(np.sort(scores)[:, -1] > np.sort(scores)[:, -2])], scores.argmax(axis=1)
    return X, codes[np.sort(scores)[:, -1] > np.sort(scores)[:, -2]]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("keep", ["averaged", "voted"])
def test_the_average_of_xor_with_its_product_is_right_on_all_rows(seed: int, keep: str) -> None:
    found = weigh.Perceptron(keep, random_state=seed, columns=weigh.Products(2)).fit(XOR, "odd")
    assert found.converged_
    assert found.model_.keep("averaged").predict(XOR).tolist() == XOR["odd"]


@law
@given(seed=seeds, classes=st.integers(2, 4), multiclass=st.sampled_from(["joint", "one-vs-rest"]))
def test_the_number_of_added_passes_is_the_smallest_that_suffices(
    seed: int, classes: int, multiclass: str
) -> None:
    X, y = separable_rows(seed, classes)
    assume(len(set(y.tolist())) == classes)
    learner = weigh.Perceptron(shuffle=False, max_iter=200, multiclass=multiclass).fit(X, y)
    separate = multiclass != "joint" and classes > 2
    reference = ReferencePerceptron(1 if classes == 2 else classes, 4, separate=separate).fit(X, y, 200)
    certificate = learner.certificate_
    assert (certificate.added_passes, certificate.passes) == (reference.added_passes, reference.passes)
    W = reference.weights("averaged")
    np.testing.assert_allclose(learner.coef_, W[:, 1:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(learner.intercept_, W[:, 0], rtol=1e-12, atol=1e-12)


@settings(law, max_examples=15)
@given(seed=seeds, classes=st.integers(2, 4))
def test_the_trace_continues_averaging_as_the_learner_does(seed: int, classes: int) -> None:
    X, y = separable_rows(seed, classes)
    assume(len(set(y.tolist())) == classes)
    learner = weigh.Perceptron(shuffle=False, max_iter=60).fit(X, y)
    trace = weigh.trace(weigh.Perceptron(shuffle=False, max_iter=60), X, y)
    assert trace.history.added_passes == learner.certificate_.added_passes
    planes = trace.weights()
    for c, plane in enumerate(planes.values() if classes > 2 else [planes]):
        np.testing.assert_allclose(learner.coef_[c], [float(w) for w in plane.weights.values()], rtol=1e-12)
        np.testing.assert_allclose(learner.intercept_[c], float(plane.bias), rtol=1e-12)


def test_some_of_these_runs_add_passes() -> None:
    problems = [separable_rows(seed, 2) for seed in range(40)]
    fits = [weigh.Perceptron(shuffle=False).fit(X, y) for X, y in problems if len(set(y.tolist())) == 2]
    assert sum(learner.certificate_.added_passes > 0 for learner in fits) >= 5


@pytest.mark.parametrize("record", [False, True])
def test_the_votes_grow_with_the_average(record: bool) -> None:
    settings: dict[str, Any] = {"shuffle": False, "columns": weigh.Products(2)}
    averaged = weigh.Perceptron(record=record, **settings).fit(XOR, "odd")
    voted = weigh.Perceptron("voted", **settings).fit(XOR, "odd").model_
    n_rows, certificate = 4, averaged.certificate_
    assert (certificate.passes, certificate.added_passes, certificate.examples) == (11, 5, 44)
    assert voted.certificate == certificate
    assert voted.record.lives.sum() == n_rows * (certificate.passes + certificate.added_passes)
    np.testing.assert_array_equal(voted.keep("averaged").coef, averaged.model_.coef)
    np.testing.assert_array_equal(
        voted.keep("last").coef, weigh.Perceptron("last", **settings).fit(XOR, "odd").coef_[0]
    )


def test_the_certificate_states_the_added_passes() -> None:
    found = weigh.Perceptron(shuffle=False, columns=weigh.Products(2)).fit(XOR, "odd").certificate_
    assert "passes added to the average" in str(found)
    assert found.to_dict()["added_passes"] == 5
    alone = weigh.Perceptron("last", shuffle=False, columns=weigh.Products(2)).fit(XOR, "odd").certificate_
    assert "added" not in str(alone)
    assert "added_passes" not in alone.to_dict()
    assert (alone.mistakes, alone.radius, alone.margin) == (found.mistakes, found.radius, found.margin)


def test_no_more_passes_are_added_than_max_iter_leaves() -> None:
    found = weigh.Perceptron(shuffle=False, columns=weigh.Products(2), max_iter=13).fit(XOR, "odd")
    assert (found.n_iter_, found.certificate_.added_passes) == (11, 2)
    assert found.score(XOR, "odd") < 1


def test_a_row_on_the_last_plane_may_stay_wrong_in_the_average() -> None:
    # The score 0 is right for the second class, and adds nothing to a negative sum.
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "ab": [0, 0, 0, 1]}
    y = [False, True, True, False]
    found = weigh.Perceptron(max_iter=100).fit(table, y)
    assert (found.converged_, found.certificate_.margin) == (True, 0.0)
    assert found.n_iter_ + found.certificate_.added_passes == 100
    assert found.score(table, y) == 0.5
    assert weigh.Perceptron(max_iter=100, margin=0.5).fit(table, y).score(table, y) == 1


def test_without_max_iter_passes_are_made_until_one_changes_nothing() -> None:
    settings: dict[str, Any] = {"shuffle": False, "columns": weigh.Products(2)}
    without = weigh.Perceptron(max_iter=None, **settings).fit(XOR, "odd")
    assert (
        without.model_.to_bytes()
        == weigh.Perceptron(max_iter=1000, **settings).fit(XOR, "odd").model_.to_bytes()
    )
    trace = weigh.trace(weigh.Perceptron(max_iter=None, **settings), XOR, "odd")
    assert (trace.passes, trace.history.added_passes) == (11, 5)


def test_without_max_iter_passes_over_inseparable_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weigh.learn.perceptron.MAX_PASSES", 30)
    found = weigh.Perceptron(max_iter=None).fit(XOR, "odd")
    assert (found.n_iter_, found.converged_) == (30, False)
    monkeypatch.setattr("weigh.explain.exact_perceptron.MAX_TRACE_STEPS", 100)
    with pytest.raises(
        weigh.errors.Unsupported, match="holds more than 100 steps after 101 steps, in pass 26"
    ):
        weigh.trace(weigh.Perceptron(max_iter=None), XOR, "odd")


def test_a_batch_adds_no_passes() -> None:
    X, y = separable_rows(3, 2)
    learner = weigh.Perceptron()
    for _ in range(30):
        learner.partial_fit(X, y)
    assert learner.certificate_.added_passes == 0


def test_a_warm_start_continues_after_the_added_passes() -> None:
    settings: dict[str, Any] = {"shuffle": False, "columns": weigh.Products(2), "warm_start": True}
    learner = weigh.Perceptron(**settings).fit(XOR, "odd")
    weights = learner.coef_ * 4 * (11 + 5)
    learner.fit(XOR, "odd")
    last = weigh.Perceptron("last", **settings).fit(XOR, "odd").coef_
    np.testing.assert_allclose(learner.coef_ * 4 * (12 + 5), weights + 4 * last)
    assert (learner.n_iter_, learner.certificate_.examples, learner.certificate_.added_passes) == (12, 48, 5)


def test_a_file_that_is_read_again_gives_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "xor.csv"
    path.write_text("x,y,odd\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n")
    settings: dict[str, Any] = {"shuffle": False, "columns": weigh.Products(2)}
    in_memory = weigh.Perceptron(**settings).fit(weigh.open(path, label="odd"))
    monkeypatch.setattr("weigh.learn.dataset.MAX_CACHED_BYTES", 0)
    again = weigh.Perceptron(**settings).fit(weigh.open(path, label="odd"))
    assert again.certificate_.added_passes == 5
    assert again.model_.to_bytes() == in_memory.model_.to_bytes()


def test_rows_of_weight_zero_do_not_count_as_errors() -> None:
    X, y = separable_rows(3, 2)
    noisy, labels = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    weights = np.append(np.ones(len(y)), 0.0)
    learner = weigh.Perceptron(shuffle=False).fit(noisy, labels, weights)
    assert (
        learner.model_.to_bytes()
        == weigh.Perceptron(shuffle=False).fit(X, y, np.ones(len(y))).model_.to_bytes()
    )


def test_scores_in_batches_give_the_same_number(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = separable_rows(8, 3)
    whole = weigh.Perceptron(shuffle=False, max_iter=100).fit(X, y)
    monkeypatch.setattr("weigh.learn.averaging.MAX_SCORES", 3)
    assert (
        weigh.Perceptron(shuffle=False, max_iter=100).fit(X, y).model_.to_bytes() == whole.model_.to_bytes()
    )


@pytest.mark.parametrize("keep", ["averaged", "voted"])
def test_tuning_scores_the_model_of_each_number_of_passes(keep: str) -> None:
    X, y = separable_rows(2, 2)
    X, y = np.tile(X, (4, 1)), np.tile(y, 4)
    source = rows(X, y)
    limits = [1, 5, 8, 12, 100]
    tasks = [PerceptronTask.for_source(source, keep=keep, max_iter=limit, shuffle=False) for limit in limits]
    scores = evaluate_on_holdout(tasks, source, 0.25, 0)
    held_out = is_held_out(0, len(y), 0, 0.25)
    for limit, score in zip(limits, scores, strict=True):
        model = weigh.Perceptron(keep, max_iter=limit, shuffle=False).fit(X[~held_out], y[~held_out])
        assert score.correct == (model.predict(X[held_out]) == y[held_out]).sum()
