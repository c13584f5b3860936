"""Tests of the measures on scripted runs and on published counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from tests.apps.mail.evaluation.scripted_filter import filter_run
from weigh.apps.mail.evaluation.trec_measures import (
    MEASURE_NAMES,
    compare_pair,
    filter_measures,
    lam,
    one_minus_roca,
    spam_misclassification_at,
)
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.ranking import rank_rows

LEVEL = 0.95


def measures_of(is_spam: list[bool], scores: list[float]) -> dict[str, Measure]:
    return {measure.name: measure for measure in filter_measures(filter_run(is_spam, scores), LEVEL)}


def measures_from_counts(ham_errors: int, hams: int, spam_errors: int, spams: int) -> dict[str, Measure]:
    """Return the measures of a filter with these error counts."""
    ham = [1.0] * ham_errors + [-1.0] * (hams - ham_errors)
    spam = [-1.0] * spam_errors + [1.0] * (spams - spam_errors)
    return measures_of([False] * hams + [True] * spams, ham + spam)


# TP, TN, FP, FN of DSPAM on the SpamAssassin corpus, from its documentation.
PUBLISHED = [
    ((1605, 4147, 3, 291), 0.07, 15.35, 1.13),
    ((1804, 4141, 9, 92), 0.22, 4.85, 1.04),
    ((1808, 4142, 8, 88), 0.19, 4.64, 0.96),
    ((1730, 4147, 3, 166), 0.07, 8.76, 0.83),
]


@pytest.mark.parametrize(("counts", "hm", "sm", "average"), PUBLISHED)
def test_published_counts_give_published_measures(
    counts: tuple[int, int, int, int], hm: float, sm: float, average: float
) -> None:
    true_positives, true_negatives, false_positives, false_negatives = counts
    measures = measures_from_counts(
        false_positives, false_positives + true_negatives, false_negatives, false_negatives + true_positives
    )
    assert round(measures["hm"].value, 2) == hm
    assert round(measures["sm"].value, 2) == sm
    assert round(measures["lam"].value, 2) == average
    assert measures["accuracy"].value == pytest.approx(100 * (true_positives + true_negatives) / sum(counts))


def test_the_trec_corpus_gives_the_published_averages_too() -> None:
    assert round(100 * lam(52, 39347 + 52, 1604, 51186 + 1604), 2) == 0.64
    assert round(100 * lam(189, 39210 + 189, 770, 52020 + 770), 2) == 0.84


def test_lam_is_the_logistic_of_the_mean_logit() -> None:
    hm, sm = 3 / 100, 20 / 50
    mean = (math.log(hm / (1 - hm)) + math.log(sm / (1 - sm))) / 2
    assert lam(3, 100, 20, 50) == pytest.approx(1 / (1 + math.exp(-mean)), rel=1e-14)


@given(st.integers(1, 300), st.integers(1, 300), st.data())
def test_lam_increases_with_errors_and_lies_between_the_two_rates(
    hams: int, spams: int, data: st.DataObject
) -> None:
    ham_errors, spam_errors = data.draw(st.integers(0, hams)), data.draw(st.integers(0, spams))
    value = lam(ham_errors, hams, spam_errors, spams)
    assert 0 < value < 1
    if ham_errors < hams:
        assert lam(ham_errors + 1, hams, spam_errors, spams) > value
    if 0 < ham_errors < hams and 0 < spam_errors < spams:
        assert min(ham_errors / hams, spam_errors / spams) <= value * (1 + 1e-12)
        assert value <= max(ham_errors / hams, spam_errors / spams) * (1 + 1e-12)


def test_no_errors_count_as_half_a_mail() -> None:
    assert lam(0, 100, 100, 100) == pytest.approx(0.5)
    p, q = 0.5 / 100.5, 10 / 50
    mean = (math.log(p / (1 - p)) + math.log(q / (1 - q))) / 2
    assert lam(0, 100, 10, 50) == pytest.approx(1 / (1 + math.exp(-mean)))


def test_unsure_mail_counts_as_delivered() -> None:
    run = filter_run([False, True, True], [-0.5, -0.5, 1.0])
    unsure = np.array([True, True, False])
    measures = {
        each.name: each.value
        for each in filter_measures(type(run)(**{**vars(run), "is_unsure": unsure}), LEVEL)
    }
    assert measures["hm"] == 0.0
    assert measures["sm"] == 50.0
    assert measures["unsure"] == pytest.approx(100 * 2 / 3)


def test_intervals_of_rates_are_exact() -> None:
    measure = measures_from_counts(3, 200, 5, 50)["hm"]
    low, high = stats.binomtest(3, 200).proportion_ci(LEVEL, "exact")
    assert (measure.low, measure.high) == (pytest.approx(100 * low), pytest.approx(100 * high))


SCORES = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0, math.inf])), min_size=2
)


@given(SCORES)
def test_one_minus_roca_counts_pairs_and_halves_ties(rows: list[tuple[bool, float]]) -> None:
    hams = [score for is_spam, score in rows if not is_spam]
    spams = [score for is_spam, score in rows if is_spam]
    ranking = rank_rows(np.array([score for _, score in rows]), np.array([is_spam for is_spam, _ in rows]))
    value = one_minus_roca(ranking)
    if not hams or not spams:
        assert math.isnan(value)
        return
    pairs = sum((ham > spam) + (ham == spam) / 2 for ham in hams for spam in spams)
    assert value == pytest.approx(pairs / (len(hams) * len(spams)), abs=1e-12)


@given(SCORES, st.randoms())
def test_the_order_of_mails_does_not_change_a_measure(rows: list[tuple[bool, float]], rng: Random) -> None:
    shuffled = rng.sample(rows, len(rows))
    first, second = (measures_of(*map(list, zip(*each, strict=True))) for each in (rows, shuffled))
    assert [measure.value for measure in first.values()] == pytest.approx(
        [measure.value for measure in second.values()], nan_ok=True, abs=1e-12
    )


def test_one_minus_roca_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    is_spam = rng.random(500) < 0.4
    scores = np.round(rng.normal(size=500) + is_spam, 1)
    measure = measures_of(is_spam.tolist(), scores.tolist())["1-roca"]
    assert measure.value == pytest.approx(100 * (1 - roc_auc_score(is_spam, scores)))
    assert 0 < measure.low < measure.value < measure.high


def spam_error(hams: Sequence[float], spams: Sequence[float], *max_ham_loss: float) -> float:
    is_spam = np.arange(len(hams) + len(spams)) >= len(hams)
    return spam_misclassification_at(rank_rows(np.array([*hams, *spams]), is_spam), *max_ham_loss)


def brute_force_spam_error(hams: list[float], spams: list[float], max_ham_loss: float) -> float:
    """Return the smallest share of spam missed over all thresholds that lose few enough ham."""
    return min(
        sum(score < threshold for score in spams) / len(spams)
        for threshold in [-math.inf, *hams, *spams, *np.nextafter([*hams, *spams], math.inf), math.inf]
        if sum(score >= threshold for score in hams) <= max_ham_loss * len(hams)
    )


NUMBERS = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=30)


@given(NUMBERS, NUMBERS, st.sampled_from([0.0, 0.001, 0.1, 0.25, 0.5]))
def test_spam_misclassification_is_the_smallest_over_all_thresholds(
    hams: list[float], spams: list[float], max_ham_loss: float
) -> None:
    expected = brute_force_spam_error(hams, spams, max_ham_loss)
    assert spam_error(hams, spams, max_ham_loss) == expected


def test_a_thousandth_of_three_thousand_ham_is_three() -> None:
    hams = [9.0, 8.0, 7.0, 6.0, *[-1.0] * 2996]
    assert spam_error(hams, [5.0, 6.5, 7.5, 9.5]) == 0.25
    assert spam_error(hams[:-1], [5.0, 6.5, 7.5, 9.5]) == 0.5


def test_a_product_rounded_just_below_an_integer_counts_as_the_integer() -> None:
    hams = [float(score) for score in range(100)]
    assert 100 * 0.29 < 29
    assert spam_error(hams, [70.5, 69.5], 0.29) == 0.5


def test_a_filter_with_constant_scores_misses_all_spam() -> None:
    measure = measures_of([False] * 50 + [True] * 50, [0.5] * 100)["sm_at_hm"]
    assert measure.value == measure.high == 100
    assert measure.low > 90


def test_intervals_from_draws_are_close_to_the_bootstrap_over_mails() -> None:
    rng = np.random.default_rng(5)
    hams, spams = rng.normal(size=2500), rng.normal(loc=3.0, size=1500)
    measure = measures_of([False] * 2500 + [True] * 1500, [*hams, *spams])["sm_at_hm"]
    resampled = [spam_error(rng.choice(hams, 2500), rng.choice(spams, 1500)) for _ in range(1500)]
    low, high = 100 * np.quantile(resampled, [0.025, 0.975])
    assert (measure.low, measure.high) == (pytest.approx(low, abs=2.5), pytest.approx(high, abs=2.5))
    assert measure.low < measure.value < measure.high


def test_without_errors_intervals_start_at_the_value_but_have_positive_width() -> None:
    measures = measures_from_counts(0, 400, 0, 300)
    for name in ("hm", "sm", "sm_at_hm", "1-roca"):
        assert measures[name].value == measures[name].low == 0.0
        assert 0 < measures[name].high < 3
    assert measures["lam"].low <= measures["lam"].value < measures["lam"].high < 1


def test_intervals_of_lam_cover_the_true_value() -> None:
    rng = np.random.default_rng(8)
    hm, sm = 0.004, 0.06
    odds = math.sqrt(hm / (1 - hm) * sm / (1 - sm))
    n_covered = 0
    for _ in range(200):
        measure = measures_from_counts(rng.binomial(1000, hm), 1000, rng.binomial(500, sm), 500)["lam"]
        n_covered += measure.low <= 100 * odds / (1 + odds) <= measure.high
    assert n_covered >= 180


def test_mail_of_one_label_has_only_the_measures_of_that_label() -> None:
    measures = measures_of([False, False], [-1.0, 1.0])
    assert measures["hm"].value == 50.0
    assert all(math.isnan(measures[name].value) for name in ("sm", "lam", "1-roca", "sm_at_hm"))


def test_all_measures_have_their_names() -> None:
    assert tuple(measures_of([False, True], [-1.0, 1.0])) == MEASURE_NAMES


def test_discordant_mails_are_counted() -> None:
    is_spam = [True, True, False, False]
    first, second = filter_run(is_spam, [1, -1, 1, 1], "a"), filter_run(is_spam, [-1, -1, -1, -1], "b")
    pair = compare_pair(first, second, 0.95)
    assert (pair.first_alone, pair.second_alone) == (2, 1)
    assert pair.error_p == 1.0
    assert pair.difference == pytest.approx(100 * (0.75 - 0.5))


def test_the_interval_of_the_difference_is_close_to_the_bootstrap_over_mails() -> None:
    rng = np.random.default_rng(2)
    is_spam = np.arange(600) < 250
    shared = rng.normal(size=600) + 1.5 * is_spam
    one, other = shared + 0.4 * rng.normal(size=600), shared + 0.2 * rng.normal(size=600)
    pair = compare_pair(
        filter_run(is_spam.tolist(), one.tolist()), filter_run(is_spam.tolist(), other.tolist()), 0.95
    )

    def loss(scores: np.ndarray, is_spam: np.ndarray) -> float:
        hams, spams = scores[~is_spam], scores[is_spam]
        return float((hams[:, None] > spams[None, :]).mean())

    resampled = []
    for _ in range(500):
        rows = np.concatenate([rng.integers(0, 250, 250), rng.integers(250, 600, 350)])
        resampled.append(100 * (loss(one[rows], is_spam[rows]) - loss(other[rows], is_spam[rows])))
    assert pair.difference == pytest.approx(100 * (loss(one, is_spam) - loss(other, is_spam)))
    assert (pair.high - pair.low) / 2 / 1.96 == pytest.approx(np.std(resampled), rel=0.15)
    assert pair.area_p == pytest.approx(2 * stats.norm.sf(pair.difference / np.std(resampled)), abs=0.02)


def test_a_filter_does_not_differ_from_itself() -> None:
    same = filter_run([True, False, True, False], [3, 1, -1, 2])
    pair = compare_pair(same, same, 0.95)
    assert (pair.difference, pair.area_p, pair.error_p) == (0.0, 1.0, 1.0)


def test_mail_of_one_label_has_no_rankings_to_compare() -> None:
    same = filter_run([True, True], [3, 1])
    assert math.isnan(compare_pair(same, same, 0.95).difference)
