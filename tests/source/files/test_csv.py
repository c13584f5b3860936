from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from weigh.errors import SourceError, SwallowedLines
from weigh.source import Source, open, rows
from weigh.source.chunk import Chunk, Column, DictionaryColumn, TextColumn, to_pylist

Write = Callable[..., Path]
ROW = b"1,x\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def write_file(content: bytes, name: str = "data.csv") -> Path:
        Path(name).write_bytes(content)
        return Path(name)

    return write_file


def plain(column: Column) -> list[Any]:
    """Return the rows as Python values, missing numbers as None."""
    return [None if value != value else value for value in to_pylist(column)]


def stored(column: Column) -> str:
    """Return the storage of a column: a NumPy dtype, or the type of the values of a dictionary column."""
    if isinstance(column, DictionaryColumn):
        return "coded " + ",".join({type(value).__name__ for value in column.values})
    return "texts" if isinstance(column, TextColumn) else str(column.dtype)


def contents(source: Source, kinds: dict[str, str] | None = None) -> dict[str, list[object]]:
    result: dict[str, list[object]] = {}
    for chunk in source.chunks(kinds):
        for name, column in chunk.columns.items():
            result.setdefault(name, []).extend(plain(column))
    return result


def read_error(path: Path, kinds: dict[str, str] | None = None, **options: Any) -> tuple[str, int | None]:
    with pytest.raises(SourceError) as caught:
        contents(open(path, **options), kinds)
    assert caught.value.path == str(path)
    return str(caught.value), caught.value.line


def test_columns_labels_and_types_are_inferred(write: Write) -> None:
    source = open(write(b"n,x,s,f,y\n1,1.5,a,true,no\n2,,,false,yes\n"), "y")
    assert (source.names, source.width, source.named) == (("n", "x", "s", "f"), 4, True)
    assert (source.label, source.n_rows) == ("y", None)
    chunk = source.prefix()
    kinds = ["coded int", "float64", "coded str", "coded bool"]
    assert [stored(column) for column in chunk.columns.values()] == kinds
    assert plain(chunk.labels) == ["no", "yes"]
    assert contents(source) == {"n": [1, 2], "x": [1.5, None], "s": ["a", None], "f": [True, False]}


def test_a_label_can_be_named_later(write: Write) -> None:
    source = open(write(b"a,y\n1,2\n"))
    assert source.names == ("a", "y")
    assert rows(source, "y").names == ("a",)
    assert source.names == ("a", "y")


def test_kinds_fix_the_storage(write: Write) -> None:
    source = open(write(b"a,b,c\n1,2,3\n"))
    chunk = next(iter(source.chunks({"a": "number", "b": "skip", "c": "category"})))
    assert {name: stored(c) for name, c in chunk.columns.items()} == {"a": "float64", "c": "coded int"}


def test_times_and_empty_columns_are_text(write: Write) -> None:
    source = open(write(b"d,t,e\n2020-01-01,2020-01-01 10:00:00,\n"))
    assert contents(source) == {"d": ["2020-01-01"], "t": ["2020-01-01 10:00:00"], "e": [None]}
    assert stored(source.prefix().columns["e"]) == "coded "


def test_markers_are_missing_in_texts_and_numbers(write: Write) -> None:
    path = write(b"a,b\n?,?\n1,x\n-9,NA\n")
    assert contents(open(path, missing=("?", -9, "NA"))) == {"a": [None, 1, None], "b": [None, "x", None]}


def test_a_column_can_be_read_as_text(write: Write) -> None:
    assert contents(open(write(b"zip,n\n01234,1\n"), strings=["zip"])) == {"zip": ["01234"], "n": [1]}


def test_a_file_without_header_has_numbered_or_specified_names(write: Write) -> None:
    path = write(b"1,a\n2,b\n")
    bare = open(path, has_header=False)
    assert (bare.names, bare.named) == (("x0", "x1"), False)
    assert contents(bare) == {"x0": [1, 2], "x1": ["a", "b"]}
    given = open(path, "s", has_header=False, names=["n", "s"])
    assert (given.names, given.named, given.prefix().n_rows) == (("n",), True, 2)


@pytest.mark.parametrize("name", ["data.csv.gz", "data.csv.zst", "data.csv.bz2", "data.csv.lz4"])
def test_compressed_files_are_read(write: Write, name: str) -> None:
    with pa.output_stream(name, compression="detect") as stream:
        stream.write(b"a,b\n" + ROW * 3)
    source = open(name)
    assert contents(source) == {"a": [1] * 3, "b": ["x"] * 3}
    assert source.bytes_read == source.bytes_total == Path(name).stat().st_size


