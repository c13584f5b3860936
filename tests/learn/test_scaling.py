"""Which numbers `scale="auto"` standardises, and the warnings about scales."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import weigh
from weigh import errors
from weigh.learn.linear.matrix import DenseMatrix, SparseMatrix, binary_features
from weigh.source.sparse_rows import SparseRows

rng = np.random.default_rng(0)
N = 80
SIZE = rng.normal(50.0, 200.0, N)
SHARE = rng.normal(0.5, 0.02, N)
OLD = rng.integers(0, 2, N).astype(float)
COLOUR = rng.choice(["red", "green", "blue"], N)
SCORE = SIZE / 200 + 60 * (SHARE - 0.5) + OLD + rng.normal(0, 1, N)
LATE = np.where(SCORE > 0.5, "yes", "no")
TABLE = {"size": SIZE, "share": SHARE, "old": OLD, "colour": COLOUR}
CLASSES = TABLE | {"late": LATE}
PRICES = TABLE | {"price": 3 * SCORE + rng.normal(0, 0.5, N)}


def columns_by_hand(*, standardised: bool) -> Any:
    """Return the features: numbers, 0/1 and one indicator per colour in the order of the model."""
    numbers = np.column_stack([SIZE, SHARE])
    if standardised:
        numbers = StandardScaler().fit_transform(numbers)
    colours = np.column_stack([level == COLOUR for level in ("blue", "green", "red")]).astype(float)
    return np.column_stack([numbers, OLD, colours])


SPREADS = np.array([SIZE.std(), SHARE.std(), 1, 1, 1, 1])


def test_a_number_as_prior_is_c_of_standard_scaler_and_logistic_regression() -> None:
    model = weigh.LogisticRegression(0.5, tol=1e-10).fit(CLASSES, "late")
    peer = LogisticRegression(C=0.25, tol=1e-10, max_iter=10_000)
    peer.fit(columns_by_hand(standardised=True), LATE)
    assert model.model_.features == ["size", "share", "old", "colour=blue", "colour=green", "colour=red"]
    np.testing.assert_allclose(model.coef_[0] * SPREADS, peer.coef_[0], atol=1e-5)
    assert "on standardised numbers" in str(model.summary())
    assert "LogisticRegression(C=0.25)" in str(model.summary())


def test_a_chosen_scale_is_a_penalty_of_standardised_numbers() -> None:
    model = weigh.LinearRegression(weigh.Normal("cv")).fit(PRICES, "price")
    l1, l2 = model.model_.fit.units
    peer = Ridge(alpha=l2).fit(columns_by_hand(standardised=True), PRICES["price"])
    assert l1 == 0
    np.testing.assert_allclose(model.coef_ * SPREADS, peer.coef_, rtol=1e-6)
    assert model.model_.fit.scaling == "auto"


@pytest.mark.parametrize("prior", [weigh.Normal(1), weigh.Laplace(1), weigh.Penalty(l1=1, l2=1)])
@pytest.mark.parametrize("learner", [weigh.LogisticRegression, weigh.LinearRegression])
@pytest.mark.filterwarnings("ignore::weigh.errors.UnlikeScales")
def test_stated_numbers_of_a_prior_are_in_the_units_of_the_user(learner: Any, prior: Any) -> None:
    table, label = (CLASSES, "late") if learner is weigh.LogisticRegression else (PRICES, "price")
    stated = learner(prior).fit(table, label)
    expected = learner(prior, scale=None).fit(table, label)
    assert stated.coef_.tolist() == expected.coef_.tolist()
    assert stated.model_.fit.scaling is None


@pytest.mark.parametrize(
    ("prior", "is_scaled"),
    [({"size": 0.5}, True), ({"size": weigh.Normal(0.5)}, False), ({"size": 0.5, "share": None}, True)],
)
@pytest.mark.filterwarnings("ignore::weigh.errors.UnlikeScales")
def test_a_mapping_is_scaled_unless_a_column_has_stated_numbers(prior: Any, is_scaled: bool) -> None:
    model = weigh.LogisticRegression(prior).fit(CLASSES, "late").model_
    assert (model.fit.scaling == "auto") is is_scaled


def test_without_a_prior_nothing_is_rescaled() -> None:
    model = weigh.LinearRegression().fit(PRICES, "price")
    assert model.model_.fit.scaling is None
    assert model.coef_.tolist() == weigh.LinearRegression(scale=None).fit(PRICES, "price").coef_.tolist()


@pytest.mark.parametrize(
    "learner",
    [weigh.Perceptron(), weigh.LogisticRegression(method="online"), weigh.LogisticRegression()],
    ids=["perceptron", "online", "exact"],
)
def test_columns_of_0_and_1_flags_and_levels_are_not_rescaled(learner: Any) -> None:
    learner.fit(CLASSES, "late")
    by_hand = {"size": (SIZE - SIZE.mean()) / SIZE.std(), "share": (SHARE - SHARE.mean()) / SHARE.std()}
    expected = type(learner)(**(learner.get_params() | {"scale": None})).fit(CLASSES | by_hand, "late")
    np.testing.assert_allclose(learner.coef_[0] * SPREADS, expected.coef_[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("learner", [weigh.Perceptron, weigh.LogisticRegression, weigh.LinearRegression])
@pytest.mark.filterwarnings("ignore::weigh.errors.UnlikeScales")
def test_bare_arrays_are_not_rescaled_and_equal_the_table_with_scale_none(learner: Any) -> None:
    X = np.column_stack([SIZE, SHARE])
    y = PRICES["price"] if learner is weigh.LinearRegression else LATE
    settings: Any = {} if learner is weigh.Perceptron else {"prior": 1.0}
    bare = learner(**settings).fit(X, y)
    named = learner(**settings, scale=None).fit(pd.DataFrame(X, columns=["size", "share"]), y)
    np.testing.assert_allclose(bare.coef_, named.coef_, rtol=1e-9)
    assert not np.allclose(bare.coef_, learner(**settings).fit(pd.DataFrame(X, columns=["a", "b"]), y).coef_)


@pytest.mark.parametrize("learner", [weigh.Perceptron(), weigh.LogisticRegression(), "online", "cv"])
def test_all_storages_of_a_named_table_agree(learner: Any, tmp_path: Any) -> None:
    label, table = ("price", PRICES) if learner == "cv" else ("late", CLASSES)
    learner = {"online": weigh.LogisticRegression(method="online"),
               "cv": weigh.LinearRegression(weigh.Normal("cv"))}.get(learner, learner) \
        if isinstance(learner, str) else learner  # fmt: skip
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "rows.csv", index=False, float_format="%.17g")
    expected = learner.fit(frame, label).coef_
    storages = (table, frame.to_dict("records"), weigh.open(str(tmp_path / "rows.csv"), label=label))
    for rows in storages:
        found = learner.fit(rows) if rows is storages[-1] else learner.fit(rows, label)
        np.testing.assert_allclose(found.coef_, expected, rtol=1e-9, atol=1e-12)


def test_derived_lagged_and_dated_numbers_and_products_are_standardised() -> None:
    days = pd.date_range("2024-01-01", periods=N).astype(str)
    columns = {
        "double": weigh.Derived(lambda rows: 2000 * rows["share"]),
        "before": weigh.Lag("size"),
        "colour": "skip",
    }
    table = CLASSES | {"day": days}
    p = weigh.Perceptron(columns=columns).fit(table, "late")
    scaled = {term.name for term in p.model_.terms if type(term).__name__ == "ScaledWeights"}
    assert scaled == {"size", "share", "old", "day: days since 1970", "double", "before"}
    old = next(term for term in p.model_.terms if getattr(term, "name", "") == "old")
    assert (old.centre, old.unit) == (0.0, 1.0)
    numbers = {name: CLASSES[name] for name in ("size", "share", "late")}
    products = weigh.LogisticRegression(columns=weigh.Products(2), tol=1e-10).fit(numbers, "late")
    square = np.column_stack([SIZE, SHARE, SIZE**2, SIZE * SHARE, SHARE**2])
    peer = LogisticRegression(C=1, tol=1e-10, max_iter=10_000).fit(
        StandardScaler().fit_transform(square), LATE
    )
    np.testing.assert_allclose(products.coef_[0] * square.std(axis=0), peer.coef_[0], atol=1e-4)


def test_the_first_batch_sets_the_scale_of_all_and_a_warning_says_so() -> None:
    first, later = ({name: values[part] for name, values in CLASSES.items()}
                    for part in (slice(0, 30), slice(30, N)))  # fmt: skip
    with pytest.warns(errors.FrozenScales) as caught:
        learner = weigh.Perceptron().partial_fit(first, "late")
    assert [str(each.message) for each in caught] == [
        "Numbers are standardised with the means and standard deviations of the first batch; later batches "
        "do not change them. Begin with a batch that is typical of all rows, or give scale=None."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.partial_fit(later, "late")
    size = learner.model_.terms[0]
    assert (size.centre, size.unit) == (pytest.approx(SIZE[:30].mean()), pytest.approx(SIZE[:30].std()))
    found = weigh.verify(learner, CLASSES, "late")
    assert found.ok, str(found)


@pytest.mark.parametrize(
    ("learner", "effect"),
    [
        (weigh.Perceptron(), "the perceptron learns mostly from the former"),
        (
            weigh.LogisticRegression(),
            "the prior restricts the weight of the former hardly, and that of the latter strongly",
        ),
    ],
)
def test_bare_arrays_of_unlike_scales_cause_a_warning(learner: Any, effect: str) -> None:
    with pytest.warns(errors.UnlikeScales) as caught:
        learner.fit(np.column_stack([SIZE, SHARE]), LATE)
    ratio = SIZE.std() / SHARE.std()
    assert str(caught[0].message) == (
        f"The values of column 'x0' spread {ratio:,.3g} times as widely as those of column 'x1' (standard "
        f"deviations {SIZE.std():,.4g} and {SHARE.std():,.4g}), so {effect}. Try scale='unit'."
    )


def test_a_stated_prior_on_unlike_scales_causes_a_warning() -> None:
    with pytest.warns(
        errors.UnlikeScales, match="'size' spread .* times as widely as those of column 'share'"
    ):
        weigh.LinearRegression(weigh.Normal(1)).fit(PRICES, "price")


@pytest.mark.parametrize(
    ("learner", "table"),
    [
        (weigh.Perceptron(), CLASSES),
        (weigh.Perceptron(scale=None), CLASSES),
        (weigh.LogisticRegression(None), CLASSES),
        (
            weigh.LogisticRegression(weigh.Normal(1)),
            {name: CLASSES[name] for name in ("share", "colour", "late")},
        ),
    ],
)
def test_no_warning_where_scaling_was_decided_or_changes_nothing(learner: Any, table: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.fit(table, "late")


def test_binary_features_are_found_in_dense_and_sparse_matrices() -> None:
    X = np.zeros((300, 4))
    X[::2, 0], X[::3, 1], X[299, 2], X[:, 3] = 1.0, 1.0, 0.5, 2.0
    X[299, 1] = -1.0
    assert binary_features(DenseMatrix(X)).tolist() == [True, False, False, False]
    assert binary_features(SparseMatrix(SparseRows.from_dense(X != 0, X))).tolist() == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "learner",
    [
        weigh.Perceptron(keep="last", max_iter=200),
        weigh.LogisticRegression(),
        weigh.LogisticRegression(method="online"),
        weigh.LinearRegression(weigh.Laplace("cv")),
        weigh.LinearRegression(weigh.Normal("evidence")),
    ],
    ids=["perceptron", "exact", "online", "lasso", "evidence"],
)
def test_a_saved_model_verifies_and_predicts_as_the_learner(learner: Any, tmp_path: Any) -> None:
    table, label = (PRICES, "price") if isinstance(learner, weigh.LinearRegression) else (CLASSES, "late")
    learner.fit(table, label).model_.save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert loaded.predict(table).tolist() == learner.predict(table).tolist()
    found = weigh.verify(loaded, table)
    assert found.ok, str(found)
    changed = table | {"share": np.where(np.arange(N) == 5, 1.0, SHARE)}
    assert learner.get_params().get("method") == "online" or not weigh.verify(loaded, changed).ok


def test_the_trained_coordinates_are_stated_in_certificate_and_explanations_are_not_rescaled() -> None:
    learner = weigh.Perceptron().fit(CLASSES, "late")
    assert learner.certificate_.standardised
    assert str(learner.certificate_).endswith("Numbers were standardised during learning.")
    assert not weigh.Perceptron(scale=None).fit(CLASSES, "late").certificate_.standardised
    row = {name: values[0] for name, values in TABLE.items()}
    evidence = learner.explain(row)[0]
    assert [line.value for line in evidence.table if line.feature == "size"] == [f"{SIZE[0]:.6g}"]
    score = float(learner.coef_[0][:2] @ [SIZE[0], SHARE[0]])
    features = dict(zip(learner.model_.features, learner.coef_[0], strict=True))
    score += features["old"] * OLD[0] + features[f"colour={COLOUR[0]}"] + learner.intercept_[0]
    assert score == pytest.approx(learner.decision_function(row)[0])


def test_a_missing_number_of_a_standardised_column_counts_as_its_mean() -> None:
    learner = weigh.Perceptron().fit(CLASSES, "late")
    row = {name: values[0] for name, values in TABLE.items()}
    missing, mean = row | {"size": None}, row | {"size": SIZE.mean()}
    assert learner.decision_function(missing) == pytest.approx(learner.decision_function(mean))


def test_perceptrons_keep_the_numbers_of_fewer_than_ten_rows() -> None:
    for n, is_standardised in ((9, False), (10, True)):
        rows = {"size": SIZE[:n], "late": np.arange(n) % 2}
        assert weigh.Perceptron().fit(rows, "late").certificate_.standardised is is_standardised
        assert weigh.Perceptron(scale="unit").fit(rows, "late").certificate_.standardised


def test_a_table_too_small_to_standardise_has_numbers_that_can_be_squared() -> None:
    with pytest.raises(errors.DataError, match="squares of numbers above"):
        weigh.Perceptron().fit({"x": [1.0, 1e200, 2.0], "y": [0, 1, 0]}, "y")


@pytest.mark.filterwarnings("ignore::weigh.errors.UnlikeScales")
def test_a_frame_whose_columns_are_only_numbered_equals_its_array() -> None:
    X = np.column_stack([SIZE, SHARE])
    for learner in (weigh.Perceptron(), weigh.LogisticRegression()):
        bare = learner.fit(X, LATE).coef_
        np.testing.assert_allclose(learner.fit(pd.DataFrame(X), LATE).coef_, bare, rtol=1e-9)
