"""Queries of DuckDB and polars: every pass runs them again, and one batch is in memory at a time."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

import weigh
from tests.engines.frames import mixed_table
from weigh import errors
from weigh.source import rows

TABLE = mixed_table().drop(columns="target")


def test_a_lazy_frame_gives_the_model_of_its_rows():
    query = pl.from_pandas(TABLE).lazy().filter(pl.col("code") >= 0)
    local = weigh.NaiveBayes().fit(TABLE, "label")
    assert weigh.NaiveBayes().fit(query, "label").model_.to_bytes() == local.model_.to_bytes()
    assert local.predict(query).tolist() == local.predict(TABLE).tolist()


def test_a_relation_gives_the_model_of_its_rows():
    frame = TABLE.copy()
    connection = duckdb.connect()
    connection.register("rows", frame)
    relation = connection.sql("select * from rows")
    local = weigh.NaiveBayes().fit(TABLE, "label")
    assert weigh.NaiveBayes().fit(relation, "label").model_.to_bytes() == local.model_.to_bytes()
    assert local.predict(relation).tolist() == local.predict(TABLE).tolist()


def test_relations_are_read_batch_by_batch():
    relation = duckdb.connect().sql("select i as x, i % 2 = 0 as even from range(500_000) as t(i)")
    source = rows(relation, "even")
    sizes = [(chunk.first_row, chunk.n_rows) for chunk in source.chunks(size=100_000)]
    assert sum(n for _, n in sizes) == 500_000
    assert max(n for _, n in sizes) <= 100_000
    assert [first for first, _ in sizes] == [sum(n for _, n in sizes[:i]) for i in range(len(sizes))]


def test_a_query_without_rows_is_an_error():
    with pytest.raises(errors.DataError, match="The query returns no rows"):
        rows(pl.LazyFrame({"x": [1], "y": [2]}).filter(pl.col("x") > 5), "y")


def test_an_unknown_label_is_an_error():
    with pytest.raises(errors.DataError, match="The query has no column 'z'"):
        rows(pl.LazyFrame({"x": [1], "y": [2]}), "z")
