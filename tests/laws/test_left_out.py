"""Leave-one-out scores equal those after forgetting the row, for all columns and priors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from tests.laws.tables import EXTREME, KINDS, LABEL, MODERATE, Row, fit_model, law, some_rows, table
from weigh import errors
from weigh.source import rows as rows_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns"),
    pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable"),
]
few_examples = settings(law, max_examples=5)
JOINT = ("colour", "grade", "known", "height")

PRIORS: dict[str, Any] = {
    "plus one": 1.0,
    "none": None,
    "a tenth": 0.1,
    "Dirichlet": weigh.Dirichlet(1.5),
    "below one": weigh.Dirichlet(0.5),
    "no binary fraction below one": weigh.Dirichlet(0.3),
    "by column": {
        "colour": weigh.Dirichlet({"red": 3, "violet": 2}),
        "known": weigh.Beta(2, 3),
        "links": weigh.Dirichlet(3),
        "body": 0.5,
    },
}
CLASS_PRIORS: dict[str, Any] = {
    "frequencies": None,
    "uniform": "uniform",
    "smoothed": 2.0,
    "Dirichlet": weigh.Dirichlet(1.25),
    "stated": {"ham": 0.25, "spam": 0.5, "unsure": 0.25},
}
WORDS: dict[str, Any] = {
    "few words": weigh.Text(max_words=2),
    "few frequent words": weigh.Text(max_words=3, min_count=2),
    "few flags": weigh.Text(counts=False, max_words=2),
    "few frequent flags": weigh.Text(counts=False, max_words=3, min_count=2),
    "flags": weigh.Text(counts=False),
    "frequent": weigh.Text(min_count=3),
    "buckets": weigh.Text(buckets=4),
    "flags in buckets": weigh.Text(counts=False, buckets=4),
    "pairs": weigh.Text(ngrams=(1, 2)),
    "norms of logs": weigh.Text(weighting="log", norm="l2"),
    "shares": weigh.Text(norm="l1"),
    "logs in buckets": weigh.Text(weighting="log", buckets=4),
}


def scores_by_forgetting(model: Any, rows: list[Row], weights: list[float] | None = None) -> np.ndarray:
    """Return leave-one-out scores computed by forgetting one row at a time."""
    scores = np.full((len(rows), len(model.classes)), -np.inf)
    for i, row in enumerate(rows):
        # A row of zero weight was never counted, and a source with only such rows is refused.
        counted = weights is None or weights[i]
        source = rows_of(table([row]), LABEL, weights[i : i + 1] if weights and counted else None)
        reduced = model.forget(source) if counted else model
        if reduced.classes:
            indices = [model.classes.index(label) for label in reduced.classes]
            scores[i, indices] = reduced.score_rows(reduced.encode(next(reduced.chunks(table([row])))))[0]
    return scores


def assert_same(scores: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(np.isneginf(scores), np.isneginf(expected))
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


def check_left_out_scores(rows: list[Row], **settings: Any) -> None:
    model = fit_model(rows, **settings)
    assert_same(model.left_out_scores(table(rows)), scores_by_forgetting(model, rows))


@pytest.mark.parametrize("prior", PRIORS)
@few_examples
@given(some_rows(2, 10, MODERATE))
def test_leaving_out_equals_forgetting_under_every_prior(prior: str, rows: list[Row]) -> None:
    check_left_out_scores(rows, prior=PRIORS[prior])


@pytest.mark.parametrize("prior", CLASS_PRIORS)
@few_examples
@given(some_rows(2, 8, MODERATE))
def test_leaving_out_equals_forgetting_under_every_class_prior(prior: str, rows: list[Row]) -> None:
    check_left_out_scores(rows, class_prior=CLASS_PRIORS[prior])


@pytest.mark.parametrize("prior", [1.0, None])
@pytest.mark.parametrize("words", WORDS)
@few_examples
@given(some_rows(2, 14))
def test_the_vocabulary_is_that_of_the_model_without_the_row(
    words: str, prior: float | None, rows: list[Row]
) -> None:
    columns = dict.fromkeys(KINDS, "skip") | {"body": WORDS[words], "title": weigh.Text(max_words=2)}
    check_left_out_scores(rows, columns=columns, prior=prior)


@pytest.mark.parametrize("spread", ["own", "shared", 2.0])
@pytest.mark.parametrize("floor", [0.01, 0.0])
@few_examples
@given(some_rows(2, 8, EXTREME))
def test_numbers_of_any_size_are_subtracted_from_the_sums(spread: Any, floor: float, rows: list[Row]) -> None:
    number = weigh.Number(spread=spread, floor=floor)
    model = fit_model(rows, columns=dict.fromkeys(KINDS, "skip") | {"size": number, "age": number})
    assert_same(model.left_out_scores(table(rows)), scores_by_forgetting(model, rows))


@few_examples
@given(some_rows(2, 10), st.sampled_from([1.0, 0.5, weigh.Dirichlet(2)]))
def test_complement_models_leave_out_the_row_from_the_other_classes(rows: list[Row], prior: Any) -> None:
    columns = dict.fromkeys(KINDS, "skip") | {"links": "count", "bangs": "count", "body": "text"}
    check_left_out_scores(rows, columns=columns, prior=prior, complement=True)


@few_examples
@given(st.data(), some_rows(2, 10, MODERATE), st.sampled_from([1.0, 0.1]))
def test_a_weighted_row_is_left_out_with_its_weight(
    data: st.DataObject, rows: list[Row], prior: float
) -> None:
    amounts = st.sampled_from([0.0, 0.5, 1.0, 2.0, 0.3, 7.1])
    weights = data.draw(st.lists(amounts, min_size=len(rows), max_size=len(rows)))
    weights[0] = 1.0
    learner = weigh.NaiveBayes(columns=KINDS, prior=prior)
    model = learner.fit(table(rows), LABEL, sample_weight=weights).model_
    scores = model.left_out_scores(rows_of(table(rows), LABEL, weights))
    assert_same(scores, scores_by_forgetting(model, rows, weights))


@pytest.mark.parametrize("columns", ["own", "shared", "bins", "flag", "count", "text", "binary text"])
@pytest.mark.parametrize("prior", [1.0, None])
def test_leaving_out_equals_refitting_on_larger_tables(columns: str, prior: float | None) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120).tolist()
    words = np.array(["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1"])
    kinds: dict[str, Any] = {
        "own": weigh.Number(spread="own"),
        "shared": weigh.Number(spread="shared"),
        "bins": weigh.Number(bins=(-1.0, 0.0, 1.0)),
        "text": weigh.Text(min_count=2),
        "binary text": weigh.Text(counts=False, min_count=2),
    }
    # The last class varies so little that the floor of the spread applies.
    X: dict[str, Any] = {"x": (rng.standard_t(2, 120) * np.array([1.0, 2.0, 1e-4])[y]).tolist()}
    if columns in ("flag", "count"):
        X = {name: rng.poisson(0.5 + j, 120).tolist() for j, name in enumerate("uvw")}
    elif "text" in columns:
        texts = [" ".join(rng.choice(words, 5, p=np.arange(1, 9) / 36)) for _ in range(118)]
        X = {"x": [*texts, "zz1 a1", "zz1 b1 b1"]}
    learner = weigh.NaiveBayes(columns=dict.fromkeys(X, kinds.get(columns, columns)), prior=prior)
    model = learner.fit(X, y).model_
    expected = np.full((120, 3), -np.inf)
    for i in range(120):
        others = {name: values[:i] + values[i + 1 :] for name, values in X.items()}
        without = learner.fit(others, y[:i] + y[i + 1 :]).model_
        row = {name: values[i : i + 1] for name, values in X.items()}
        expected[i] = without.score_rows(without.encode(next(without.chunks(row))))[0]
    assert_same(model.left_out_scores(X, y), expected)


@few_examples
@given(some_rows(2, 10, MODERATE))
def test_levels_and_bins_are_bitwise_equal(rows: list[Row]) -> None:
    columns = {name: kind if name in (*JOINT[:2], "height") else "skip" for name, kind in KINDS.items()}
    model = fit_model(rows, columns=columns)
    np.testing.assert_array_equal(model.left_out_scores(table(rows)), scores_by_forgetting(model, rows))


@pytest.mark.parametrize("prior", [1.0, 0.3, None, weigh.Dirichlet(1.5), weigh.Dirichlet(0.5)])
@pytest.mark.parametrize("class_prior", [None, "uniform", 2.0])
@few_examples
@given(some_rows(2, 12, MODERATE))
def test_leaving_out_equals_forgetting_in_joint_models(prior: Any, class_prior: Any, rows: list[Row]) -> None:
    columns = {name: kind if name in JOINT else "skip" for name, kind in KINDS.items()}
    learner = weigh.JointBayes(columns=columns, prior=prior, class_prior=class_prior)
    model = learner.fit(table(rows), LABEL).model_
    assert_same(model.left_out_scores(table(rows)), scores_by_forgetting(model, rows))


@pytest.mark.parametrize("prior", [1.0, None])
@few_examples
@given(st.data(), some_rows(2, 10, MODERATE))
def test_a_weighted_row_is_left_out_of_a_joint_model_with_its_weight(
    prior: float | None, data: st.DataObject, rows: list[Row]
) -> None:
    amounts = st.sampled_from([0.0, 0.5, 2.0, 0.3])
    weights = data.draw(st.lists(amounts, min_size=len(rows), max_size=len(rows)))
    weights[0] = 1.0
    columns = {name: kind if name in JOINT else "skip" for name, kind in KINDS.items()}
    learner = weigh.JointBayes(columns=columns, prior=prior)
    model = learner.fit(table(rows), LABEL, sample_weight=weights).model_
    scores = model.left_out_scores(rows_of(table(rows), LABEL, weights))
    assert_same(scores, scores_by_forgetting(model, rows, weights))


def test_a_class_is_removed_with_its_only_row() -> None:
    model = weigh.NaiveBayes().fit([[1.0], [2.0], [9.0]], ["a", "a", "b"]).model_
    scores = model.left_out_scores([[1.0], [2.0], [9.0]], ["a", "a", "b"])
    assert scores[2, 1] == -np.inf
    assert np.isfinite(scores[:, 0]).all()


def test_a_declared_class_remains_without_rows() -> None:
    learner = weigh.NaiveBayes().partial_fit([[1.0], [2.0], [9.0]], ["a", "a", "b"], classes=["a", "b", "c"])
    model = learner.model_.with_prior(class_prior=1.0)
    scores = model.left_out_scores([[9.0]], ["b"])
    assert_same(scores, model.forget([[9.0]], ["b"]).scores([[9.0]]))
    assert np.isfinite(scores).all()


def test_leaving_out_the_only_row_leaves_no_class() -> None:
    model = weigh.NaiveBayes().fit([[1.0]], ["a"]).model_
    assert model.left_out_scores([[1.0]], ["a"]).tolist() == [[-np.inf]]


def test_sparse_rows_are_left_out_one_by_one() -> None:
    from scipy.sparse import csr_matrix

    X = csr_matrix(np.array([[1, 0, 2], [0, 0, 3], [1, 1, 0], [0, 2, 0], [4, 0, 0]]))
    y = ["a", "b", "a", "b", "a"]
    for kind in ("count", "flag"):
        model = weigh.NaiveBayes(columns=kind).fit(X, y).model_
        expected = [model.forget(X[[i]], [y[i]]).scores(X[[i]])[0] for i in range(5)]
        assert_same(model.left_out_scores(X, y), np.array(expected))


def test_unlearned_rows_are_refused() -> None:
    model = weigh.NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).model_
    with pytest.raises(errors.MergeError, match="not all learned"):
        model.left_out_scores([[1.5]], ["a"])
    assert model.has_learned([[1.5]], ["a"]) is False


def test_has_learned_is_true_only_if_forgetting_all_rows_empties_the_model() -> None:
    X, y = {"x": [1.0, 3.0, 2.0], "c": ["u", "v", None]}, ["a", "a", "b"]
    model = weigh.NaiveBayes(columns={"c": "category"}).fit(X, y).model_
    assert model.has_learned(X, y) is True
    assert model.has_learned({"x": [1.0], "c": ["u"]}, ["a"]) is None
    # As many other rows: one with a different sum of squares, one with a value fewer.
    assert model.has_learned({**X, "x": [0.0, 4.0, 2.0]}, y) is False
    assert model.has_learned({**X, "c": ["u", None, None]}, y) is None
    twice = {name: values * 2 for name, values in X.items()}
    assert model.has_learned(twice, y * 2) is False


@few_examples
@given(some_rows(2, 10, MODERATE), st.data())
def test_has_learned_recognises_the_training_rows(rows: list[Row], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 0.3]), min_size=len(rows), max_size=len(rows)))
    model = fit_model(rows)
    assert model.has_learned(table(rows)) is True
    assert model.has_learned(table(rows[1:])) is None
    weighted = weigh.NaiveBayes(columns=KINDS).fit(table(rows), LABEL, sample_weight=weights).model_
    assert weighted.has_learned(rows_of(table(rows), LABEL, weights)) is True


def test_models_from_parameters_cannot_leave_out_rows() -> None:
    columns = {"x": {"a": (0, 1), "b": (1, 1)}}
    model = weigh.BayesModel.from_parameters(class_prior="uniform", columns=columns)
    assert not model.has_learned({"x": [0.0]}, ["a"])
    with pytest.raises(errors.MergeError, match="stated"):
        model.left_out_scores({"x": [0.0]}, ["a"])


@pytest.mark.parametrize("b", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_negative_pseudo_counts_cause_no_rounding_errors(b: float) -> None:
    texts = {"body": ["money zzz dear zzz dear", "", "money"], "kind": ["u", "v", "u"]}
    labels = ["E", "E", "A"]
    columns = {"body": "text", "kind": "category"}
    model = weigh.NaiveBayes(columns=columns, prior=weigh.Dirichlet(b)).fit(texts, labels).model_
    first = {name: values[:1] for name, values in texts.items()}
    without = model.forget(first, labels[:1])
    assert_same(model.left_out_scores(texts, labels)[:1], without.scores(first))


def test_a_calibrated_model_refers_to_its_uncalibrated_model() -> None:
    rows = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": ["a", "b", "a", "b", "b", "b"]}
    some = {name: values[1:] for name, values in rows.items()}
    calibrated = weigh.calibrate(weigh.NaiveBayes().fit(rows, "y"), some)
    with pytest.raises(errors.Unsupported, match=r"Use model\.uncalibrated\.left_out_scores\(rows\)"):
        calibrated.left_out_scores(rows)
