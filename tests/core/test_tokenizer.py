"""Tokenization against scikit-learn's CountVectorizer and a Python reference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from tests.splitting import decoded, split
from tests.texts import MULTILINGUAL, edges, mixed, peer
from weigh import _core
from weigh.judge.verification.recount import tokenise_text

RANGES = [(1, 1), (1, 2), (2, 3), (3, 5)]
SETTINGS: list[dict[str, Any]] = [
    {"chars": chars, "ngrams": ngrams, "lowercase": lowercase, "strip_accents": strip}
    for chars in (False, True, "words")
    for ngrams in RANGES
    for lowercase in (True, False)
    for strip in (False, True)
]
SETTINGS += [{"min_length": length, "ngrams": ngrams} for length in (1, 3, 5) for ngrams in RANGES[:3]]
SETTINGS += [
    {"stop_words": ("fox", "the", "été", "世界", "lang" * 40), "ngrams": ngrams} for ngrams in RANGES
]
KINDS = {" ".join(f"{name}={value}"[:24] for name, value in each.items()): each for each in SETTINGS}
property_settings = settings(max_examples=25, derandomize=True, deadline=None, database=None)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = random.Random(5)
    return MULTILINGUAL + edges() + [mixed(rng, 12) for _ in range(60)]


def sklearn_tokens(kind: weigh.Text, texts: list[str]) -> list[list[str]]:
    analyzer = peer(kind).build_analyzer()
    return [sorted(analyzer(text)) for text in texts]


def native_tokens(kind: weigh.Text, texts: list[str]) -> list[list[str]]:
    documents = _core.Documents.from_objects(np.array(texts, dtype=object), [])
    return [sorted(row) for row in decoded(_core.tokenize(documents, kind.token_settings))]


@pytest.mark.parametrize("name", KINDS)
def test_tokens_equal_those_of_count_vectorizer(name: str, texts: list[str]) -> None:
    kind = weigh.Text(**KINDS[name])
    assert native_tokens(kind, texts) == sklearn_tokens(kind, texts)


@pytest.mark.parametrize("name", KINDS)
def test_tokens_equal_the_python_reference(name: str, texts: list[str]) -> None:
    kind = weigh.Text(**KINDS[name])
    assert native_tokens(kind, texts) == [sorted(tokenise_text(text, kind)) for text in texts]


@property_settings
@given(st.lists(st.text(), max_size=8), st.sampled_from(SETTINGS))
def test_tokens_of_arbitrary_texts_equal_those_of_count_vectorizer(
    texts: list[str], options: dict[str, Any]
) -> None:
    kind = weigh.Text(**options)
    assert native_tokens(kind, texts) == sklearn_tokens(kind, texts)


@property_settings
@given(st.text(st.sampled_from(" \t\u3000aé中ΣĐ\u0301.\ud800"), max_size=200), st.sampled_from(SETTINGS))
def test_white_space_and_combining_marks_are_handled_like_count_vectorizer(
    text: str, options: dict[str, Any]
) -> None:
    kind = weigh.Text(**options)
    assert native_tokens(kind, [text]) == sklearn_tokens(kind, [text])


def test_tokens_are_in_text_order() -> None:
    assert split("Zebra apple Zebra", weigh.Text()) == ["zebra", "apple", "zebra"]
    assert split("one two three", weigh.Text(ngrams=(1, 2))) == [
        "one",
        "two",
        "one two",
        "three",
        "two three",
    ]


def test_stop_words_are_removed_before_ngrams_are_formed() -> None:
    assert split("king of the hill", weigh.Text(stop_words=["of", "the"], ngrams=(2, 2))) == ["king hill"]


def test_stop_words_are_compared_after_folding() -> None:
    kind = weigh.Text(stop_words=["ete"], strip_accents=True)
    assert split("ÉTÉ hiver", kind) == ["hiver"]
    assert split("ÉTÉ hiver", weigh.Text(stop_words=["ÉTÉ"])) == ["hiver"]
    assert split("ÉTÉ été", weigh.Text(stop_words=["ÉTÉ"], lowercase=False)) == ["été"]


def test_stop_words_of_any_length_are_removed() -> None:
    words = ["x" * n for n in (2, 8, 15, 16, 17, 64, 300)]
    assert split(" ".join([*words, "kept", "x" * 18]), weigh.Text(stop_words=words)) == ["kept", "x" * 18]


def test_a_huge_minimum_length_removes_all_words() -> None:
    assert split("one twenty 中中中 éééé", weigh.Text(min_length=2**62)) == []


def test_minimum_length_counts_characters_not_bytes() -> None:
    assert split("é éé 中 中中 𝐀 𝐀𝐀 a aa", weigh.Text(lowercase=False)) == ["éé", "中中", "𝐀𝐀", "aa"]


def test_runs_of_white_space_become_one_space_and_single_ones_are_kept() -> None:
    assert split("a\t\u3000b\u00a0c", weigh.Text(chars=True)) == ["a", " ", "b", "\u00a0", "c"]


def test_a_word_shorter_than_the_ngrams_is_one_token() -> None:
    assert split("ab cdefg", weigh.Text(chars="words", ngrams=(5, 5))) == [" ab ", " cdef", "cdefg", "defg "]


def test_state_of_a_long_document_does_not_leak_into_the_next() -> None:
    kind = weigh.Text(ngrams=(1, 3))
    long = " ".join(f"w{i}" for i in range(40_000))
    documents = _core.Documents.from_objects(np.array([long, "one two", long, ""], dtype=object), [])
    found = decoded(_core.tokenize(documents, kind.token_settings))
    assert found[0] == found[2]
    assert sorted(found[0]) == sorted(tokenise_text(long, kind))
    assert found[1] == ["one", "two", "one two"]
    assert found[3] == []


def test_listed_tokens_are_neither_split_nor_folded() -> None:
    names = ["A b", "", "İ", "x" * 100, "中", "A b", "é", "\ud800"]
    values = _core.Documents.from_objects(np.array(names, dtype=object), [])
    lists = _core.Documents.from_token_lists(values, np.array([1, 1, 3, 8]), None)
    assert decoded(_core.tokenize(lists, weigh.Tokens().token_settings)) == [[], ["", "İ"], names[3:]]


def test_listed_tokens_of_zero_weight_are_skipped() -> None:
    values = _core.Documents.from_objects(np.array(["a", "b", "c"], dtype=object), [])
    lists = _core.Documents.from_token_lists(values, np.array([0, 3]), np.array([1.0, 0.0, -0.0]))
    assert decoded(_core.tokenize(lists, weigh.Tokens().token_settings)) == [["a"]]
