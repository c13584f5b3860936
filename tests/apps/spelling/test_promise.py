"""The promise of a speller: laws of its threshold, and what is held out to find it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weigh.apps.spelling.promise import BLOCK, EVERY, LEAST, LIKELY, PER, Promise, held_out, held_words

DOUBTS = st.lists(st.sampled_from([0.4, 0.5, 0.6, 0.7, 0.7000001, 0.8, 0.9, 0.99, 1.0]), max_size=40).map(
    np.array
)
RATES = st.one_of(st.sampled_from([0.1, 0.3, 0.5, 1.0, 2.0]), st.floats(0.01, 50))
WORDS = st.integers(1, 2_000_000)


def alarms_above(threshold: float, doubts: np.ndarray) -> int:
    return int((doubts > threshold).sum())


def is_kept(alarms: int, words: int, rate: float) -> bool:
    return (alarms + 1) * PER / words <= rate


@given(rate=RATES, doubts=DOUBTS, words=WORDS)
@example(rate=0.3, doubts=np.array([0.9, 0.8, 0.7, 0.6]), words=100_000)
def test_there_are_never_more_alarms_than_promised(rate, doubts, words):
    promise = Promise.kept(rate, doubts, words)
    assert promise.alarms == alarms_above(promise.threshold, doubts)
    assert promise.promised == (promise.alarms + 1) * PER / words
    assert is_kept(promise.alarms, words, rate) == promise.is_shown == (PER / words <= rate)


@given(rate=RATES, doubts=DOUBTS, words=WORDS)
@example(rate=0.3, doubts=np.array([0.9, 0.8, 0.7, 0.6]), words=100_000)
@example(rate=25 * PER / 692_898, doubts=np.linspace(0.6, 0.9, 90), words=692_898)
def test_no_smaller_threshold_would_keep_the_promise(rate, doubts, words):
    promise = Promise.kept(rate, doubts, words)
    assert promise.threshold >= LIKELY
    allowed = is_kept if promise.is_shown else lambda alarms, words, rate: alarms == 0
    smaller = {LIKELY, *doubts[doubts >= LIKELY].tolist()}
    for threshold in sorted(each for each in smaller if each < promise.threshold):
        assert not allowed(alarms_above(threshold, doubts), words, rate)


@given(doubts=DOUBTS, words=st.integers(1, 19_999))
def test_too_little_text_has_no_alarm_and_says_what_it_can_show(doubts, words):
    promise = Promise.kept(0.5, doubts, words)
    assert promise.alarms == 0
    assert promise.threshold == max([LIKELY, *doubts.tolist()])
    assert promise.promised == PER / words
    assert promise.doubt.startswith("There is too little text to promise 0.5 false alarms per 10,000 words: ")


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-11])
def test_more_text_than_there_is_is_no_advice(rate):
    assert Promise.kept(rate, np.array([0.7]), 10_000).doubt.endswith("no rate below 1. Allow more alarms.")


@given(doubts=DOUBTS, words=WORDS, rates=st.tuples(RATES, RATES))
def test_a_higher_rate_never_has_a_higher_threshold(doubts, words, rates):
    low, high = (Promise.kept(rate, doubts, words) for rate in sorted(rates))
    assert high.threshold <= low.threshold


def test_a_threshold_by_hand():
    # 100,000 words at 0.3 allow three alarms but for one: two, so that the third surest is the threshold.
    promise = Promise.kept(0.3, np.array([0.7, 0.99, 0.6, 0.9]), 100_000)
    assert promise == Promise(0.3, 0.7, 100_000, 2, 0.3)
    assert promise.is_shown
    assert promise.doubt == ""
    assert str(promise) == (
        "at most 0.3 false alarms per 10,000 words: suggests above P = 0.7000 (2 alarms in 100,000 held-out "
        "words)"
    )


def test_doubts_that_are_equal_go_together():
    promise = Promise.kept(0.3, np.array([0.9, 0.8, 0.8, 0.8, 0.7]), 100_000)
    assert (promise.threshold, promise.alarms, promise.promised) == (0.8, 1, 0.2)


def test_a_doubtful_promise_tells_how_much_text_it_needs():
    assert Promise.kept(0.5, np.array([0.9]), 4_000).doubt == (
        "There is too little text to promise 0.5 false alarms per 10,000 words: 4,000 held-out words can "
        "show no rate below 2.5. Learn from 100,000 words or more, or allow more alarms."
    )


def test_a_promise_comes_back_from_plain_values():
    promise = Promise.kept(0.3, np.array([0.9, 0.8]), 100_000)
    assert Promise.of(promise.to_dict()) == promise


SIZES = st.lists(st.integers(0, 7_000), min_size=1, max_size=12)


@given(sizes=SIZES)
def test_held_words_are_those_of_held_places(sizes):
    documents = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    at = np.concatenate([np.arange(size) for size in sizes])
    assert int(held_out(documents, at, sizes).sum()) == held_words(sizes)


@given(sizes=SIZES)
def test_about_a_fifth_is_held_out_of_enough_text(sizes):
    total = sum(sizes)
    if total >= LEAST:
        assert 0.1 * total <= held_words(sizes) <= 0.4 * total


@pytest.mark.parametrize("number", [5, 6, 9])
def test_of_five_documents_the_fifth_is_held_out(number):
    sizes = [2_000] * number
    documents, at = np.arange(number, dtype=np.int32), np.zeros(number, dtype=np.int64)
    assert held_out(documents, at, sizes).tolist() == [at == 4 for at in range(number)]
    assert held_words(sizes) == 2_000


def test_of_fewer_documents_every_fifth_block_is_held_out():
    # The blocks go on from one document to the next.
    sizes = [2_500, 10_000]
    at = np.array([0, 2_400, 1_499, 1_500, 2_499, 2_500, 6_500, 7_500])
    documents = np.array([0, 0, 1, 1, 1, 1, 1, 1], dtype=np.int32)
    expected = [False, False, False, True, True, False, True, False]
    assert held_out(documents, at, sizes).tolist() == expected
    assert held_words(sizes) == 2 * BLOCK


@pytest.mark.parametrize("fifth", [10, 90_000])
def test_a_fifth_document_that_is_tiny_or_huge_is_not_held_out_alone(fifth):
    sizes = [10_000] * 4 + [fifth]
    assert held_words(sizes) == sum(sizes) // (BLOCK * EVERY) * BLOCK
