"""B3: MAP with Beta and Dirichlet priors; B2's +1 seen as a prior."""

from __future__ import annotations

from fractions import Fraction

import pytest

from weigh.errors import Unsupported
from weigh.priors import Beta, Dirichlet, exact_estimates, pseudo_counts

TOSSES = "HHTH TTTH TTTT HTTT".replace(" ", "")
HEADS, TAILS = TOSSES.count("H"), TOSSES.count("T")


def test_coin_by_maximum_likelihood_is_5_of_16() -> None:
    pseudo = pseudo_counts(None, ["T", "H"])
    assert exact_estimates([Fraction(TAILS), Fraction(HEADS)], pseudo)[1] == Fraction(5, 16)


def test_coin_under_beta_2_2_is_one_third() -> None:
    assert Beta(2, 2).posterior(heads=HEADS, tails=TAILS).mode == Fraction(1, 3)
    pseudo = pseudo_counts(Beta(2, 2), ["T", "H"])
    assert exact_estimates([Fraction(TAILS), Fraction(HEADS)], pseudo)[1] == Fraction(1, 3)


def test_the_influence_of_the_prior_shrinks_with_100_times_the_data() -> None:
    frequency = Fraction(5, 16)
    once = Beta(2, 2).posterior(heads=HEADS, tails=TAILS).mode - frequency
    often = Beta(2, 2).posterior(heads=100 * HEADS, tails=100 * TAILS).mode - frequency
    assert once == Fraction(1, 48)
    assert often == Fraction(501, 1602) - frequency
    assert 0 < often < once / 80


def test_each_value_has_its_own_parameter() -> None:
    counts, b = [3, 0, 2], [2, 3, 1]
    total = sum(counts) + sum(b_k - 1 for b_k in b)
    expected = [Fraction(n + b_k - 1, total) for n, b_k in zip(counts, b, strict=True)]
    assert list(Dirichlet(b).posterior(counts).mode.values()) == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"high": 1, "medium": 0, "low": 1}, ["2/5", "1/5", "2/5"]),
        ({"high": 1, "medium": 1, "low": 1}, ["2/6", "2/6", "2/6"]),
        ({False: 0, True: 2}, ["1/4", "3/4"]),
    ],
)
def test_plus_one_is_map_under_dirichlet_2_and_the_mean_under_dirichlet_1(
    counts: dict[object, int], expected: list[str]
) -> None:
    fractions = [Fraction(text) for text in expected]
    assert list(Dirichlet(2).posterior(counts).mode.values()) == fractions
    assert list(Dirichlet(1).posterior(counts).mean.values()) == fractions
    seen = [Fraction(n) for n in counts.values()]
    for prior in (1, 1.0, Dirichlet(2)):
        assert exact_estimates(seen, pseudo_counts(prior, list(counts))) == fractions


def test_a_parameter_below_1_puts_the_mode_at_the_boundary_never_below_0() -> None:
    assert Beta(0.5, 2).mode == 0
    assert Beta(2, 0.5).mode == 1
    assert Beta(0.5, 2).posterior(heads=0, tails=9).mode == 0
    assert Dirichlet([0.5, 3, 2]).mode == {0: 0, 1: Fraction(2, 3), 2: Fraction(1, 3)}


def test_beta_1_1_without_data_has_no_mode() -> None:
    with pytest.raises(Unsupported, match="Beta\\(1, 1\\) has no mode: it is flat"):
        _ = Beta(1, 1).mode
    assert Beta(1, 1).posterior(heads=HEADS, tails=TAILS).mode == Fraction(5, 16)


def test_the_full_posterior_of_the_coin_is_available() -> None:
    coin = Beta(2, 2).posterior(heads=HEADS, tails=TAILS)
    assert coin.mean == coin.predictive == Fraction(7, 20)
    low, high = coin.interval(0.95)
    assert low < coin.mode < coin.mean < high
