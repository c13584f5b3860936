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
def test_posterior_of_merged_counts_is_the_posterior_of_the_posterior(
    prior: Dirichlet, first: dict[object, int], second: dict[object, int]
) -> None:
    merged = {value: first.get(value, 0) + second.get(value, 0) for value in [*first, *second]}
    assert prior.posterior(first).posterior(second) == prior.posterior(merged)


@given(st.lists(numbers, min_size=2, max_size=6), st.data())
@settings(max_examples=50, deadline=None)
def test_marginals_equal_scipy(b: list[Fraction], data: st.DataObject) -> None:
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
def test_no_other_probabilities_are_denser_than_the_mode(b: list[Fraction]) -> None:
    mode = np.array([float(p) for p in Dirichlet(b).mode.values()])
    assert sum(Dirichlet(b).mode.values()) == 1
    alpha = [float(x) for x in b]
    rivals = np.random.default_rng(0).dirichlet(alpha, size=20)
    density = stats.dirichlet(alpha)
    assert all(density.logpdf(rival) <= density.logpdf(mode) + 1e-9 for rival in rivals)


def test_two_values_agree_with_beta() -> None:
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
def test_no_single_mode_is_refused(b: list[float]) -> None:
    with pytest.raises(Unsupported, match=r"has no mode: .* Use its mean"):
        _ = Dirichlet(b).mode


def test_one_number_needs_values_before_it_can_answer() -> None:
    belief = Dirichlet(2)
    asked = [lambda: belief.mean, lambda: belief.mode, lambda: belief.predictive]
    asked += [lambda: belief.marginal("a"), belief.interval, lambda: belief.sample(3)]
    for ask in asked:
        with pytest.raises(Unsupported, match=r"Dirichlet\(2\) does not know its values yet"):
            ask()
    assert belief.over(["a", "b"]).mean == {"a": Fraction(1, 2), "b": Fraction(1, 2)}
    assert belief.over(4).mean[3] == Fraction(1, 4)


def test_values_not_named_get_the_rest() -> None:
    assert Dirichlet({"a": 3}).over(["a", "b"]).b == {"a": 3, "b": 1}
    assert Dirichlet({"a": 3}, rest=2).over(["b", "a"]).b == {"a": 3, "b": 2}
    assert Dirichlet({"a": 3}).posterior({"b": 1}).b == {"a": 3, "b": 2}


def test_names_are_kept_when_counts_are_a_mapping() -> None:
    assert Dirichlet(1).posterior({"a": 2, "b": 0}).values == ("a", "b")
    assert Dirichlet([1, 2]).posterior({"a": 2, "b": 0}).b == {"a": 3, "b": 2}
    assert Dirichlet([1, 2]).posterior({1: 5, 0: 3}).b == (4, 7)
    assert Dirichlet({"a": 1, "b": 2}).posterior([2, 0]).b == {"a": 3, "b": 2}
    assert Dirichlet(1).posterior(np.array([2, 0])).b == (3, 1)


def test_a_list_of_values_is_closed() -> None:
    belief = Dirichlet(2).over(["spam", "ham"])
    with pytest.raises(DataError, match=r"has no value 'spma'.* Did you mean 'spam'"):
        belief.posterior({"spma": 1})
    with pytest.raises(DataError, match="has no value 'eggs'; it has 'spam', 'ham'"):
        belief.marginal("eggs")


def test_a_name_that_is_no_value_is_told_with_a_hint() -> None:
    with pytest.raises(DataError, match=r"names the value 'hihg'.*Did you mean 'high'"):
        Dirichlet({"hihg": 2}).over(["high", "low"])


@pytest.mark.parametrize("seen", [[1], [1, 2, 3], []])
def test_counts_of_the_wrong_length_are_refused(seen: list[int]) -> None:
    with pytest.raises(DataError, match="is about 2 values, in order"):
        Dirichlet([1, 2]).posterior(seen)


def test_no_counts_at_all_are_refused() -> None:
    with pytest.raises(DataError, match="one or more values"):
        Dirichlet(2).posterior([])
    assert Dirichlet(2).posterior({}) == Dirichlet(2)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "2", None, [], {}, [1, 0]])
def test_parameters_that_are_not_positive_and_finite_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="Dirichlet: b must be a"):
        Dirichlet(bad)


def test_rest_is_only_for_names() -> None:
    with pytest.raises(ParameterError, match="rest must be positive, got 0"):
        Dirichlet({"a": 1}, rest=0)
    with pytest.raises(ParameterError, match="rest must be left out"):
        Dirichlet([1, 2], rest=3)


@pytest.mark.parametrize("bad", ["abc", True, 0, -1, [], ["a", "a"]])
def test_values_must_be_a_list_or_how_many(bad: object) -> None:
    with pytest.raises(ParameterError, match="over: values must be"):
        Dirichlet(2).over(bad)


def test_bad_counts_are_refused() -> None:
    with pytest.raises(ParameterError, match="counts of zero or more, got -1"):
        Dirichlet(2).posterior([1, -1])


def test_one_value_is_certain() -> None:
    belief = Dirichlet(3).over(["only"])
    assert belief.mean == belief.mode == {"only": 1}
    assert belief.interval() == {"only": (1.0, 1.0)}
    with pytest.raises(Unsupported, match="always 1"):
        belief.marginal("only")


def test_sample_is_seeded_and_has_the_mean() -> None:
    belief = Dirichlet([3, 1])
    draws = belief.sample(20_000, seed=1)
    assert draws.shape == (20_000, 2)
    assert np.array_equal(draws, belief.sample(20_000, seed=1))
    assert draws.mean(axis=0) == pytest.approx([0.75, 0.25], abs=0.01)
    assert draws.sum(axis=1) == pytest.approx(np.ones(20_000))


def test_repr_is_python_and_str_tells_the_equivalents() -> None:
    third = Fraction(1, 3)
    beliefs = [Dirichlet(2), Dirichlet([1, third]), Dirichlet({"a": 0.5}, rest=2)]
    for belief in [*beliefs, Dirichlet(2).over(["a", "b"])]:
        assert eval(repr(belief), {"Dirichlet": Dirichlet, "Fraction": Fraction}) == belief
    assert str(Dirichlet(2)) == (
        "Dirichlet(2): by its mode (MAP) a pseudo-count of 1 per value, scikit-learn's alpha=1; "
        "by its mean a pseudo-count of 2 per value, scikit-learn's alpha=2"
    )
    assert Dirichlet([2, 1]).equivalents()["mean"] == "pseudo-counts of 2, 1"
    assert "no alpha of scikit-learn" in Dirichlet(0.5).equivalents()["mode (MAP)"]


def test_order_matters_to_numbers_not_to_names() -> None:
    assert Dirichlet({"a": 1, "b": 2}) == Dirichlet({"b": 2, "a": 1})
    assert Dirichlet([1, 2]) != Dirichlet([2, 1])
    assert Dirichlet([2, 2]) != Dirichlet(2)


def test_a_belief_can_be_hashed_copied_and_pickled() -> None:
    belief = Dirichlet({"a": 2, "b": 0.5})
    assert {belief: 1}[Dirichlet({"b": 0.5, "a": 2.0})] == 1
    assert sum(belief.mean.values()) == 1
    assert copy.deepcopy(belief) == pickle.loads(pickle.dumps(belief)) == belief
    belief.mean.clear()
    assert belief.values == ("a", "b")
