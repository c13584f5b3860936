"""Naive Bayes with its parameters integrated out answers 'unsure' by stated costs."""

from __future__ import annotations

from fractions import Fraction
from math import gamma, pi, sqrt

import pytest

import weigh

SIZES = {"cm": [50.0, 55.0, 60.0, 150.0, 170.0], "is": ["dog", "dog", "dog", "horse", "horse"]}


def student_density(x: float, values: list[float]) -> float:
    n = len(values)
    mean = sum(values) / n
    scale = sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) * (1 + 1 / n))
    z, freedom = (x - mean) / scale, n - 1
    constant = gamma((freedom + 1) / 2) / (gamma(freedom / 2) * sqrt(freedom * pi) * scale)
    return constant * (1 + z * z / freedom) ** (-(freedom + 1) / 2)


def test_words_are_dirichlet_multinomial() -> None:
    table = {"text": ["lion lion wolf", "wolf fund fund"], "topic": ["x", "y"]}
    nb = weigh.NaiveBayes(columns="text").fit(table, "topic")
    x, y = Fraction(3 * 4 * 1, 6 * 7 * 8), Fraction(1 * 2 * 3, 6 * 7 * 8)
    assert nb.predictive_proba({"text": "lion lion fund"})[0, 0] == pytest.approx(
        float(x / (x + y)), rel=1e-12
    )


def test_numbers_are_students_t() -> None:
    nb = weigh.NaiveBayes(columns={"cm": weigh.Number(floor=0.0)}).fit(SIZES, "is")
    dog = 3 / 5 * student_density(90.0, [50.0, 55.0, 60.0])
    horse = 2 / 5 * student_density(90.0, [150.0, 170.0])
    assert nb.predictive_proba({"cm": 90.0})[0, 0] == pytest.approx(dog / (dog + horse), rel=1e-9)


def test_few_rows_make_the_verdict_unsure_where_an_estimate_would_be_certain() -> None:
    nb = weigh.NaiveBayes().fit(SIZES, "is")
    row = {"cm": 90.0}
    assert nb.predict_proba(row).max() > 0.999
    assert nb.predictive_proba(row).max() < 0.51
    assert nb.predict(row, weigh.Decision(unsure=0.1)).tolist() == ["horse"]
    assert nb.predict(row, weigh.Decision(unsure=0.1, predictive=True)).tolist() == ["unsure"]


def test_costs_decide_between_the_classes_and_unsure() -> None:
    nb = weigh.NaiveBayes().fit(SIZES, "is")
    dog = float(nb.predictive_proba({"cm": 90.0})[0, 0])
    # 'dog' costs 3 (1 − P(dog)), 'horse' P(dog), and 'unsure' its own price.
    for price, verdict in ((dog - 1e-9, "unsure"), (dog + 1e-9, "horse")):
        decision = weigh.Decision(costs={("horse", "dog"): 3}, unsure=price, predictive=True)
        assert nb.predict({"cm": 90.0}, decision).tolist() == [verdict]


def test_more_rows_bring_both_probabilities_together() -> None:
    many = {name: values * 200 for name, values in SIZES.items()}
    nb = weigh.NaiveBayes(columns={"cm": weigh.Number(floor=0.0)}).fit(many, "is")
    assert nb.predictive_proba({"cm": 105.0}) == pytest.approx(nb.predict_proba({"cm": 105.0}), abs=0.01)
