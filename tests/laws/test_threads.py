"""Law 7: any number of threads gives the same bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.laws.tables import KINDS, LABEL, Row, fit_model, law, some_rows, table
from weigh.engines import run
from weigh.learn import BayesTask
from weigh.source import Source
from weigh.source.base import CHUNK_ROWS, ChunkReader

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")


class Streamed(Source):
    """The rows of another source in small chunks and of unknown number, so that threads are used."""

    def __init__(self, inner: Source, size: int) -> None:
        self.inner, self.size = inner, size
        self.names, self.width, self.named, self.label = inner.names, inner.width, inner.named, inner.label
        self.n_rows = None

    def chunk_readers(self, kinds: Any = None, size: int = 0) -> Iterator[ChunkReader]:
        return self.inner.chunk_readers(kinds, size=self.size)

    def with_label(self, name: str) -> Source:
        return Streamed(self.inner.with_label(name), self.size)


@law
@given(some_rows(1, 20), st.integers(1, 4))
def test_streams_of_small_chunks_give_the_same_bytes(rows: list[Row], size: int) -> None:
    whole = fit_model(rows)
    source = Streamed(weigh.rows(table(rows), LABEL), size)
    for threads in (1, 2, 3, 8):
        assert run(BayesTask(whole.schema), source, threads=threads).to_bytes() == whole.to_bytes()


def big_table(rows: int) -> dict[str, Any]:
    """Return a table whose last rows have values that occur nowhere else."""
    rng = np.random.default_rng(7)
    late = np.arange(rows) > 0.95 * rows
    words = np.array(["free money", "noon lunch", "see you", "late word"], dtype=object)
    return {
        "colour": np.where(late, "violet", rng.choice(["red", "blue", "green"], rows)).astype(object),
        "grade": rng.integers(1, 4, rows),
        "known": rng.random(rows) < 0.3,
        "urgent": rng.integers(0, 2, rows),
        "links": rng.poisson(2.0, rows),
        "bangs": rng.poisson(0.2, rows),
        "size": rng.normal(size=rows) * 10.0 ** rng.integers(-200, 200, rows),
        "age": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(40.0, 10.0, rows)),
        "height": rng.normal(size=rows),
        "body": words[np.where(late, 3, rng.integers(0, 3, rows))],
        "title": words[rng.integers(0, 4, rows)],
        "tags": np.fromiter((["x", "y"][: i % 3] for i in range(rows)), dtype=object, count=rows),
        LABEL: np.where(late, "late", rng.choice(["ham", "spam"], rows)).astype(object),
    }


ROWS = 40_000


@pytest.fixture(scope="module")
def many_rows() -> dict[str, Any]:
    return big_table(ROWS)


@pytest.fixture(scope="module")
def single_thread_bytes(many_rows: dict[str, Any]) -> bytes:
    return model_bytes(many_rows, threads=1)


def model_bytes(rows: dict[str, Any], threads: int | None, weights: Any = None) -> bytes:
    """Return the bytes of the model fitted to the rows in chunks of 3,000."""
    source = Streamed(weigh.rows(rows, LABEL, weights), size=3_000)
    saved: bytes = weigh.NaiveBayes(columns=KINDS, threads=threads).fit(source).model_.to_bytes()
    return saved


@pytest.mark.parametrize("threads", [2, 3, 8, None])
def test_many_rows_give_the_same_bytes(
    many_rows: dict[str, Any], single_thread_bytes: bytes, threads: int | None
) -> None:
    assert model_bytes(many_rows, threads) == single_thread_bytes


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_a_table_of_several_chunks_gives_the_same_bytes(threads: int) -> None:
    rng = np.random.default_rng(1)
    n = 2 * CHUNK_ROWS + 1_000
    values, labels = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-9, 9, (n, 1)), rng.integers(0, 3, n)
    one, several = (weigh.NaiveBayes(threads=k).fit(values, labels).model_ for k in (1, threads))
    assert several.to_bytes() == one.to_bytes()


def test_integer_weights_give_the_same_bytes(many_rows: dict[str, Any]) -> None:
    weights = np.random.default_rng(1).integers(0, 5, ROWS)
    assert model_bytes(many_rows, 3, weights) == model_bytes(many_rows, 1, weights)


def test_an_error_in_one_thread_is_raised_and_stops_the_others(many_rows: dict[str, Any]) -> None:
    bad_rows = many_rows | {"links": np.where(np.arange(ROWS) == ROWS - 1, -1, many_rows["links"])}
    before = threading.active_count()
    with pytest.raises(weigh.errors.ColumnError, match="'links' holds counts, but one of them is negative"):
        model_bytes(bad_rows, threads=3)
    assert threading.active_count() == before
