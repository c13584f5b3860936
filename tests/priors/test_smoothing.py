"""Smoothed estimates from counts and priors, and the JSON form of priors."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.errors import DataError, ModelFileError, ParameterError, Unsupported
from weigh.priors import (
    Beta,
    Dirichlet,
    Prior,
    declared_values,
    dirichlet_parameters,
    estimate_probabilities,
    exact_estimate,
    exact_estimates,
    prior_from_json,
    prior_to_json,
    pseudo_counts,
)

LEVELS = ["low", "medium", "high"]
eighths = st.integers(-8, 40).map(lambda n: Fraction(n, 8))


@pytest.mark.parametrize(
    ("prior", "pseudo", "parameters"),
    [
        (None, [0, 0, 0], [0, 0, 0]),
        (1.0, [1, 1, 1], [1, 1, 1]),
        (0.1, [Fraction(1, 10)] * 3, [Fraction(1, 10)] * 3),
        (Dirichlet(2), [1, 1, 1], [2, 2, 2]),
        (Dirichlet([3, 1, 0.5]), [2, 0, Fraction(-1, 2)], [3, 1, Fraction(1, 2)]),
        (Dirichlet({"high": 4}), [0, 0, 3], [1, 1, 4]),
    ],
)
def test_pseudo_counts_and_parameters_of_each_prior(
    prior: Prior, pseudo: list[Fraction], parameters: list[Fraction]
) -> None:
    assert pseudo_counts(prior, LEVELS) == pseudo
    assert dirichlet_parameters(prior, LEVELS) == parameters


def test_the_second_value_of_a_beta_is_heads() -> None:
    assert pseudo_counts(Beta(5, 2), [False, True]) == [1, 4]
    assert dirichlet_parameters(Beta(5, 2), [False, True]) == [2, 5]


@pytest.mark.parametrize("values", [[], ["yes"], LEVELS])
def test_a_beta_requires_exactly_two_values(values: list[str]) -> None:
    with pytest.raises(ParameterError, match=r"needs a column of two values.*Use Dirichlet"):
        pseudo_counts(Beta(2, 2), values)


def test_a_dirichlet_requires_matching_values() -> None:
    with pytest.raises(DataError, match="has 2 values, in order, but 3"):
        pseudo_counts(Dirichlet([1, 2]), LEVELS)
    with pytest.raises(DataError, match=r"names the value 'hgih'.*Did you mean 'high'"):
        dirichlet_parameters(Dirichlet({"hgih": 2}), LEVELS)


def test_the_named_values_of_a_prior_are_declared() -> None:
    assert declared_values(Dirichlet({"a": 2, "b": 3})) == ("a", "b")
    assert declared_values(Dirichlet([1, 2])) == declared_values(Dirichlet(2)) == declared_values(1.0) == ()
    assert declared_values(None) == declared_values(Beta(1, 2)) == ()


@given(st.lists(st.lists(eighths, min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_estimates_agree_with_exact_fractions_and_sum_to_one(weights: list[list[Fraction]]) -> None:
    counts = [[max(w, Fraction(0)) for w in row] for row in weights]
    pseudo = [[min(w, Fraction(0)) for w in row] for row in weights]
    estimates = estimate_probabilities(np.array(counts, dtype=float), np.array(pseudo, dtype=float))
    for row, n, a in zip(estimates, counts, pseudo, strict=True):
        try:
            expected = exact_estimates(n, a)
        except Unsupported:
            assert np.isnan(row).all()
            continue
        assert row == pytest.approx([float(p) for p in expected])
        assert sum(expected) == 1
        assert row.sum() == pytest.approx(1)
        assert (row >= 0).all()


@given(
    st.sampled_from([1, 0.5, Dirichlet(2), Dirichlet([1.5, 3, 1]), Dirichlet(0.5)]),
    st.lists(st.integers(1, 30), min_size=3, max_size=3),
)
@settings(max_examples=50, deadline=None)
def test_estimates_are_the_mode_or_mean_of_the_posterior(prior: Prior, seen: list[int]) -> None:
    estimates = exact_estimates([Fraction(n) for n in seen], pseudo_counts(prior, [0, 1, 2]))
    if isinstance(prior, Dirichlet):
        assert estimates == list(prior.posterior(seen).mode.values())
    else:
        assert isinstance(prior, int | float)
        assert estimates == list(Dirichlet(prior).posterior(seen).mean.values())


def test_a_negative_pseudo_count_never_makes_a_negative_probability() -> None:
    pseudo = pseudo_counts(Dirichlet(0.5), LEVELS)
    estimates = estimate_probabilities(np.array([[3.0, 2.0, 0.0]]), np.array(pseudo, dtype=float))
    assert estimates.tolist() == [[0.625, 0.375, 0.0]]
    assert Dirichlet(0.5).posterior([3, 2, 0]).mode == {0: Fraction(5, 8), 1: Fraction(3, 8), 2: 0}


def test_there_is_no_estimate_without_rows_and_prior() -> None:
    estimates = estimate_probabilities(np.array([[0.0, 0.0], [1.0, 3.0]]), np.zeros(2))
    assert np.isnan(estimates[0]).all()
    assert estimates[1].tolist() == [0.25, 0.75]
    zero = Fraction(0)
    for call in (
        lambda: exact_estimates([zero, zero], [zero, zero]),
        lambda: exact_estimate(zero, zero, zero, zero),
    ):
        with pytest.raises(Unsupported, match="has no estimate"):
            call()


def test_a_single_value_is_estimated_exactly() -> None:
    assert exact_estimate(Fraction(16), Fraction(44), Fraction(1), Fraction(6)) == Fraction(17, 50)
    assert exact_estimate(Fraction(0), Fraction(44), Fraction(1), Fraction(6)) == Fraction(1, 50)
    assert exact_estimate(Fraction(0), Fraction(4), Fraction(0), Fraction(0)) == 0


@pytest.mark.parametrize(("pseudo_k", "pseudo_total"), [("-1/2", "1"), ("1", "1/2")])
def test_a_single_value_cannot_be_estimated_with_negative_pseudo_counts(
    pseudo_k: str, pseudo_total: str
) -> None:
    with pytest.raises(ParameterError, match="exact_estimates takes negative ones"):
        exact_estimate(Fraction(3), Fraction(5), Fraction(pseudo_k), Fraction(pseudo_total))


def test_scikit_learn_agrees_with_the_equivalent_alpha() -> None:
    from sklearn.naive_bayes import CategoricalNB

    column, y = np.array([[0], [2], [2], [1], [2]]), np.array([0, 0, 0, 1, 1])
    for prior, alpha in ((Dirichlet(2), 1.0), (Dirichlet(1.5), 0.5), (2, 2.0)):
        theirs = np.exp(CategoricalNB(alpha=alpha).fit(column, y).feature_log_prob_[0])
        counts = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
        ours = estimate_probabilities(counts, np.array(pseudo_counts(prior, [0, 1, 2]), dtype=float))
        assert ours == pytest.approx(theirs)


PRIORS: list[Prior] = [
    None,
    1,
    Fraction(3, 2),
    Beta(2, 2),
    Beta(0.1, Fraction(1, 3)),
    Dirichlet(2),
    Dirichlet(0.1),
    Dirichlet([1, 0.5, 2]),
    Dirichlet({"a": 2, 3: 1.5, True: 2, None: 4}),
    Dirichlet({"a": 2}, rest=Fraction(1, 3)),
    Dirichlet(2).over(["x", "y"]),
]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_json_is_lossless(prior: Prior) -> None:
    assert prior_from_json(json.loads(json.dumps(prior_to_json(prior)))) == prior


def test_equal_numbers_have_equal_json() -> None:
    assert prior_to_json(1.0) == prior_to_json(1) == 1
    assert prior_to_json(0.1) == prior_to_json(Fraction(1, 10)) == "1/10"
    assert prior_from_json("1/10") == Fraction(1, 10)
    assert prior_to_json(Beta(1.5, 2)) == {"kind": "beta", "a": "3/2", "b": 2}
    assert prior_to_json(Dirichlet({np.str_("a"): 2})) == {
        "kind": "dirichlet",
        "b": [2],
        "values": ["a"],
        "rest": 1,
    }


def test_a_value_that_json_cannot_represent_is_rejected() -> None:
    with pytest.raises(ParameterError, match="to be saved"):
        prior_to_json(Dirichlet({("a", "b"): 2}))


@pytest.mark.parametrize(
    "foreign",
    [
        0,
        -1,
        True,
        "",
        "1/0",
        "0/3",
        "-1/2",
        "1e999999999",
        "__import__('os')",
        "9" * 5000,
        [1],
        {},
        {"kind": "beta", "a": 1},
        {"kind": "beta", "a": 1, "b": 2, "c": 3},
        {"kind": "normal", "a": 1, "b": 2},
        {"kind": ["beta"], "a": 1, "b": 2},
        {"kind": "dirichlet", "b": []},
        {"kind": "dirichlet", "b": {}},
        {"kind": "dirichlet", "b": [1, "x"]},
        {"kind": "dirichlet", "b": [1], "values": ["a", "b"], "rest": 1},
        {"kind": "dirichlet", "b": [1, 2], "values": ["a", "a"], "rest": 1},
        {"kind": "dirichlet", "b": [1], "values": [["a"]], "rest": 1},
        {"kind": "dirichlet", "b": [1], "values": "a", "rest": 1},
        {"kind": "dirichlet", "b": [1], "values": ["a"], "rest": 0},
    ],
)
def test_foreign_json_is_rejected(foreign: object) -> None:
    with pytest.raises(ModelFileError, match="is not part of a prior as weigh writes it"):
        prior_from_json(foreign)
