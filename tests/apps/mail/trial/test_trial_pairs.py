"""Pairs of filters: McNemar's test against scipy, areas against the bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.apps.mail.trial.scripted import course
from weigh.apps.mail.trial.pairs import filter_pair, mcnemar


@pytest.mark.parametrize(
    ("first", "second"), [(0, 0), (1, 0), (0, 5), (3, 9), (10, 10), (250, 300), (40, 4000)]
)
def test_mcnemar_is_the_exact_binomial_test(first: int, second: int) -> None:
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(second, first) == mcnemar(first, second)


def test_mails_that_one_alone_misjudged_are_counted() -> None:
    is_spam = [True, True, False, False]
    first, second = course(is_spam, [1, -1, 1, 1], "a"), course(is_spam, [-1, -1, -1, -1], "b")
    pair = filter_pair(first, second, 0.95)
    assert (pair.first_alone, pair.second_alone) == (2, 1)
    assert pair.error_p == 1.0
    assert pair.difference == pytest.approx(100 * (0.75 - 0.5))


def test_the_interval_of_the_difference_is_near_that_of_the_bootstrap_over_mails() -> None:
    rng = np.random.default_rng(2)
    is_spam = np.arange(600) < 250
    shared = rng.normal(size=600) + 1.5 * is_spam
    one, other = shared + 0.4 * rng.normal(size=600), shared + 0.2 * rng.normal(size=600)
    pair = filter_pair(course(is_spam.tolist(), one.tolist()), course(is_spam.tolist(), other.tolist()), 0.95)

    def loss(scores: np.ndarray, kinds: np.ndarray) -> float:
        hams, spams = scores[~kinds], scores[kinds]
        return float((hams[:, None] > spams[None, :]).mean())

    again = []
    for _ in range(500):
        rows = np.concatenate([rng.integers(0, 250, 250), rng.integers(250, 600, 350)])
        again.append(100 * (loss(one[rows], is_spam[rows]) - loss(other[rows], is_spam[rows])))
    assert pair.difference == pytest.approx(100 * (loss(one, is_spam) - loss(other, is_spam)))
    assert (pair.high - pair.low) / 2 / 1.96 == pytest.approx(np.std(again), rel=0.15)
    assert pair.area_p == pytest.approx(2 * stats.norm.sf(pair.difference / np.std(again)), abs=0.02)


def test_a_filter_does_not_differ_from_itself() -> None:
    same = course([True, False, True, False], [3, 1, -1, 2])
    pair = filter_pair(same, same, 0.95)
    assert (pair.difference, pair.area_p, pair.error_p) == (0.0, 1.0, 1.0)


def test_one_kind_of_mail_has_no_areas_to_compare() -> None:
    same = course([True, True], [3, 1])
    assert math.isnan(filter_pair(same, same, 0.95).difference)
