"""B5: the multinomial over word counts, on the articles of the jungle and of Wall Street."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.model import BayesModel

F = Fraction
WORDS = {
    "jungle": {"lion": 16, "wolf": 12, "monkey": 14, "broker": 0, "analyst": 1, "dividend": 1},
    "wallStreet": {"lion": 0, "wolf": 2, "monkey": 1, "broker": 14, "analyst": 10, "dividend": 12},
}
DOCUMENT_2 = {"lion": 10, "wolf": 8, "monkey": 11, "broker": 1, "analyst": 0, "dividend": 1}
TABLE = {word: [WORDS[topic][word] for topic in WORDS] for word in DOCUMENT_2} | {"topic": list(WORDS)}


@pytest.fixture
def model() -> BayesModel:
    fitted: BayesModel = weigh.NaiveBayes(columns="count").fit(TABLE, "topic").model_
    return fitted


def test_totals_are_44_and_39_over_six_words(model: BayesModel) -> None:
    each: Any = model.distributions[0]
    assert each.table.sum(axis=1).tolist() == [44, 39]
    assert each.table.shape == (2, 6)


def test_plus_one_gives_lion_17_of_50_and_broker_1_of_50(model: BayesModel, worked: Any) -> None:
    found = worked(model, {**dict.fromkeys(DOCUMENT_2, 0), "lion": 1, "broker": 1})
    assert found["P(lion | class)"] == {"jungle": F(17, 50), "wallStreet": F(1, 45)}
    assert found["P(broker | class)"] == {"jungle": F(1, 50), "wallStreet": F(15, 45)}


def test_the_log_odds_of_document_2_for_the_jungle_are_54_381(model: BayesModel) -> None:
    scores = model.scores(DOCUMENT_2)[0]
    assert scores[0] - scores[1] == pytest.approx(54.38073485, abs=1e-8)
    assert model.explain(DOCUMENT_2)[0].total == pytest.approx(scores[0] - scores[1], abs=1e-12)


def test_the_exact_posterior_odds_are_the_ratio_of_the_products(model: BayesModel) -> None:
    exact = F(1)
    for word, n in DOCUMENT_2.items():
        exact *= F(F(WORDS["jungle"][word] + 1, 50), F(WORDS["wallStreet"][word] + 1, 45)) ** n
    assert math.log(exact) == pytest.approx(54.381, abs=5e-4)
    assert model.explain(DOCUMENT_2)[0].total == pytest.approx(math.log(exact), rel=1e-14)


def test_counts_rows_and_texts_agree() -> None:
    texts = [" ".join(word for word, n in WORDS[topic].items() for _ in range(n)) for topic in WORDS]
    counted = BayesModel.from_counts(
        columns={"words": WORDS},
        kinds={"words": "count"},
        class_counts=dict.fromkeys(WORDS, 1),
        label="topic",
    )
    read = weigh.NaiveBayes(columns="text").fit({"text": texts, "topic": list(WORDS)}, "topic").model_
    rows = weigh.NaiveBayes(columns="count").fit(TABLE, "topic").model_
    document = " ".join(word for word, n in DOCUMENT_2.items() for _ in range(n))
    assert counted.to_bytes() == rows.to_bytes()
    assert read.scores({"text": document})[0] == pytest.approx(rows.scores(DOCUMENT_2)[0], abs=1e-12)


def test_the_complement_learns_a_class_from_all_other_classes() -> None:
    model = weigh.NaiveBayes(columns="count", complement=True).fit(TABLE, "topic").model_
    lion = {**dict.fromkeys(DOCUMENT_2, 0), "lion": 1}
    expected = [-math.log(F(1, 45)), -math.log(F(17, 50))]
    assert np.abs(model.scores(lion)[0] - expected).max() < 1e-14
