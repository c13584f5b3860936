"""Names end to end behave like a list of strings."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.texts import MULTILINGUAL
from weigh import _core
from weigh.features.blocks import NumberedNames
from weigh.features.names import NameArray, join_names

ANY = st.lists(st.text(st.characters(), max_size=12), max_size=12)
same = settings(max_examples=60, derandomize=True, deadline=None, database=None)
WORDS = sorted({word for text in MULTILINGUAL for word in text.split()} | {"", "\ud800", "a\0", "a\0\0"})


@same
@given(ANY)
def test_names_round_trip(words: list[str]) -> None:
    names = NameArray.from_strings(words)
    assert len(names) == len(words)
    assert list(names) == words
    assert [names[k] for k in range(-len(words), len(words))] == words + words
    assert names[1:-1] == words[1:-1]
    assert names[::-2] == words[::-2]
    assert names == words
    assert names == NameArray.from_strings(words)
    assert hash(names) == hash(NameArray.from_strings(words))
    assert pickle.loads(pickle.dumps(names)) == names


def test_an_index_out_of_range_raises() -> None:
    for at in (2, -3):
        with pytest.raises(IndexError):
            NameArray.from_strings(["a", "b"])[at]


def test_names_with_a_common_prefix_are_distinct() -> None:
    assert NameArray.from_strings(["ab", "c"]) != NameArray.from_strings(["a", "bc"])
    assert NameArray.from_strings(["ab"]) != ["ab", ""]
    assert NameArray.from_strings([]) == []
    assert NameArray.from_strings(["a"]) != "a b"


@same
@given(ANY)
def test_names_are_sorted_as_python_sorts_strings(words: list[str]) -> None:
    names = NameArray.from_strings(words)
    order = names.argsort()
    assert list(names.take(order)) == sorted(words)
    assert names.are_sorted == (words == sorted(set(words)))


def test_names_with_long_common_prefixes_are_sorted_correctly() -> None:
    words = ["prefix" * 5 + end for end in ("", "\0", "a", "é", "中", "😀", "aa")] + [
        "prefix",
        "prefi\0",
        "p",
    ]
    random.Random(0).shuffle(words)
    names = NameArray.from_strings(words)
    assert list(names.take(names.argsort())) == sorted(words)


@same
@given(ANY, ANY)
def test_merging_sorted_names_returns_the_positions_of_both(first: list[str], second: list[str]) -> None:
    ours, theirs = sorted(set(first)), sorted(set(second))
    names, places, others = NameArray.from_strings(ours).merge_sorted(NameArray.from_strings(theirs))
    both = sorted({*ours, *theirs})
    assert list(names) == both
    assert places.tolist() == [both.index(word) for word in ours]
    assert others.tolist() == [both.index(word) for word in theirs]


def test_find_returns_the_index_of_a_name() -> None:
    names = NameArray.from_strings(WORDS)
    assert [names.find(word) for word in WORDS] == list(range(len(WORDS)))
    assert all(word in names for word in WORDS)
    for absent in ("no such word", "\uffff\uffff", "\0"):
        assert names.find(absent) == -1
        assert absent not in names
    assert 7 not in names
    assert "a" not in NameArray.from_strings([])


def test_a_vocabulary_returns_its_names_by_number() -> None:
    names = NameArray.from_strings(WORDS)
    vocabulary = _core.Vocabulary.from_names(names.text, names.offsets)
    assert len(vocabulary) == len(WORDS)
    assert NameArray(*vocabulary.names()) == names


def test_a_vocabulary_rejects_duplicate_names() -> None:
    names = NameArray.from_strings(["b", "a", "b"])
    with pytest.raises(ValueError, match=r"^a name occurs twice$"):
        _core.Vocabulary.from_names(names.text, names.offsets)


REFUSED: list[list[int]] = [[], [0, 3, 2], [0, 4], [-1, 3], [0, -1, 3]]


@pytest.mark.parametrize("offsets", REFUSED)
def test_invalid_offsets_are_rejected(offsets: list[int]) -> None:
    text = np.frombuffer(b"abc", np.uint8)
    for ask in (_core.argsort_names, _core.are_names_sorted, _core.Vocabulary.from_names):
        with pytest.raises(ValueError, match="offsets"):
            ask(text, np.array(offsets, dtype=np.int64))


@pytest.mark.parametrize("number", [-1, 2])
def test_numbers_without_a_name_are_rejected(number: int) -> None:
    with pytest.raises(ValueError, match=r"^a number is"):
        NameArray.from_strings(["a", "b"]).take(np.array([number]))


def test_joined_names_behave_like_one_list() -> None:
    parts = [["a", "b"], [], NumberedNames(3), ["c"]]
    joined, listed = join_names(parts), ["a", "b", "x0", "x1", "x2", "c"]
    assert list(joined) == listed
    assert [joined[k] for k in range(-len(listed), len(listed))] == listed * 2
    assert joined[1:4] == listed[1:4]
    assert len(joined) == len(listed)
    assert join_names(parts[2:3]) is parts[2]