def test_xz_files_are_read(write: Write) -> None:
    path = write(lzma.compress(b"a,b\n" + ROW * 3), "data.csv.xz")
    assert contents(open(path)) == {"a": [1] * 3, "b": ["x"] * 3}


def test_tabs_other_delimiters_encodings_and_byte_order_marks(write: Write) -> None:
    assert contents(open(write(b"a\tb\n1\t2\n", "data.tsv"))) == {"a": [1], "b": [2]}
    assert contents(open(write(b"a;b\n1;2\n"), delimiter=";")) == {"a": [1], "b": [2]}
    assert contents(open(write(b"a,\xe9\n1,\xe9\n"), encoding="latin-1")) == {"a": [1], "é": ["é"]}
    assert contents(open(write("a,b\n1,é\n".encode("utf-16")), encoding="utf-16"))["b"] == ["é"]
    assert contents(open(write(b"\xef\xbb\xbfa,b\n1,2\n"))) == {"a": [1], "b": [2]}


def test_chunks_are_bounded_numbered_and_restartable(write: Write) -> None:
    n = 600_000
    source = open(write(b"a,b\n" + ROW * n))
    for size in (65_536, 1000):
        chunks = [(chunk.first_row, chunk.n_rows) for chunk in source.chunks(size=size)]
        assert max(rows for _, rows in chunks) <= min(size, (1 << 20) // len(ROW) + 1)
        assert [first for first, _ in chunks] == [sum(r for _, r in chunks[:i]) for i in range(len(chunks))]
        assert sum(rows for _, rows in chunks) == n


def test_the_first_row_is_read_with_the_requested_kinds(write: Write) -> None:
    source = open(write(b"a,b\n1,x y\n,\n"))
    kinds = {"a": "number", "b": "text"}
    for chunk in (source.prefix(kinds=kinds), next(source.chunks(kinds)), source.prefix(20_000, kinds)):
        number, text = (stored(column) for column in chunk.columns.values())
        assert number == "float64"
        # Rows of the cached head are objects; others are spans of the read buffer.
        assert text in {"object", "texts"}
        assert [plain(column) for column in chunk.columns.values()] == [[1.0, None], ["x y", None]]


def test_any_line_end_is_accepted(write: Write) -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        path = write(b"a,b" + end + b"1,x" + end * 2 + b"2,y")
        assert contents(open(path)) == {"a": [1, 2], "b": ["x", "y"]}
        path = write(b"a,b" + end + b'1,"x' + end + b'"' + end + end + b"2,y,z" + end)
        assert read_error(path)[1] == 5


def test_reading_csv_imports_neither_arrow_nor_scipy(write: Write) -> None:
    path = write(b"a,b\n" + ROW * 20_000)
    code = (
        f"import sys, weigh; list(weigh.open({str(path)!r}, label='b').chunks()); "
        "print({'pyarrow', 'scipy', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_blocks_of_few_rows_are_merged(write: Write) -> None:
    source = open(write(b"a,b\n" + ROW * 20_000), block=256)
    assert [chunk.n_rows > 8_000 for chunk in source.chunks()] == [True, True, False]


def test_progress_reaches_the_end_and_a_prefix_does_not_affect_it(write: Write) -> None:
    source = open(write(b"a,b\n" + ROW * 300_000))
    assert source.prefix(20_000).n_rows == 20_000
    assert source.bytes_read == 0
    steps = [source.bytes_read for _ in source.chunks()]
    assert steps == sorted(steps)
    assert 0 < steps[0] <= steps[-1] <= source.bytes_read == source.bytes_total


def test_types_come_from_the_first_ten_thousand_rows_only(write: Write) -> None:
    late = open(write(b"a,b\n" + ROW * 10_000 + b"1.5,x\n"))
    assert stored(late.prefix().columns["a"]) == "coded int"
    assert late.prefix().n_rows == 10_000
    assert contents(late, {"a": "number"})["a"][-1] == 1.5
    early = open(write(b"a,b\n" + ROW * 9_999 + b"1.5,x\n"), block=128)
    assert stored(early.prefix().columns["a"]) == "float64"


def test_quoted_fields_may_span_lines(write: Write) -> None:
    assert contents(open(write(b'a,b\n1,"x\ny"\n2,"say ""hi"", you"\n')))["b"] == ["x\ny", 'say "hi", you']


def test_a_row_of_other_length_is_reported_with_its_line(write: Write) -> None:
    message = "has 3 fields, the header has 2. A field that contains ',' must be in double quotes."
    assert read_error(write(b"a,b\n" + ROW * 15 + b"1,2,3\n")) == (f"data.csv, line 17 {message}", 17)
    after_quotes = b"a,b\n" + ROW + b'"1\n2",2\n' + b"\n" + b"1,2,3\n"
    assert read_error(write(after_quotes)) == (f"data.csv, line 6 {message}", 6)
    assert read_error(write(b"a,b\n" + ROW * 400_000 + b"1\n")) == (
        "data.csv, line 400,002 has 1 field, the header has 2. "
        "A field that contains ',' must be in double quotes.",
        400_002,
    )


def test_an_invalid_value_is_reported_with_line_and_column(write: Write) -> None:
    path = write(b"b,age\n" + b"x,1\n" * 20_015 + b"x,abc\n")
    assert read_error(path) == (
        "data.csv, line 20,017, column 'age': 'abc' is not a whole number, as the first rows are. "
        "Give missing='abc' to open() if it means missing, "
        "or strings=['age'] to read the column as text.",
        20_017,
    )


def odd_cells(chunk: Chunk, name: str) -> list[tuple[int, object, str]]:
    return [(cell.row, cell.value, cell.place) for cell in chunk.cell_counts[name].examples]


def test_a_cell_of_a_number_column_that_is_no_number_is_missing_and_counted(write: Write) -> None:
    path = write(b"b,age\n" + b"x,1\n" * 20_015 + b"x,abc\n" + b"x,\n")
    chunks = list(open(path).chunks({"age": "number", "b": "skip"}))
    assert [chunk.cell_counts["age"].n_odd for chunk in chunks if chunk.cell_counts] == [1]
    assert chunks[-1].cell_counts["age"].n_missing == 1
    assert odd_cells(chunks[-1], "age") == [(20_015, "abc", "line 20,017")]
    assert np.isnan(chunks[-1].columns["age"][-2:]).all()
    bare = open(write(b"1,a\n2,b\n"), has_header=False).prefix(kinds={"x1": "number"})
    assert odd_cells(bare, "x1") == [(0, "a", "line 1"), (1, "b", "line 2")]


def test_odd_cells_of_the_first_rows_are_counted_once(write: Write) -> None:
    for header, options in ((b"a,b\n", {}), (b"", {"has_header": False, "names": ["a", "b"]})):
        source = open(write(header + ROW * 5 + b"z,x\n"), **options)
        assert odd_cells(source.prefix(kinds={"a": "number"}), "a") == [(5, "z", f"line {6 + bool(header)}")]
        counts = [chunk.cell_counts for chunk in source.chunks({"a": "number"}, 2)]
        assert [each["a"].n_odd for each in counts if each] == [1]


def test_kinds_of_empty_files_are_distinguished(write: Write) -> None:
    assert read_error(write(b"")) == ("data.csv is empty.", None)
    assert read_error(write(b"a,b\n")) == ("data.csv has a header but no rows.", None)
    assert read_error(write(b"a,b")) == ("data.csv has a header but no rows.", None)
    assert read_error(write(b"\n\n")) == ("data.csv has no rows.", None)
    assert read_error(write(gzip.compress(b""), "data.csv.gz"))[0].startswith("data.csv.gz has no rows")


def test_other_encodings_are_reported_with_a_line_and_a_suggestion(write: Write) -> None:
    message = "is not UTF-8 text. Give encoding='cp1252' if it is that."
    assert read_error(write(b"a,\xe9\n1,2\n"), encoding="utf-8") == (f"data.csv, line 1 {message}", 1)
    assert read_error(write(b"a,b\n1,\xe9\n"), encoding="utf-8") == (f"data.csv, line 2 {message}", 2)
    assert read_error(write(b"a,b\n" + ROW * 300_000 + b"1,\xe9\n")) == (
        f"data.csv, line 300,002 {message}",
        300_002,
    )
    assert "encoding='utf-16'" in read_error(write("a,b\n1,2\n".encode("utf-16")), encoding="utf-8")[0]
    assert read_error(write(b"a,b\n1,2\n"), encoding="nonsense")[0] == (
        "data.csv: 'nonsense' is not an encoding Python knows. "
        "Give encoding='utf-8' or 'cp1252', for example."
    )


def test_an_unclosed_quote_is_reported_with_its_line(write: Write) -> None:
    assert read_error(write(b"a,b\n" + ROW * 3 + b'1,"x\n' + ROW * 9)) == (
        "data.csv, line 5: a quote opens and is never closed.",
        5,
    )
    late = b"a,b\n" + ROW * 11_000 + b'1,"x\n'
    assert read_error(write(late + ROW * 9)) == (
        "data.csv, line 11,002: a quote opens and is never closed.",
        11_002,
    )
    message, line = read_error(write(late + ROW * ((40 << 20) // len(ROW))))
    assert (message, line) == (
        "data.csv, line 11,002: a row is longer than a block. Close the quote that is open there, "
        "or give block= more bytes than the longest row has.",
        11_002,
    )


@pytest.mark.parametrize("rows_before", [3, 11_000])
def test_a_long_row_without_an_open_quote_gets_no_advice_about_quotes(write: Write, rows_before: int) -> None:
    before, line = b"a,b\n" + ROW * rows_before, rows_before + 2
    problem = f"data.csv, line {line:,}: a row is longer than a block; give block= more bytes than the"
    long = b"x" * (33 << 20)
    for row in (long + b",b\n", b'x"' + long + b",b\n", b'"x",' + long + b"\n"):
        assert read_error(write(before + row)) == (f"{problem} longest row has.", line)
    assert read_error(write(before + b"x\0" + long)) == (
        f"{problem} longest row has. It contains NUL bytes, so the file may not be text.",
        line,
    )
    assert read_error(write(before + b'x,"' + long + b"\n")) == (
        f"data.csv, line {line:,}: a row is longer than a block. Close the quote that is open there, or give "
        "block= more bytes than the longest row has.",
        line,
    )


def test_a_row_may_be_longer_than_a_block(write: Write) -> None:
    long = b"x" * (5 << 20)
    path = write(b"a,b\n" + ROW * 11_000 + b"1," + long + b"\n" + ROW)
    assert sum(chunk.n_rows for chunk in open(path).chunks()) == 11_002


def test_missing_label_columns_are_reported_with_the_existing_ones(write: Write) -> None:
    path = write(b"spam,b\n1,2\n")
    assert read_error(path, label="span")[0] == (
        "data.csv has no column 'span'; it has 'spam', 'b'. Did you mean 'spam'?"
    )
    assert read_error(write(b"a;y\n1;2\n"), label="y", delimiter=",")[0] == (
        "data.csv has no column 'y'; it has 'a;y'. Give delimiter=';' if that separates its columns."
    )
    assert read_error(write(b"y\n1\n"), label="y")[0] == "data.csv has no column besides the label 'y'."


def test_duplicate_names_are_errors(write: Write) -> None:
    assert read_error(write(b"a,a\n1,2\n")) == (
        "data.csv has the column name 'a' more than once. Give every column its own name.",
        1,
    )


def test_damaged_compression_is_reported(write: Write) -> None:
    assert read_error(write(b"a,b\n1,2\n", "data.csv.gz"))[0].startswith("data.csv.gz cannot be read: ")


@pytest.mark.parametrize("marker", [-999, -999.0, "-999", "-999.0"])
@pytest.mark.parametrize("spelled", ["-999", "-999.0", " -999 ", "-0999", "-9.99e2"])
def test_a_numeric_marker_matches_any_spelling_of_its_number(write, marker, spelled):
    path = write(f"n,x,s\n1,1.5,a\n{spelled},{spelled},{spelled}\n".encode())
    source = open(path, missing=[marker])
    result = contents(source)
    assert (result["n"], result["x"]) == ([1, None], [1.5, None])
    assert [stored(column) for column in source.prefix().columns.values()][:1] == ["coded int"]
    # In a text column only the exact spelling of the marker is missing.
    assert result["s"] == ["a", None if spelled == str(marker) else spelled]
    chunk = next(iter(source.chunks({"n": "number"})))
    assert plain(chunk.columns["n"]) == [1.0, None]


def test_a_numeric_marker_applies_to_rows_after_the_first_block(write):
    path = write(b"n\n" + b"1\n" * 12_000 + b"-999.0\n")
    assert contents(open(path, missing=[-999]))["n"][-2:] == [1, None]


def test_a_column_of_only_numeric_markers_is_missing(write):
    assert contents(open(write(b"n,k\n-9.0,1\n-9,2\n"), missing=-9)) == {"n": [None, None], "k": [1, 2]}


def test_stray_quotes_are_ordinary_characters_without_quoting(tmp_path: Path) -> None:
    path = tmp_path / "sms.tsv"
    path.write_text('ham\t"Hello\nham\tsays "so"\nspam\tfree" now\n')
    source = open(path, "label", names=["label", "text"], has_header=False, quotes=False)
    chunk = source.prefix()
    assert to_pylist(chunk.columns["text"]) == ['"Hello', 'says "so"', 'free" now']
    assert to_pylist(chunk.labels) == ["ham", "ham", "spam"]


SWALLOWED = b'label\ttext\nham\tfirst\nham\t"quoted from here\nspam\tto there" and on\nham\tlast\n'


def test_lines_joined_by_a_stray_quote_cause_a_warning(write: Write) -> None:
    path = write(SWALLOWED, "mails.tsv")
    with pytest.warns(SwallowedLines) as message:
        swallowed = open(path)
    assert [str(each.message) for each in message] == [
        "mails.tsv: 4 lines look like rows, but quotes join them into 3: a field that begins with a quote "
        "extends to the next quote, across line breaks. If quotes are ordinary characters in this file, give "
        "quotes=False."
    ]
    assert swallowed.prefix().n_rows == 3
    assert open(path, quotes=False).prefix().n_rows == 4


@pytest.mark.parametrize(
    "content",
    [
        b'a,b\n1,"two\nlines"\n2,"three\nlines, of\ntext"\n',
        b'a,b\n1,"x"\n\n\n2,"y"\n\n',
        b'a\n"two\nlines"\n',
        b"a,b\n1,x\n2,y",
    ],
    ids=["texts", "empty lines", "one column", "no quotes"],
)
def test_genuine_multiline_fields_cause_no_warning(write: Write, content: bytes) -> None:
    assert open(write(content)).prefix().n_rows > 0


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_chunks_may_be_read_in_any_order_and_thread(tmp_path: Path, name: str) -> None:
    text = b"a,b,c\n" + b"".join(b'%d,%d.5,"v\n%d"\n\r\n' % (i, i, i % 7) for i in range(60_000))
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    source = open(tmp_path / name, "c")
    pieces = list(source.chunk_readers({"a": "number"}))
    with ThreadPoolExecutor(2) as pool:
        chunks = list(pool.map(lambda piece: piece.read(), reversed(pieces)))[::-1]
    assert len(chunks) > 2
    firsts = [sum(chunk.n_rows for chunk in chunks[:k]) for k in range(len(chunks))]
    assert [chunk.first_row for chunk in chunks] == firsts
    read = {at: [v for chunk in chunks for v in to_pylist(chunk.columns[at])] for at in ("a", "b")}
    assert read == {"a": list(range(60_000)), "b": [i + 0.5 for i in range(60_000)]}
    assert [v for chunk in chunks for v in to_pylist(chunk.labels)] == [f"v\n{i % 7}" for i in range(60_000)]


def test_a_row_may_be_longer_than_the_blocks_of_a_short_file(tmp_path: Path) -> None:
    row, long = b"1,x\n", b'1,"' + b"x" * 500_000 + b'"\n'
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n" + row * 12_000 + long + row * 10)
    assert sum(chunk.n_rows for chunk in open(path).chunks()) == 12_011


def test_an_error_in_a_chunk_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n" + b'1,"x\n"\n' * 400_000 + b"z,x\n")
    *_, last = (piece.read() for piece in open(path).chunk_readers({"a": "number"}))
    assert odd_cells(last, "a") == [(400_000, "z", "line 800,002")]
    with pytest.raises(SourceError, match="line 800,002, column 'a': 'z' is not a whole number"):
        [piece.read() for piece in open(path).chunk_readers()]


def test_digits_with_leading_zeros_are_text_unless_the_user_states_numbers(write: Write) -> None:
    source = open(write(b"code,half,zero\n01067,00.5,0\n10115, 1.5,1\n"))
    assert dict(source.types) == {"code": "string", "half": "number", "zero": "integer"}
    assert source.prefix().columns["code"].to_pylist() == ["01067", "10115"]
    assert source.prefix(kinds={"code": "number"}).columns["code"].tolist() == [1067.0, 10115.0]
    marked = open(write(b"code,b\n-9,x\n009,x\n10115,x\n"), missing=["009"])
    assert marked.types["code"] == "integer"
