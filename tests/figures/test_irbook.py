"""Example 13.1 of Manning, Raghavan, Schütze, 'Introduction to Information Retrieval', from raw text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import weigh
from weigh.model import BayesModel

F = Fraction
DOCUMENTS = {
    "text": ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"],
    "china": ["c", "c", "c", "not-c"],
}
QUESTION = {"text": "Chinese Chinese Chinese Tokyo Japan"}


def fit(counts: bool) -> BayesModel:
    columns = {"text": weigh.Text(counts=counts)}
    model: BayesModel = weigh.NaiveBayes(columns=columns).fit(DOCUMENTS, "china").model_
    return model


def test_the_multinomial_estimates_are_3_of_7_and_1_of_14(worked: Any) -> None:
    found = worked(fit(counts=True), QUESTION)
    assert found["P(class)"] == {"c": F(3, 4), "not-c": F(1, 4)}
    assert found["P(text: chinese | class)^3"] == {"c": F(3, 7), "not-c": F(2, 9)}
    assert found["P(text: tokyo | class)"] == {"c": F(1, 14), "not-c": F(2, 9)}
    assert found["P(text: japan | class)"] == {"c": F(1, 14), "not-c": F(2, 9)}


def test_the_multinomial_says_china_with_3_012e_4_against_1_355e_4(worked: Any) -> None:
    model = fit(counts=True)
    found = worked(model, QUESTION)["product"]
    assert found["c"] == F(3, 4) * F(3, 7) ** 3 * F(1, 14) ** 2
    assert float(found["c"]) == pytest.approx(3.012e-4, abs=5e-8)
    assert float(found["not-c"]) == pytest.approx(1.355e-4, abs=5e-8)
    assert model.predict(QUESTION).tolist() == ["c"]


def test_bernoulli_says_not_china_with_0_00518_against_0_02195(worked: Any) -> None:
    model = fit(counts=False)
    found = worked(model, QUESTION)
    assert found["P(text: chinese=present | class)"] == {"c": F(4, 5), "not-c": F(2, 3)}
    assert found["P(text: beijing=absent | class)"] == {"c": F(3, 5), "not-c": F(2, 3)}
    assert float(found["product"]["c"]) == pytest.approx(0.00518, abs=5e-6)
    assert float(found["product"]["not-c"]) == pytest.approx(0.02195, abs=5e-6)
    assert model.predict(QUESTION).tolist() == ["not-c"]
