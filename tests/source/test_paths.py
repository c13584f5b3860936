"""Tests of path patterns and standard input."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from tests.source.conftest import read
from weigh.errors import SourceError
from weigh.source import open

CSV = b"n,y\n1,no\n2,yes\n"
ROWS = [1, 2]


@pytest.fixture(autouse=True)
def months(working_folder: Path) -> None:
    for number, name in enumerate(["feb.csv", "jan.csv", "mar.csv"]):
        Path(name).write_text(f"n,y\n{number},no\n")


@pytest.fixture
def feed_stdin(monkeypatch: pytest.MonkeyPatch):
    return lambda data: monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def numbers(path: Any, **options: Any) -> list[Any]:
    return [row["n"] for row in read(open(path, "y", **options))]


def test_a_pattern_resolves_to_matching_files_in_order() -> None:
    assert numbers("*.csv") == [0, 1, 2]
    assert numbers(Path("[fj]*.csv")) == [0, 1]
    assert numbers(["mar.csv", "*an.csv"]) == [2, 1]
    Path("mar.csv.gz").write_bytes(gzip.compress(b"n,y\n9,no\n", mtime=0))
    assert numbers("mar*") == [2, 9]


def test_a_pattern_may_be_recursive() -> None:
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/x.csv").write_text("n,y\n7,no\n")
    assert numbers("deep/**/*.csv") == [7]
    assert numbers("**/*.csv") == [7, 0, 1, 2]


def test_an_existing_file_named_like_a_pattern_takes_precedence() -> None:
    Path("[fj]an.csv").write_text("n,y\n5,no\n")
    assert numbers("[fj]an.csv") == [5]


def test_a_pattern_without_matches_is_reported() -> None:
    Path("folder.tsv").mkdir()
    for pattern in ("*.json", "*.tsv"):
        with pytest.raises(SourceError) as refused:
            open(["jan.csv", pattern])
        assert (str(refused.value), refused.value.path) == (f"No file matches {pattern}.", pattern)


COMPRESSORS = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("packing", COMPRESSORS)
def test_standard_input_can_be_read_repeatedly(packing: str, feed_stdin) -> None:
    feed_stdin(COMPRESSORS[packing](CSV))
    source = open("-", "y", format="csv")
    for _ in range(2):
        assert [row["n"] for row in read(source)] == ROWS
        assert source.bytes_read == source.bytes_total == len(COMPRESSORS[packing](CSV))


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("tsv", CSV.replace(b",", b"\t")),
        ("json", b'{"n": 1, "y": "no"}\n{"n": 2, "y": "yes"}\n'),
        ("fasttext", b"__label__no a\n__label__yes b\n"),
        ("vw", b"1 | a\n2 | b\n"),
        ("libsvm", b"1 1:1\n2 1:2\n"),
    ],
)
def test_standard_input_can_have_any_text_format(format: str, content: bytes, feed_stdin) -> None:
    feed_stdin(content)
    assert len(read(open("-", "y", format=format))) == 2


def test_standard_input_can_be_parquet(feed_stdin) -> None:
    pq.write_table(pa.table({"n": ROWS, "y": ["no", "yes"]}), "t.parquet")
    feed_stdin(Path("t.parquet").read_bytes())
    assert numbers("-", format="parquet") == ROWS


def test_standard_input_can_be_combined_with_files(feed_stdin) -> None:
    feed_stdin(CSV)
    assert numbers(["jan.csv", "-"], format="csv") == [1, 1, 2]


def test_no_temporary_file_of_standard_input_remains(
    feed_stdin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    feed_stdin(CSV)
    source = open("-", "y", format="csv")
    assert len(read(source)) == 2
    gc.collect()
    opened = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    del source
    gc.collect()
    assert list(folder.iterdir()) == []
    if opened:
        assert len(os.listdir("/proc/self/fd")) == opened - 1


@pytest.mark.parametrize(
    ("content", "format", "message"),
    [
        (b"", "csv", "standard input is empty."),
        (
            b"n,y\n1,no\n2\n",
            "csv",
            "standard input, line 3 has 1 field, the header has 2. A field that contains",
        ),
        (b"n,y\n1,\xc3\xa9\xe9\n", "csv", "standard input, line 2 is not UTF-8 text."),
        (b'{"n": 1\n', "json", "standard input, line 1 is not JSON: Expecting ',' delimiter."),
        (b"PAR1", "parquet", "standard input is not a complete Parquet file: "),
        (b"1 | a\nx | b\n", "vw", "standard input, line 2, column 1: the label 'x' is not a number."),
        (gzip.compress(CSV, mtime=0)[:-9], "csv", "standard input cannot be read: Compressed file ended"),
        (CSV, "folder", "standard input is a file. Give a folder that holds a folder per class."),
        (
            CSV,
            None,
            "Standard input has no ending that tells its format. Give format='csv', 'tsv', 'excel',",
        ),
    ],
)
def test_messages_name_standard_input(content: bytes, format: str | None, message: str, feed_stdin) -> None:
    feed_stdin(content)
    with pytest.raises(SourceError) as refused:
        read(open("-", format=format))
    assert str(refused.value).startswith(message)
    assert refused.value.path == "standard input"


def test_a_model_can_be_fitted_from_standard_input(feed_stdin) -> None:
    feed_stdin(CSV)
    model = weigh.NaiveBayes().fit(open("-", "y", format="csv")).model_
    Path("t.csv").write_bytes(CSV)
    assert model.to_bytes() == weigh.NaiveBayes().fit(open("t.csv", "y")).model_.to_bytes()
