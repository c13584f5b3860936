"""What a Spark DataFrame is as a source: its first rows, its types, and what is refused."""

from __future__ import annotations

import threading
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

pytest.importorskip("pyspark", reason="the Spark engine is tested by `make spark-test`")

import weigh
from tests.engines.spark.tables import class_table, to_spark
from weigh import errors
from weigh.cli.main import app
from weigh.source.partitioned.spark import SparkFrame


def test_first_rows_are_those_of_the_frame_in_order_and_type(spark: Any):
    frame = to_spark(spark, class_table(), 30)
    rows = frame.toArrow()
    assert SparkFrame(frame).first_rows(250).equals(rows.slice(0, 250))
    assert (
        SparkFrame(frame.where("spark_partition_id() % 5 = 4"))
        .first_rows(250)
        .equals(pa.concat_tables([rows.slice(400, 100), rows.slice(900, 100), rows.slice(1400, 50)]))
    )
    assert SparkFrame(frame).first_rows(9_999).num_rows == 3_000


def test_names_may_have_dots_and_spaces(spark: Any):
    table = pa.table({"a.b": [1.5, 2.5, 3.0], "c d": ["u", "v", "u"], "y`": ["n", "p", "n"]})
    model = weigh.NaiveBayes().fit(spark.createDataFrame(table), "y`").model_
    assert model.to_bytes() == weigh.NaiveBayes().fit(table, "y`").model_.to_bytes()


def test_pandas_on_spark_is_a_spark_frame(spark: Any):
    table = class_table().select(["age", "city", "label"])
    frame = to_spark(spark, table, 2).pandas_api()
    model = weigh.NaiveBayes().fit(frame, "label").model_
    assert model.to_bytes() == weigh.NaiveBayes().fit(table, "label").model_.to_bytes()


def test_frames_without_rows_are_an_error(spark: Any):
    for frame in (spark.createDataFrame([], "x double, y string"), spark.range(9).where("id < 0")):
        with pytest.raises(errors.DataError, match="The Spark DataFrame has no rows"):
            weigh.NaiveBayes().fit(frame, frame.columns[-1])


def test_other_data_of_spark_are_refused_with_advice(spark: Any):
    with pytest.raises(
        errors.DataError, match=r"A Spark PipelinedRDD has no columns with names. Give a Spark DataFrame\."
    ):
        weigh.NaiveBayes().fit(spark.sparkContext.range(4), "y")
    stream = spark.readStream.format("rate").load()
    with pytest.raises(
        errors.DataError, match=r"is a stream, whose rows have no end\. Give a batch of them\."
    ):
        weigh.NaiveBayes().fit(stream, "value")
    twice = spark.range(4).selectExpr("id as x", "id as x")
    with pytest.raises(errors.ColumnError, match=r"several columns 'x'\. Give every column its own name\."):
        weigh.NaiveBayes().fit(twice, "x")
    months = spark.range(4).selectExpr("id", "make_ym_interval(1, int(id)) as age")
    with pytest.raises(errors.ColumnError, match=r"Column 'age' is of Spark type interval year to month, "):
        weigh.NaiveBayes().fit(months, "id")


def test_derived_columns_that_cannot_be_sent_are_an_error(spark: Any):
    lock = threading.Lock()

    def locked(row: Any) -> Any:
        with lock:
            return row["age"] > 40

    columns = {"old": weigh.Derived(locked, weigh.Flag())}
    with pytest.raises(
        errors.DataError, match=r"derived column \('old'\) cannot be sent to the workers of Spark"
    ):
        weigh.NaiveBayes(columns=columns).fit(to_spark(spark, class_table(), 2), "label")


def test_files_whose_columns_differ_in_type_are_named(spark: Any, tmp_path: Any):
    pq.write_table(pa.table({"x": [1.5, 2.5], "y": ["n", "p"]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"x": ["u", "v"], "y": ["n", "p"]}), tmp_path / "1.parquet")
    frame = spark.read.schema("x double, y string").parquet(str(tmp_path))
    with pytest.raises(errors.DataError, match=r"cannot compute the rows .*1\.parquet.*double"):
        weigh.NaiveBayes().fit(frame, "y")


def test_the_command_fits_parquet_files_like_threads(spark: Any, tmp_path: Any):
    table = class_table().select(["age", "city", "label"])
    pq.write_table(table, tmp_path / "rows.parquet")
    output = tmp_path / "model.weigh"
    arguments = [str(tmp_path / "*.parquet"), "--label", "label", "--engine", "spark", "-o", str(output)]
    result = CliRunner().invoke(app, ["fit", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert output.read_bytes() == weigh.NaiveBayes().fit(table, "label").model_.to_bytes()
    assert spark.range(3).count() == 3  # the session is not stopped
