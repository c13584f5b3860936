"""Costs, cutoffs and verdicts."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh import errors
from weigh.apps.mail.verdict import VERDICTS, Costs, Verdict, logistic

costs = st.builds(Costs, *[st.floats(1e-3, 1e6)] * 3)


def test_the_usual_costs_ask_for_999_in_1000():
    assert Costs().cutoffs == (0.5, 0.999)
    assert Costs().verdict(math.log(999) + 1e-9).label == "spam"
    assert Costs().verdict(math.log(998)).label == "unsure"
    assert Costs().verdict(0.0).label == "unsure"
    assert Costs().verdict(-1e-9).label == "ham"


@given(costs, st.floats(-700, 700))
def test_the_verdict_is_the_cheapest(costs, score):
    verdict = costs.verdict(score)
    p = verdict.probability
    price = dict(zip(VERDICTS, (p * costs.spam_let, costs.unsure, (1 - p) * costs.ham_lost), strict=True))
    assert price[verdict.label] <= min(price.values()) * (1 + 1e-6) + 1e-9 * costs.ham_lost


def test_a_look_that_costs_too_much_is_never_asked_for():
    assert Costs(ham_lost=3, spam_let=1, unsure=2).cutoffs == (0.75, 0.75)
    # Just where all three cost the same, a look is worth nothing.
    assert Costs(ham_lost=1, spam_let=1, unsure=0.5).cutoffs == (0.5, 0.5)


@pytest.mark.parametrize("cost", [0, -1, math.nan, math.inf, "1", None])
@pytest.mark.parametrize("name", ["ham_lost", "spam_let", "unsure"])
def test_costs_are_numbers_above_zero(name, cost):
    with pytest.raises(errors.ParameterError, match=f"Costs: {name} must be a number above 0"):
        Costs(**{name: cost})


@given(st.floats(allow_nan=False))
def test_probabilities_of_opposite_scores_add_up_to_one(score):
    assert logistic(score) + logistic(-score) == pytest.approx(1, abs=1e-15)


def test_a_verdict_prints_and_is_plain():
    verdict = Verdict("spam", 0.99987, 8.9)
    assert str(verdict) == "spam, probability of spam 99.99 %"
    assert json.loads(json.dumps(verdict.to_dict())) == {
        "label": "spam",
        "probability": 0.99987,
        "score": 8.9,
    }
    assert "spam" in verdict._repr_html_()
    assert str(Costs().verdict(700.0)) == "spam, probability of spam > 99.99 %"
    assert Costs(**Costs(7, 2, 1).to_dict()) == Costs(7, 2, 1)
