from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from weigh.engines import run
from weigh.errors import ColumnError, DataError, ParameterError, SourceError
from weigh.learn import BayesTask, ThresholdTask
from weigh.source import Source, open
from weigh.source.chunk import Column, is_arrow, to_pylist

TABLE = {"n": [1, 2, 3], "x": [1.5, None, 2.5], "s": ["a", None, "b"], "y": ["no", "yes", "no"]}
CSV = "n,x,s,y\n1,1.5,a,no\n2,,,yes\n3,2.5,b,no\n"
JSON = """{"n": 1, "x": 1.5, "s": "a", "y": "no"}
{"n": 2, "y": "yes"}

{"n": 3, "x": 2.5, "s": "b", "y": "no"}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plain(column: Column) -> list[Any]:
    """Return the rows as Python values, missing numbers as None."""
    return [None if value != value else value for value in to_pylist(column)]


def contents(source: Source, kinds: dict[str, str] | None = None, size: int = 65_536) -> dict[str, list[Any]]:
    result: dict[str, list[Any]] = {}
    for chunk in source.chunks(kinds, size):
        for name, column in chunk.columns.items():
            result.setdefault(name, []).extend(plain(column))
        if chunk.labels is not None:
            result.setdefault("labels", []).extend(plain(chunk.labels))
    return result


def read_error(name: str, content: bytes | None = None, **options: Any) -> tuple[str, int | None]:
    if content is not None:
        Path(name).write_bytes(content)
    kinds = options.pop("kinds", None)
    with pytest.raises(SourceError) as caught:
        contents(open(name, **options), kinds)
    return str(caught.value), caught.value.line


def save() -> None:
    Path("t.csv").write_text(CSV)
    Path("t.tsv").write_text(CSV.replace(",", "\t"))
    Path("t.jsonl").write_text(JSON)
    pq.write_table(pa.table(TABLE), "t.parquet")


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_every_format_gives_the_same_columns(name: str, size: int) -> None:
    save()
    source = open(name, "y")
    assert (source.names, source.width, source.named, source.label) == (("n", "x", "s"), 3, True, "y")
    expected = {"n": TABLE["n"], "x": TABLE["x"], "s": TABLE["s"], "labels": TABLE["y"]}
    assert contents(source, size=size) == expected
    assert contents(source, size=size) == expected
    assert source.bytes_read == source.bytes_total


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_kinds_fix_the_storage_in_every_format(name: str) -> None:
    save()
    chunk = open(name, "y").prefix(2, kinds={"n": "number", "s": "skip"})
    stored = {key: str(c.type) if is_arrow(c) else str(c.dtype) for key, c in chunk.columns.items()}
    assert stored in ({"n": "double", "x": "double"}, {"n": "float64", "x": "float64"})
    assert chunk.n_rows == 2


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_markers_are_missing_in_every_format(name: str) -> None:
    save()
    source = open(name, missing=("a", 3))
    assert contents(source)["s"] == [None, None, "b"]
    assert contents(source)["n"] == [1, 2, None]


def test_the_format_can_be_specified() -> None:
    Path("t.data").write_text(CSV)
    assert open("t.data", format="csv").names == ("n", "x", "s", "y")
    assert read_error("t.data")[0] == (
        "The ending of t.data does not tell its format. "
        "Give format='csv', 'tsv', 'excel', 'parquet', 'json', 'fasttext', 'vw', 'libsvm' or 'mail'."
    )


def test_files_that_cannot_be_opened_are_reported() -> None:
    assert read_error("none.csv")[0] == "There is no file none.csv."
    Path("folder.csv").mkdir()
    assert read_error("folder.csv")[0] == "folder.csv is a folder without a folder per class."
    assert read_error("folder.csv", format="csv")[0] == "folder.csv is a folder, not a file."


def test_invalid_options_are_errors() -> None:
    save()
    every = "'csv', 'tsv', 'excel', 'parquet', 'json', 'fasttext', 'vw', 'libsvm', 'folder', 'mail'"
    with pytest.raises(ParameterError, match=f"format must be one of {every}, got 'xls'"):
        open("t.csv", format="xls")
    with pytest.raises(ParameterError, match="names must be given only for a CSV file without a header"):
        open("t.csv", names=["a"])
    with pytest.raises(ParameterError, match="block must be at least 1, got 0"):
        open("t.csv", block=0)
    with pytest.raises(ParameterError, match="delimiter must be one ASCII character"):
        open("t.csv", delimiter="::")
    with pytest.raises(ParameterError, match="no letter, digit, quote or end of line, got '7'"):
        open("t.csv", delimiter="7")
    Path("t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="encoding must be an encoding of text such as 'utf-8'"):
        open("t.csv", encoding="utf-7")
    with pytest.raises(ParameterError, match="missing must be strings or numbers"):
        open("t.csv", missing=(None,))


def test_parquet_knows_its_number_of_rows() -> None:
    pq.write_table(pa.table({"a": range(1000)}), "t.parquet", row_group_size=300)
    source = open("t.parquet")
    assert source.n_rows == 1000
    assert max(chunk.n_rows for chunk in source.chunks(size=128)) <= 128


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl"])
def test_numbers_that_are_written_as_text_stay_text(name: str) -> None:
    texts = ["1"] * 5 + ["$2.50"]
    if name == "t.parquet":
        pq.write_table(pa.table({"a": texts}), name)
    else:
        Path(name).write_text("".join(f'{{"a": "{text}"}}\n' for text in texts))
    assert to_pylist(open(name).prefix(kinds={"a": "number"}).columns["a"]) == texts


def test_an_empty_column_of_json_lines_can_be_read_as_numbers() -> None:
    Path("t.jsonl").write_text('{"a": null, "b": 1}\n' * 10_001 + '{"a": 2.5, "b": 1}\n')
    *_, last = open("t.jsonl").chunks({"a": "number"})
    assert to_pylist(last.columns["a"])[-1] == 2.5


def test_parquet_times_become_text_and_nested_columns_are_errors() -> None:
    pq.write_table(pa.table({"t": pa.array([0], pa.timestamp("ms")), "s": [[{"z": 1}]]}), "t.parquet")
    source = open("t.parquet")
    assert contents(source, {"s": "skip"}) == {"t": ["1970-01-01T00:00:00"]}
    with pytest.raises(ColumnError, match="Column 's' is of Arrow type list<element: struct"):
        next(source.chunks())


def test_damaged_parquet_files_are_reported() -> None:
    save()
    complete = Path("t.parquet").read_bytes()
    assert read_error("e.parquet", b"")[0] == "e.parquet is empty."
    assert read_error("c.parquet", complete[:-4])[0].startswith("c.parquet is not a complete Parquet file: ")
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), "n.parquet")
    assert read_error("n.parquet")[0] == "n.parquet has columns but no rows."
    assert read_error("t.parquet", label="z")[0] == "t.parquet has no column 'z'; it has 'n', 'x', 's', 'y'."


def test_json_times_stay_text_and_lists_stay_lists() -> None:
    Path("t.jsonl").write_text('{"d": "2020-01-01", "t": ["a", "b"], "e": []}\n{"d": null, "t": []}\n')
    assert contents(open("t.jsonl")) == {
        "d": ["2020-01-01", None],
        "t": [["a", "b"], []],
        "e": [[], None],
    }


def test_json_types_come_from_the_first_ten_thousand_rows_only() -> None:
    Path("t.jsonl").write_text('{"a": 1}\n' * 10_000 + '{"a": 1.5, "late": 2}\n')
    source = open("t.jsonl")
    assert source.prefix().columns["a"].type == pa.int64()
    assert source.names == ("a",)
    assert contents(source, {"a": "number"})["a"][-1] == 1.5
    assert read_error("t.jsonl") == ("t.jsonl, line 10,001, column 'a': 1.5 is not a whole number.", 10_001)


def test_json_in_other_encodings_is_read() -> None:
    Path("t.jsonl").write_bytes('{"a": "é"}\n'.encode("latin-1"))
    assert contents(open("t.jsonl", encoding="latin-1")) == {"a": ["é"]}


def test_invalid_json_is_reported_with_its_line() -> None:
    good = b'{"a": 1, "b": "x"}\n'
    assert read_error("t.jsonl", good * 12 + b'{"a": 1\n') == (
        "t.jsonl, line 13 is not JSON: Expecting ',' delimiter.",
        13,
    )
    assert read_error("t.jsonl", good * 20_000 + b'\n{"a": "z"}\n') == (
        "t.jsonl, line 20,002, column 'a': \"z\" is text, not a number as before.",
        20_002,
    )
    assert read_error("t.jsonl", b'[{"a": 1}]\n') == (
        "t.jsonl, line 1 is not a JSON object. Write one object {...} per line.",
        1,
    )
    assert read_error("t.jsonl", good + '{"a": 1, "b": "é'.encode() + b'\xe9"}\n') == (
        "t.jsonl, line 2 is not text in utf-8. Give encoding='cp1252' if it is that.",
        2,
    )
    assert read_error("t.jsonl", b"")[0] == "t.jsonl is empty."
    assert read_error("t.jsonl", b"\n\n")[0] == "t.jsonl has no rows."
    assert read_error("t.jsonl", b"{}\n")[0] == "t.jsonl has no rows with fields."


def test_a_pipe_is_reported_by_name() -> None:
    os.mkfifo("rows.csv")
    with pytest.raises(SourceError, match=r"^rows.csv is a pipe, .* save it to a file first\.$"):
        open("rows.csv")


def test_a_device_is_reported_by_name() -> None:
    with pytest.raises(SourceError, match=r"^/dev/null is not a regular file, .* save it to a file first\.$"):
        open("/dev/null", format="csv")


@pytest.mark.parametrize("rows_before", [0, 20_000])
def test_an_endless_json_line_is_an_error_in_bounded_memory(rows_before: int) -> None:
    with Path("big.jsonl").open("w") as file:
        file.write('{"t": "a"}\n' * rows_before)
        file.write('{"t": "' + "a" * (24 << 20) + '"}\n')
    tracemalloc.start()
    try:
        with pytest.raises(
            SourceError, match=rf"line {rows_before + 1:,}: a row is longer than a block; give"
        ):
            contents(open("big.jsonl"))
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("line", ["null", "[[[1]]]", '{"a": ' + "[" * 100_000 + "]" * 100_000 + ', "y": 1}'])
@pytest.mark.parametrize("rows_before", [0, 20_000])
def test_a_json_line_that_would_crash_arrow_is_reported_with_its_number(tmp_path, line, rows_before):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "y": 0}\n' * rows_before + line + "\n" + '{"a": 1, "y": 0}\n')
    with pytest.raises(SourceError, match=f"line {rows_before + 1:,} is"):
        for _ in open(path, label="y").chunks():
            pass


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def column(source: weigh.source.Source, name: str, size: int = 1000) -> list[Any]:
    return [value for chunk in source.chunks(size=size) for value in to_pylist(chunk.columns[name])]


def long_files() -> list[str]:
    rng = np.random.default_rng(3)
    names = []
    for k in range(3):
        rows = zip(
            rng.integers(0, 5, 30_000), rng.normal(size=30_000), rng.integers(0, 2, 30_000), strict=True
        )
        names.append(write(f"{k}.csv", "c,x,y\n" + "".join(f"{c},{x:.3f},{y}\n" for c, x, y in rows)))
    return names


def test_concatenated_files_have_the_rows_of_all_of_them():
    paths = [write("a.csv", "n,c\n1,x\n2,y\n"), write("b.csv", "c,n\nz,3\n")]
    source = open(paths)
    assert (column(source, "n"), column(source, "c")) == ([1, 2, 3], ["x", "y", "z"])
    assert column(open(paths, "n"), "c", size=1) == ["x", "y", "z"]


def test_a_list_of_one_file_is_that_file():
    assert column(open([write("a.csv", "n\n1\n")]), "n") == [1]


def test_a_column_that_is_text_in_one_file_is_text_in_all():
    source = open([write("a.csv", "c\n1\n02\n"), write("b.csv", "c\nx\n")])
    assert column(source, "c") == ["1", "02", "x"]


def test_rows_are_numbered_across_files_even_if_chunks_are_read_out_of_order():
    pieces = list(open(long_files()).chunk_readers(size=7_000))
    chunks = [piece.read() for piece in reversed(pieces)][::-1]
    ends = np.cumsum([chunk.n_rows for chunk in chunks]).tolist()
    assert [chunk.first_row for chunk in chunks] == [0, *ends[:-1]]
    assert ends[-1] == 90_000


@pytest.mark.parametrize("threads", [1, 4])
def test_a_model_of_several_files_equals_that_of_one_file(threads):
    paths = long_files()
    texts = [Path(path).read_text() for path in paths]
    complete = write("whole.csv", texts[0] + "".join(text.partition("\n")[2] for text in texts[1:]))
    one, several = (open(path, "y") for path in (complete, paths))
    models = [run(BayesTask.for_source(source), source, threads=threads) for source in (one, several)]
    assert models[0].to_bytes() == models[1].to_bytes()


def test_files_with_different_columns_are_reported_by_name():
    with pytest.raises(DataError, match=r"^a.csv and b.csv do not have the same columns: .* has 'k'"):
        open([write("a.csv", "n\n1\n"), write("b.csv", "n,k\n1,2\n")])


def test_an_empty_list_of_files_is_an_error():
    with pytest.raises(ParameterError, match="path"):
        open([])


def test_a_threshold_of_several_files_does_not_depend_on_the_number_of_threads():
    source = open(long_files(), "y")
    models = [run(ThresholdTask.for_source(source), source, threads=threads) for threads in (1, 4)]
    assert models[0].to_bytes() == models[1].to_bytes()


def test_a_parquet_file_with_any_bit_flipped_is_read_or_refused() -> None:
    table = pa.table({"s": pa.array(["red", "green", "red"]).dictionary_encode(), "y": ["a", "b", "a"]})
    pq.write_table(table, "t.parquet", compression="none", store_schema=False)
    content = Path("t.parquet").read_bytes()
    refused = 0
    for index in range(4, len(content) - 8):
        damaged = bytearray(content)
        damaged[index] ^= 1 << (7 if index > len(content) // 2 else index % 2)
        Path("t.parquet").write_bytes(damaged)
        try:
            list(open("t.parquet").chunks())
            open("t.parquet").prefix()
        except weigh.errors.WeighError:
            refused += 1
    assert refused > 100


def test_a_parquet_column_name_that_is_not_utf8_is_an_error() -> None:
    pq.write_table(pa.table({"wxyz": [1.5], "y": ["a"]}), "t.parquet", store_schema=False)
    content = Path("t.parquet").read_bytes()
    message, _ = read_error("t.parquet", content.replace(b"wxyz", b"w\xffyz"))
    assert message.startswith(
        "t.parquet is not a complete Parquet file: 'utf-8' codec can't decode byte 0xff"
    )


def test_a_parquet_file_without_the_rows_that_its_footer_states_is_an_error() -> None:
    pq.write_table(pa.table({"a": ["x", "y"]}), "t.parquet", store_schema=False)
    content = Path("t.parquet").read_bytes()
    # The number of rows, a variable-length integer before the list of row groups.
    lying = content.replace(b"\x16\x04\x19\x1c", b"\x16\x08\x19\x1c", 1)
    assert lying != content
    Path("t.parquet").write_bytes(lying)
    with pytest.raises(SourceError) as caught:
        list(open("t.parquet").chunks())
    assert str(caught.value) == (
        "t.parquet is not a complete Parquet file: it has 2 rows, its footer says 4."
    )


def test_large_integers_of_parquet_are_read_as_numbers() -> None:
    pq.write_table(pa.table({"n": [2**62 + 1, 0, -5], "y": ["a", "b", "a"]}), "t.parquet")
    weigh.NaiveBayes(columns={"n": "number"}).fit(open("t.parquet", label="y"))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_damaged_compressed_json_is_an_error(suffix: str) -> None:
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    content = compress(b"".join(b'{"n": %d, "y": "a"}\n' % (n * n) for n in range(3000)))
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 0xFF
    for damaged in (content[: len(content) // 2], bytes(flipped)):
        message, _ = read_error(f"t.jsonl{suffix}", damaged)
        assert message.startswith(f"t.jsonl{suffix}")
