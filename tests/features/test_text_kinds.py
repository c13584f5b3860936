"""The settings of text and tokens: what they mean, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import weigh
from tests.splitting import split
from weigh import _core, errors
from weigh.features.text_kinds import STOP_WORDS_ENGLISH

WHOLE = "Text: {} must be a whole number of at least {}, got {}."
LEAST = "Text: {} must be at least {}, got {}."
POWER = "Text: buckets must be a power of two from 2 to 2**26, such as 2**20, got {}."
NGRAMS = "Text: ngrams must be two numbers, 1 <= low <= high, got {}."
STOPS = "Text: stop_words must be a list of words, or 'english', got {}."
CHARS = "Text: chars must be True, False or 'words', got {}."
TRUTH = "Text: {} must be True or False, got {}."

REFUSED: list[tuple[str, Any, str]] = [
    ("buckets", 3, POWER.format(3)),
    ("buckets", 2**27, POWER.format(2**27)),
    ("buckets", 1, LEAST.format("buckets", 2, 1)),
    ("buckets", 0, LEAST.format("buckets", 2, 0)),
    ("buckets", -4, LEAST.format("buckets", 2, -4)),
    ("buckets", True, LEAST.format("buckets", 2, True)),
    ("buckets", 4.0, WHOLE.format("buckets", 2, 4.0)),
    ("buckets", "auto", WHOLE.format("buckets", 2, "'auto'")),
    ("ngrams", (2, 1), NGRAMS.format((2, 1))),
    ("ngrams", 2, NGRAMS.format(2)),
    ("ngrams", "12", NGRAMS.format("'12'")),
    ("ngrams", (1,), NGRAMS.format((1,))),
    ("ngrams", (1, 2, 3), NGRAMS.format((1, 2, 3))),
    ("ngrams", (0, 1), LEAST.format("ngrams", 1, 0)),
    ("ngrams", (1, 1.5), WHOLE.format("ngrams", 1, 1.5)),
    ("chars", "x", CHARS.format("'x'")),
    ("chars", 1, CHARS.format(1)),
    ("chars", None, CHARS.format(None)),
    ("stop_words", "german", STOPS.format("'german'")),
    ("stop_words", None, STOPS.format(None)),
    ("stop_words", 7, STOPS.format(7)),
    ("stop_words", ["a", 7], STOPS.format(["a", 7])),
    ("stop_words", [b"a"], STOPS.format([b"a"])),
    ("min_length", 0, LEAST.format("min_length", 1, 0)),
    ("min_length", 1.5, WHOLE.format("min_length", 1, 1.5)),
    ("max_words", 0, LEAST.format("max_words", 1, 0)),
    ("max_words", 2.5, WHOLE.format("max_words", 1, 2.5)),
    ("min_count", 0, LEAST.format("min_count", 1, 0)),
    ("min_count", None, WHOLE.format("min_count", 1, None)),
    ("min_count", "2", WHOLE.format("min_count", 1, "'2'")),
    ("counts", 2, TRUTH.format("counts", 2)),
    ("lowercase", "yes", TRUTH.format("lowercase", "'yes'")),
    ("strip_accents", "unicode", TRUTH.format("strip_accents", "'unicode'")),
]
SHARED = ("counts", "min_count", "max_words", "buckets")


@pytest.mark.parametrize(("name", "value", "told"), REFUSED)
def test_invalid_settings_are_rejected(name: str, value: Any, told: str) -> None:
    with pytest.raises(errors.ParameterError) as error:
        weigh.Text(**{name: value})
    assert str(error.value) == told


@pytest.mark.parametrize(("name", "value", "told"), [each for each in REFUSED if each[0] in SHARED])
def test_tokens_reject_the_same_settings_under_their_own_name(name: str, value: Any, told: str) -> None:
    with pytest.raises(errors.ParameterError) as error:
        weigh.Tokens(**{name: value})
    assert str(error.value) == told.replace("Text:", "Tokens:")


def test_settings_larger_than_a_machine_word_are_accepted() -> None:
    assert split("one two", weigh.Text(ngrams=(1, 2**70))) == ["one", "two", "one two"]
    assert split("one two", weigh.Text(min_length=2**70)) == []


def test_numpy_integers_are_accepted() -> None:
    given = weigh.Text(
        np.bool_(True), ngrams=(np.int64(1), np.int32(2)), min_length=np.int8(3), buckets=np.int64(8)
    )
    assert given == weigh.Text(ngrams=(1, 2), min_length=3, buckets=8)


def test_ngrams_may_be_a_list() -> None:
    assert weigh.Text(ngrams=[1, 2]) == weigh.Text(ngrams=(1, 2))
    assert hash(weigh.Text(ngrams=[1, 2])) == hash(weigh.Text(ngrams=(1, 2)))


def test_stop_words_have_no_order_and_occur_once() -> None:
    kinds = [weigh.Text(stop_words=words) for words in (["b", "a", "b"], ("a", "b"), {"b", "a"}, iter("ba"))]
    assert len(set(kinds)) == 1
    assert kinds[0].stop_words == ("a", "b")


def test_english_stop_words_are_left_out() -> None:
    kind = weigh.Text(stop_words="english")
    assert split("the cat and the hat", kind) == ["cat", "hat"]
    assert split(" ".join(STOP_WORDS_ENGLISH), kind) == []
    assert len({"the", "and", "of", "is", "not"} - set(STOP_WORDS_ENGLISH)) == 0
    assert len(set(STOP_WORDS_ENGLISH) & ENGLISH_STOP_WORDS) > len(STOP_WORDS_ENGLISH) / 2


def test_kinds_are_plain_data() -> None:
    for kind in (
        weigh.Text(ngrams=(1, 2), chars="words", stop_words=["a"], buckets=8),
        weigh.Tokens(counts=False, max_words=5),
    ):
        assert kind.token_settings is kind.token_settings
        assert pickle.loads(pickle.dumps(kind)) == copy.deepcopy(kind) == kind


def test_the_version_of_unicode_is_written_with_the_kind() -> None:
    assert weigh.Text().to_json()["unicode"] == _core.UNICODE_VERSION
    assert "unicode" not in weigh.Tokens().to_json()


def test_counts_decides_the_distribution() -> None:
    assert (weigh.Text().family, weigh.Text(counts=False).family) == ("multinomial", "bernoulli")


def test_words_of_equal_counts_are_pruned_in_alphabetical_order() -> None:
    nb = weigh.NaiveBayes(weigh.Text(max_words=2)).fit(["cc bb aa", "aa dd", "bb cc dd"], [0, 1, 0])
    assert list(nb.model_.distributions[0].words) == ["aa", "bb"]


@pytest.mark.parametrize("limit", [{"min_count": 2}, {"max_words": 5}])
def test_buckets_are_never_pruned(limit: dict[str, int]) -> None:
    with pytest.raises(errors.ParameterError) as told:
        weigh.Text(buckets=8, **limit)
    assert str(told.value) == (
        "Text: buckets must be None with min_count or max_words, because buckets cannot be pruned, got 8."
    )
