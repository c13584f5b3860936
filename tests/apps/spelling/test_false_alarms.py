"""The promise of a speller: laws of its threshold, and what is held out to find it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from weigh.apps.spelling.false_alarms import (
    HELD_OUT_BLOCK_WORDS,
    HELD_OUT_EVERY,
    MIN_THRESHOLD,
    MIN_TRAINING_WORDS,
    RATE_WORDS,
    FalseAlarmBound,
    alarm_rate_limit,
    count_held_out_words,
    held_out_mask,
)

DOUBTS = st.lists(st.sampled_from([0.4, 0.5, 0.6, 0.7, 0.7000001, 0.8, 0.9, 0.99, 1.0]), max_size=40).map(
    np.array
)
RATES = st.one_of(st.sampled_from([0.1, 0.3, 0.5, 1.0, 2.0]), st.floats(0.01, 50))
WORDS = st.integers(1, 2_000_000)


def alarms_above(threshold: float, doubts: np.ndarray) -> int:
    return int((doubts > threshold).sum())


def is_kept(alarms: int, words: int, rate: float) -> bool:
    return alarm_rate_limit(alarms, words) <= rate


@pytest.mark.parametrize(
    ("alarms", "words"), [(0, 1), (0, 59_000), (1, 1), (1, 2), (7, 7), (25, 692_898), (4, 3)]
)
def test_the_limit_is_the_upper_one_of_clopper_and_pearson(alarms, words):
    exact = binomtest(min(alarms, words), words, alternative="less").proportion_ci(0.95, "exact")
    assert alarm_rate_limit(alarms, words) == pytest.approx(RATE_WORDS * exact.high)


@pytest.mark.parametrize("rate", [0.3, 0.5, 1.0, 4.0])
def test_a_speller_that_is_worse_than_promised_passes_once_in_twenty_texts(rate):
    words = 200_000
    counts = np.arange(400)
    passing = [alarm_rate_limit(int(alarms), words) <= rate for alarms in counts]
    assert any(passing)
    assert binom.pmf(counts, words, rate / RATE_WORDS)[passing].sum() <= 0.05


@given(rate=RATES, doubts=DOUBTS, words=WORDS)
@example(rate=0.3, doubts=np.array([0.9, 0.8, 0.7, 0.6]), words=100_000)
def test_there_are_never_more_alarms_than_promised(rate, doubts, words):
    promise = FalseAlarmBound.for_rate(rate, doubts, words)
    assert promise.alarms == alarms_above(promise.threshold, doubts)
    assert promise.promised == alarm_rate_limit(promise.alarms, words)
    assert is_kept(promise.alarms, words, rate) == promise.has_enough_text == is_kept(0, words, rate)


@given(rate=RATES, doubts=DOUBTS, words=WORDS)
@example(rate=0.3, doubts=np.array([0.9, 0.8, 0.7, 0.6]), words=100_000)
@example(rate=25 * RATE_WORDS / 692_898, doubts=np.linspace(0.6, 0.9, 90), words=692_898)
def test_no_smaller_threshold_would_keep_the_promise(rate, doubts, words):
    promise = FalseAlarmBound.for_rate(rate, doubts, words)
    assert promise.threshold >= MIN_THRESHOLD
    allowed = is_kept if promise.has_enough_text else lambda alarms, words, rate: alarms == 0
    smaller = {MIN_THRESHOLD, *doubts[doubts >= MIN_THRESHOLD].tolist()}
    for threshold in sorted(each for each in smaller if each < promise.threshold):
        assert not allowed(alarms_above(threshold, doubts), words, rate)


@given(doubts=DOUBTS, words=st.integers(1, 59_900))
def test_too_little_text_has_no_alarm_and_says_what_it_can_show(doubts, words):
    promise = FalseAlarmBound.for_rate(0.5, doubts, words)
    assert promise.alarms == 0
    assert promise.threshold == max([MIN_THRESHOLD, *doubts.tolist()])
    assert promise.promised == pytest.approx(RATE_WORDS * (1 - 0.05 ** (1 / words)))
    assert promise.shortfall_warning.startswith(
        "There is too little text to promise 0.5 false alarms per 10,000 words: "
    )


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-11])
def test_more_text_than_there_is_is_no_advice(rate):
    assert FalseAlarmBound.for_rate(rate, np.array([0.7]), 10_000).shortfall_warning.endswith(
        "no rate below 2.995. Allow more alarms."
    )


@given(doubts=DOUBTS, words=WORDS, rates=st.tuples(RATES, RATES))
def test_a_higher_rate_never_has_a_higher_threshold(doubts, words, rates):
    low, high = (FalseAlarmBound.for_rate(rate, doubts, words) for rate in sorted(rates))
    assert high.threshold <= low.threshold


def test_a_threshold_by_hand():
    # Two alarms have a limit of 6.296, three one of 7.754, so that the third surest is the threshold.
    promise = FalseAlarmBound.for_rate(0.7, np.array([0.7, 0.99, 0.6, 0.9]), 100_000)
    assert promise == FalseAlarmBound(0.7, 0.7, 100_000, 2, pytest.approx(0.6296, abs=0.0001))
    assert promise.has_enough_text
    assert promise.shortfall_warning == ""
    assert str(promise) == (
        "at most 0.7 false alarms per 10,000 words (95 % sure): suggests above P = 0.7000 (2 alarms in "
        "100,000 held-out words)"
    )


def test_doubts_that_are_equal_go_together():
    promise = FalseAlarmBound.for_rate(0.7, np.array([0.9, 0.8, 0.8, 0.8, 0.7]), 100_000)
    assert (promise.threshold, promise.alarms, promise.promised) == (0.8, 1, alarm_rate_limit(1, 100_000))


def test_a_doubtful_promise_tells_how_much_text_it_needs():
    assert FalseAlarmBound.for_rate(0.5, np.array([0.9]), 4_000).shortfall_warning == (
        "There is too little text to promise 0.5 false alarms per 10,000 words: 4,000 held-out words can "
        "show no rate below 7.487. Learn from 300,000 words or more, or allow more alarms."
    )


@given(rate=st.floats(0.01, 1_000))
def test_the_text_that_is_asked_for_is_enough(rate):
    told = FalseAlarmBound.for_rate(rate, np.array([0.9]), 1).shortfall_warning
    needed = int(re.search(r"Learn from ([\d,]+) words", told)[1].replace(",", ""))
    assert FalseAlarmBound.for_rate(rate, np.array([0.9]), count_held_out_words([needed])).has_enough_text


def test_a_promise_comes_back_from_plain_values():
    promise = FalseAlarmBound.for_rate(0.3, np.array([0.9, 0.8]), 100_000)
    assert FalseAlarmBound.from_dict(promise.to_dict()) == promise


SIZES = st.lists(st.integers(0, 7_000), min_size=1, max_size=12)


@given(sizes=SIZES)
def test_held_words_are_those_of_held_places(sizes):
    documents = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    at = np.concatenate([np.arange(size) for size in sizes])
    assert int(held_out_mask(documents, at, sizes).sum()) == count_held_out_words(sizes)


@given(sizes=SIZES)
def test_about_a_fifth_is_held_out_of_enough_text(sizes):
    total = sum(sizes)
    if total >= MIN_TRAINING_WORDS:
        assert 0.1 * total <= count_held_out_words(sizes) <= 0.4 * total


@pytest.mark.parametrize("number", [5, 6, 9])
def test_of_five_documents_the_fifth_is_held_out(number):
    sizes = [2_000] * number
    documents, at = np.arange(number, dtype=np.int32), np.zeros(number, dtype=np.int64)
    assert held_out_mask(documents, at, sizes).tolist() == [at == 4 for at in range(number)]
    assert count_held_out_words(sizes) == 2_000


def test_of_fewer_documents_every_fifth_block_is_held_out():
    # The blocks go on from one document to the next.
    sizes = [2_500, 10_000]
    at = np.array([0, 2_400, 1_499, 1_500, 2_499, 2_500, 6_500, 7_500])
    documents = np.array([0, 0, 1, 1, 1, 1, 1, 1], dtype=np.int32)
    expected = [False, False, False, True, True, False, True, False]
    assert held_out_mask(documents, at, sizes).tolist() == expected
    assert count_held_out_words(sizes) == 2 * HELD_OUT_BLOCK_WORDS


@pytest.mark.parametrize("fifth", [10, 90_000])
def test_a_fifth_document_that_is_tiny_or_huge_is_not_held_out_alone(fifth):
    sizes = [10_000] * 4 + [fifth]
    assert (
        count_held_out_words(sizes)
        == sum(sizes) // (HELD_OUT_BLOCK_WORDS * HELD_OUT_EVERY) * HELD_OUT_BLOCK_WORDS
    )


def test_one_alarm_is_told_as_one() -> None:
    assert str(FalseAlarmBound(1.0, 0.9, 100_000, 3, 0.8)).startswith(
        "at most 1 false alarm per 10,000 words "
    )
    assert str(FalseAlarmBound(2.0, 0.9, 100_000, 3, 0.8)).startswith(
        "at most 2 false alarms per 10,000 words "
    )
    assert (
        "too little text to promise 1 false alarm per 10,000 words"
        in FalseAlarmBound(1.0, 0.9, 9, 0, 9.0).shortfall_warning
    )
