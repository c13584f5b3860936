"""Predictions for Spark DataFrames are lazy columns beside those of the frame."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the Spark engine is tested by `make spark-test`")

import weigh
from tests.engines.spark.tables import class_table, to_spark
from weigh import errors


def test_predictions_are_lazy_columns_beside_those_of_the_frame(spark: Any):
    table = class_table(400)
    model = weigh.NaiveBayes().fit(table, "label")
    frame = to_spark(spark, table, 3)
    lazy = model.predict(frame, reasons=1)
    assert lazy.columns == [*frame.columns, "prediction", "P(no)", "P(yes)", "reason 1"]
    result = lazy.toArrow()
    assert result.select(table.column_names).equals(frame.toArrow())
    assert result["prediction"].to_pylist() == model.predict(table).tolist()
    assert result["P(yes)"].to_pylist() == model.predict_proba(table)[:, 1].tolist()
    assert all(result["reason 1"].to_pylist())


def test_columns_of_the_result_must_be_new(spark: Any):
    table = class_table(400).select(["age", "city", "label"])
    model = weigh.NaiveBayes().fit(table, "label")
    frame = to_spark(spark, table, 1).withColumnRenamed("label", "prediction")
    with pytest.raises(errors.ColumnError, match=r"already has 'prediction', which the result adds"):
        model.predict(frame)
