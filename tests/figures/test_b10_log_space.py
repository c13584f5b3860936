"""B10: sums of logarithms where products would vanish."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.model import BayesModel


def test_two_small_factors_add_up_to_about_minus_17() -> None:
    model = BayesModel.from_parameters(
        class_prior={"it": 1}, columns={"x": {"it": 0.0000454}, "y": {"it": 0.000912}}
    )
    evidence = model.explain({"x": 1, "y": 1})[0]
    assert [round(row.nats) for row in evidence.table] == [0, -10, -7]
    assert model.scores({"x": 1, "y": 1})[0, 0] == pytest.approx(math.log(0.0000454 * 0.000912), abs=1e-14)
    assert round(evidence.total) == -17


@pytest.fixture(scope="module")
def topics() -> BayesModel:
    texts = ["lion wolf monkey lion", "monkey wolf", "broker analyst dividend", "broker broker dividend"]
    model: BayesModel = (
        weigh.NaiveBayes(columns="text")
        .fit({"text": texts, "topic": ["jungle", "jungle", "street", "street"]}, "topic")
        .model_
    )
    return model


@pytest.mark.parametrize("words", ["lion broker wolf analyst monkey", "lion wolf", "broker"])
def test_a_document_of_100_000_words_has_finite_scores_and_a_posterior_that_sums_to_1(
    topics: BayesModel, words: str
) -> None:
    some = words.split()
    row: dict[str, Any] = {"text": " ".join(some[at % len(some)] for at in range(100_000))}
    scores, logs = topics.scores(row), topics.log_proba(row)
    assert np.isfinite(scores).all()
    assert scores.max() < -100_000
    assert np.isfinite(logs).all()
    assert topics.predict_proba(row).sum() == 1.0
    assert topics.explain(row)[0].total == pytest.approx(abs(scores[0, 0] - scores[0, 1]), rel=1e-10)


def test_worked_calculation_and_evidence_do_not_underflow(topics: BayesModel) -> None:
    row = {"text": "lion broker " * 50_000}
    text = topics.explain(row)[0].worked()
    assert "e^-" in text
    assert "nan" not in text
    assert topics.explain(row)[0].probability > 0.5


def test_hundreds_of_flags_and_numbers_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 800))
    y = np.arange(40) % 2
    for columns, data in (("number", X), ("flag", (X > 0).astype(float))):
        model = weigh.NaiveBayes(columns=columns).fit(data, y).model_
        assert np.isfinite(model.scores(data)).all()
        assert np.abs(model.predict_proba(data).sum(axis=1) - 1).max() < 1e-15
