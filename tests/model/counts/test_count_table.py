"""Counts of words: sums, differences, and the one form that equal counts have."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh import errors
from weigh.features.names import NameArray
from weigh.judge.verification.recount import hash_bucket
from weigh.model.counts.count_table import WordCountTable

BUCKETS = 8
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "bb", "été", "中", "zz", ""]), st.integers(0, 1)), max_size=12
)
same = settings(max_examples=60, derandomize=True, deadline=None, database=None)


def tally(rows: list[tuple[str, int]], hashed: bool = False) -> WordCountTable:
    """The words of two classes as a tally."""
    counts = Counter(rows)
    if not hashed:
        words = sorted({word for word, _ in rows}, key=lambda word: word[::-1])
        table = np.array([[counts[word, c] for word in words] for c in (0, 1)], dtype=np.int64)
        return WordCountTable.of(words, table.reshape(2, len(words)))
    table, best = np.zeros((2, BUCKETS), dtype=np.int64), [""] * BUCKETS
    for (word, c), count in counts.items():
        at = hash_bucket(word, BUCKETS)
        table[c, at] += count
        claims = [name for name in (best[at], word) if name]
        best[at] = min(claims, key=lambda name: (len(name.encode()), hash_bucket(name, 2**64)), default="")
    return WordCountTable(NameArray.from_strings(best), table, True)


def assert_same(first: WordCountTable, second: WordCountTable) -> None:
    assert list(first.names) == list(second.names)
    assert first.is_hashed == second.is_hashed
    assert first.table.dtype == second.table.dtype
    np.testing.assert_array_equal(first.table, second.table)


@same
@given(ROWS, ROWS, st.booleans())
def test_the_sum_is_the_tally_of_all_rows(first: Any, second: Any, hashed: bool) -> None:
    assert_same(tally(first, hashed).plus(tally(second, hashed)), tally(first + second, hashed))


@same
@given(ROWS, ROWS)
def test_a_difference_leaves_no_word_behind(kept: Any, gone: Any) -> None:
    found = tally(kept + gone).plus(tally(gone), -1)
    assert found.minimum() == 0
    assert_same(found.canonical(), tally(kept).canonical())


@same
@given(ROWS, ROWS)
def test_a_difference_of_buckets_leaves_counts_and_no_names_of_empty_ones(kept: Any, gone: Any) -> None:
    found = tally(kept + gone, True).plus(tally(gone, True), -1).canonical()
    never_seen = tally(kept, True)
    np.testing.assert_array_equal(found.table, never_seen.table)
    before = tally(kept + gone, True).names
    used = never_seen.table.any(axis=0)
    # A bucket that is still used goes by the shortest name it ever had.
    assert list(found.names) == [name if full else "" for name, full in zip(before, used, strict=True)]


def test_taking_away_what_is_not_there_is_seen() -> None:
    assert tally([("a", 0)]).plus(tally([("a", 0), ("bb", 1)]), -1).minimum() == -1


def test_words_in_any_order_are_sorted_with_their_counts() -> None:
    found = WordCountTable.of(["b", "中", "a", "é"], np.array([[1, 2, 3, 4]]))
    assert list(found.names) == ["a", "b", "é", "中"]
    assert found.table.tolist() == [[3, 1, 4, 2]]


def test_classes_are_moved_and_taken() -> None:
    found = tally([("a", 0), ("bb", 1), ("bb", 1)])
    assert found.n_classes == 2
    moved = found.align_classes(np.array([2, 0]), 3)
    assert moved.table.tolist() == [[0, 2], [0, 0], [1, 0]]
    assert moved.select_classes(np.array([2, 0])).table.tolist() == [[1, 0], [0, 2]]
    assert found.select_classes(np.arange(2)) is found


def test_whole_weights_have_the_form_of_counts() -> None:
    found = WordCountTable(NameArray.from_strings(["a", "b"]), np.array([[1.0, 0.0]])).canonical()
    assert list(found.names) == ["a"]
    assert found.table.dtype == np.uint8
    halves = WordCountTable(NameArray.from_strings(["a", "b"]), np.array([[0.5, 1.0]])).canonical()
    assert halves.table.tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize("hashed", [False, True])
def test_narrow_counts_do_not_overflow(hashed: bool) -> None:
    full = WordCountTable(NameArray.from_strings(["a", "b"]), np.array([[255, 1]], dtype=np.uint8), hashed)
    both = full.plus(full).canonical()
    assert (both.table.tolist(), both.table.dtype) == ([[510, 2]], np.uint16)
    assert full.plus(both, -1).table.tolist() == [[-255, -1]]
    assert full.plus(both, -1).minimum() == -255
    back = both.plus(full, -1).canonical()
    assert (back.table.tolist(), back.table.dtype) == ([[255, 1]], np.uint8)


@pytest.mark.parametrize("buckets", [None, 4])
@pytest.mark.parametrize("counts", [True, False])
def test_models_of_many_equal_words_are_exact(buckets: int | None, counts: bool) -> None:
    rows = {"body": ["many many more"] * 200 + ["more"], "class": ["a", "b", "a"] * 67}
    learner = weigh.NaiveBayes({"body": weigh.Text(counts, buckets=buckets)})
    small = learner.fit(rows, "class").model_
    large = small
    twice = {name: values * 2 for name, values in rows.items()}
    for _ in range(9):
        large = large.merge(large)
    assert large.to_bytes() == learner.fit(rows, "class", sample_weight=[512] * 201).model_.to_bytes()
    assert small.merge(small).forget(rows).to_bytes() == small.to_bytes()
    assert weigh.verify(small.merge(small), twice, "class").ok


def test_a_model_keeps_a_hundred_thousand_words(tmp_path: Any) -> None:
    rng = random.Random(0)
    words = [f"w{k:06}" for k in range(100_000)]
    texts = [" ".join(words[start : start + 1000]) for start in range(0, 100_000, 1000)]
    rng.shuffle(texts)
    model = weigh.NaiveBayes(weigh.Text()).fit(texts, [i % 2 for i in range(100)]).model_
    model.save(tmp_path / "words.weigh")
    back = weigh.load(tmp_path / "words.weigh")
    assert list(back.counts.parts[0].names) == words
    assert back.to_bytes() == model.to_bytes()


def spoiled(tmp_path: Any, old: bytes, new: bytes) -> Any:
    """The path of a model file in which some bytes of the names were replaced."""
    model = (
        weigh.NaiveBayes(weigh.Text()).fit([" ".join(f"w{k:04}" for k in range(5_000)), "w"], [0, 1]).model_
    )
    path = tmp_path / "spoiled.weigh"
    data = model.to_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b"w0000w0001", b"w0001w0000", "its list of names 'part0' is not in order"),
        (b"w0000w0001", b"w0000w0000", "its list of names 'part0' is not in order"),
        (b"w0000w0001", b"w000\xffw0001", "a list of names is not UTF-8"),
        (b"w0000w0001", b"w000\xc3\xa90001", "a list of names cuts a character in two"),
    ],
)
def test_a_file_whose_words_were_changed_is_refused(tmp_path: Any, old: bytes, new: bytes, told: str) -> None:
    path = spoiled(tmp_path, old, new)
    with pytest.raises(errors.ModelFileError) as error:
        weigh.load(path, check=False)
    assert told in str(error.value)
