"""The ordered parallel map."""

from __future__ import annotations

import threading
import time
import weakref

import pytest

from weigh.model.parallel import map_in_order
from weigh.source import Chunk
from weigh.source.base import ChunkReader


def reader(n_rows: int) -> ChunkReader:
    return ChunkReader(n_rows, Chunk, {}, n_rows)


def test_results_come_in_the_order_of_the_chunks():
    def slow_first(chunk: Chunk) -> int:
        time.sleep(0.01 if chunk.n_rows % 3 == 0 else 0.0)
        return chunk.n_rows**2

    assert list(map_in_order(slow_first, map(reader, range(50)))) == [i * i for i in range(50)]


def test_a_single_chunk_starts_no_thread():
    assert list(map_in_order(lambda _: threading.current_thread(), [reader(1)])) == [threading.main_thread()]


def test_no_chunks_give_no_results_and_errors_propagate():
    assert list(map_in_order(lambda chunk: chunk, [])) == []
    with pytest.raises(ZeroDivisionError):
        list(map_in_order(lambda chunk: 1 // chunk.n_rows, map(reader, [1, 2, 0])))


def test_only_a_few_chunks_are_consumed_ahead():
    consumed: list[int] = []

    def readers():
        for item in range(100):
            consumed.append(item)
            yield reader(item)

    results = map_in_order(lambda chunk: chunk.n_rows, readers())
    next(results)
    next(results)
    assert len(consumed) < 40


def test_finished_chunks_are_released():
    seen: list[weakref.ref[ChunkReader]] = []

    def readers():
        for item in range(100):
            made = reader(item)
            seen.append(weakref.ref(made))
            yield made
            del made

    results = map_in_order(lambda chunk: chunk.n_rows, readers())
    for _ in range(10):
        next(results)
    assert [made() for made in seen[:5]] == [None] * 5
