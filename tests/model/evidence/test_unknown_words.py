"""Explanations name the words of a text that the model does not know."""

from __future__ import annotations

from typing import Any

import pytest

import weigh

TABLE = {
    "text": ["lion wolf lion", "wolf monkey lion", "fund broker", "broker fund dividend"] * 2,
    "topic": ["jungle", "jungle", "street", "street"] * 2,
}
LEARNERS = {
    "naive Bayes": weigh.NaiveBayes(columns="text"),
    "naive Bayes, presence": weigh.NaiveBayes(columns=weigh.Text(counts=False)),
    "naive Bayes, hashed": weigh.NaiveBayes(columns=weigh.Text(buckets=2**16)),
    "perceptron": weigh.Perceptron(columns="text"),
    "voted": weigh.Perceptron(columns="text", keep="voted"),
    "logistic": weigh.LogisticRegression(columns="text"),
}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_unknown_words_are_named_and_add_nothing(learner: Any) -> None:
    model = learner.fit(TABLE, "topic").model_
    known, both = model.explain({"text": ["lion fund wolf", "zebra lion fund tiger wolf zebra"]})
    assert both.unknown_words == ("text: zebra", "text: tiger")
    assert both.n_unknown == 2
    assert both.table == known.table
    assert both.total == known.total
    assert known.unknown_words == ()
    assert "unknown_words" not in known.to_dict()
    assert both.to_dict()["unknown_words"] == ["text: zebra", "text: tiger"]
    assert str(both).endswith("\n\nUnknown words, which add nothing: text: zebra, text: tiger.")
    assert "zebra" in both._repr_html_()


def test_predictive_and_calibrated_models_name_them_too() -> None:
    nb = weigh.NaiveBayes(columns="text").fit(TABLE, "topic")
    calibrated = weigh.calibrate(nb.model_, {**TABLE, "text": [f"{text} wolf" for text in TABLE["text"]]})
    for model in (nb.model_.predictive(), calibrated):
        assert model.explain({"text": "zebra lion"})[0].unknown_words == ("text: zebra",)


def test_a_regression_names_them_too() -> None:
    table = {"text": TABLE["text"], "price": [1.0, 2.0, 3.0, 4.0, 1.5, 2.5, 3.5, 4.5]}
    model = weigh.LinearRegression(columns="text", prior=weigh.Normal(1.0)).fit(table, "price").model_
    assert model.explain({"text": "zebra lion"})[0].unknown_words == ("text: zebra",)


def test_the_number_of_named_words_is_bounded() -> None:
    model = weigh.NaiveBayes(columns="text").fit(TABLE, "topic").model_
    evidence = model.explain({"text": " ".join(f"word{k}" for k in range(1000))})[0]
    assert len(evidence.unknown_words) == 20
    assert evidence.n_unknown == 1000
    assert str(evidence).endswith("text: word19 and 980\nmore.")


def test_names_with_control_characters_are_escaped() -> None:
    nb = weigh.NaiveBayes(columns={"names": "tokens"}).fit({"names": [["a"], ["b"]], "y": [0, 1]}, "y")
    assert "\x1b" not in str(nb.explain({"names": [["\x1b[31m"]]})[0])


def test_tables_have_no_unknown_words() -> None:
    nb = weigh.NaiveBayes().fit({"x": ["a", "b"], "y": ["p", "q"]}, "y")
    assert nb.explain({"x": "unheard-of"})[0].n_unknown == 0
