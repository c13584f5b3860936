"""From training data to a problem: concatenation, priors, offsets, centres, and back to a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import weigh
from weigh import errors
from weigh.learn.design_matrix import linear_schema
from weigh.learn.linear.matrix import DenseMatrix, SparseMatrix
from weigh.learn.linear.penalties import FeaturePriors
from weigh.learn.linear.problem_setup import ProblemSetup, common_value, format_prior, set_up_problem
from weigh.learn.linear.training_data import TrainingData, load_training_data
from weigh.model import Posterior
from weigh.parameters import WeightPriors
from weigh.source import rows as rows_of

TABLE: dict[str, Any] = {
    "grade": ["low", "high", "mid", "low", "high", "mid", None],
    "size": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 6.0],
    "known": [True, False, True, True, False, True, False],
    "cost": [2.0, 1.0, 0.0, 3.0, 2.0, 1.0, 5.0],
    "y": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
}


def training_data(table: Any = TABLE, label: Any = "y", is_regression: bool = True) -> TrainingData:
    source = rows_of(table, label)
    return load_training_data(linear_schema(source), source, is_regression=is_regression)


def set_up(prior: Any = None, default_prior: Any = None, **kwargs: Any) -> ProblemSetup:
    settings: dict[str, Any] = {"has_intercept": True, "scale": None, "offset": None, "owner": "Test"}
    return set_up_problem(
        training_data(), WeightPriors().check("Test", "prior", prior), default_prior, **(settings | kwargs)
    )


def test_a_matrix_is_used_without_a_copy() -> None:
    X = np.arange(12.0).reshape(6, 2)
    result = training_data(X, np.arange(6.0))
    assert isinstance(result.X, DenseMatrix)
    assert np.shares_memory(result.X.array, X)
    assert result.feature_names == ["x0", "x1"]
    assert (result.weights, result.classes, result.n_missing) == (None, [], {})


def test_mixed_columns_become_named_sparse_features() -> None:
    result = training_data()
    assert isinstance(result.X, SparseMatrix)
    assert sorted(result.feature_names) == ["cost", "grade=high", "grade=low", "grade=mid", "known", "size"]
    dense = result.X.dense_columns(np.arange(result.X.width))
    by_name = dict(zip(result.feature_names, dense.T, strict=True))
    np.testing.assert_array_equal(by_name["size"], TABLE["size"])
    np.testing.assert_array_equal(by_name["grade=low"], [1, 0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(by_name["known"], [1, 0, 1, 1, 0, 1, 0])
    columns = {name: [result.feature_names[i] for i in indices] for name, indices in result.column_features}
    assert columns == {
        "grade": ["grade=high", "grade=low", "grade=mid"],
        "size": ["size"],
        "known": ["known"],
        "cost": ["cost"],
    }


def test_targets_are_class_indices_in_sorted_order() -> None:
    result = training_data({"a": [1.0, 2.0, 3.0], "y": ["b", "c", "a"]}, "y", is_regression=False)
    assert result.classes == ["a", "b", "c"]
    assert result.y.tolist() == [1, 2, 0]


def by_name(setup: ProblemSetup, values: Any) -> dict[str, float]:
    return dict(zip(setup.priors.names(), np.asarray(values).tolist(), strict=True))


def test_every_feature_has_the_penalty_of_its_column() -> None:
    result = set_up({"grade": weigh.Normal(0.5), "size": weigh.Laplace(2), "cost": None}, weigh.Normal(1))
    l1, l2 = result.priors.penalties(sigma=2.0)
    assert by_name(result, l1) == {
        "grade=high": 0,
        "grade=low": 0,
        "grade=mid": 0,
        "size": 2.0,
        "known": 0,
        "cost": 0,
    }
    assert by_name(result, l2) == {
        "grade=high": 16.0,
        "grade=low": 16.0,
        "grade=mid": 16.0,
        "size": 0,
        "known": 4.0,
        "cost": 0,
    }
    assert result.priors.prior_to_tune is None


def test_scale_unit_scales_penalties_of_numbers_but_not_of_levels() -> None:
    result = set_up(weigh.Penalty(l1=1, l2=1), scale="unit")
    std = {name: float(np.std(TABLE[name])) for name in ("size", "cost")}
    l1, l2 = result.priors.penalties()
    assert by_name(result, l1) == {name: pytest.approx(std.get(name, 1.0)) for name in result.priors.names()}
    assert by_name(result, l2)["size"] == pytest.approx(std["size"] ** 2)


def test_unit_penalties_of_an_automatic_scale_are_one() -> None:
    for prior, which in ((weigh.Normal("cv"), 1), (weigh.Laplace("cv"), 0)):
        result = set_up(prior)
        assert result.priors.prior_to_tune is prior
        penalties = result.priors.unit_penalties()
        assert penalties[which].tolist() == [1.0] * 6
        assert not penalties[1 - which].any()


def test_an_offset_is_no_feature_and_has_weight_one() -> None:
    result = set_up(weigh.Normal(1, mean=3), offset="size")
    assert result.problem.X.width == 5
    assert "size" not in result.priors.names()
    dense = training_data().X.dense_columns(np.arange(6))
    names = training_data().feature_names
    others = [i for i, name in enumerate(names) if name != "size"]
    np.testing.assert_allclose(
        result.problem.offset, dense[:, names.index("size")] + 3 * dense[:, others].sum(axis=1)
    )
    start = dict(zip(names, result.baseline_weights.tolist(), strict=True))
    assert start == {name: 1.0 if name == "size" else 3.0 for name in names}
    learned = dict(zip(names, result.full_weights(np.full(5, 0.5)).tolist(), strict=True))
    assert learned == {name: 1.0 if name == "size" else 3.5 for name in names}
    assert sorted(result.model_indices.tolist()) == [-1, 0, 1, 2, 3, 4]


def test_selected_features_keep_their_priors() -> None:
    priors = [weigh.Normal(1), weigh.Normal(0.5)]
    result = FeaturePriors(
        [(priors[0], np.array([0, 2])), (priors[1], np.array([1, 3]))], np.arange(1.0, 5), lambda: "abcd"
    )
    selected = result.select(np.array([1, 2]))
    assert selected.names() == ["b", "c"]
    assert selected.penalties()[1].tolist() == [4 * 4.0, 9.0]
    assert result.select(np.arange(4)) is result


def test_priors_of_unknown_columns_and_automatic_scales_per_column_are_errors() -> None:
    with pytest.raises(
        errors.ColumnError, match="prior names an unknown column: the table has no column 'sise'"
    ):
        set_up({"sise": 1.0})
    with pytest.raises(
        errors.ParameterError, match="Test: scale='cv' and scale='evidence' choose one scale for all columns"
    ):
        WeightPriors().check("Test", "prior", {"size": weigh.Normal("cv")})


def test_priors_are_formatted_as_text() -> None:
    assert format_prior(None) == "None"
    assert format_prior(WeightPriors().check("Test", "prior", {"a": 2, "b": None})) == "a: Normal(2), b: None"
    assert (
        common_value(np.array([2.0, 2.0])),
        common_value(np.array([2.0, 1.0])),
        common_value(np.zeros(0)),
    ) == (
        2.0,
        None,
        0.0,
    )


def test_a_posterior_is_reordered_for_the_model() -> None:
    from weigh.learn.linear.posterior import ReindexedPosterior

    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    posterior = Posterior(np.array([1.0, 2.0]), 0.5, covariance, np.array([10.0, 20.0]), 1.0, 7.0)
    reordered = ReindexedPosterior(posterior, np.array([1, 0]), None).posterior()
    assert reordered.mean.tolist() == [2.0, 1.0]
    assert reordered.covariance.tolist() == [[9.0, 1.0], [1.0, 4.0]]
    shifted = ReindexedPosterior(posterior, np.array([1, -1, 0]), np.array([5.0, 6.0])).posterior()
    assert shifted.mean.tolist() == [8.0, 1.0, 6.0]
    assert shifted.sd.tolist() == [3.0, 0.0, 2.0]
    assert shifted.covariance[1].tolist() == [0.0, 0.0, 0.0]
    assert shifted.mean_x.tolist() == [20.0, 0.0, 10.0]
    assert shifted.intercept == 0.5


def sparse_rows(n_columns: int) -> Any:
    """Return rows of six columns that occur, spread over the width."""
    rng = np.random.default_rng(3)
    rows = sp.lil_matrix((40, n_columns))
    rows[:, np.linspace(0, n_columns - 1, 6).astype(int)] = rng.normal(size=(40, 6))
    return rows.tocsr()


def sparse_setup(n_columns: int, prior: Any = None, **kwargs: Any) -> ProblemSetup:
    settings: dict[str, Any] = {"has_intercept": True, "scale": None, "offset": None, "owner": "Test"}
    data = training_data(sparse_rows(n_columns), np.arange(40.0))
    return set_up_problem(data, WeightPriors().check("Test", "prior", prior), None, **(settings | kwargs))


def test_features_that_do_not_occur_in_a_wide_matrix_are_left_out_and_have_weight_zero() -> None:
    result = sparse_setup(6001)
    occurring = [0, 1200, 2400, 3600, 4800, 6000]
    assert result.feature_indices.tolist() == result.model_order.tolist() == occurring
    np.testing.assert_array_equal(
        result.problem.X.dense_columns(np.arange(6)), sparse_rows(6001)[:, occurring].toarray()
    )
    full = result.full_weights(np.arange(1.0, 7.0))
    assert full[occurring].tolist() == [1, 2, 3, 4, 5, 6]
    assert (len(full), full.sum()) == (6001, 21)
    assert result.reindex_posterior(Posterior(*[np.zeros(6)] * 4, 1.0, 1.0)) is None  # type: ignore[arg-type]


def test_an_offset_keeps_weight_one_where_features_are_left_out() -> None:
    result = sparse_setup(6001, offset="x1200")
    assert result.feature_indices.tolist() == [0, 2400, 3600, 4800, 6000]
    assert result.model_order.tolist() == [0, 1200, 2400, 3600, 4800, 6000]
    np.testing.assert_array_equal(result.problem.offset, sparse_rows(6001)[:, 1200].toarray()[:, 0])
    assert result.baseline_weights.sum() == result.baseline_weights[1200] == 1


def test_narrow_matrices_and_priors_with_another_mean_keep_all_features() -> None:
    assert len(sparse_setup(5000).feature_indices) == 5000
    assert len(sparse_setup(6001, weigh.Normal(1, mean=3)).feature_indices) == 6001
    assert len(sparse_setup(6001, {"x7": weigh.Normal(1, mean=3)}).feature_indices) == 6001
    assert len(sparse_setup(6001, {"x7": weigh.Normal(1)}).feature_indices) == 6


@pytest.mark.parametrize(
    "learner",
    [
        weigh.LinearRegression(weigh.Penalty(l2=2), scale="unit"),
        weigh.LinearRegression(weigh.Normal("cv")),
        weigh.LinearRegression(weigh.Penalty(l1=1), noise="laplace"),
        weigh.LogisticRegression(),
        weigh.LogisticRegression(weigh.Laplace(1.0)),
    ],
    ids=repr,
)
def test_columns_that_do_not_occur_change_no_weight(learner: Any) -> None:
    y = np.arange(40) % 2 if isinstance(learner, weigh.LogisticRegression) else np.arange(40.0)
    narrow = learner.fit(sparse_rows(6), y).coef_.ravel()
    wide = learner.fit(sparse_rows(6001), y).coef_.ravel()
    np.testing.assert_allclose(wide[::1200], narrow, rtol=1e-4, atol=1e-6)
    assert np.count_nonzero(wide) == np.count_nonzero(narrow)


def test_a_path_leaves_out_columns_that_do_not_occur() -> None:
    path = weigh.path(weigh.LinearRegression(weigh.Laplace("cv")), sparse_rows(6001), np.arange(40.0))
    assert list(path.features) == ["x0", "x1200", "x2400", "x3600", "x4800", "x6000"]


@pytest.mark.parametrize("kind", ["text", "category"])
def test_the_features_of_one_bare_column_are_named_by_their_index(kind: str) -> None:
    words = np.array([["zeta"], ["beta"], ["alpha"], ["beta"]], dtype=object)
    source = rows_of(words, [1.0, 2.0, 3.0, 2.0])
    data = load_training_data(linear_schema(source, kind), source, is_regression=True)
    rows = np.column_stack([data.X.times(unit) for unit in np.eye(3)])
    assert [data.feature_names[int(np.argmax(row))][-4:] for row in rows] == [w[-4:] for (w,) in words]
