"""The Dirichlet distribution."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from weigh.errors import DataError, ParameterError, Unsupported
from weigh.priors import Beta, Dirichlet

numbers = st.fractions(min_value=Fraction(1, 10), max_value=20, max_denominator=10)
names = st.sampled_from(["red", "green", "blue", 1, None])
counts = st.dictionaries(names, st.integers(0, 50), max_size=5)
priors = st.one_of(
    numbers.map(Dirichlet),
    st.builds(
        lambda b, rest: Dirichlet(b, rest=rest),
        st.dictionaries(names, numbers, min_size=1),
        numbers,
    ),
)


@given(priors, counts, counts)
@settings(max_examples=100, deadline=None)
def test_updating_twice_equals_updating_with_the_summed_counts(
    prior: Dirichlet, first: dict[object, int], second: dict[object, int]
) -> None:
    merged = {value: first.get(value, 0) + second.get(value, 0) for value in [*first, *second]}
    assert prior.posterior(first).posterior(second) == prior.posterior(merged)


@given(st.lists(numbers, min_size=2, max_size=6), st.data())
@settings(max_examples=50, deadline=None)
def test_marginals_agree_with_scipy(b: list[Fraction], data: st.DataObject) -> None:
    seen = data.draw(st.lists(st.integers(0, 30), min_size=len(b), max_size=len(b)))
    ours = Dirichlet(b).posterior(seen)
    alpha = np.array([float(x) for x in b]) + seen
    theirs = stats.dirichlet(alpha)
    assert [float(p) for p in ours.mean.values()] == pytest.approx(list(theirs.mean()))
    variances = [float(ours.marginal(k).variance) for k in range(len(b))]
    assert variances == pytest.approx(list(theirs.var()))
    for k, bounds in ours.interval(0.8).items():
        margin = stats.beta(alpha[k], alpha.sum() - alpha[k])
        assert bounds == pytest.approx(margin.interval(0.8), rel=1e-7)
    assert sum(ours.mean.values()) == 1


@given(st.lists(numbers.map(lambda b: b + 1), min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_the_mode_maximises_the_density(b: list[Fraction]) -> None:
    mode = np.array([float(p) for p in Dirichlet(b).mode.values()])
    assert sum(Dirichlet(b).mode.values()) == 1
    alpha = [float(x) for x in b]
    samples = np.random.default_rng(0).dirichlet(alpha, size=20)
    density = stats.dirichlet(alpha)
    assert all(density.logpdf(sample) <= density.logpdf(mode) + 1e-9 for sample in samples)


def test_a_dirichlet_of_two_values_agrees_with_beta() -> None:
    coin, toss = Beta(3, 0.5), Dirichlet({"heads": 3, "tails": 0.5})
    assert toss.marginal("heads") == coin
    assert (toss.mean["heads"], toss.mode["heads"]) == (coin.mean, coin.mode)


@pytest.mark.parametrize(
    ("b", "mode"),
    [
        ([1, 3, 2], ["0", "2/3", "1/3"]),
        ([0.5, 0.5, 3], ["0", "0", "1"]),
        ([1, 0.5, 0.5], ["1", "0", "0"]),
        ([0.5], ["1"]),
    ],
)
def test_mode_at_the_boundary(b: list[float], mode: list[str]) -> None:
    assert list(Dirichlet(b).mode.values()) == [Fraction(text) for text in mode]


@pytest.mark.parametrize("b", [[1, 1, 1], [1, 1, 0.5], [0.5, 0.5, 0.5]])
def test_a_mode_that_is_not_unique_raises_an_error(b: list[float]) -> None:
    with pytest.raises(Unsupported, match=r"has no mode: .* Use its mean"):
        _ = Dirichlet(b).mode


def test_a_dirichlet_from_one_number_needs_values() -> None:
    dirichlet = Dirichlet(2)
    calls = [lambda: dirichlet.mean, lambda: dirichlet.mode, lambda: dirichlet.predictive]
    calls += [lambda: dirichlet.marginal("a"), dirichlet.interval, lambda: dirichlet.sample(3)]
    for call in calls:
        with pytest.raises(Unsupported, match=r"Dirichlet\(2\) does not know its values yet"):
            call()
    assert dirichlet.over(["a", "b"]).mean == {"a": Fraction(1, 2), "b": Fraction(1, 2)}
    assert dirichlet.over(4).mean[3] == Fraction(1, 4)


def test_unnamed_values_get_the_parameter_rest() -> None:
    assert Dirichlet({"a": 3}).over(["a", "b"]).b == {"a": 3, "b": 1}
    assert Dirichlet({"a": 3}, rest=2).over(["b", "a"]).b == {"a": 3, "b": 2}
    assert Dirichlet({"a": 3}).posterior({"b": 1}).b == {"a": 3, "b": 2}


def test_names_are_kept_when_counts_are_a_mapping() -> None:
    assert Dirichlet(1).posterior({"a": 2, "b": 0}).values == ("a", "b")
    assert Dirichlet([1, 2]).posterior({"a": 2, "b": 0}).b == {"a": 3, "b": 2}
    assert Dirichlet([1, 2]).posterior({1: 5, 0: 3}).b == (4, 7)
    assert Dirichlet({"a": 1, "b": 2}).posterior([2, 0]).b == {"a": 3, "b": 2}
    assert Dirichlet(1).posterior(np.array([2, 0])).b == (3, 1)


def test_over_excludes_other_values() -> None:
    dirichlet = Dirichlet(2).over(["spam", "ham"])
    with pytest.raises(DataError, match=r"has no value 'spma'.* Did you mean 'spam'"):
        dirichlet.posterior({"spma": 1})
    with pytest.raises(DataError, match="has no value 'eggs'; it has 'spam', 'ham'"):
        dirichlet.marginal("eggs")


def test_an_unknown_value_name_gets_a_hint() -> None:
    with pytest.raises(DataError, match=r"names the value 'hihg'.*Did you mean 'high'"):
        Dirichlet({"hihg": 2}).over(["high", "low"])


@pytest.mark.parametrize("seen", [[1], [1, 2, 3], []])
def test_counts_of_the_wrong_length_are_rejected(seen: list[int]) -> None:
    with pytest.raises(DataError, match="has 2 values, in order"):
        Dirichlet([1, 2]).posterior(seen)


def test_an_empty_list_of_counts_is_rejected() -> None:
    with pytest.raises(DataError, match="one or more values"):
        Dirichlet(2).posterior([])
    assert Dirichlet(2).posterior({}) == Dirichlet(2)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "2", None, [], {}, [1, 0]])
def test_parameters_that_are_not_positive_and_finite_are_rejected(bad: object) -> None:
    with pytest.raises(ParameterError, match="Dirichlet: b must be a"):
        Dirichlet(bad)


def test_rest_requires_named_values() -> None:
    with pytest.raises(ParameterError, match="rest must be positive, got 0"):
        Dirichlet({"a": 1}, rest=0)
    with pytest.raises(ParameterError, match="rest must be left out"):
        Dirichlet([1, 2], rest=3)


@pytest.mark.parametrize("bad", ["abc", True, 0, -1, [], ["a", "a"]])
def test_values_must_be_a_list_or_a_number(bad: object) -> None:
    with pytest.raises(ParameterError, match="over: values must be"):
        Dirichlet(2).over(bad)


def test_negative_counts_are_rejected() -> None:
    with pytest.raises(ParameterError, match="counts of zero or more, got -1"):
        Dirichlet(2).posterior([1, -1])


def test_a_single_value_has_probability_1() -> None:
    dirichlet = Dirichlet(3).over(["only"])
    assert dirichlet.mean == dirichlet.mode == {"only": 1}
    assert dirichlet.interval() == {"only": (1.0, 1.0)}
    with pytest.raises(Unsupported, match="always 1"):
        dirichlet.marginal("only")


def test_sample_is_seeded_and_has_the_mean() -> None:
    dirichlet = Dirichlet([3, 1])
    draws = dirichlet.sample(20_000, seed=1)
    assert draws.shape == (20_000, 2)
    assert np.array_equal(draws, dirichlet.sample(20_000, seed=1))
    assert draws.mean(axis=0) == pytest.approx([0.75, 0.25], abs=0.01)
    assert draws.sum(axis=1) == pytest.approx(np.ones(20_000))


def test_repr_is_python_and_str_shows_the_equivalents() -> None:
    third = Fraction(1, 3)
    dirichlets = [Dirichlet(2), Dirichlet([1, third]), Dirichlet({"a": 0.5}, rest=2)]
    for dirichlet in [*dirichlets, Dirichlet(2).over(["a", "b"])]:
        assert eval(repr(dirichlet), {"Dirichlet": Dirichlet, "Fraction": Fraction}) == dirichlet
    assert str(Dirichlet(2)) == (
        "Dirichlet(2): by its mode (MAP) a pseudo-count of 1 per value, scikit-learn's alpha=1; "
        "by its mean a pseudo-count of 2 per value, scikit-learn's alpha=2"
    )
    assert Dirichlet([2, 1]).equivalents()["mean"] == "pseudo-counts of 2, 1"
    assert "no alpha of scikit-learn" in Dirichlet(0.5).equivalents()["mode (MAP)"]


def test_order_matters_only_without_names() -> None:
    assert Dirichlet({"a": 1, "b": 2}) == Dirichlet({"b": 2, "a": 1})
    assert Dirichlet([1, 2]) != Dirichlet([2, 1])
    assert Dirichlet([2, 2]) != Dirichlet(2)


def test_a_prior_can_be_hashed_copied_and_pickled() -> None:
    dirichlet = Dirichlet({"a": 2, "b": 0.5})
    assert {dirichlet: 1}[Dirichlet({"b": 0.5, "a": 2.0})] == 1
    assert sum(dirichlet.mean.values()) == 1
    assert copy.deepcopy(dirichlet) == pickle.loads(pickle.dumps(dirichlet)) == dirichlet
    dirichlet.mean.clear()
    assert dirichlet.values == ("a", "b")
