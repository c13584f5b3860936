"""Laws of the perceptron: agreement with the definition, mistake bounds and invariances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import weigh
from tests.perceptrons import ReferencePerceptron
from weigh.learn.online_training import pass_order

law = settings(max_examples=40, derandomize=True, deadline=None, database=None)
seeds = st.integers(0, 2**32 - 1)
HYPOTHESES = ("last", "averaged", "lazy", "voted")


def random_integer_rows(rng: np.random.Generator, classes: int) -> tuple[Any, Any]:
    """Return rows of small integers, which cause no rounding, and labels of all classes."""
    n, width = int(rng.integers(classes, 25)), int(rng.integers(1, 6))
    X = rng.integers(-3, 4, (n, width)) * 1.0
    return X, rng.permutation(np.arange(n) % classes)


def reference_run(X: Any, codes: Any, learner: weigh.Perceptron, weights: Any = None) -> ReferencePerceptron:
    """Return the same run by the reference implementation."""
    classes = int(codes.max()) + 1
    separate = learner.multiclass != "joint" and classes > 2
    reference = ReferencePerceptron(1 if classes == 2 else classes, X.shape[1], separate=separate)
    reference.rate, reference.margin, reference.relative = learner.rate, learner.margin, learner.relative
    reference.bias = learner.bias
    n, passes = len(X), learner.max_iter
    orders = [pass_order(n, learner.random_state, k) for k in range(passes)] if learner.shuffle else None
    return reference.fit(X, codes, passes, weights, orders)


def assert_same(learner: weigh.Perceptron, reference: ReferencePerceptron, X: Any) -> None:
    """Assert that weights or votes and the certificate equal those of the reference."""
    certificate = learner.certificate_
    assert (certificate.mistakes, certificate.updates) == (reference.mistakes, len(reference.updates))
    assert (certificate.passes, certificate.converged) == (reference.passes, reference.converged)
    assert certificate.examples == reference.examples
    if learner.keep in ("averaged", "voted") or learner.record:
        assert certificate.added_passes == reference.added_passes
    if learner.keep == "voted":
        votes = reference.votes(X)
        scores = learner.decision_function(X)
        np.testing.assert_array_equal(scores, votes[:, 0] if reference.columns == 1 else votes)
        np.testing.assert_array_equal(learner.predict(X), reference.predict(X, "voted"))
    else:
        W = reference.weights(learner.keep)
        np.testing.assert_allclose(learner.coef_, W[:, 1:], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(learner.intercept_, W[:, 0], rtol=1e-12, atol=1e-12)


def without_settings(learner: weigh.Perceptron) -> bytes:
    """Return the model without the settings of its training, which name the class weights."""
    return replace(learner.model_, online=None).to_bytes()


@settings(law, max_examples=150)
@given(
    seed=seeds,
    keep=st.sampled_from(HYPOTHESES),
    record=st.booleans(),
    classes=st.integers(2, 5),
    multiclass=st.sampled_from(["joint", "one-vs-rest"]),
    margin=st.sampled_from([(0.0, False), (3.0, False), (0.5, True)]),
    shuffle=st.booleans(),
    bias=st.booleans(),
)
def test_a_run_equals_the_definition(
    seed: int, keep: str, record: bool, classes: int, multiclass: str, margin: Any, shuffle: bool, bias: bool
) -> None:
    X, y = random_integer_rows(np.random.default_rng(seed), classes)
    learner = weigh.Perceptron(
        keep,
        record,
        *margin,
        rate=0.5,
        max_iter=3,
        shuffle=shuffle,
        random_state=seed,
        multiclass=multiclass,
        bias=bias,
    )
    assert_same(learner.fit(X, y), reference_run(X, y, learner), X)


@law
@given(seed=seeds, keep=st.sampled_from(HYPOTHESES), classes=st.integers(2, 4))
def test_a_weight_scales_the_update_and_zero_weight_rows_are_ignored(
    seed: int, keep: str, classes: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = random_integer_rows(rng, classes)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], len(y))
    kept = weights > 0
    assume(len(set(y[kept])) == classes)
    learner = weigh.Perceptron(keep, max_iter=3, shuffle=False).fit(X, y, weights)
    assert_same(learner, reference_run(X[kept], y[kept], learner, weights[kept]), X)
    without = weigh.Perceptron(keep, max_iter=3, shuffle=False).fit(X[kept], y[kept], weights[kept])
    assert learner.model_.to_bytes() == without.model_.to_bytes()


@law
@given(seed=seeds, keep=st.sampled_from(HYPOTHESES), classes=st.integers(2, 4))
def test_class_weights_multiply_the_weights_of_their_rows(seed: int, keep: str, classes: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = random_integer_rows(rng, classes)
    class_weights = dict(enumerate(rng.choice([0.25, 0.5, 2.0, 3.0], classes).tolist()))
    row_weights = rng.choice([0.5, 1.0, 2.0], len(y))
    by_row = row_weights * np.array([class_weights[label] for label in y.tolist()])
    learner = weigh.Perceptron(keep, max_iter=3, class_weight=class_weights).fit(X, y, row_weights)
    same = weigh.Perceptron(keep, max_iter=3).fit(X, y, by_row)
    assert without_settings(learner) == without_settings(same)


def test_balanced_class_weights_are_inverse_to_class_frequencies() -> None:
    X, y = random_integer_rows(np.random.default_rng(5), 3)
    X, y = np.vstack([X, X[y == 0]]), np.concatenate([y, y[y == 0]])
    counts = np.bincount(y)
    class_weights = dict(enumerate((len(y) / (3 * counts)).tolist()))
    balanced = weigh.Perceptron(class_weight="balanced").fit(X, y)
    given = weigh.Perceptron(class_weight=class_weights).fit(X, y)
    assert without_settings(balanced) == without_settings(given)
    assert without_settings(balanced) != without_settings(weigh.Perceptron().fit(X, y))


@law
@given(
    seed=seeds,
    first=st.sampled_from(HYPOTHESES),
    classes=st.integers(2, 4),
    multiclass=st.sampled_from(["joint", "one-vs-rest"]),
)
def test_one_recorded_run_has_all_four_hypotheses(
    seed: int, first: str, classes: int, multiclass: str
) -> None:
    X, y = random_integer_rows(np.random.default_rng(seed), classes)
    settings = {"max_iter": 3, "multiclass": multiclass}
    recorded = weigh.Perceptron(first, record=True, **settings).fit(X, y).model_
    for keep in HYPOTHESES:
        alone = weigh.Perceptron(keep, record=True, **settings).fit(X, y).model_
        assert recorded.keep(keep).to_bytes() == alone.to_bytes()
        unrecorded = weigh.Perceptron(keep, **settings).fit(X, y).model_
        np.testing.assert_allclose(
            recorded.keep(keep).scores(X), unrecorded.scores(X), rtol=1e-12, atol=1e-12
        )


@law
@given(seed=seeds, keep=st.sampled_from(HYPOTHESES), classes=st.integers(2, 4), power=st.integers(-3, 3))
def test_the_rate_does_not_change_predictions_without_a_margin(
    seed: int, keep: str, classes: int, power: int
) -> None:
    X, y = random_integer_rows(np.random.default_rng(seed), classes)
    one = weigh.Perceptron(keep, max_iter=4).fit(X, y)
    other = weigh.Perceptron(keep, rate=2.0**power, max_iter=4).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.mistakes_ == other.mistakes_
    if keep != "voted":
        np.testing.assert_array_equal(one.coef_ * 2.0**power, other.coef_)


@law
@given(seed=seeds, keep=st.sampled_from(HYPOTHESES), classes=st.integers(2, 4))
def test_label_names_do_not_change_predictions(seed: int, keep: str, classes: int) -> None:
    X, y = random_integer_rows(np.random.default_rng(seed), classes)
    names = np.array(["ant", "bee", "cow", "dog"])
    numbered = weigh.Perceptron(keep, max_iter=4).fit(X, y)
    named = weigh.Perceptron(keep, max_iter=4).fit(X, names[y])
    np.testing.assert_array_equal(named.predict(X), names[numbered.predict(X)])
    np.testing.assert_array_equal(named.decision_function(X), numbered.decision_function(X))


def random_separable_rows(rng: np.random.Generator, classes: int) -> tuple[Any, Any, float, float]:
    """Return separable rows and labels with the squared radius and the squared margin of known planes."""
    W = rng.integers(-3, 4, (classes, 4)) * 1.0
    X = rng.integers(-4, 5, (60, 3)) * 1.0
    scores = np.column_stack([np.ones(60), X]) @ W.T
    best = np.sort(scores, axis=1)
    lead = best[:, -1] - best[:, -2]
    assume(lead.max() > 0)
    kept = lead >= min(2.0, lead.max())
    radius2 = 1 + (X[kept] ** 2).sum(axis=1).max()
    return X[kept], scores[kept].argmax(axis=1), radius2, lead[kept].min() ** 2 / (W**2).sum()


@law
@given(seed=seeds, keep=st.sampled_from(HYPOTHESES), rate=st.sampled_from([1.0, 0.1]))
def test_mistakes_are_within_the_bound_and_the_run_converges(seed: int, keep: str, rate: float) -> None:
    rng = np.random.default_rng(seed)
    w, X = rng.integers(-3, 4, 4) * 1.0, rng.integers(-4, 5, (60, 3)) * 1.0
    scores = np.column_stack([np.ones(60), X]) @ w
    kept = np.abs(scores) >= 1
    X, y, scores = X[kept], scores[kept] > 0, scores[kept]
    assume(len(set(y.tolist())) == 2)
    radius2, margin2 = 1 + (X**2).sum(axis=1).max(), (scores**2).min() / (w**2).sum()
    learner = weigh.Perceptron(keep, rate=rate, max_iter=int(radius2 / margin2) + 2).fit(X, y)
    assert learner.converged_
    assert learner.mistakes_ <= radius2 / margin2
    certificate = learner.certificate_
    assert certificate.radius == pytest.approx(radius2**0.5, rel=1e-15)
    # If a row lies on the plane, the margin is zero and gives no bound.
    margin = certificate.augmented_margin
    assert margin == 0 or certificate.mistakes <= (certificate.radius / margin) ** 2 * (1 + 1e-9)


@law
@given(seed=seeds)
def test_mistakes_of_several_classes_are_within_twice_the_bound(seed: int) -> None:
    X, y, radius2, margin2 = random_separable_rows(np.random.default_rng(seed), 4)
    assume(len(set(y.tolist())) >= 3)
    bound = 2 * radius2 / margin2
    learner = weigh.Perceptron(max_iter=int(bound) + 2).fit(X, y)
    assert learner.converged_
    assert learner.mistakes_ <= bound


@law
@given(seed=seeds, keep=st.sampled_from(HYPOTHESES), classes=st.integers(2, 4))
def test_contributions_sum_to_the_score_and_the_verdict_has_the_highest_score(
    seed: int, keep: str, classes: int
) -> None:
    X, y = random_integer_rows(np.random.default_rng(seed), classes)
    learner = weigh.Perceptron(keep, max_iter=4).fit(X, y)
    predicted, scores = learner.predict(X), learner.model_.scores(X)
    # Ties go to the second of two classes, and to the first of several.
    tie_index = -1 if classes == 2 else 0
    assert predicted.tolist() == [int(np.flatnonzero(row == row.max())[tie_index]) for row in scores]
    leads = np.diff(np.sort(scores, axis=1)[:, -2:], axis=1)[:, 0]
    explained = learner.explain(X)
    assert [evidence.verdict for evidence in explained] == predicted.tolist()
    np.testing.assert_allclose([e.total for e in explained], leads, rtol=1e-12, atol=1e-12)
    for evidence in explained:
        assert evidence.total == pytest.approx(sum(row.nats for row in evidence.table), abs=1e-12)


@pytest.mark.parametrize(
    ("seed", "classes", "rate", "weight", "unit"),
    [
        pytest.param(46, 2, 0.1, 1.0, 1.0, id="rate"),
        pytest.param(174, 2, 0.1, 1.0, 1.0, id="another rate"),
        pytest.param(46, 2, 1.0, 0.1, 1.0, id="weights"),
        pytest.param(0, 2, 1.0, 1.0, 0.1, id="values"),
        pytest.param(91, 3, 1.0, 1.0, 0.1, id="classes"),
    ],
)
def test_the_explained_verdict_equals_the_prediction_despite_rounding(
    seed: int, classes: int, rate: float, weight: float, unit: float
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (20, 4)) * unit, rng.integers(0, classes, 20)
    learner = weigh.Perceptron("last", rate=rate, max_iter=3).fit(X.round(1), y, np.full(20, weight))
    predicted = learner.predict(X.round(1)).tolist()
    assert [evidence.verdict for evidence in learner.explain(X.round(1))] == predicted


@law
@given(seed=seeds, keep=st.sampled_from(HYPOTHESES), classes=st.integers(2, 3))
def test_a_missing_number_counts_as_zero(seed: int, keep: str, classes: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = random_integer_rows(rng, classes)
    is_missing = rng.random(X.shape) < 0.3
    missing, zero = np.where(is_missing, np.nan, X), np.where(is_missing, 0.0, X)
    one, other = (weigh.Perceptron(keep, max_iter=4).fit(data, y) for data in (missing, zero))
    assert one.model_.to_bytes() == other.model_.to_bytes()
    np.testing.assert_array_equal(one.decision_function(missing), one.decision_function(zero))


LEVELS = ["red", "blue", "green"]


@law
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([*LEVELS, None]), st.sampled_from("abc")), min_size=3, max_size=20
    ),
    keep=st.sampled_from(HYPOTHESES),
)
def test_a_category_is_one_flag_per_level_and_missing_sets_none(rows: Any, keep: str) -> None:
    colours, y = [colour for colour, _ in rows], [label for _, label in rows]
    assume(len(set(y)) >= 2)
    kinds = {"colour": weigh.Category(levels=tuple(LEVELS))}
    learner = weigh.Perceptron(keep, max_iter=4, columns=kinds).fit({"colour": colours}, y)
    flags = np.array([[float(colour == level) for level in LEVELS] for colour in colours])
    reference = weigh.Perceptron(keep, max_iter=4).fit(flags, y)
    new_rows = {"colour": [*LEVELS, None, "never seen"]}
    np.testing.assert_array_equal(
        learner.decision_function(new_rows),
        reference.decision_function(np.vstack([np.eye(3), np.zeros((2, 3))])),
    )
