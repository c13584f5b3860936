"""Regression tests for input that once crashed or raised the wrong kind of error."""

from __future__ import annotations

import inspect
import io
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

import weigh
from weigh import errors


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("columns", ["number", "count", "flag"])
def test_numbered_columns_are_evaluated(columns: str) -> None:
    Path("a.svm").write_text("1 1:1 3:2\n2 2:1\n1 1:2 3:1\n2 2:3\n")
    nb = weigh.NaiveBayes(columns=columns).fit(weigh.open("a.svm"))
    assert weigh.evaluate(nb, weigh.open("a.svm")).n == 4
    matrix = csr_matrix([[1.0, 0, 2], [0, 1, 0], [2, 0, 1], [0, 3, 0]])
    again = weigh.NaiveBayes(columns=columns).fit(matrix, [1, 2, 1, 2])
    assert weigh.evaluate(again, matrix, [1, 2, 1, 2]).n == 4


def test_evaluating_rows_without_a_model_column_is_refused() -> None:
    Path("a.csv").write_text("label,text\nham,see you\nspam,free money\n")
    Path("b.csv").write_text("label,body\nham,see you\n")
    nb = weigh.NaiveBayes(columns={"text": "text"}).fit(weigh.open("a.csv", "label"))
    with pytest.raises(errors.ColumnError, match="The rows lack the column 'text'"):
        weigh.evaluate(nb, weigh.open("b.csv", "label"))


def test_closed_standard_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(errors.SourceError) as error:
        weigh.open("-", "y", format="csv")
    assert str(error.value) == "Standard input is closed. Give a file, or something to read."


def test_a_full_disk_while_buffering_standard_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(28, os.strerror(28))

    monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": Full()})())
    message = r"No space left on device\. Free space there, or set TMPDIR"
    with pytest.raises(errors.SourceError, match=message):
        weigh.open("-", "y", format="csv")


def test_folders_may_be_nested_deeper_than_the_recursion_limit() -> None:
    os.makedirs(Path("mails/ham", *["d"] * 200))
    Path("mails/ham", *["d"] * 200, "1.txt").write_text("see you")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    try:
        labels = weigh.open("mails").prefix().labels
    finally:
        sys.setrecursionlimit(limit)
    assert labels.to_pylist() == ["ham"]


@pytest.mark.parametrize("encoding", ["rot13", "hex", "base64", "zlib", "utf-8\0", "no such"])
@pytest.mark.parametrize("name", ["a.csv", "a.ft", "a.jsonl", "mails"])
def test_invalid_text_encodings_are_refused(name: str, encoding: str) -> None:
    Path("a.csv").write_text("y,t\n1,a b\n")
    Path("a.ft").write_text("__label__x a b\n")
    Path("a.jsonl").write_text('{"y": 1}\n')
    os.makedirs("mails/ham")
    Path("mails/ham/1.txt").write_text("see you")
    with pytest.raises(errors.WeighError):
        weigh.open(name, "y", encoding=encoding).prefix()


def test_lists_are_refused_as_categories() -> None:
    table = pa.table({"a": pa.array([["x"], ["y", "z"]]), "y": ["p", "q"]})
    with pytest.raises(errors.ColumnError, match="a category needs strings, numbers or booleans"):
        weigh.NaiveBayes(columns={"a": "category"}).fit(table, "y")


def test_string_views_are_read_without_conversion() -> None:
    table = pa.table({"t": pa.array(["free money", "see you", None], pa.string_view()), "y": ["s", "h", "h"]})
    chunk = weigh.rows(table, "y").prefix()
    assert chunk.columns["t"].type == pa.string_view()
    nb = weigh.NaiveBayes(columns={"t": "text"}).fit(table, "y")
    assert nb.predict(table).tolist() == ["s", "h", "h"]
    short = pa.table({"t": pa.array(["a", "b", "a"], pa.string_view()), "y": ["s", "h", "s"]})
    assert weigh.NaiveBayes(columns={"t": "category"}).fit(short, "y").predict(short).tolist() == [
        "s",
        "h",
        "s",
    ]


def test_worked_calculations_cover_long_texts_of_many_classes() -> None:
    texts = [" ".join(f"w{i}x{j}" for j in range(150)) for i in range(20)]
    nb = weigh.NaiveBayes().fit(texts, [f"c{i}" for i in range(20)])
    assert "posterior" in nb.explain([" ".join(texts)])[0].worked()
    assert "begin{align*}" in nb.explain([texts[0]])[0].worked(format="latex")


def test_a_list_of_strings_is_text_even_if_values_repeat() -> None:
    nb = weigh.NaiveBayes().fit(["refund please", "cancel order"] * 20, ["r", "c"] * 20)
    assert nb.predict(["I want a refund", "cancel it"]).tolist() == ["r", "c"]


def test_a_model_file_with_impossible_counts_is_refused(tmp_path: Path) -> None:
    nb = weigh.NaiveBayes(columns={"a": "category"}).fit({"a": ["x", "y"]}, ["p", "q"])
    counts = nb.model_.counts.parts[0]
    counts.table.setflags(write=True)
    counts.table[0, 0] = np.iinfo(np.int64).max
    nb.model_.save("m.weigh")
    with pytest.raises(errors.ModelFileError, match="holds impossible counts"):
        weigh.load("m.weigh")
