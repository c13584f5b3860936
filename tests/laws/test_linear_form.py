"""Law 4: where the score is linear, the linear form predicts like the model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.laws.tables import KINDS, LABEL, MODERATE, Row, law, some_rows, table
from weigh import errors

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")

LINEAR = KINDS | {"size": weigh.Number(spread="shared"), "age": weigh.Number(spread=2.0)}
INTEGERS = st.integers(-3, 3).map(float)


@law
@given(
    some_rows(1, 12, MODERATE),
    some_rows(1, 12, MODERATE, labels=("ham",)),
    st.sampled_from([None, "uniform", 1.0]),
)
def test_the_linear_form_predicts_like_the_model(
    rows: list[Row], new_rows: list[Row], class_prior: object
) -> None:
    model = weigh.NaiveBayes(columns=LINEAR, class_prior=class_prior).fit(table(rows), LABEL).model_
    linear = model.linear()
    assert linear.predict(table(new_rows)).tolist() == model.predict(table(new_rows)).tolist()
    ours, theirs = linear.log_proba(table(new_rows)), model.log_proba(table(new_rows))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@law
@given(some_rows(1, 5, INTEGERS, labels=("ham",)), some_rows(1, 5, INTEGERS))
def test_both_forms_break_ties_alike(rows: list[Row], new_rows: list[Row]) -> None:
    twins = [row | {LABEL: label} for row in rows for label in ("spam", "ham")]
    model = weigh.NaiveBayes(columns=LINEAR).fit(table(twins), LABEL).model_
    assert model.predict(table(new_rows)).tolist() == ["ham"] * len(new_rows)
    assert model.linear().predict(table(new_rows)).tolist() == ["ham"] * len(new_rows)


@law
@given(some_rows(2, 12, MODERATE, labels=("ham", "spam")))
def test_coefficients_and_intercept_give_the_score(rows: list[Row]) -> None:
    both = [row | {LABEL: label} for row, label in zip(rows, ["ham", "spam"], strict=False)]
    columns = {
        name: LINEAR[name] if name in ("links", "bangs", "age", "urgent") else "skip" for name in KINDS
    }
    linear = weigh.NaiveBayes(columns=columns).fit(table(rows + both), LABEL).model_.linear()
    whole = [row | {name: row[name] or 0 for name in ("links", "bangs", "age", "urgent")} for row in rows]
    scores = linear.scores(table(whole))
    values = {"urgent": lambda v: float(v > 0)}
    by_hand = [
        linear.intercept
        + sum(w * values.get(n, float)(row[n]) for n, w in zip(linear.features, linear.coef, strict=True))
        for row in whole
    ]
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], by_hand, rtol=1e-9, atol=1e-9)


def test_a_linear_model_survives_saving_and_loading(tmp_path: pytest.TempPathFactory) -> None:
    rows = [dict.fromkeys(KINDS) | {"size": float(i), "colour": "red", LABEL: "ab"[i % 2]} for i in range(4)]
    linear = weigh.NaiveBayes(columns=LINEAR).fit(table(rows), LABEL).model_.linear()
    path = f"{tmp_path}/linear.weigh"
    linear.save(path)
    assert weigh.load(path).to_bytes() == linear.to_bytes()
    assert weigh.load(path).predict(table(rows)).tolist() == linear.predict(table(rows)).tolist()


def test_class_specific_spreads_have_no_linear_form() -> None:
    model = weigh.NaiveBayes(columns="number").fit([[0.0], [1.0], [5.0], [9.0]], ["a", "a", "b", "b"]).model_
    with pytest.raises(errors.Unsupported, match="quadratic"):
        model.linear()
