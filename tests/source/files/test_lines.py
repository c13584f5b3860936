"""Tests that apply to all line-based formats: fastText, VW and LIBSVM."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from tests.source.conftest import ErrorReader, Rows, plain_rows, read
from weigh.errors import SourceError
from weigh.source import open

LINES = {
    "a.ft": ["__label__x one two", "__label__y three é", "four"],
    "a.vw": ["1 2.0 |f a b:3", "-1 |f é", "|f c"],
    "a.svm": ["1 1:2 3:0.5", "-1 2:1.5", "1 3:4 # é"],
}
ROWS: dict[str, Rows] = {
    "a.ft": [
        {"text": "one two", "label": "x", "weight": 1.0, "row": 0},
        {"text": "three é", "label": "y", "weight": 1.0, "row": 1},
        {"text": "four", "label": None, "weight": 1.0, "row": 2},
    ],
    "a.vw": [
        {"f": {"a": 1.0, "b": 3.0}, "label": 1, "weight": 2.0, "row": 0},
        {"f": {"é": 1.0}, "label": -1, "weight": 1.0, "row": 1},
        {"f": {"c": 1.0}, "label": None, "weight": 1.0, "row": 2},
    ],
    "a.svm": [
        {"wide": [2.0, 0.0, 0.5], "label": 1, "weight": 1.0, "row": 0},
        {"wide": [0.0, 1.5, 0.0], "label": -1, "weight": 1.0, "row": 1},
        {"wide": [0.0, 0.0, 4.0], "label": 1, "weight": 1.0, "row": 2},
    ],
}
every = pytest.mark.parametrize("name", LINES)
pytestmark = pytest.mark.usefixtures("working_folder")

SHAPES = {
    "plain": ("{}\n", "utf-8"),
    "Windows": ("{}\r\n", "utf-8"),
    "blank lines": ("\n \t\n{}\n\r\n", "utf-8"),
    "blanks before": ("  {}\n", "utf-8"),
    "byte order mark": ("{}\n", "utf-8-sig"),
}


def with_lists_as_counts(rows: Rows) -> Rows:
    """Convert lists of names without values to dicts with the value 1."""
    return [
        {name: dict.fromkeys(value, 1.0) if name == "f" else value for name, value in row.items()}
        if isinstance(row.get("f"), list)
        else row
        for row in rows
    ]


@every
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ended", [True, False])
def test_line_ends_and_blanks_do_not_matter(name: str, shape: str, ended: bool) -> None:
    template, encoding = SHAPES[shape]
    text = "".join(template.format(line) for line in LINES[name])
    Path(name).write_bytes((text if ended else text.rstrip()).encode(encoding))
    source = open(name)
    assert with_lists_as_counts(read(source)) == ROWS[name]
    assert with_lists_as_counts(plain_rows([source.prefix()])) == ROWS[name]


@every
@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("block", [28, 1 << 20])
def test_block_and_chunk_sizes_do_not_matter(name: str, size: int, block: int) -> None:
    Path(name).write_text("\n".join(LINES[name] * 5) + "\n" * 100)
    source = open(name, block=block)
    expected = [{**ROWS[name][row % 3], "row": row} for row in range(15)]
    for _ in range(2):
        assert with_lists_as_counts(read(source, size)) == expected
        assert source.bytes_read == source.bytes_total
        assert sum(reader.n_rows for reader in source.chunk_readers(size=size)) == 15
    assert with_lists_as_counts(plain_rows([source.prefix(4)])) == expected[:4]
    assert source.prefix(99).n_rows == 15


COMPRESSORS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@every
@pytest.mark.parametrize("ending", COMPRESSORS)
def test_compressed_files_are_read(name: str, ending: str) -> None:
    Path(name + ending).write_bytes(COMPRESSORS[ending]("\n".join(LINES[name]).encode()))
    source = open(name + ending)
    assert with_lists_as_counts(read(source)) == ROWS[name]
    assert source.bytes_read == source.bytes_total


@every
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings_are_read(name: str, encoding: str) -> None:
    Path(name).write_bytes("\n".join(LINES[name]).encode(encoding))
    assert with_lists_as_counts(read(open(name, encoding=encoding))) == ROWS[name]


@every
def test_several_files_are_one_table(name: str) -> None:
    first, second = f"1{name}", f"2{name}.gz"
    Path(first).write_text("\n".join(LINES[name]))
    Path(second).write_bytes(gzip.compress("\n".join(LINES[name]).encode()))
    source = open([first, second])
    expected = [{**ROWS[name][row % 3], "row": row} for row in range(6)]
    assert with_lists_as_counts(read(source)) == expected
    assert source.bytes_read == source.bytes_total
    assert sum(reader.n_rows for reader in source.chunk_readers()) == 6
    assert dict(source.kinds) == dict(open(first).kinds)


@every
def test_the_label_column_can_be_named(name: str) -> None:
    Path(name).write_text("\n".join(LINES[name]))
    assert open(name).label == "label"
    source = open(name, label="topic")
    assert source.label == "topic"
    assert source.with_label("topic").label == "topic"
    assert with_lists_as_counts(read(source)) == ROWS[name]


@every
def test_labels_can_be_read_as_strings_or_numbers(name: str) -> None:
    Path(name).write_text("\n".join(LINES[name]).replace("__label__x", "__label__1"))
    expected = [row["label"] for row in ROWS[name] if row["label"] is not None]
    source = open(name)
    as_text = [
        row["label"] for row in read(source.with_storage({"label": "string"})) if row["label"] is not None
    ]
    assert as_text == [str(label).replace("x", "1") for label in expected]
    mixed = [
        row["label"] for row in read(source.with_storage({"label": "mixed"})) if row["label"] is not None
    ]
    assert mixed == [1 if label == "x" else label for label in expected]
    assert source.with_storage({"other": "string"}) is source


@every
def test_a_chunk_is_read_only_when_its_reader_is_called(name: str) -> None:
    wrong = {"a.ft": "__label__x __label__y", "a.vw": "no pipe", "a.svm": "x"}[name]
    Path(name).write_text("\n".join([*LINES[name], wrong]))
    names = ["f"] if name == "a.vw" else None
    pieces = list(open(name, block=28, names=names).chunk_readers())
    with pytest.raises(SourceError, match=f"^{name}, line 4"):
        pieces[-1].read()


@every
def test_empty_files_are_reported(name: str, read_error: ErrorReader) -> None:
    assert read_error(name, b"") == (f"{name} is empty.", None)
    assert read_error(name, b"\n \r\n\n") == (f"{name} has no rows.", None)


@pytest.mark.parametrize("name", ["a.ft", "a.vw"])
def test_undecodable_bytes_are_reported_with_their_line(name: str, read_error: ErrorReader) -> None:
    lines = "\n".join([*LINES[name], LINES[name][1]]).encode("utf-8")
    wrong = lines[::-1].replace("é".encode()[::-1], b"\xe9", 1)[::-1]
    message = f"{name}, line 4 is not UTF-8 text. Give encoding='cp1252' if it is that."
    assert read_error(name, wrong) == (message, 4)


@every
def test_a_truncated_compressed_file_is_reported(name: str, read_error: ErrorReader) -> None:
    compressed = gzip.compress("\n".join(LINES[name] * 1000).encode())
    message, line = read_error(f"{name}.gz", compressed[:-20])
    assert message.startswith(f"{name}.gz cannot be read: Compressed file ended")
    assert line is None


@every
@pytest.mark.parametrize("rows_before", [0, 20_000])
def test_an_endless_line_is_an_error_in_bounded_memory(name: str, rows_before: int) -> None:
    with Path(name).open("w") as file:
        file.write((LINES[name][0] + "\n") * rows_before)
    with Path(name).open("ab") as file:
        file.truncate(file.tell() + (100 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(SourceError) as caught:
            sum(chunk.n_rows for chunk in open(name).chunks())
        assert tracemalloc.get_traced_memory()[1] < 128 << 20
    finally:
        tracemalloc.stop()
    assert str(caught.value) == (
        f"{name}, line {rows_before + 1:,}: a row is longer than a block; give block= more bytes than the "
        f"longest row has."
    )


def test_nul_is_an_ordinary_character(read_error: ErrorReader) -> None:
    Path("a.ft").write_bytes(b"__label__x a\0b\n")
    assert read(open("a.ft"))[0]["text"] == "a\0b"
    Path("a.vw").write_bytes(b"1 |f a\0b\n")
    assert read(open("a.vw"))[0]["f"] == ["a\0b"]
    message = "a.svm, line 1: the value of '1:2\\x00' is not a number."
    assert read_error("a.svm", b"1 1:2\0\n") == (message, 1)
