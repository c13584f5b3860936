"""Constant columns of named tables are counted, but left out of the finished model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import weigh

LABELS = ["no", "yes", "yes", "no", "yes", "yes", "yes", "no"]
INFORMATIVE = {"side": ["a", "b", "b", "a", "b", "a", "b", "a"], "y": LABELS}
CONSTANTS: dict[str, tuple[Any, Any, Any]] = {
    # kind: the constant value, and two others
    "category": ("EUR", "USD", "GBP"),
    "number": (3.5, 4.0, -1e9),
    "flag": (True, False, None),
}


def fit(table: dict[str, Any], kind: str | None = None, **settings: Any) -> Any:
    columns = {} if kind is None else {"constant": kind}
    return weigh.NaiveBayes(columns={"side": "category"} | columns, **settings).fit(table, "y").model_


def with_column(values: list[Any]) -> dict[str, Any]:
    return {"constant": values, **INFORMATIVE}


@pytest.mark.parametrize("prior", [1.0, 0.1, None])
@pytest.mark.parametrize("kind", CONSTANTS)
def test_a_constant_column_has_no_effect_whatever_its_value(kind: str, prior: Any) -> None:
    without, value = fit(INFORMATIVE, prior=prior), CONSTANTS[kind][0]
    model = fit(with_column([value] * 8), kind, prior=prior)
    for given in (*CONSTANTS[kind], None):
        rows = {"constant": [given] * 2, "side": ["a", "b"]}
        assert_array_equal(model.scores(rows), without.scores({"side": ["a", "b"]}))
    assert model.n_parameters == without.n_parameters


def test_a_flag_that_is_never_set_has_no_effect() -> None:
    model = fit(with_column([False] * 8), "flag")
    rows = {"constant": [True, False], "side": ["a", "a"]}
    assert_array_equal(model.scores(rows), fit(INFORMATIVE).scores({"side": ["a", "a"]}))


@pytest.mark.parametrize("kind", CONSTANTS)
def test_explanations_do_not_list_a_constant_column(kind: str) -> None:
    value, other, _ = CONSTANTS[kind]
    model = fit(with_column([value] * 8), kind)
    for given in (value, other):
        evidence = model.explain({"constant": given, "side": "a"})[0]
        assert "constant" not in str(evidence)
        assert "constant" not in evidence.worked()


@pytest.mark.parametrize("kind", CONSTANTS)
def test_learning_another_value_later_gives_the_model_of_all_rows(kind: str) -> None:
    value, other, _ = CONSTANTS[kind]
    table = with_column([value] * 7 + [other])
    first = {name: column[:7] for name, column in table.items()}
    last = {name: column[7:] for name, column in table.items()}
    whole, part = fit(table, kind), fit(first, kind)
    assert part.learn(last).to_bytes() == whole.to_bytes()
    other_part = weigh.NaiveBayes(columns=part.schema).fit(last, "y").model_
    assert part.merge(other_part).to_bytes() == whole.to_bytes()
    assert whole.forget(last).to_bytes() == part.to_bytes()
    assert not np.array_equal(whole.scores(last), part.scores(last))


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.3, 8)])
@pytest.mark.parametrize("n_others", [0, 1, 2])
@pytest.mark.parametrize(("value", "other"), [("EUR", "USD"), (3.5, 4.0), (True, False), (False, True)])
def test_leave_one_out_scores_leave_out_what_is_constant_without_the_row(
    value: Any, other: Any, n_others: int, weights: Any
) -> None:
    table = with_column([other] * n_others + [value] * (8 - n_others))
    columns = {"constant": {str: "category", float: "number", bool: "flag"}[type(value)], "second": "flag"}
    table["second"] = [True, None, False, True, False, True, False, True]
    y = table.pop("y")
    model = weigh.NaiveBayes(columns=columns).fit(table, y, sample_weight=weights).model_
    source = weigh.rows(table, y, weights=weights) if weights is not None else weigh.rows(table, y)
    left_out = model.left_out_scores(source)
    for i in range(8):
        row = {name: column[i : i + 1] for name, column in table.items()}
        weight = {} if weights is None else {"weights": weights[i : i + 1]}
        expected = model.forget(weigh.rows(row, y[i : i + 1], **weight)).scores(row)[0]
        assert_allclose(left_out[i], expected, rtol=1e-10, atol=1e-10)


def test_constant_columns_of_a_bare_array_are_scored_as_before() -> None:
    X = np.array([[1, 1], [1, 0], [1, 0], [1, 1]])
    model = weigh.NaiveBayes(columns="flag").fit(X, ["no", "yes", "yes", "yes"]).model_
    assert_allclose(model.terms[0].present[0], np.log([2 / 3, 4 / 5]))


@pytest.mark.parametrize("prior", [1.0, None])
@pytest.mark.parametrize("make", [weigh.LogisticRegression, weigh.LinearRegression])
def test_regressions_give_constant_columns_no_weight(make: Any, prior: Any) -> None:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {"x": rng.normal(size=60), "y": rng.integers(0, 2, 60)}
    constants = {"currency": ["EUR"] * 60, "rate": [3.5] * 60, "is_new": [True] * 60}
    model = make(prior=prior).fit(table | constants, "y").model_
    without = make(prior=prior).fit(table, "y").model_
    weights = {each["feature"]: each["weight"] for each in model.summary().to_dict()["weights"]}
    assert [weights[name] for name in ("currency=EUR", "rate", "is_new")] == [0.0, 0.0, 0.0]
    other = {"currency": "USD", "rate": 3.5, "is_new": True, "x": 0.5}
    method = "predict" if make is weigh.LinearRegression else "predict_proba"
    assert_allclose(getattr(model, method)(other), getattr(without, method)({"x": 0.5}), atol=1e-6)
