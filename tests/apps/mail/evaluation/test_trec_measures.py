"""Figures: exact on courses known beforehand, and on counts that were published."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from tests.apps.mail.evaluation.scripted_filter import course
from weigh.apps.mail.evaluation.trec_measures import (
    MEASURE_NAMES,
    compare_pair,
    filter_measures,
    lam,
    mcnemar_p_value,
    one_minus_roca,
    spam_misclassification_at,
)
from weigh.judge.metrics.confidence_intervals import Measure

LEVEL = 0.95


def found(is_spam: list[bool], scores: list[float]) -> dict[str, Measure]:
    return {measure.name: measure for measure in filter_measures(course(is_spam, scores), LEVEL)}


def counted(ham_errors: int, hams: int, spam_errors: int, spams: int) -> dict[str, Measure]:
    """The figures of a filter with so many errors."""
    ham = [1.0] * ham_errors + [-1.0] * (hams - ham_errors)
    spam = [-1.0] * spam_errors + [1.0] * (spams - spam_errors)
    return found([False] * hams + [True] * spams, ham + spam)


# TP, TN, FP, FN of DSPAM on the SpamAssassin corpus, from its documentation.
PUBLISHED = [
    ((1605, 4147, 3, 291), 0.07, 15.35, 1.13),
    ((1804, 4141, 9, 92), 0.22, 4.85, 1.04),
    ((1808, 4142, 8, 88), 0.19, 4.64, 0.96),
    ((1730, 4147, 3, 166), 0.07, 8.76, 0.83),
]


@pytest.mark.parametrize(("counts", "hm", "sm", "average"), PUBLISHED)
def test_published_counts_give_published_figures(
    counts: tuple[int, int, int, int], hm: float, sm: float, average: float
) -> None:
    hits, rights, lost, passed = counts
    measures = counted(lost, lost + rights, passed, passed + hits)
    assert round(measures["hm"].value, 2) == hm
    assert round(measures["sm"].value, 2) == sm
    assert round(measures["lam"].value, 2) == average
    assert measures["accuracy"].value == pytest.approx(100 * (hits + rights) / sum(counts))


def test_the_trec_corpus_gives_the_published_averages_too() -> None:
    assert round(100 * lam(52, 39347 + 52, 1604, 51186 + 1604), 2) == 0.64
    assert round(100 * lam(189, 39210 + 189, 770, 52020 + 770), 2) == 0.84


def test_lam_is_the_logistic_of_the_mean_logit() -> None:
    hm, sm = 3 / 100, 20 / 50
    mean = (math.log(hm / (1 - hm)) + math.log(sm / (1 - sm))) / 2
    assert lam(3, 100, 20, 50) == pytest.approx(1 / (1 + math.exp(-mean)), rel=1e-14)


@given(st.integers(1, 300), st.integers(1, 300), st.data())
def test_lam_rises_with_errors_and_lies_between_the_two(hams: int, spams: int, data: st.DataObject) -> None:
    lost, passed = data.draw(st.integers(0, hams)), data.draw(st.integers(0, spams))
    value = lam(lost, hams, passed, spams)
    assert 0 < value < 1
    if lost < hams:
        assert lam(lost + 1, hams, passed, spams) > value
    if 0 < lost < hams and 0 < passed < spams:
        assert min(lost / hams, passed / spams) <= value * (1 + 1e-12)
        assert value <= max(lost / hams, passed / spams) * (1 + 1e-12)


def test_no_errors_count_as_half_a_mail() -> None:
    assert lam(0, 100, 100, 100) == pytest.approx(0.5)
    p, q = 0.5 / 100.5, 10 / 50
    mean = (math.log(p / (1 - p)) + math.log(q / (1 - q))) / 2
    assert lam(0, 100, 10, 50) == pytest.approx(1 / (1 + math.exp(-mean)))


def test_what_is_unsure_is_delivered() -> None:
    tried = course([False, True, True], [-0.5, -0.5, 1.0])
    unsure = np.array([True, True, False])
    measures = {
        each.name: each.value
        for each in filter_measures(type(tried)(**{**vars(tried), "is_unsure": unsure}), LEVEL)
    }
    assert measures["hm"] == 0.0
    assert measures["sm"] == 50.0
    assert measures["unsure"] == pytest.approx(100 * 2 / 3)


def test_intervals_of_shares_are_exact() -> None:
    measure = counted(3, 200, 5, 50)["hm"]
    low, high = stats.binomtest(3, 200).proportion_ci(LEVEL, "exact")
    assert (measure.low, measure.high) == (pytest.approx(100 * low), pytest.approx(100 * high))


SCORES = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0, math.inf])), min_size=2
)


@given(SCORES)
def test_one_minus_roca_counts_pairs_and_halves_ties(rows: list[tuple[bool, float]]) -> None:
    hams = [score for is_spam, score in rows if not is_spam]
    spams = [score for is_spam, score in rows if is_spam]
    value = one_minus_roca(np.array([score for _, score in rows]), np.array([kind for kind, _ in rows]))
    if not hams or not spams:
        assert math.isnan(value)
        return
    pairs = sum((ham > spam) + (ham == spam) / 2 for ham in hams for spam in spams)
    assert value == pytest.approx(pairs / (len(hams) * len(spams)), abs=1e-12)


@given(SCORES, st.randoms())
def test_the_order_of_mails_does_not_change_a_figure(rows: list[tuple[bool, float]], rng: Random) -> None:
    mixed = rng.sample(rows, len(rows))
    here, there = (found(*map(list, zip(*each, strict=True))) for each in (rows, mixed))
    assert [measure.value for measure in here.values()] == pytest.approx(
        [measure.value for measure in there.values()], nan_ok=True, abs=1e-12
    )


def test_one_minus_roca_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    is_spam = rng.random(500) < 0.4
    scores = np.round(rng.normal(size=500) + is_spam, 1)
    measure = found(is_spam.tolist(), scores.tolist())["1-roca"]
    assert measure.value == pytest.approx(100 * (1 - roc_auc_score(is_spam, scores)))
    assert 0 < measure.low < measure.value < measure.high


def thresholds_tried(hams: list[float], spams: list[float], most: float) -> float:
    """The least spam let through over all thresholds that lose few enough ham, one by one."""
    return min(
        sum(score < cut for score in spams) / len(spams)
        for cut in [-math.inf, *hams, *spams, *np.nextafter([*hams, *spams], math.inf), math.inf]
        if sum(score >= cut for score in hams) <= most * len(hams)
    )


NUMBERS = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=30)


@given(NUMBERS, NUMBERS, st.sampled_from([0.0, 0.001, 0.1, 0.25, 0.5]))
def test_spam_lost_is_the_least_over_all_thresholds(
    hams: list[float], spams: list[float], most: float
) -> None:
    assert spam_misclassification_at(np.array(hams), np.array(spams), most) == thresholds_tried(
        hams, spams, most
    )


def test_a_thousandth_of_three_thousand_is_three() -> None:
    hams = np.array([9.0, 8.0, 7.0, 6.0, *[-1.0] * 2996])
    assert spam_misclassification_at(hams, np.array([5.0, 6.5, 7.5, 9.5])) == 0.25
    assert spam_misclassification_at(hams[:-1], np.array([5.0, 6.5, 7.5, 9.5])) == 0.5


def test_a_product_that_rounds_to_below_a_whole_number_is_that_number() -> None:
    hams = np.arange(100.0)
    assert 100 * 0.29 < 29
    assert spam_misclassification_at(hams, np.array([70.5, 69.5]), 0.29) == 0.5


def test_a_filter_that_always_says_the_same_lets_all_spam_through() -> None:
    measure = found([False] * 50 + [True] * 50, [0.5] * 100)["sm_at_hm"]
    assert measure.value == measure.high == 100
    assert measure.low > 90


def test_the_drawn_intervals_are_near_the_bootstrap_over_mails() -> None:
    rng = np.random.default_rng(5)
    hams, spams = rng.normal(size=2500), rng.normal(loc=3.0, size=1500)
    measure = found([False] * 2500 + [True] * 1500, [*hams, *spams])["sm_at_hm"]
    again = [spam_misclassification_at(rng.choice(hams, 2500), rng.choice(spams, 1500)) for _ in range(1500)]
    low, high = 100 * np.quantile(again, [0.025, 0.975])
    assert (measure.low, measure.high) == (pytest.approx(low, abs=2.5), pytest.approx(high, abs=2.5))
    assert measure.low < measure.value < measure.high


def test_without_errors_intervals_begin_at_the_value_and_do_not_end_there() -> None:
    measures = counted(0, 400, 0, 300)
    for name in ("hm", "sm", "sm_at_hm", "1-roca"):
        assert measures[name].value == measures[name].low == 0.0
        assert 0 < measures[name].high < 3
    assert measures["lam"].low <= measures["lam"].value < measures["lam"].high < 1


def test_intervals_of_lam_cover_the_true_average() -> None:
    rng = np.random.default_rng(8)
    hm, sm = 0.004, 0.06
    odds = math.sqrt(hm / (1 - hm) * sm / (1 - sm))
    covered = 0
    for _ in range(200):
        measure = counted(rng.binomial(1000, hm), 1000, rng.binomial(500, sm), 500)["lam"]
        covered += measure.low <= 100 * odds / (1 + odds) <= measure.high
    assert covered >= 180


def test_one_kind_of_mail_has_only_its_own_figures() -> None:
    measures = found([False, False], [-1.0, 1.0])
    assert measures["hm"].value == 50.0
    assert all(math.isnan(measures[name].value) for name in ("sm", "lam", "1-roca", "sm_at_hm"))


def test_all_figures_are_there_under_their_names() -> None:
    assert tuple(found([False, True], [-1.0, 1.0])) == MEASURE_NAMES


@pytest.mark.parametrize(
    ("first", "second"), [(0, 0), (1, 0), (0, 5), (3, 9), (10, 10), (250, 300), (40, 4000)]
)
def test_mcnemar_is_the_exact_binomial_test(first: int, second: int) -> None:
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar_p_value(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_p_value(second, first) == mcnemar_p_value(first, second)


def test_mails_that_one_alone_misjudged_are_counted() -> None:
    is_spam = [True, True, False, False]
    first, second = course(is_spam, [1, -1, 1, 1], "a"), course(is_spam, [-1, -1, -1, -1], "b")
    pair = compare_pair(first, second, 0.95)
    assert (pair.first_alone, pair.second_alone) == (2, 1)
    assert pair.error_p == 1.0
    assert pair.difference == pytest.approx(100 * (0.75 - 0.5))


def test_the_interval_of_the_difference_is_near_that_of_the_bootstrap_over_mails() -> None:
    rng = np.random.default_rng(2)
    is_spam = np.arange(600) < 250
    shared = rng.normal(size=600) + 1.5 * is_spam
    one, other = shared + 0.4 * rng.normal(size=600), shared + 0.2 * rng.normal(size=600)
    pair = compare_pair(
        course(is_spam.tolist(), one.tolist()), course(is_spam.tolist(), other.tolist()), 0.95
    )

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
    pair = compare_pair(same, same, 0.95)
    assert (pair.difference, pair.area_p, pair.error_p) == (0.0, 1.0, 1.0)


def test_one_kind_of_mail_has_no_areas_to_compare() -> None:
    same = course([True, True], [3, 1])
    assert math.isnan(compare_pair(same, same, 0.95).difference)
