"""The bound on false alarms: laws of its threshold, and the held-out text."""

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

PROBABILITIES = st.lists(
    st.sampled_from([0.4, 0.5, 0.6, 0.7, 0.7000001, 0.8, 0.9, 0.99, 1.0]), max_size=40
).map(np.array)
RATES = st.one_of(st.sampled_from([0.1, 0.3, 0.5, 1.0, 2.0]), st.floats(0.01, 50))
WORDS = st.integers(1, 2_000_000)


def alarms_above(threshold: float, probabilities: np.ndarray) -> int:
    return int((probabilities > threshold).sum())


def is_within(alarms: int, words: int, rate: float) -> bool:
    return alarm_rate_limit(alarms, words) <= rate


@pytest.mark.parametrize(
    ("alarms", "words"), [(0, 1), (0, 59_000), (1, 1), (1, 2), (7, 7), (25, 692_898), (4, 3)]
)
def test_limit_equals_clopper_pearson(alarms, words):
    exact = binomtest(min(alarms, words), words, alternative="less").proportion_ci(0.95, "exact")
    assert alarm_rate_limit(alarms, words) == pytest.approx(RATE_WORDS * exact.high)


@pytest.mark.parametrize("rate", [0.3, 0.5, 1.0, 4.0])
def test_limit_has_five_percent_error(rate):
    words = 200_000
    counts = np.arange(400)
    passing = [alarm_rate_limit(int(alarms), words) <= rate for alarms in counts]
    assert any(passing)
    assert binom.pmf(counts, words, rate / RATE_WORDS)[passing].sum() <= 0.05


@given(rate=RATES, probabilities=PROBABILITIES, words=WORDS)
@example(rate=0.3, probabilities=np.array([0.9, 0.8, 0.7, 0.6]), words=100_000)
def test_alarms_never_exceed_the_rate(rate, probabilities, words):
    bound = FalseAlarmBound.for_rate(rate, probabilities, words)
    assert bound.alarms == alarms_above(bound.threshold, probabilities)
    assert bound.promised == alarm_rate_limit(bound.alarms, words)
    assert is_within(bound.alarms, words, rate) == bound.has_enough_text == is_within(0, words, rate)


@given(rate=RATES, probabilities=PROBABILITIES, words=WORDS)
@example(rate=0.3, probabilities=np.array([0.9, 0.8, 0.7, 0.6]), words=100_000)
@example(rate=25 * RATE_WORDS / 692_898, probabilities=np.linspace(0.6, 0.9, 90), words=692_898)
def test_threshold_is_the_smallest_possible(rate, probabilities, words):
    bound = FalseAlarmBound.for_rate(rate, probabilities, words)
    assert bound.threshold >= MIN_THRESHOLD
    allowed = is_within if bound.has_enough_text else lambda alarms, words, rate: alarms == 0
    smaller = {MIN_THRESHOLD, *probabilities[probabilities >= MIN_THRESHOLD].tolist()}
    for threshold in sorted(each for each in smaller if each < bound.threshold):
        assert not allowed(alarms_above(threshold, probabilities), words, rate)


@given(probabilities=PROBABILITIES, words=st.integers(1, 59_900))
def test_short_text_allows_no_alarm_and_warns(probabilities, words):
    bound = FalseAlarmBound.for_rate(0.5, probabilities, words)
    assert bound.alarms == 0
    assert bound.threshold == max([MIN_THRESHOLD, *probabilities.tolist()])
    assert bound.promised == pytest.approx(RATE_WORDS * (1 - 0.05 ** (1 / words)))
    assert bound.shortfall_warning.startswith(
        "There is too little text to promise 0.5 false alarms per 10,000 words: "
    )


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-11])
def test_impossible_amounts_of_text_are_not_advised(rate):
    assert FalseAlarmBound.for_rate(rate, np.array([0.7]), 10_000).shortfall_warning.endswith(
        "no rate below 2.995. Allow more alarms."
    )


@given(probabilities=PROBABILITIES, words=WORDS, rates=st.tuples(RATES, RATES))
def test_threshold_decreases_with_the_rate(probabilities, words, rates):
    low, high = (FalseAlarmBound.for_rate(rate, probabilities, words) for rate in sorted(rates))
    assert high.threshold <= low.threshold


