"""Rows without a label can be left out, and the others keep their numbers."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from weigh.engines import run
from weigh.errors import LabelError, UnlabelledRows
from weigh.learn import BayesTask
from weigh.source import Source
from weigh.source.chunk import ListColumn, TextColumn, to_pylist

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.UnlabelledRows")
N = 30_000
LABELS = [None if i % 7 == 3 or 12_000 <= i < 24_000 else "pq"[i % 2] for i in range(N)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_csv(path: str = "t.csv", labels: list[Any] = LABELS, start: int = 0) -> str:
    rows = "".join(f"{i % 11},{i},{label or ''}\n" for i, label in enumerate(labels, start))
    Path(path).write_text(f"a,i,y\n{rows}")
    return path


def numbered_rows(source: Source, size: int = 65_536) -> list[tuple[int, int, Any]]:
    """Return the number, the column i and the label of all rows."""
    rows = []
    for reader in source.chunk_readers(size=size):
        chunk = reader.read()
        assert chunk.n_rows == reader.n_rows > 0
        columns = zip(to_pylist(chunk.columns["i"]), to_pylist(chunk.labels), strict=True)
        rows += [(chunk.row_number(k), i, label) for k, (i, label) in enumerate(columns)]
    return rows


@pytest.mark.parametrize("size", [1, 97, 65_536])
def test_rows_with_a_label_are_left_with_their_numbers(size: int) -> None:
    labels = LABELS[:300] if size == 1 else LABELS
    source = weigh.open(write_csv(labels=labels), "y", drop_missing_labels=True, block=20_000)
    expected = [(i, i, label) for i, label in enumerate(labels) if label is not None]
    assert numbered_rows(source, size) == expected
    assert source.n_rows == len(expected)


def test_other_formats_are_filtered_too() -> None:
    write_csv()
    table = pa.table({"i": range(N), "y": LABELS})
    pq.write_table(table, "t.parquet", row_group_size=1000)
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    expected = numbered_rows(weigh.open("t.csv", "y", drop_missing_labels=True))
    for path in ("t.parquet", "t.jsonl"):
        assert numbered_rows(weigh.open(path, "y", drop_missing_labels=True)) == expected


def test_numeric_labels_are_missing_if_nan() -> None:
    Path("t.csv").write_text("i,y\n0,1.5\n1,\n2,2.5\n")
    assert numbered_rows(weigh.open("t.csv", "y", drop_missing_labels=True)) == [(0, 0, 1.5), (2, 2, 2.5)]


def test_markers_of_missing_values_apply_to_labels() -> None:
    Path("t.csv").write_text("i,y\n0,p\n1,?\n2,q\n")
    source = weigh.open("t.csv", "y", missing="?", drop_missing_labels=True)
    assert [row[0] for row in numbered_rows(source)] == [0, 2]
    later = weigh.open("t.csv", "y", drop_missing_labels=True).with_missing(["?"])
    assert [row[0] for row in numbered_rows(later)] == [0, 2]


def test_texts_and_lists_are_selected() -> None:
    Path("t.ft").write_text("__label__a one two\nno label\n__label__b three\n")
    chunk = weigh.open("t.ft", drop_missing_labels=True).prefix()
    assert (to_pylist(chunk.columns["text"]), to_pylist(chunk.labels)) == (["one two", "three"], ["a", "b"])
    Path("t.vw").write_text("1 |n a:2 b\n|n c\n-1 |n d e f\n")
    chunk = next(weigh.open("t.vw", drop_missing_labels=True).chunks())
    assert to_pylist(chunk.columns["n"]) == [{"a": 2.0, "b": 1.0}, {"d": 1.0, "e": 1.0, "f": 1.0}]
    names = TextColumn(np.arange(5), np.ones(5, dtype=np.int64), np.frombuffer(b"abcde", dtype=np.uint8))
    lists = ListColumn(np.array([0, 2, 3, 5]), names)[1:3]
    assert lists.select(np.array([False, True])).to_pylist() == [["d", "e"]]


def test_row_numbers_count_across_files() -> None:
    write_csv("1.csv", [None, "p", None]), write_csv("2.csv", [None, "q"], start=3)
    source = weigh.open(["1.csv", "2.csv"], "y", drop_missing_labels=True)
    assert numbered_rows(source) == [(1, 1, "p"), (4, 4, "q")]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_model_equals_that_of_a_file_without_such_rows(threads: int) -> None:
    write_csv()
    rows = Path("t.csv").read_text().splitlines(keepends=True)
    Path("kept.csv").write_text("".join(row for row in rows if not row.endswith(",\n")))
    models = []
    for source in (weigh.open("t.csv", "y", drop_missing_labels=True), weigh.open("kept.csv", "y")):
        models.append(run(BayesTask.for_source(source), source, threads=threads))
    assert models[0].to_bytes() == models[1].to_bytes()


def test_evaluations_and_audits_name_rows_of_the_file() -> None:
    labels = ["p", None, "p", "q", None, "q", *["p"] * 30]
    Path("t.csv").write_text(
        "a,y\n" + "".join(f"{'x' if i != 8 else 'z'},{v or ''}\n" for i, v in enumerate(labels))
    )
    source = weigh.open("t.csv", "y", drop_missing_labels=True)
    audit = weigh.audit(weigh.NaiveBayes().fit(source), source)
    assert sorted(suspect.row for suspect in audit.rows) == [3, 5]
    Path("n.csv").write_text("a,y\n0,0\n1,\n2,2\n3,9\n4,4\n")
    source = weigh.open("n.csv", "y", drop_missing_labels=True)
    evaluation = weigh.evaluate(weigh.LinearRegression().fit(source), source)
    assert evaluation.largest[0].row == 3


def test_a_note_tells_how_many_rows_were_left_out() -> None:
    path = write_csv(labels=["p", None, "q", None])
    with pytest.warns(UnlabelledRows) as caught:
        weigh.open(path, "y", drop_missing_labels=True)
    assert [str(each.message) for each in caught] == [
        "t.csv: 2 rows have no label and were left out, of 4 (first: row 1)."
    ]
    files = [write_csv("a.csv", ["p"]), write_csv("b.csv", [None], start=1)]
    with pytest.warns(
        UnlabelledRows, match=r"^a\.csv and 1 other file: 1 row has no label and was left out, of 2"
    ):
        weigh.open(files, "y", drop_missing_labels=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert weigh.open(write_csv(labels=["p", "q"]), "y", drop_missing_labels=True).n_rows == 2


def test_a_file_without_any_label_is_an_error() -> None:
    with pytest.raises(LabelError, match=r"^No row of t\.csv has a label\.$"):
        weigh.open(write_csv(labels=[None, None]), "y", drop_missing_labels=True)


def test_without_it_the_error_names_the_option() -> None:
    source = weigh.open(write_csv(labels=["p", None, "q"]), "y")
    with pytest.raises(LabelError) as caught:
        weigh.NaiveBayes().fit(source)
    assert str(caught.value) == (
        "The label is missing in 1 of the first 3 rows (first: row 1). Leave such rows out; of a file, "
        "weigh.open(..., drop_missing_labels=True) does that."
    )
