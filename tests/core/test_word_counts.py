"""Token counts by class against a Counter."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import weigh
from tests.splitting import documents
from tests.texts import MULTILINGUAL, mixed
from weigh import _core
from weigh.features.names import NameArray
from weigh.judge.verification.recount import hash_bucket, tokenise_text

KINDS = [weigh.Text(), weigh.Text(ngrams=(1, 3), min_length=1), weigh.Text(chars="words", ngrams=(2, 4))]
MANY = 2**64


@dataclass
class Reference:
    """Reference implementation of the counts."""

    kind: weigh.Text
    presence: bool = False
    cells: Counter[tuple[int, str]] = field(default_factory=Counter)

    def add(self, texts: list[Any], classes: Any, weights: Any = None) -> None:
        for i, (text, c) in enumerate(zip(texts, classes.tolist(), strict=True)):
            is_counted = text is not None and c >= 0 and (weights is None or weights[i])
            words = tokenise_text(text, self.kind) if is_counted else []
            for word in set(words) if self.presence else words:
                self.cells[c, word] += 1 if weights is None else weights[i]

    def table(self, classes: int, buckets: int = 0) -> tuple[list[str], Any]:
        if not buckets:
            names = sorted({word for _, word in self.cells})
            return names, np.array([[self.cells[c, name] for name in names] for c in range(classes)])
        table = np.zeros((classes, buckets))
        best: list[tuple[int, int, str]] = [(64, MANY, "")] * buckets
        for (c, word), count in self.cells.items():
            at = hash_bucket(word, buckets)
            table[c, at] += count
            # The name of a bucket has at most 63 bytes.
            candidate = len(word.encode("utf-8", "surrogatepass")), hash_bucket(word, MANY), word
            best[at] = min(best[at], candidate) if candidate[0] else best[at]
        return [name for _, _, name in best], table


def random_rows(seed: int, rows: int, classes: int) -> tuple[list[Any], Any, Any]:
    """Return texts, some empty or missing, classes, some of them missing, and weights."""
    rng = random.Random(seed)
    texts = [
        None if i % 13 == 5 else mixed(rng, 8) if i % 3 else rng.choice(MULTILINGUAL) for i in range(rows)
    ]
    labels = np.array([rng.randint(-1, classes - 1) for _ in range(rows)], dtype=np.int32)
    return texts, labels, np.array([rng.choice([0.0, 1.0, 2.5, 0.125]) for _ in range(rows)])


def counts_of(kind: weigh.Text, buckets: int = 0, presence: bool = False, **limit: int) -> _core.WordCounts:
    return _core.WordCounts(kind.token_settings, buckets, presence, **({"max_count": 2**32 - 1} | limit))


def table_of(counts: _core.WordCounts, classes: int) -> tuple[list[str], Any]:
    text, offsets, table = counts.table(np.arange(classes))
    return list(NameArray(text, offsets)), table


def check(found: tuple[list[str], Any], expected: tuple[list[str], Any]) -> None:
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1], expected[1].reshape(found[1].shape))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("with_weights", [False, True])
def test_words_are_counted_by_class(kind: weigh.Text, presence: bool, with_weights: bool) -> None:
    native, reference = counts_of(kind, presence=presence), Reference(kind, presence)
    # Later chunks have more classes.
    for seed, (rows, classes) in enumerate([(40, 1), (0, 1), (90, 3), (1, 3), (60, 7)]):
        texts, labels, weights = random_rows(seed, rows, classes)
        given = weights if with_weights else None
        native.add(documents(texts), labels, classes, given)
        reference.add(texts, labels, given)
    found = table_of(native, 7)
    assert found[1].dtype.kind == ("f" if with_weights else "u")
    check(found, reference.table(7))


@pytest.mark.parametrize("presence", [False, True])
def test_counts_beyond_32_bits_continue_in_64(presence: bool) -> None:
    kind = KINDS[1]
    unflushed, flushed = counts_of(kind, 0, presence), counts_of(kind, 0, presence, max_count=128)
    for seed, classes in enumerate([1, 2, 5]):
        texts, labels, _ = random_rows(seed, 80, classes)
        unflushed.add(documents(texts), labels, classes, None)
        flushed.add(documents(texts), labels, classes, None)
    check(table_of(flushed, 5), table_of(unflushed, 5))


@pytest.mark.parametrize("buckets", [0, 8, 1024])
@pytest.mark.parametrize("max_count", [128, 2**32 - 1])
@pytest.mark.parametrize("with_weights", [False, True])
def test_merged_counts_equal_counts_of_all_rows(buckets: int, max_count: int, with_weights: bool) -> None:
    kind = KINDS[0]
    native, reference = counts_of(kind, buckets, max_count=max_count), Reference(kind)
    for seed, class_map in enumerate([[0], [1, 0], [4, 2, 0, 1], [3]]):
        texts, labels, weights = random_rows(seed, 70, len(class_map))
        # Only the second part has weights, so that integer and weighted counts are merged.
        given = weights if with_weights and seed == 1 else None
        part = counts_of(kind, buckets, max_count=max_count)
        part.add(documents(texts), labels, len(class_map), given)
        native.merge(part, np.array(class_map), 5)
        moved = np.where(labels < 0, -1, np.array(class_map)[labels])
        reference.add(texts, moved, given)
        # Merged counts can be added to.
        native.add(documents(texts[:9]), moved[:9].astype(np.int32), 5, None)
        reference.add(texts[:9], moved[:9])
    check(table_of(native, 5), reference.table(5, buckets))


@pytest.mark.parametrize("buckets", [2, 64, 4096])
@pytest.mark.parametrize("presence", [False, True])
def test_buckets_are_counted_and_named_after_their_shortest_word(buckets: int, presence: bool) -> None:
    texts, labels, _ = random_rows(9, 120, 3)
    native, reference = counts_of(KINDS[0], buckets), Reference(KINDS[0])
    native.add(documents(texts), labels, 3, None)
    reference.add(texts, labels)
    check(table_of(native, 3), reference.table(3, buckets))
    if presence:
        shared = counts_of(KINDS[0], buckets, True)
        shared.add(documents(texts), labels, 3, None)
        _, table = table_of(shared, 3)
        expected = np.zeros((3, buckets))
        for text, c in zip(texts, labels.tolist(), strict=True):
            if text is not None and c >= 0:
                expected[
                    c, sorted({hash_bucket(word, buckets) for word in tokenise_text(text, KINDS[0])})
                ] += 1
        np.testing.assert_array_equal(table, expected)


def test_bucket_names_are_independent_of_row_order() -> None:
    texts, labels, _ = random_rows(4, 100, 2)
    whole = counts_of(KINDS[0], 32)
    whole.add(documents(texts), labels, 2, None)
    rng = random.Random(0)
    for _ in range(5):
        order = rng.sample(range(100), 100)
        first, second = counts_of(KINDS[0], 32), counts_of(KINDS[0], 32)
        for counts, part in ((first, order[:37]), (second, order[37:])):
            counts.add(documents([texts[i] for i in part]), labels[part], 2, None)
        first.merge(second, np.arange(2), 2)
        check(table_of(first, 2), table_of(whole, 2))


def test_a_bucket_of_overlong_words_has_no_name() -> None:
    counts = counts_of(weigh.Text(), 2)
    counts.add(documents(["x" * 64, "y" * 63]), np.zeros(2, np.int32), 1, None)
    names, table = table_of(counts, 1)
    expected = ["", ""]
    expected[hash_bucket("y" * 63, 2)] = "y" * 63
    assert names == expected
    assert table.sum() == 2


def test_listed_tokens_count_by_their_values() -> None:
    values = documents(["a", "b", "a", "c", "b"])
    lists = _core.Documents.from_token_lists(
        values, np.array([0, 3, 3, 5]), np.array([0.5, 2.0, 0.25, 0.0, -1.0])
    )
    counts = _core.WordCounts(weigh.Tokens().token_settings, 0, False, 2**32 - 1)
    counts.add(lists, np.array([0, 1, 1], dtype=np.int32), 2, np.array([2.0, 1.0, 3.0]))
    check(table_of(counts, 2), (["a", "b"], np.array([[1.5, 4.0], [0.0, -3.0]])))


def test_empty_input_gives_an_empty_table() -> None:
    for texts in ([], ["", " .", None]):
        counts = counts_of(weigh.Text())
        counts.add(documents(texts), np.zeros(len(texts), np.int32), 3, None)
        names, table = table_of(counts, 3)
        assert (names, table.shape, table.dtype) == ([], (3, 0), np.uint8)


def test_classes_are_reordered_by_the_class_map() -> None:
    counts = counts_of(weigh.Text())
    counts.add(documents(["one", "two two", "three"]), np.array([0, 1, 2], dtype=np.int32), 3, None)
    text, offsets, table = counts.table(np.array([2, 0, 1]))
    assert list(NameArray(text, offsets)) == ["one", "three", "two"]
    assert table.tolist() == [[0, 0, 2], [0, 1, 0], [1, 0, 0]]


def test_many_words_and_classes_are_counted() -> None:
    rng = np.random.default_rng(0)
    numbers, labels = rng.integers(0, 9_000, (300, 100)), rng.integers(0, 200, 300).astype(np.int32)
    texts = [" ".join(f"w{k}" for k in row) for row in numbers]
    counts, reference = counts_of(weigh.Text()), Reference(weigh.Text())
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        counts.add(documents(texts[part]), labels[part], int(labels[: start + 50].max()) + 1, None)
        reference.add(texts[part], labels[part])
    classes = int(labels.max()) + 1
    check(table_of(counts, classes), reference.table(classes))


@pytest.mark.parametrize(
    ("times", "dtype"),
    [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.uint32)],
)
@pytest.mark.parametrize("buckets", [0, 1024])
def test_counts_have_the_narrowest_type(times: int, dtype: Any, buckets: int) -> None:
    counts = counts_of(weigh.Text(), buckets)
    counts.add(documents(["often " * times + "once"]), np.ones(1, np.int32), 2, None)
    _, table = table_of(counts, 2)
    assert table.dtype == dtype
    assert sorted(table[table > 0].tolist()) == [1, times]


ONE = np.zeros(1, np.int32)
INVALID_CALLS: list[tuple[str, Any]] = [
    ("classes and documents differ in length", lambda c: c.add(documents(["a", "b"]), ONE, 1, None)),
    ("weights and documents differ in length", lambda c: c.add(documents(["a"]), ONE, 1, np.ones(2))),
    ("a class is out of range", lambda c: c.add(documents(["a"]), ONE + 1, 1, None)),
    ("counts cannot be merged with themselves", lambda c: c.merge(c, np.zeros(0, np.int64), 1)),
    ("class_map has an index out of range", lambda c: c.merge(counts_of(weigh.Text()), np.array([1]), 1)),
    ("class_map has an index out of range", lambda c: c.table(np.array([1]))),
    ("the number of buckets must be a power of two", lambda c: counts_of(weigh.Text(), 3)),
    ("max_count must be between 128 and 2**32 - 1", lambda c: counts_of(weigh.Text(), max_count=127)),
    ("max_count must be between 128 and 2**32 - 1", lambda c: counts_of(weigh.Text(), max_count=2**32)),
]


@pytest.mark.parametrize(("message", "call"), INVALID_CALLS)
def test_invalid_arguments_are_rejected(message: str, call: Any) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call(counts_of(weigh.Text()))
