"""Values of words and their exact sums against plain Python."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

import weigh
from tests.splitting import documents
from tests.texts import MULTILINGUAL, mixed
from weigh import _core
from weigh.features.names import NameArray
from weigh.judge.verification.recount import hash_bucket, tokenise_text

NORMS = ["none", "l1", "l2"]
SCALE = 2**32


def reference_values(counts: list[float], idf: list[float], takes_logs: bool, norm: str) -> list[float]:
    values = [
        (1 + _core.natural_log(n) if takes_logs and n > 1 else n) * f
        for n, f in zip(counts, idf, strict=True)
    ]
    ordered = sorted(values)
    length = {"none": 1.0, "l1": sum(ordered), "l2": math.sqrt(sum(v * v for v in ordered))}[norm]
    return [v / length for v in values] if length else values


def test_the_logarithm_agrees_with_that_of_python() -> None:
    numbers = [*range(1, 2_000), 1e-300, 0.1, 1 / 3, 2**53 - 1, 1e300]
    ours = [_core.natural_log(float(x)) for x in numbers]
    np.testing.assert_allclose(ours, [math.log(x) for x in numbers], rtol=5e-16, atol=0)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("takes_logs", [False, True])
@pytest.mark.parametrize("uses_idf", [False, True])
def test_values_of_rows_equal_the_reference(norm: str, takes_logs: bool, uses_idf: bool) -> None:
    rng = random.Random(7)
    sizes = [rng.choice([0, 1, 2, 30]) for _ in range(40)]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = np.array([rng.randrange(50) for _ in range(sum(sizes))], dtype=np.int32)
    counts = np.array([rng.choice([0.0, 1.0, 2.0, 3.0, 77.0, 0.25, 1e16]) for _ in indices])
    idf = np.array([1 + rng.random() for _ in range(50)]) if uses_idf else None
    values = counts.copy()
    _core.weigh_rows(indptr, indices, values, idf, takes_logs, norm)
    for start, stop in itertools.pairwise(indptr.tolist()):
        factors = [1.0 if idf is None else float(idf[j]) for j in indices[start:stop]]
        expected = reference_values(counts[start:stop].tolist(), factors, takes_logs, norm)
        assert values[start:stop].tolist() == expected


def test_the_values_of_a_text_do_not_depend_on_the_numbering_of_its_words() -> None:
    rng = random.Random(3)
    counts = np.array([float(rng.randrange(1, 90)) for _ in range(300)])
    order = np.array(rng.sample(range(300), 300))
    indptr, indices = np.array([0, 300]), np.arange(300, dtype=np.int32)
    values, shuffled = counts.copy(), counts[order]
    _core.weigh_rows(indptr, indices, values, None, True, "l2")
    _core.weigh_rows(indptr, indices, shuffled, None, True, "l2")
    np.testing.assert_array_equal(values[order], shuffled)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.ones(1)}, "values and indices differ in length"),
        ({"indptr": np.array([0, 3])}, "indptr must ascend"),
        ({"indptr": np.array([], dtype=np.int64)}, "indptr must ascend"),
        ({"idf": np.ones(1)}, "an index is out of range"),
        ({"indices": np.array([0, -5], dtype=np.int32), "idf": np.ones(2)}, "an index is negative"),
        ({"norm": "max"}, "norm must be"),
    ],
)
def test_wrong_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "indptr": np.array([0, 2]),
        "indices": np.array([0, 1], dtype=np.int32),
        "values": np.ones(2),
        "idf": None,
        "takes_logs": True,
        "norm": "l2",
    }
    with pytest.raises(ValueError, match=message):
        _core.weigh_rows(**arguments | change)


class Reference:
    """Sums of values in units of 2⁻³², and document frequencies, by name or bucket."""

    def __init__(self, kind: weigh.Text, takes_logs: bool, norm: str, buckets: int) -> None:
        self.kind, self.takes_logs, self.norm, self.buckets = kind, takes_logs, norm, buckets
        self.sums: dict[tuple[int, Any], int] = defaultdict(int)
        self.documents: dict[Any, float] = defaultdict(float)

    def add(self, texts: list[Any], classes: list[int], weights: list[float]) -> None:
        for text, c, weight in zip(texts, classes, weights, strict=True):
            words = [] if text is None or c < 0 or not weight else tokenise_text(text, self.kind)
            counts = Counter(hash_bucket(word, self.buckets) if self.buckets else word for word in words)
            floats = [float(n) for n in counts.values()]
            values = reference_values(floats, [1.0] * len(counts), self.takes_logs, self.norm)
            for name, value in zip(counts, values, strict=True):
                self.sums[c, name] += round(round(value * SCALE) * weight)
                self.documents[name] += weight


@pytest.mark.parametrize("buckets", [0, 32])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_sums_by_class_equal_the_reference(buckets: int, norm: str, is_weighted: bool) -> None:
    rng = random.Random(11)
    kind = weigh.Text(ngrams=(1, 2))
    reference = Reference(kind, True, norm, buckets)
    parts = [_core.WeightedWordCounts(kind.token_settings, buckets, True, norm) for _ in range(2)]
    for part in parts:
        texts = [None if i % 13 == 5 else mixed(rng, 9) for i in range(40)] + MULTILINGUAL
        classes = [rng.randrange(-1, 3) for _ in texts]
        weights = [0.25 * rng.randrange(5) if is_weighted else 1.0 for _ in texts]
        codes = np.array(classes, dtype=np.int32)
        part.add(documents(texts), codes, 3, np.array(weights) if is_weighted else None)
        reference.add(texts, classes, weights)
    whole = _core.WeightedWordCounts(kind.token_settings, buckets, True, norm)
    whole.merge(parts[1], np.array([0, 1, 2]), 3)
    whole.merge(parts[0], np.array([0, 1, 2]), 3)
    text, offsets, sums, in_texts = whole.table(np.array([2, 0, 1]))
    names: Any = range(buckets) if buckets else list(NameArray(text, offsets))
    assert list(names) == sorted(names)
    assert sums.tolist() == [[reference.sums[c, name] for name in names] for c in (1, 2, 0)]
    assert in_texts.tolist() == [reference.documents[name] for name in names]


def test_sums_that_overflow_are_an_error() -> None:
    counts = _core.WeightedWordCounts(weigh.Text().token_settings, 0, False, "none")
    words, classes = documents(["free"]), np.zeros(1, dtype=np.int32)
    with pytest.raises(OverflowError, match="a value is too large for fixed point"):
        counts.add(words, classes, 1, np.array([2.0**31]))
    counts.add(words, classes, 1, np.array([2.0**29]))
    counts.add(words, classes, 1, np.array([2.0**29]))
    counts.add(words, classes, 1, np.array([2.0**29]))
    with pytest.raises(OverflowError, match="a sum is too large for fixed point"):
        counts.add(words, classes, 1, np.array([2.0**29]))
