"""`surface` of naive Bayes: tops in exact fractions, and a grid that agrees with plain sums over the rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import weigh
from weigh import errors

MAILS = {
    "investment": [1, 0, 1, 1, 0],
    "familiarity": ["low", "high", "high", "medium", "low"],
    "size": [1.0, 2.0, 4.0, 3.5, 7.0],
    "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
}
MODEL = weigh.NaiveBayes(columns={"size": "number"}).fit(MAILS, "spam")


def test_the_tops_are_the_estimates_of_maximum_likelihood_and_with_pseudo_counts() -> None:
    found = weigh.surface(MODEL, across="P(investment=1 | spam)", up="P(investment=1 | not-spam)")
    assert found.tops == {
        "likelihood": (Fraction(1), Fraction(1, 3)),
        "prior": (Fraction(1, 2), Fraction(1, 2)),
        "posterior": (Fraction(3, 4), Fraction(2, 5)),
    }


def test_the_likelihood_is_the_product_over_the_rows() -> None:
    found = weigh.surface(MODEL, across="P(investment=1 | spam)", up="P(investment=1 | not-spam)", cells=20)
    for j, q in enumerate(found.y.tolist()):
        for i, p in enumerate(found.x.tolist()):
            shares = {"spam": p, "not-spam": q}
            pairs = zip(MAILS["investment"], MAILS["spam"], strict=True)
            logs = [math.log(shares[label] if flag else 1 - shares[label]) for flag, label in pairs]
            assert found.logs["likelihood"][j, i] == pytest.approx(math.fsum(logs))


def test_two_values_of_one_column_share_a_simplex() -> None:
    across, up = "P(familiarity=high | not-spam)", "P(familiarity=low | not-spam)"
    found = weigh.surface(MODEL, across=across, up=up)
    assert found.tops["posterior"] == (Fraction(1, 3), Fraction(1, 3))
    x, y = np.meshgrid(found.x, found.y)
    assert (np.isneginf(found.logs["posterior"]) == (x + y >= 1 + 1e-12)).mean() > 0.98


def test_a_number_has_mean_and_standard_deviation() -> None:
    found = weigh.surface(MODEL, across="standard deviation of size | not-spam", up="mean of size | not-spam")
    sizes = np.array([2.0, 3.5, 7.0])
    assert found.tops["likelihood"] == pytest.approx((sizes.std(), sizes.mean()))
    j, i = np.unravel_index(np.argmax(found.logs["likelihood"]), found.logs["likelihood"].shape)
    assert abs(found.x[i] - sizes.std()) <= found.x[1] - found.x[0]
    assert abs(found.y[j] - sizes.mean()) <= found.y[1] - found.y[0]


def test_stated_models_have_no_counts() -> None:
    stated = weigh.BayesModel.from_parameters(
        class_prior={"a": 0.5, "b": 0.5}, columns={"x": {"a": 0.1, "b": 0.2}}
    )
    with pytest.raises(errors.Unsupported, match="surface needs counts of rows"):
        weigh.surface(stated)


def test_an_unknown_parameter_is_refused_with_a_suggestion() -> None:
    with pytest.raises(errors.ColumnError, match=r"no column 'P\(size \| x\)'"):
        weigh.surface(MODEL, across="P(size | x)")
