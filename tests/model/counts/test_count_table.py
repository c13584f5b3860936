"""Word count tables: sums, differences, and the canonical form."""

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
small_settings = settings(max_examples=60, derandomize=True, deadline=None, database=None)


def count_words(rows: list[tuple[str, int]], hashed: bool = False) -> WordCountTable:
    """Return the word counts of two classes."""
    counts = Counter(rows)
    if not hashed:
        words = sorted({word for word, _ in rows}, key=lambda word: word[::-1])
        table = np.array([[counts[word, c] for word in words] for c in (0, 1)], dtype=np.int64)
        return WordCountTable.from_unsorted(words, table.reshape(2, len(words)))
    table, names = np.zeros((2, BUCKETS), dtype=np.int64), [""] * BUCKETS
    for (word, c), count in counts.items():
        bucket = hash_bucket(word, BUCKETS)
        table[c, bucket] += count
        candidates = [name for name in (names[bucket], word) if name]
        names[bucket] = min(
            candidates, key=lambda name: (len(name.encode()), hash_bucket(name, 2**64)), default=""
        )
    return WordCountTable(NameArray.from_strings(names), table, True)


def assert_same(first: WordCountTable, second: WordCountTable) -> None:
    assert list(first.names) == list(second.names)
    assert first.is_hashed == second.is_hashed
    assert first.table.dtype == second.table.dtype
    np.testing.assert_array_equal(first.table, second.table)


@small_settings
@given(ROWS, ROWS, st.booleans())
def test_the_sum_is_the_table_of_all_rows(first: Any, second: Any, hashed: bool) -> None:
    assert_same(
        count_words(first, hashed).plus(count_words(second, hashed)), count_words(first + second, hashed)
    )


@small_settings
@given(ROWS, ROWS)
def test_subtracted_words_disappear(kept: Any, removed: Any) -> None:
    difference = count_words(kept + removed).plus(count_words(removed), -1)
    assert difference.minimum() == 0
    assert_same(difference.canonical(), count_words(kept).canonical())


@small_settings
@given(ROWS, ROWS)
def test_empty_buckets_lose_their_name_after_subtraction(kept: Any, removed: Any) -> None:
    difference = count_words(kept + removed, True).plus(count_words(removed, True), -1).canonical()
    expected = count_words(kept, True)
    np.testing.assert_array_equal(difference.table, expected.table)
    old_names = count_words(kept + removed, True).names
    used = expected.table.any(axis=0)
    # A bucket that is still used keeps the shortest name it ever had.
    assert list(difference.names) == [
        name if in_use else "" for name, in_use in zip(old_names, used, strict=True)
    ]


def test_subtracting_more_than_was_counted_gives_a_negative_minimum() -> None:
    assert count_words([("a", 0)]).plus(count_words([("a", 0), ("bb", 1)]), -1).minimum() == -1


def test_unsorted_words_are_sorted_with_their_counts() -> None:
    table = WordCountTable.from_unsorted(["b", "中", "a", "é"], np.array([[1, 2, 3, 4]]))
    assert list(table.names) == ["a", "b", "é", "中"]
    assert table.table.tolist() == [[3, 1, 4, 2]]


def test_classes_are_aligned_and_selected() -> None:
    table = count_words([("a", 0), ("bb", 1), ("bb", 1)])
    assert table.n_classes == 2
    aligned = table.align_classes(np.array([2, 0]), 3)
    assert aligned.table.tolist() == [[0, 2], [0, 0], [1, 0]]
    assert aligned.select_classes(np.array([2, 0])).table.tolist() == [[1, 0], [0, 2]]
    assert table.select_classes(np.arange(2)) is table


def test_whole_weights_are_stored_as_integer_counts() -> None:
    table = WordCountTable(NameArray.from_strings(["a", "b"]), np.array([[1.0, 0.0]])).canonical()
    assert list(table.names) == ["a"]
    assert table.table.dtype == np.uint8
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
def test_models_with_many_equal_words_are_exact(buckets: int | None, counts: bool) -> None:
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


def test_a_hundred_thousand_words_survive_saving(tmp_path: Any) -> None:
    rng = random.Random(0)
    words = [f"w{k:06}" for k in range(100_000)]
    texts = [" ".join(words[start : start + 1000]) for start in range(0, 100_000, 1000)]
    rng.shuffle(texts)
    model = weigh.NaiveBayes(weigh.Text()).fit(texts, [i % 2 for i in range(100)]).model_
    model.save(tmp_path / "words.weigh")
    back = weigh.load(tmp_path / "words.weigh")
    assert list(back.counts.parts[0].names) == words
    assert back.to_bytes() == model.to_bytes()


def write_tampered_file(tmp_path: Any, old: bytes, new: bytes) -> Any:
    """Write a model file in which some bytes of the names are replaced, and return its path."""
    model = (
        weigh.NaiveBayes(weigh.Text()).fit([" ".join(f"w{k:04}" for k in range(5_000)), "w"], [0, 1]).model_
    )
    path = tmp_path / "tampered.weigh"
    data = model.to_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"w0000w0001", b"w0001w0000", "its list of names 'part0' is not in order"),
        (b"w0000w0001", b"w0000w0000", "its list of names 'part0' is not in order"),
        (b"w0000w0001", b"w000\xffw0001", "a list of names is not UTF-8"),
        (b"w0000w0001", b"w000\xc3\xa90001", "a list of names splits a UTF-8 character"),
    ],
)
def test_a_file_with_tampered_words_is_rejected(tmp_path: Any, old: bytes, new: bytes, message: str) -> None:
    path = write_tampered_file(tmp_path, old, new)
    with pytest.raises(errors.ModelFileError) as error:
        weigh.load(path, check=False)
    assert message in str(error.value)
