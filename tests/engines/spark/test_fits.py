"""Models of Spark DataFrames equal those of the same rows in this process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="the Spark engine is tested by `make spark-test`")

import weigh
from tests.engines.frames import mixed_table
from tests.engines.spark.tables import class_table, to_arrow, to_spark
from weigh import errors

pytestmark = [
    pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers"),
    pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable"),
    # Moments cannot certify the tolerance that equal weights need.
    pytest.mark.filterwarnings("ignore::weigh.errors.NotOptimal"),
]
NUMBERS = to_arrow(mixed_table().drop(columns=["label", "body", "when", "code"]))
AGAINST = {"city": weigh.Category(against="Bonn")}


@pytest.mark.parametrize("n", [1, 3, 64])
def test_naive_bayes_has_the_same_bytes_for_any_partitions(spark: Any, n: int):
    frame = to_spark(spark, class_table(), n)
    local = weigh.NaiveBayes().fit(frame.toArrow(), "label").model_
    used = {name.split(":")[0] for group in local.schema.column_groups for name in group.names}
    assert used == set(frame.columns) - {"label"}
    assert weigh.NaiveBayes().fit(frame, "label").model_.to_bytes() == local.to_bytes()


def test_the_order_of_rows_and_partitions_does_not_matter(spark: Any):
    frame = to_spark(spark, class_table(), 4)
    local = weigh.NaiveBayes(columns={"body": weigh.Text(buckets=64, ngrams=(1, 2))}).fit(frame, "label")
    shuffled = frame.repartition(12, "age").sort("body")
    folded = weigh.NaiveBayes(columns=local.schema_).fit(shuffled, "label")
    assert folded.model_.to_bytes() == local.model_.to_bytes()


def test_joint_bayes_has_the_same_bytes(spark: Any):
    table = class_table().select(["city", "member", "code", "label"])
    local = weigh.JointBayes().fit(table, "label").model_
    assert weigh.JointBayes().fit(to_spark(spark, table, 5), "label").model_.to_bytes() == local.to_bytes()


def test_kinds_are_those_of_the_first_rows_in_order(spark: Any):
    table = class_table(12_000).select(["body", "age", "paid", "label"])
    frame = to_spark(spark, table, 40)
    assert weigh.NaiveBayes().fit(frame, "label").schema_ == weigh.NaiveBayes().fit(table, "label").schema_


def test_a_class_in_one_partition_and_empty_partitions_are_learned(spark: Any):
    frame = to_spark(spark, class_table(), 8).where("spark_partition_id() not in (0, 3, 7)")
    rare = frame.selectExpr(
        *(name for name in frame.columns if name != "label"),
        "if(spark_partition_id() = 5 and age > 55, 'perhaps', label) as label",
    )
    local = weigh.NaiveBayes().fit(rare.toArrow(), "label").model_
    assert local.classes == ["no", "perhaps", "yes"]
    assert weigh.NaiveBayes().fit(rare, "label").model_.to_bytes() == local.to_bytes()


def test_files_are_read_by_the_workers(spark: Any, tmp_path: Any):
    table = class_table()
    for i in range(3):
        pq.write_table(table.slice(1000 * i, 1000), tmp_path / f"{i}.parquet", coerce_timestamps="us")
    frame = spark.read.parquet(str(tmp_path))
    local = weigh.NaiveBayes().fit(frame.toArrow(), "label").model_
    assert weigh.NaiveBayes(columns=local.schema).fit(frame, "label").model_.to_bytes() == local.to_bytes()


@pytest.mark.parametrize("prior", [None, weigh.Penalty(l2=3.0), weigh.Penalty(l1=40.0)], ids=str)
def test_linear_regression_has_the_same_weights(spark: Any, prior: Any):
    local = weigh.LinearRegression(columns=AGAINST, prior=prior, tol=1e-13).fit(NUMBERS, "target")
    frame = to_spark(spark, NUMBERS, 5)
    folded = weigh.LinearRegression(columns=AGAINST, prior=prior, tol=1e-13).fit(frame, "target")
    assert np.allclose(folded.coef_, local.coef_, rtol=0, atol=1e-9)


def test_logistic_regression_has_the_same_optimum(spark: Any):
    table = to_arrow(mixed_table(1_000).drop(columns=["target", "when", "price"]))
    parameters: dict[str, Any] = {"columns": AGAINST, "prior": weigh.Normal(1.0), "tol": 1e-11}
    local = weigh.LogisticRegression(**parameters).fit(table, "label")
    folded = weigh.LogisticRegression(**parameters).fit(to_spark(spark, table, 3), "label")
    assert np.allclose(folded.coef_, local.coef_, rtol=0, atol=1e-8 * np.abs(local.coef_).max())
    assert folded.certificate_.converged
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def test_a_model_of_spark_continues_with_rows_of_this_process(spark: Any):
    table = class_table()
    whole = weigh.NaiveBayes().fit(table, "label")
    half = weigh.NaiveBayes(columns=whole.schema_).fit(to_spark(spark, table.slice(0, 1_000), 2), "label")
    half.partial_fit(table.slice(1_000), "label")
    assert half.model_.to_bytes() == whole.model_.to_bytes()


def test_errors_of_workers_name_the_partition(spark: Any):
    frame = to_spark(spark, class_table(), 4).selectExpr(
        "age", "city", "if(spark_partition_id() = 3 and age > 50, null, label) as label"
    )
    with pytest.raises(errors.LabelError, match=r"^Partition 3 of the Spark DataFrame \(the first is 0\): "):
        weigh.NaiveBayes().fit(frame, "label")
