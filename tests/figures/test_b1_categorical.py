"""B1: naive Bayes over categories, by counting: from rows and from a table of counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import weigh
from weigh.errors import ImpossibleEvidence
from weigh.model import BayesModel

PERSON = {"age": "<=30", "income": "medium", "student": "yes", "credit_rating": "fair"}
X1 = {"Yes": {"Low": 10, "Medium": 13, "High": 17}, "No": {"Low": 2, "Medium": 13, "High": 0}}


def share(model: BayesModel, column: str, value: str, label: str) -> Fraction:
    each: Any = next(d for d in model.distributions if d.part.names[0] == column)
    return Fraction(each.exact_probabilities(model.classes.index(label))[each.levels.index(value)])


def test_the_count_table_gives_10_of_40_and_15_of_55() -> None:
    model = BayesModel.from_counts(columns={"X1": X1}, prior=None)
    assert share(model, "X1", "Low", "Yes") == Fraction(10, 40)
    assert model.class_distribution.exact_probabilities[model.classes.index("No")] == Fraction(15, 55)


def test_rows_and_their_table_of_counts_give_the_same_model() -> None:
    rows = [(x, y) for y, cells in X1.items() for x, n in cells.items() for _ in range(n)]
    fitted = weigh.NaiveBayes().fit({"X1": [x for x, _ in rows], "Y": [y for _, y in rows]}, "Y").model_
    stated = BayesModel.from_counts(columns={"X1": X1}, label="Y")
    assert stated.to_bytes() == fitted.to_bytes()


def test_the_posterior_of_the_computer_table(computer_table: Any, worked: Any) -> None:
    model = weigh.NaiveBayes(prior=None).fit(computer_table, "buys_computer").model_
    found = worked(model, PERSON)
    assert found["P(class)"] == {"no": Fraction(5, 14), "yes": Fraction(9, 14)}
    assert found["product"] == {"no": Fraction(6, 875), "yes": Fraction(16, 567)}
    assert found["posterior"]["yes"] == Fraction(16, 567) / (Fraction(16, 567) + Fraction(6, 875))
    assert model.predict(PERSON).tolist() == ["yes"]


def test_a_value_that_never_occurred_in_a_class_has_probability_exactly_0(
    computer_table: Any, worked: Any
) -> None:
    model = weigh.NaiveBayes(prior=None).fit(computer_table, "buys_computer").model_
    person = PERSON | {"age": "31..40"}
    assert share(model, "age", "31..40", "no") == 0
    assert worked(model, person)["posterior"] == {"no": 0, "yes": 1}
    assert model.predict_proba(person).tolist() == [[0.0, 1.0]]


def test_if_every_class_is_impossible_the_error_names_the_cause(spam_table: Any) -> None:
    ruled_out = {"spam": 1, "not-spam": 0}
    model = weigh.NaiveBayes(prior=None, class_prior=ruled_out).fit(spam_table, "spam").model_
    with pytest.raises(ImpossibleEvidence) as refusal:
        model.predict({"CS373": 1, "investment": 1, "familiarity": "medium"})
    assert "'not-spam' by its prior; 'spam' by 'CS373=1', 'familiarity=medium'." in str(refusal.value)


def test_many_classes_keep_their_names() -> None:
    table = {"taste": ["sweet", "sour", "bitter", "sweet"], "fruit": ["fig", "lemon", "grapefruit", "date"]}
    model = weigh.NaiveBayes().fit(table, "fruit").model_
    assert model.classes == ["date", "fig", "grapefruit", "lemon"]
    assert model.predict({"taste": "sour"}).tolist() == ["lemon"]
