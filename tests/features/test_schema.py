"""The schema checks the columns of a source."""

from __future__ import annotations

import time

import numpy as np

import weigh
from weigh.features import Number, Schema, infer_schema
from weigh.source import rows


def test_checking_many_columns_takes_no_longer_per_column():
    names = [f"column {j}" for j in range(40_000)]
    source = rows(np.ones((1, len(names))), names=names)
    start = time.perf_counter()
    Schema(names, [Number()] * len(names)).check(source)
    infer_schema(source, dict.fromkeys(names, "number"))
    # Searching a list for each of them would take half a minute.
    assert time.perf_counter() - start < 5


def test_text_files_are_read_as_strings_only_if_all_levels_were_strings():
    schema = infer_schema(rows({"a": ["1", "x"], "b": [1, 2], "x": [0.5, 1.5], "y": [0, 1]}, "y"))
    levels = {"a": ["1", "x"], "b": [1, 2], "x": ["x ≤ 1", "x > 1"], "y": ["no", "yes"]}
    assert schema.level_storage(levels) == {"a": "string", "b": "mixed", "y": "string"}


def test_rows_without_names_are_read_in_the_order_of_the_columns():
    nb = weigh.NaiveBayes().fit(
        {"a": [1.5, 2.5, 8.5, 9.5], "b": [0.5, 0.1, 0.2, 0.3], "y": [0, 0, 1, 1]}, "y"
    )
    assert nb.predict(np.array([[9.0, 0.2]])).tolist() == [1]
    assert nb.predict([[9.0, 0.2]]).tolist() == nb.predict({"a": 9.0, "b": 0.2}).tolist()
