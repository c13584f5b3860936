from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weigh
from weigh.errors import ColumnError, DataError
from weigh.source import rows

MOMENTS = [dt.datetime(2020, 1, 2, 3, 4, 5), dt.datetime(1969, 1, 1, 0, 0, 0, 250_000), None]
ISO_TIMES = ["2020-01-02T03:04:05", "1969-01-01T00:00:00.25", None]


def converted(column: Any) -> list[object]:
    values = next(rows({"c": column}).chunks()).columns["c"]
    result: list[object] = values.to_pylist() if hasattr(values, "to_pylist") else values.tolist()
    return result


@pytest.mark.parametrize(
    "column",
    [
        MOMENTS,
        np.array(MOMENTS, dtype="M8[us]"),
        np.array(MOMENTS, dtype="M8[ns]"),
        pd.Series(MOMENTS),
        pl.Series(MOMENTS),
        pa.array(MOMENTS, pa.timestamp("ms")),
        pa.array(MOMENTS, pa.timestamp("ns")),
        pa.array(MOMENTS, pa.timestamp("us")).dictionary_encode(),
    ],
)
def test_moments_become_the_same_text_from_every_storage(column: Any) -> None:
    assert converted(column) == ISO_TIMES


def test_zones_are_kept() -> None:
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    assert converted(pa.array([moment], pa.timestamp("us", "+01:00"))) == ["2020-01-02T03:04:05+01:00"]
    assert converted([moment]) == ["2020-01-02T03:04:05+01:00"]


@pytest.mark.parametrize("make", [list, pa.array, pl.Series, lambda v: np.array(v, dtype="M8[D]")])
def test_dates_become_text(make: Any) -> None:
    assert converted(make([dt.date(2020, 1, 2)])) == ["2020-01-02"]


@pytest.mark.parametrize("make", [list, pa.array, pl.Series])
def test_times_become_text(make: Any) -> None:
    assert converted(make([dt.time(3, 4, 5)])) == ["03:04:05"]


@pytest.mark.parametrize("make", [list, pa.array, pl.Series, pd.Series, np.array])
def test_durations_become_seconds(make: Any) -> None:
    assert converted(make([dt.timedelta(minutes=1, milliseconds=500)])) == [60.5]


@pytest.mark.parametrize("make", [list, pa.array, pl.Series, pd.Series])
def test_decimals_become_numbers(make: Any) -> None:
    assert converted(make([Decimal("1.25")])) == [1.25]


def test_types_without_a_kind_of_their_own_become_near_ones() -> None:
    assert converted(pa.array(["a", None], pa.string_view())) == ["a", None]
    assert converted(pa.array([1.5], pa.float16())) == [1.5]
    assert converted(pa.array([b"a"], pa.binary())) == ["a"]
    assert converted(pa.nulls(2)) == [None, None]
    assert converted(pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])) == ["a", "a", "b"]


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, lambda item: pa.list_(item, 1)])
def test_lists_of_strings_stay_lists(kind: Any) -> None:
    assert converted(pa.array([["a"], ["b"]], kind(pa.string()))) == [["a"], ["b"]]
    assert converted(pa.array([["a"], None], kind(pa.string_view()))) == [["a"], None]


@pytest.mark.parametrize(
    "column", [pa.array([[{"z": 1}]]), pa.array([[1, 2]]), pa.array([b"\xff"]), pl.Series([[{"z": 1}]])]
)
def test_columns_without_a_reading_are_refused_by_name(column: Any) -> None:
    with pytest.raises(ColumnError, match="Column 'c' "):
        converted(column)


def test_the_error_for_a_nested_column_says_what_to_do() -> None:
    with pytest.raises(ColumnError) as caught:
        converted(pa.array([[{"z": 1}]]))
    assert str(caught.value) == (
        "Column 'c' is of Arrow type list<item: struct<z: int64>>, which cannot be read as a category, "
        "number or text. Extract the parts you need into columns of their own, or skip the column: "
        "columns={'c': 'skip'}."
    )


def test_pandas_own_missing_values_become_none() -> None:
    assert converted(pd.Series([pd.NA, "a", pd.NaT], dtype=object)) == [None, "a", None]


def test_periods_and_sparse_columns_are_read() -> None:
    assert converted(pd.Series(pd.period_range("2020-01", periods=2, freq="M"))) == ["2020-01", "2020-02"]
    assert converted(pd.Series(pd.arrays.SparseArray([0, 1]))) == [0, 1]


ITSELF: list[Any] = []
ITSELF.append(ITSELF)
DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]
WIDE: list[Any] = []
WIDE.extend([WIDE] * 4)


@pytest.mark.parametrize(
    "value",
    [
        b"\xff",
        np.bytes_(b"\xff"),
        [b"\xff"],
        ITSELF,
        [[ITSELF]],
        DEEP,
        Decimal("sNaN"),
        Fraction(10**400, 3),
        {"a": 1},
        len,
        np.array(["x"]).view(np.void)[0],
        1j,
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.parametrize("kind", ["auto", "category", "number", "tokens", "text"])
def test_values_without_a_reading_are_errors_of_weigh(value: Any, kind: str) -> None:
    labels = ["a", "b", "a", "b"]
    columns = "auto" if kind == "auto" else {"c": kind}
    learner = weigh.NaiveBayes(columns=columns)
    values = [value, ["x"] if isinstance(value, list) else "x"] * 2
    for column in (values, pd.Series(values, dtype=object), np.fromiter(values, dtype=object)):
        with pytest.raises(DataError) as caught:
            learner.fit({"c": column, "x": [1.0, 2.0, 3.0, 4.0]}, labels)
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize("data", [ITSELF, WIDE, [ITSELF] * 4, [WIDE] * 4, [[b"\xff", 1.0]] * 4])
def test_rows_without_a_reading_are_errors_of_weigh(data: Any) -> None:
    with pytest.raises(DataError):
        weigh.NaiveBayes().fit(data, ["a", "b", "a", "b"][: len(data)])


def test_rows_with_lists_of_tokens_are_read() -> None:
    table = rows([[["red", "blue"], 1.0], [["red"], 2.0]], names=["words", "x"]).prefix()
    assert table.columns["words"].tolist() == [["red", "blue"], ["red"]]
    assert table.columns["x"].tolist() == [1.0, 2.0]


def test_errors_of_other_libraries_name_the_column() -> None:
    unknown_zone = pa.array([0, 1], pa.timestamp("s", "Nowhere/City"))
    for column in (
        unknown_zone,
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pd.Series(pd.Categorical([1, "a", 2.5])),
        pd.MultiIndex.from_product([[1, 2], [3, 4]]),
        np.ones(2, "M8[as]"),
    ):
        with pytest.raises(ColumnError, match=r"^Column 'c' cannot be read: .*\. Convert its values to"):
            converted(column)


def test_huge_integers_beside_floats_are_kept() -> None:
    assert converted([1.5, 10**400]) == [1.5, 10**400]
