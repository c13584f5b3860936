"""B2: Laplace smoothing, +1 and +k, on the spam table; ties."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import weigh
from weigh.model import BayesModel

F = Fraction


@pytest.fixture
def model(spam_table: Any) -> BayesModel:
    fitted: BayesModel = weigh.NaiveBayes().fit(spam_table, "spam").model_
    return fitted


@pytest.mark.parametrize(
    ("column", "value", "spam", "ham"),
    [
        ("CS373", 1, F(1, 4), F(2, 5)),
        ("familiarity", "high", F(2, 5), F(2, 6)),
        ("familiarity", "medium", F(1, 5), F(2, 6)),
        ("familiarity", "low", F(2, 5), F(2, 6)),
        ("investment", 1, F(3, 4), F(2, 5)),
    ],
)
def test_the_slides_probabilities(
    model: BayesModel, new_mail: Any, worked: Any, column: str, value: Any, spam: F, ham: F
) -> None:
    found = worked(model, new_mail | {column: value})[f"P({column}={value} | class)"]
    assert found == {"spam": spam, "not-spam": ham}


def test_the_class_prior_is_not_smoothed(model: BayesModel) -> None:
    assert model.class_distribution.exact_probabilities == [F(3, 5), F(2, 5)]


def test_the_new_mail_is_not_spam_with_16_of_31(model: BayesModel, new_mail: Any, worked: Any) -> None:
    text = model.explain(new_mail)[0].worked()
    assert "24/750" in text
    assert "12/400" in text
    assert worked(model, new_mail)["posterior"] == {"not-spam": F(16, 31), "spam": F(15, 31)}
    assert model.predict(new_mail).tolist() == ["not-spam"]
    assert model.predict_proba(new_mail)[0] == pytest.approx([16 / 31, 15 / 31], abs=1e-15)


def test_high_given_no_is_1_of_18() -> None:
    counts = {"Yes": {"Low": 10, "Medium": 13, "High": 17}, "No": {"Low": 2, "Medium": 13, "High": 0}}
    model = BayesModel.from_counts(columns={"X1": counts})
    each: Any = model.distributions[0]
    assert each.exact_probabilities(model.classes.index("No"))[each.levels.index("High")] == F(1, 18)


def test_any_pseudo_count_per_column_and_value(spam_table: Any, new_mail: Any, worked: Any) -> None:
    prior = {"CS373": 0.5, "familiarity": weigh.Dirichlet({"high": 4, "medium": 1, "low": 1})}
    found = worked(weigh.NaiveBayes(prior=prior).fit(spam_table, "spam").model_, new_mail)
    assert found["P(CS373=1 | class)"]["spam"] == F(1, 2) / (2 + 1)
    assert found["P(familiarity=high | class)"]["spam"] == F(1 + 3, 2 + 3)
    assert found["P(investment=1 | class)"]["spam"] == F(3, 4)


def test_an_unseen_value_gets_the_smoothed_probability(model: BayesModel, new_mail: Any, worked: Any) -> None:
    found = worked(model, new_mail | {"familiarity": "none"})
    assert found["P(familiarity=none (never seen) | class)"] == {"spam": F(1, 2 + 4), "not-spam": F(1, 3 + 4)}


def test_plus_one_is_map_under_dirichlet_2_and_the_posterior_mean_under_dirichlet_1(
    spam_table: Any, model: BayesModel
) -> None:
    as_mode = weigh.NaiveBayes(prior=weigh.Dirichlet(2)).fit(spam_table, "spam").model_
    as_mean = weigh.NaiveBayes(prior=weigh.Dirichlet(1)).fit(spam_table, "spam").model_
    for at, each in enumerate(model.distributions):
        plus_one: Any = each
        for c in range(2):
            assert as_mode.distributions[at].exact_probabilities(c) == plus_one.exact_probabilities(c)
            mean = as_mean.posterior(plus_one.name, model.classes[c]).mean
            assert [mean[level] for level in plus_one.levels] == plus_one.exact_probabilities(c)


def test_a_tie_goes_to_the_first_class_and_so_does_the_linear_form() -> None:
    columns = {"x": {"b": (1, 2), "a": (1, 2)}}
    model = BayesModel.from_counts(columns=columns, prior=None)
    assert model.predict({"x": [0, 1]}).tolist() == ["a", "a"]
    assert model.linear().predict({"x": [0, 1]}).tolist() == ["a", "a"]
