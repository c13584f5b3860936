"""B12: naive Bayes is a linear separator, w_i = log(p_i/(1−p_i)) − log(q_i/(1−q_i))."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.errors import Unsupported
from weigh.model import BayesModel, LinearModel

FLAGS = {"CS373": "flag", "investment": "flag"}


@pytest.fixture
def model(spam_table: Any) -> BayesModel:
    fitted: BayesModel = weigh.NaiveBayes(columns=FLAGS).fit(spam_table, "spam").model_
    return fitted


def test_the_weights_of_the_spam_table(model: BayesModel) -> None:
    linear = model.linear()
    found = dict(zip(linear.features, linear.coef.tolist(), strict=True))
    ratios = {
        "CS373": 1 / 2,
        "investment": 9 / 2,
        "familiarity=high": 6 / 5,
        "familiarity=medium": 3 / 5,
        "familiarity=low": 6 / 5,
    }
    assert found == pytest.approx({name: math.log(ratio) for name, ratio in ratios.items()}, abs=1e-15)
    assert float(linear.intercept) == pytest.approx(math.log(25 / 72), abs=1e-15)


def test_declared_levels_keep_their_order(spam_table: Any, new_mail: Any) -> None:
    declared = FLAGS | {"familiarity": weigh.Category(levels=("high", "medium", "low"))}
    model = weigh.NaiveBayes(columns=declared).fit(spam_table, "spam").model_
    linear = model.linear()
    assert linear.features == [*FLAGS, "familiarity=high", "familiarity=medium", "familiarity=low"]
    assert linear.coef[2:] == pytest.approx([math.log(6 / 5), math.log(3 / 5), math.log(6 / 5)], abs=1e-15)
    rows = [{**new_mail, "familiarity": f} for f in ("high", "medium", "low", None, "never seen")]
    assert np.abs(linear.log_proba(rows) - model.log_proba(rows)).max() < 1e-14


def test_the_odds_of_the_new_mail_are_15_to_16(model: BayesModel, new_mail: Any) -> None:
    linear = model.linear()
    x = np.array([name in ("CS373", "investment", "familiarity=high") for name in linear.features])
    assert math.exp(x @ linear.coef + linear.intercept) == pytest.approx(15 / 16, rel=1e-14)
    not_spam, spam = linear.scores(new_mail)[0]
    assert math.exp(spam - not_spam) == pytest.approx(15 / 16, rel=1e-14)


def test_the_linear_model_predicts_like_the_product(model: BayesModel) -> None:
    rows = [
        {"CS373": a, "investment": b, "familiarity": f}
        for a in (0, 1)
        for b in (0, 1)
        for f in ("high", "medium", "low", None, "never seen")
    ]
    assert model.linear().predict(rows).tolist() == model.predict(rows).tolist()
    assert np.abs(model.linear().log_proba(rows) - model.log_proba(rows)).max() < 1e-14


def test_a_feature_with_the_same_probability_in_both_classes_is_listed_as_irrelevant() -> None:
    model = BayesModel.from_parameters(
        class_prior={"spam": 0.4, "ham": 0.6},
        columns={"weekday": {"spam": 0.7, "ham": 0.7}, "investment": {"spam": 0.75, "ham": 0.4}},
    )
    assert model.linear().irrelevant() == ["weekday"]


def test_words_are_linear_in_their_counts() -> None:
    words = {"jungle": {"lion": 16, "broker": 0}, "street": {"lion": 0, "broker": 14}}
    model = BayesModel.from_counts(
        columns={"words": words}, kinds={"words": "count"}, class_counts={"jungle": 1, "street": 1}
    )
    linear = model.linear()
    assert dict(zip(linear.features, linear.coef, strict=True)) == pytest.approx(
        {"lion": math.log((1 / 16) / (17 / 18)), "broker": math.log((15 / 16) / (1 / 18))}
    )


def test_a_probability_of_zero_has_no_finite_weight(spam_table: Any) -> None:
    linear = weigh.NaiveBayes(columns=FLAGS, prior=None).fit(spam_table, "spam").model_.linear()
    with pytest.raises(Unsupported, match="A probability of zero has no finite weight"):
        _ = linear.coef


def test_the_linear_model_survives_saving_and_loading(
    model: BayesModel, new_mail: Any, tmp_path: Any
) -> None:
    model.linear().save(tmp_path / "spam.weigh")
    loaded: LinearModel = weigh.load(tmp_path / "spam.weigh")
    assert np.array_equal(loaded.scores(new_mail), model.linear().scores(new_mail))