def test_threshold_computed_by_hand():
    # Two alarms have a limit of 0.6296, three one of 0.7754, so the third largest one is the threshold.
    bound = FalseAlarmBound.for_rate(0.7, np.array([0.7, 0.99, 0.6, 0.9]), 100_000)
    assert bound == FalseAlarmBound(0.7, 0.7, 100_000, 2, pytest.approx(0.6296, abs=0.0001))
    assert bound.has_enough_text
    assert bound.shortfall_warning == ""
    assert str(bound) == (
        "at most 0.7 false alarms per 10,000 words (95 % confidence): suggests above P = 0.7000 (2 alarms in "
        "100,000 held-out words)"
    )


def test_equal_probabilities_are_all_excluded():
    bound = FalseAlarmBound.for_rate(0.7, np.array([0.9, 0.8, 0.8, 0.8, 0.7]), 100_000)
    assert (bound.threshold, bound.alarms, bound.promised) == (0.8, 1, alarm_rate_limit(1, 100_000))


def test_shortfall_warning_states_the_text_needed():
    assert FalseAlarmBound.for_rate(0.5, np.array([0.9]), 4_000).shortfall_warning == (
        "There is too little text to promise 0.5 false alarms per 10,000 words: 4,000 held-out words can "
        "show no rate below 7.487. Learn from 300,000 words or more, or allow more alarms."
    )


@given(rate=st.floats(0.01, 1_000))
def test_advised_amount_of_text_is_sufficient(rate):
    warning = FalseAlarmBound.for_rate(rate, np.array([0.9]), 1).shortfall_warning
    needed = int(re.search(r"Learn from ([\d,]+) words", warning)[1].replace(",", ""))
    assert FalseAlarmBound.for_rate(rate, np.array([0.9]), count_held_out_words([needed])).has_enough_text


def test_bound_round_trips_through_plain_values():
    bound = FalseAlarmBound.for_rate(0.3, np.array([0.9, 0.8]), 100_000)
    assert FalseAlarmBound.from_dict(bound.to_dict()) == bound


SIZES = st.lists(st.integers(0, 7_000), min_size=1, max_size=12)


@given(sizes=SIZES)
def test_number_of_held_out_words_equals_the_mask(sizes):
    documents = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    at = np.concatenate([np.arange(size) for size in sizes])
    assert int(held_out_mask(documents, at, sizes).sum()) == count_held_out_words(sizes)


@given(sizes=SIZES)
def test_about_a_fifth_of_the_words_is_held_out(sizes):
    total = sum(sizes)
    if total >= MIN_TRAINING_WORDS:
        assert 0.1 * total <= count_held_out_words(sizes) <= 0.4 * total


@pytest.mark.parametrize("number", [5, 6, 9])
def test_fifth_document_is_held_out(number):
    sizes = [2_000] * number
    documents, at = np.arange(number, dtype=np.int32), np.zeros(number, dtype=np.int64)
    assert held_out_mask(documents, at, sizes).tolist() == [at == 4 for at in range(number)]
    assert count_held_out_words(sizes) == 2_000


def test_fifth_block_is_held_out_if_there_are_few_documents():
    # Blocks continue from one document to the next.
    sizes = [2_500, 10_000]
    at = np.array([0, 2_400, 1_499, 1_500, 2_499, 2_500, 6_500, 7_500])
    documents = np.array([0, 0, 1, 1, 1, 1, 1, 1], dtype=np.int32)
    expected = [False, False, False, True, True, False, True, False]
    assert held_out_mask(documents, at, sizes).tolist() == expected
    assert count_held_out_words(sizes) == 2 * HELD_OUT_BLOCK_WORDS


@pytest.mark.parametrize("fifth", [10, 90_000])
def test_blocks_are_held_out_if_the_fifth_document_is_tiny_or_huge(fifth):
    sizes = [10_000] * 4 + [fifth]
    assert (
        count_held_out_words(sizes)
        == sum(sizes) // (HELD_OUT_BLOCK_WORDS * HELD_OUT_EVERY) * HELD_OUT_BLOCK_WORDS
    )


def test_one_alarm_is_singular() -> None:
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
