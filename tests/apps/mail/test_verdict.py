"""Tests of costs, cutoffs and verdicts."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh import errors
from weigh.apps.mail.verdict import VERDICTS, Costs, Verdict, logistic

costs = st.builds(Costs, *[st.floats(1e-3, 1e6)] * 3)


def test_the_default_costs_need_a_probability_of_0_999_for_spam():
    assert Costs().cutoffs == (0.5, 0.999)
    assert Costs().verdict(math.log(999) + 1e-9).label == "spam"
    assert Costs().verdict(math.log(998)).label == "unsure"
    assert Costs().verdict(0.0).label == "unsure"
    assert Costs().verdict(-1e-9).label == "ham"


@given(costs, st.floats(-700, 700))
def test_the_verdict_has_the_lowest_expected_cost(costs, score):
    verdict = costs.verdict(score)
    p = verdict.probability
    expected = dict(zip(VERDICTS, (p * costs.spam_let, costs.unsure, (1 - p) * costs.ham_lost), strict=True))
    assert expected[verdict.label] <= min(expected.values()) * (1 + 1e-6) + 1e-9 * costs.ham_lost


def test_unsure_is_never_the_verdict_if_it_costs_too_much():
    assert Costs(ham_lost=3, spam_let=1, unsure=2).cutoffs == (0.75, 0.75)
    # Where all three cost the same, unsure has no advantage.
    assert Costs(ham_lost=1, spam_let=1, unsure=0.5).cutoffs == (0.5, 0.5)


@pytest.mark.parametrize("cost", [0, -1, math.nan, math.inf, "1", None])
@pytest.mark.parametrize("name", ["ham_lost", "spam_let", "unsure"])
def test_costs_must_be_positive_numbers(name, cost):
    with pytest.raises(errors.ParameterError, match=f"Costs: {name} must be a number above 0"):
        Costs(**{name: cost})


@given(st.floats(allow_nan=False))
def test_probabilities_of_opposite_scores_sum_to_one(score):
    assert logistic(score) + logistic(-score) == pytest.approx(1, abs=1e-15)


def test_a_verdict_prints_and_can_be_written_as_json():
    verdict = Verdict("spam", 0.99987, 8.9)
    assert str(verdict) == "spam, probability of spam 99.99 %"
    assert json.loads(json.dumps(verdict.to_dict())) == {
        "label": "spam",
        "probability": 0.99987,
        "score": 8.9,
    }
    assert ">spam</td>" in verdict._repr_html_()
    assert ">+8.90</td>" in verdict._repr_html_()
    assert str(Costs().verdict(700.0)) == "spam, probability of spam > 99.99 %"
    assert Costs(**Costs(7, 2, 1).to_dict()) == Costs(7, 2, 1)
