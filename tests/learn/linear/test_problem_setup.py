"""From rows to a problem: joining, gathering, priors by feature, offsets, centres, and back to a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.learn.design_matrix import linear_schema
from weigh.learn.linear.matrix import DenseMatrix, SparseMatrix
from weigh.learn.linear.penalties import FeaturePriors, check_prior
from weigh.learn.linear.problem_setup import ProblemSetup, common_value, format_prior, set_up_problem
from weigh.learn.linear.training_data import TrainingData, concatenate_views, load_training_data
from weigh.model import Posterior
from weigh.source import rows as rows_of

TABLE: dict[str, Any] = {
    "grade": ["low", "high", "mid", "low", "high", "mid", None],
    "size": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 6.0],
    "known": [True, False, True, True, False, True, False],
    "cost": [2.0, 1.0, 0.0, 3.0, 2.0, 1.0, 5.0],
    "y": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
}


def some_rows(table: Any = TABLE, label: Any = "y", measured: bool = True) -> TrainingData:
    source = rows_of(table, label)
    return load_training_data(linear_schema(source), source, measured=measured)


def statement(prior: Any = None, rest: Any = None, **given: Any) -> ProblemSetup:
    settings: dict[str, Any] = {"bias": True, "scale": None, "offset": None, "owner": "Test"}
    return set_up_problem(some_rows(), check_prior(prior, "Test"), rest, **(settings | given))


@pytest.mark.parametrize("order", ["C", "F"])
def test_consecutive_pieces_are_joined_without_a_copy(order: Any) -> None:
    whole = np.array(np.arange(20.0).reshape(10, 2), order=order)
    found = concatenate_views([whole[:3], whole[3:4], whole[4:]])
    np.testing.assert_array_equal(found, whole)
    assert np.shares_memory(found, whole)
    assert not found.flags.writeable
    assert concatenate_views([whole]) is whole


def test_other_pieces_are_joined_by_copying() -> None:
    whole = np.arange(10.0)
    for pieces in (
        [whole[:3], whole[4:]],
        [whole[5:], whole[:5]],
        [whole[:2], whole[2:].copy()],
        [whole[:4:2], whole[4:]],
        [whole[:2], whole[2:].astype(np.float32)],
    ):
        found = concatenate_views(pieces)
        np.testing.assert_array_equal(found, np.concatenate(pieces))
        assert not np.shares_memory(found, whole)


def test_a_matrix_is_gathered_as_it_is() -> None:
    X = np.arange(12.0).reshape(6, 2)
    found = some_rows(X, np.arange(6.0))
    assert isinstance(found.X, DenseMatrix)
    assert np.shares_memory(found.X.array, X)
    assert found.feature_names == ["x0", "x1"]
    assert (found.weights, found.classes, found.n_missing) == (None, [], 0)


def test_mixed_columns_are_gathered_as_sparse_rows_with_names() -> None:
    found = some_rows()
    assert isinstance(found.X, SparseMatrix)
    assert sorted(found.feature_names) == ["cost", "grade=high", "grade=low", "grade=mid", "known", "size"]
    table = found.X.dense_columns(np.arange(found.X.width))
    by_name = dict(zip(found.feature_names, table.T, strict=True))
    np.testing.assert_array_equal(by_name["size"], TABLE["size"])
    np.testing.assert_array_equal(by_name["grade=low"], [1, 0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(by_name["known"], [1, 0, 1, 1, 0, 1, 0])
    columns = {name: [found.feature_names[at] for at in places] for name, places in found.column_features}
    assert columns == {
        "grade": ["grade=high", "grade=low", "grade=mid"],
        "size": ["size"],
        "known": ["known"],
        "cost": ["cost"],
    }


def test_classes_are_places_in_their_order() -> None:
    found = some_rows({"a": [1.0, 2.0, 3.0], "y": ["b", "c", "a"]}, "y", measured=False)
    assert found.classes == ["a", "b", "c"]
    assert found.y.tolist() == [1, 2, 0]


def by_name(found: ProblemSetup, numbers: Any) -> dict[str, float]:
    return dict(zip(found.priors.names(), np.asarray(numbers).tolist(), strict=True))


def test_every_feature_has_the_penalty_of_its_column() -> None:
    found = statement({"grade": weigh.Normal(0.5), "size": weigh.Laplace(2), "cost": None}, weigh.Normal(1))
    l1, l2 = found.priors.penalties(sigma=2.0)
    assert by_name(found, l1) == {
        "grade=high": 0,
        "grade=low": 0,
        "grade=mid": 0,
        "size": 2.0,
        "known": 0,
        "cost": 0,
    }
    assert by_name(found, l2) == {
        "grade=high": 16.0,
        "grade=low": 16.0,
        "grade=mid": 16.0,
        "size": 0,
        "known": 4.0,
        "cost": 0,
    }
    assert found.priors.prior_to_tune is None


def test_a_penalty_is_on_numbers_in_units_and_on_levels_as_they_are() -> None:
    found = statement(weigh.Penalty(l1=1, l2=1), scale="unit")
    sd = {name: float(np.std(TABLE[name])) for name in ("size", "cost")}
    l1, l2 = found.priors.penalties()
    assert by_name(found, l1) == {name: pytest.approx(sd.get(name, 1.0)) for name in found.priors.names()}
    assert by_name(found, l2)["size"] == pytest.approx(sd["size"] ** 2)


def test_the_direction_of_a_chosen_scale_is_one_per_unit() -> None:
    for prior, at in ((weigh.Normal("cv"), 1), (weigh.Laplace("cv"), 0)):
        found = statement(prior)
        assert found.priors.prior_to_tune is prior
        directions = found.priors.unit_penalties()
        assert directions[at].tolist() == [1.0] * 6
        assert not directions[1 - at].any()


def test_an_offset_is_left_out_and_has_the_weight_one() -> None:
    found = statement(weigh.Normal(1, mean=3), offset="size")
    assert found.problem.X.width == 5
    assert "size" not in found.priors.names()
    table = some_rows().X.dense_columns(np.arange(6))
    names = some_rows().feature_names
    others = [at for at, name in enumerate(names) if name != "size"]
    np.testing.assert_allclose(
        found.problem.offset, table[:, names.index("size")] + 3 * table[:, others].sum(axis=1)
    )
    start = dict(zip(names, found.baseline_weights.tolist(), strict=True))
    assert start == {name: 1.0 if name == "size" else 3.0 for name in names}
    learned = dict(zip(names, found.full_weights(np.full(5, 0.5)).tolist(), strict=True))
    assert learned == {name: 1.0 if name == "size" else 3.5 for name in names}
    assert sorted(found.model_indices.tolist()) == [-1, 0, 1, 2, 3, 4]


def test_features_that_are_taken_keep_their_priors() -> None:
    priors = [weigh.Normal(1), weigh.Normal(0.5)]
    found = FeaturePriors(
        [(priors[0], np.array([0, 2])), (priors[1], np.array([1, 3]))], np.arange(1.0, 5), lambda: "abcd"
    )
    few = found.select(np.array([1, 2]))
    assert few.names() == ["b", "c"]
    assert few.penalties()[1].tolist() == [4 * 4.0, 9.0]
    assert found.select(np.arange(4)) is found


def test_a_mapping_names_columns_and_scales_of_numbers() -> None:
    with pytest.raises(
        errors.ColumnError, match="prior names what is no column; the table has no column 'sise'"
    ):
        statement({"sise": 1.0})
    with pytest.raises(errors.ParameterError, match="Test: a scale is chosen for all columns at once"):
        check_prior({"size": weigh.Normal("cv")}, "Test")


def test_priors_are_told_in_words() -> None:
    assert format_prior(None) == "None"
    assert format_prior(check_prior({"a": 2, "b": None}, "Test")) == "a: Normal(2), b: None"
    assert (
        common_value(np.array([2.0, 2.0])),
        common_value(np.array([2.0, 1.0])),
        common_value(np.zeros(0)),
    ) == (
        2.0,
        None,
        0.0,
    )


def test_a_posterior_is_told_in_the_order_of_the_model() -> None:
    from weigh.learn.linear.posterior import ReindexedPosterior

    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    known = Posterior(np.array([1.0, 2.0]), 0.5, covariance, np.array([10.0, 20.0]), 1.0, 7.0)
    same = ReindexedPosterior(known, np.array([1, 0]), None).posterior()
    assert same.mean.tolist() == [2.0, 1.0]
    assert same.covariance.tolist() == [[9.0, 1.0], [1.0, 4.0]]
    moved = ReindexedPosterior(known, np.array([1, -1, 0]), np.array([5.0, 6.0])).posterior()
    assert moved.mean.tolist() == [8.0, 1.0, 6.0]
    assert moved.sd.tolist() == [3.0, 0.0, 2.0]
    assert moved.covariance[1].tolist() == [0.0, 0.0, 0.0]
    assert moved.mean_x.tolist() == [20.0, 0.0, 10.0]
    assert moved.intercept == 0.5
