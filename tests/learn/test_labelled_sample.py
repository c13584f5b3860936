"""The sample of labelled rows: independent of order and chunks, with counts, and without large buffers."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np

import weigh
from weigh.learn.labelled_sample import MAX_ROWS, LabelledSample, SampledRows
from weigh.source import rows as rows_of
from weigh.source.chunk import Chunk, TextColumn


def sample_of(data: dict[str, Any], size: int, **options: Any) -> tuple[SampledRows, LabelledSample]:
    """Return the sample of a table that is read in chunks of a size."""
    schema = weigh.NaiveBayes({"a": "category"}).fit(data, "y").model_.schema
    sample = LabelledSample(schema)
    for chunk in schema.chunks(rows_of(data, "y", **options)):
        for start in range(0, chunk.n_rows, size):
            sample.add(chunk.slice(start, start + size))
    return sample.rows(), sample


def cells(found: SampledRows) -> list[tuple[Any, ...]]:
    chunk = found.chunk
    columns = chunk.columns["a"], chunk.labels, found.counts, found.weights
    return list(zip(*(np.asarray(column).tolist() for column in columns), strict=True))


def many_rows(n: int = 20_000) -> dict[str, Any]:
    """Return over 10,000 different rows, many of them several times."""
    a = [f"v{i % 12_000}" for i in range(n)]
    return {"a": a, "y": ["n" if int(each[1:]) % 2 else "p" for each in a]}


def test_the_sample_contains_equal_rows_once_with_their_number() -> None:
    data = {"a": ["u", "v", "u", "u"], "y": ["n", "p", "n", "p"]}
    found, sample = sample_of(data, 2)
    assert sorted(cells(found)) == [("u", "n", 2, 1.0), ("u", "p", 1, 1.0), ("v", "p", 1, 1.0)]
    assert sample.is_complete


def test_equal_rows_have_their_mean_weight_and_rows_without_weight_are_left_out() -> None:
    data = {"a": ["u", "v", "u", "u"], "y": ["n", "p", "n", "p"]}
    found, _ = sample_of(data, 3, weights=[0.5, 2.0, 1.5, 0.0])
    assert sorted(cells(found)) == [("u", "n", 2, 1.0), ("v", "p", 1, 2.0)]


def test_the_sample_of_many_rows_does_not_depend_on_chunks_and_order() -> None:
    data = many_rows()
    found, sample = sample_of(data, 20_000)
    assert len(found.counts) == MAX_ROWS
    assert not sample.is_complete
    expected = {(f"v{i}", "n" if i % 2 else "p"): 2 if i < 8_000 else 1 for i in range(12_000)}
    assert all(expected[a, y] == n for a, y, n, _ in cells(found))
    order = np.random.default_rng(0).permutation(20_000).tolist()
    shuffled = {name: [column[i] for i in order] for name, column in data.items()}
    for table, size in ((data, 1_000), (shuffled, 3_000)):
        other, _ = sample_of(table, size)
        assert cells(other) == cells(found)


def test_the_sample_does_not_hold_the_buffers_of_the_file() -> None:
    schema = weigh.NaiveBayes({"a": "text"}).fit({"a": ["u v", "w"], "y": ["n", "p"]}, "y").model_.schema
    sample = LabelledSample(schema)
    buffer = np.frombuffer(b"some words of a file ", dtype=np.uint8).copy()
    column = TextColumn(np.array([0, 5]), np.array([4, 5]), buffer)
    sample.add(Chunk({"a": column}, 2, labels=np.array(["n", "p"], dtype=object)))
    buffer_is_alive = weakref.ref(buffer)
    del buffer, column
    gc.collect()
    assert buffer_is_alive() is None
    assert sorted(sample.rows().chunk.columns["a"].tolist()) == ["some", "words"]
