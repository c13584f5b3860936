"""The fields of nested columns are columns of their own, in files and in memory; others can be skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from weigh import errors

ROWS: list[dict[str, Any]] = [
    {
        "before": float(row),
        "method": None
        if row == 3
        else {"type": "card" if row % 2 else "cash", "bank": {"code": f"b{row % 3}"}},
        "after": "xy"[row % 2],
        "label": "ab"[row % 2],
    }
    for row in range(40)
]
NAMES = ("before", "method.type", "method.bank.code", "after")


def save_json(folder: Path, rows: list[dict[str, Any]]) -> Any:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return weigh.open(path, label="label")


def save_parquet(folder: Path, rows: list[dict[str, Any]]) -> Any:
    path = folder / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return weigh.open(path, label="label")


def to_frame(folder: Path, rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows)


STORAGES = {
    "JSON lines": save_json,
    "Parquet": save_parquet,
    "pandas": to_frame,
    "Arrow": lambda _, rows: pa.Table.from_pylist(rows),
    "list of dicts": lambda _, rows: rows,
    "dict of lists": lambda _, rows: {name: [row[name] for row in rows] for name in rows[0]},
}


@pytest.mark.parametrize("storage", STORAGES)
def test_fields_take_the_place_of_their_column(storage: str, tmp_path: Path) -> None:
    data = STORAGES[storage](tmp_path, ROWS)
    model = weigh.NaiveBayes().fit(data, "label")
    assert tuple(model.schema_.names) == NAMES
    assert [kind.name for kind in model.schema_.kinds] == ["number", "category", "category", "category"]
    flat = {
        "before": [row["before"] for row in ROWS],
        "method.type": [row["method"] and row["method"]["type"] for row in ROWS],
        "method.bank.code": [row["method"] and row["method"]["bank"]["code"] for row in ROWS],
        "after": [row["after"] for row in ROWS],
        "label": [row["label"] for row in ROWS],
    }
    expected = weigh.NaiveBayes().fit(flat, "label")
    assert model.predict_proba(data).tolist() == expected.predict_proba(flat).tolist()


@pytest.mark.parametrize("storage", STORAGES)
def test_a_nested_column_is_skipped_by_its_name(storage: str, tmp_path: Path) -> None:
    data = STORAGES[storage](tmp_path, ROWS)
    model = weigh.NaiveBayes(columns={"method": "skip"}).fit(data, "label")
    assert [kind.name for kind in model.schema_.kinds] == ["number", "skip", "skip", "category"]


@pytest.mark.parametrize("storage", STORAGES)
def test_a_column_that_cannot_be_read_can_be_skipped(storage: str, tmp_path: Path) -> None:
    rows = [{"items": [{"price": 1}], "x": float(row), "label": "ab"[row % 2]} for row in range(40)]
    data = STORAGES[storage](tmp_path, rows)
    with pytest.raises(errors.ColumnError, match="'items'"):
        weigh.NaiveBayes().fit(data, "label")
    for learner in (weigh.NaiveBayes, weigh.LogisticRegression, weigh.Perceptron):
        model = learner(columns={"items": "skip"}).fit(data, "label")
        assert len(model.predict(data)) == 40


def test_the_error_says_how_to_skip_a_column() -> None:
    table = pa.table({"items": [[{"a": 1}]] * 4, "y": ["a", "b"] * 2})
    with pytest.raises(errors.ColumnError) as caught:
        weigh.NaiveBayes().fit(table, "y")
    assert str(caught.value) == (
        "Column 'items' is of Arrow type list<item: struct<a: int64>>, which cannot be read as a category, "
        "number or text. Extract the parts you need into columns of their own, or skip the column: "
        "columns={'items': 'skip'}."
    )


def test_fields_below_the_fourth_level_stay_together() -> None:
    row = {"a": {"b": {"c": {"d": 1}}}, "y": "a"}
    with pytest.raises(errors.ColumnError, match=r"'a\.b\.c\.d' is of Arrow type struct<e"):
        weigh.NaiveBayes().fit(pa.Table.from_pylist([{"a": {"b": {"c": {"d": {"e": 1}}}}, "y": "a"}]), "y")
    assert list(weigh.NaiveBayes().fit([row, row], "y").schema_.names) == ["a.b.c.d"]


def test_a_field_with_the_name_of_another_column_is_refused() -> None:
    with pytest.raises(errors.DataError) as caught:
        weigh.NaiveBayes().fit([{"a": {"b": 1}, "a.b": 2, "y": "c"}], "y")
    assert str(caught.value) == (
        "The list of dicts has the column name 'a.b' more than once. Give every column its own name."
    )


def test_fields_of_a_file_may_change_their_order_and_be_absent(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        '{"m": {"t": "a", "n": "low"}, "y": "p"}\n{"y": "q", "m": {"n": "high"}}\n{"y": "p"}\n' * 20
    )
    model = weigh.NaiveBayes().fit(weigh.open(tmp_path / "rows.jsonl", label="y"))
    assert list(model.schema_.names) == ["m.t", "m.n"]
    assert model.predict({"m.t": None, "m.n": "high"}).tolist() == ["q"]
    assert model.predict([{"m": {"t": None, "n": "high"}}]).tolist() == ["q"]
