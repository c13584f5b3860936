from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from weigh.errors import SourceError, SwallowedLines
from weigh.source import Source, open, rows
from weigh.source.chunk import Column, DictionaryColumn, TextColumn, to_pylist

Write = Callable[..., Path]
ROW = b"1,x\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def written(content: bytes, name: str = "data.csv") -> Path:
        Path(name).write_bytes(content)
        return Path(name)

    return written


def plain(column: Column) -> list[Any]:
    """The rows as Python values, missing numbers as None."""
    return [None if value != value else value for value in to_pylist(column)]


def stored(column: Column) -> str:
    """The storage of a column: a NumPy type, or the type of coded values."""
    if isinstance(column, DictionaryColumn):
        return "coded " + ",".join({type(value).__name__ for value in column.values})
    return "texts" if isinstance(column, TextColumn) else str(column.dtype)


def contents(source: Source, kinds: dict[str, str] | None = None) -> dict[str, list[object]]:
    result: dict[str, list[object]] = {}
    for chunk in source.chunks(kinds):
        for name, column in chunk.columns.items():
            result.setdefault(name, []).extend(plain(column))
    return result


def refusal(path: Path, kinds: dict[str, str] | None = None, **options: Any) -> tuple[str, int | None]:
    with pytest.raises(SourceError) as caught:
        contents(open(path, **options), kinds)
    assert caught.value.path == str(path)
    return str(caught.value), caught.value.line


def test_columns_labels_and_types_are_found(write: Write) -> None:
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


def test_times_stay_text_and_empty_columns_become_text(write: Write) -> None:
    source = open(write(b"d,t,e\n2020-01-01,2020-01-01 10:00:00,\n"))
    assert contents(source) == {"d": ["2020-01-01"], "t": ["2020-01-01 10:00:00"], "e": [None]}
    assert stored(source.prefix().columns["e"]) == "coded "


def test_markers_are_missing_in_texts_and_numbers(write: Write) -> None:
    path = write(b"a,b\n?,?\n1,x\n-9,NA\n")
    assert contents(open(path, missing=("?", -9, "NA"))) == {"a": [None, 1, None], "b": [None, "x", None]}


def test_a_column_can_be_read_as_text(write: Write) -> None:
    assert contents(open(write(b"zip,n\n01234,1\n"), strings=["zip"])) == {"zip": ["01234"], "n": [1]}


def test_a_file_without_header_has_numbered_or_given_names(write: Write) -> None:
    path = write(b"1,a\n2,b\n")
    bare = open(path, has_header=False)
    assert (bare.names, bare.named) == (("x0", "x1"), False)
    assert contents(bare) == {"x0": [1, 2], "x1": ["a", "b"]}
    given = open(path, "s", has_header=False, names=["n", "s"])
    assert (given.names, given.named, given.prefix().n_rows) == (("n",), True, 2)


@pytest.mark.parametrize("name", ["data.csv.gz", "data.csv.zst", "data.csv.bz2", "data.csv.lz4"])
def test_compressed_files_are_unpacked(write: Write, name: str) -> None:
    with pa.output_stream(name, compression="detect") as stream:
        stream.write(b"a,b\n" + ROW * 3)
    source = open(name)
    assert contents(source) == {"a": [1] * 3, "b": ["x"] * 3}
    assert source.bytes_read == source.bytes_total == Path(name).stat().st_size


def test_xz_files_are_unpacked(write: Write) -> None:
    path = write(lzma.compress(b"a,b\n" + ROW * 3), "data.csv.xz")
    assert contents(open(path)) == {"a": [1] * 3, "b": ["x"] * 3}


def test_tabs_other_delimiters_encodings_and_byte_order_marks(write: Write) -> None:
    assert contents(open(write(b"a\tb\n1\t2\n", "data.tsv"))) == {"a": [1], "b": [2]}
    assert contents(open(write(b"a;b\n1;2\n"), delimiter=";")) == {"a": [1], "b": [2]}
    assert contents(open(write(b"a,\xe9\n1,\xe9\n"), encoding="latin-1")) == {"a": [1], "é": ["é"]}
    assert contents(open(write("a,b\n1,é\n".encode("utf-16")), encoding="utf-16"))["b"] == ["é"]
    assert contents(open(write(b"\xef\xbb\xbfa,b\n1,2\n"))) == {"a": [1], "b": [2]}


def test_chunks_are_bounded_numbered_and_start_again(write: Write) -> None:
    n = 600_000
    source = open(write(b"a,b\n" + ROW * n))
    for size in (65_536, 1000):
        chunks = [(chunk.first_row, chunk.n_rows) for chunk in source.chunks(size=size)]
        assert max(rows for _, rows in chunks) <= min(size, (1 << 20) // len(ROW) + 1)
        assert [first for first, _ in chunks] == [sum(r for _, r in chunks[:i]) for i in range(len(chunks))]
        assert sum(rows for _, rows in chunks) == n


def test_a_first_row_is_read_with_the_kinds_asked_for(write: Write) -> None:
    source = open(write(b"a,b\n1,x y\n,\n"))
    kinds = {"a": "number", "b": "text"}
    for chunk in (source.prefix(kinds=kinds), next(source.chunks(kinds)), source.prefix(20_000, kinds)):
        number, text = (stored(column) for column in chunk.columns.values())
        assert number == "float64"
        # Rows that were kept since the file was opened are objects; others stay where they are read.
        assert text in {"object", "texts"}
        assert [plain(column) for column in chunk.columns.values()] == [[1.0, None], ["x y", None]]


def test_lines_may_end_in_any_way(write: Write) -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        path = write(b"a,b" + end + b"1,x" + end * 2 + b"2,y")
        assert contents(open(path)) == {"a": [1, 2], "b": ["x", "y"]}
        path = write(b"a,b" + end + b'1,"x' + end + b'"' + end + end + b"2,y,z" + end)
        assert refusal(path)[1] == 5


def test_reading_csv_imports_neither_arrow_nor_scipy(write: Write) -> None:
    path = write(b"a,b\n" + ROW * 20_000)
    code = (
        f"import sys, weigh; list(weigh.open({str(path)!r}, label='b').chunks()); "
        "print({'pyarrow', 'scipy', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_narrow_blocks_are_joined(write: Write) -> None:
    source = open(write(b"a,b\n" + ROW * 20_000), block=256)
    assert [chunk.n_rows > 8_000 for chunk in source.chunks()] == [True, True, False]


def test_progress_reaches_the_end_and_a_prefix_leaves_it_alone(write: Write) -> None:
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


def test_quoted_fields_may_run_over_lines(write: Write) -> None:
    assert contents(open(write(b'a,b\n1,"x\ny"\n2,"say ""hi"", you"\n')))["b"] == ["x\ny", 'say "hi", you']


def test_a_row_of_other_length_is_told_with_its_true_line(write: Write) -> None:
    told = "has 3 fields, the header has 2. A field that contains ',' must be in double quotes."
    assert refusal(write(b"a,b\n" + ROW * 15 + b"1,2,3\n")) == (f"data.csv, line 17 {told}", 17)
    after_quotes = b"a,b\n" + ROW + b'"1\n2",2\n' + b"\n" + b"1,2,3\n"
    assert refusal(write(after_quotes)) == (f"data.csv, line 6 {told}", 6)
    assert refusal(write(b"a,b\n" + ROW * 400_000 + b"1\n")) == (
        "data.csv, line 400,002 has 1 field, the header has 2. "
        "A field that contains ',' must be in double quotes.",
        400_002,
    )


def test_a_value_that_does_not_fit_is_told_with_line_and_column(write: Write) -> None:
    path = write(b"b,age\n" + b"x,1\n" * 20_015 + b"x,abc\n")
    assert refusal(path, {"age": "number", "b": "skip"}) == (
        "data.csv, line 20,017, column 'age': 'abc' is not a number. "
        "Give missing='abc' to open() if it means missing.",
        20_017,
    )
    assert refusal(path) == (
        "data.csv, line 20,017, column 'age': 'abc' is not a whole number, as the first rows are. "
        "Give missing='abc' to open() if it means missing, "
        "or strings=['age'] to read the column as text.",
        20_017,
    )
    bare = write(b"1,a\n2,b\n")
    assert refusal(bare, {"x1": "number"}, has_header=False)[1] == 1


def test_a_value_that_does_not_fit_in_the_prefix_is_told_with_its_line(write: Write) -> None:
    for header, options in ((b"a,b\n", {}), (b"", {"has_header": False, "names": ["a", "b"]})):
        source = open(write(header + ROW * 5 + b"z,x\n"), **options)
        with pytest.raises(SourceError, match="column 'a': 'z' is not a number") as caught:
            source.prefix(kinds={"a": "number"})
        assert caught.value.line == 6 + bool(header)


def test_empty_files_are_told_apart(write: Write) -> None:
    assert refusal(write(b"")) == ("data.csv is empty.", None)
    assert refusal(write(b"a,b\n")) == ("data.csv has a header but no rows.", None)
    assert refusal(write(b"a,b")) == ("data.csv has a header but no rows.", None)
    assert refusal(write(b"\n\n")) == ("data.csv has no rows.", None)
    assert refusal(write(gzip.compress(b""), "data.csv.gz"))[0].startswith("data.csv.gz has no rows")


def test_other_encodings_are_told_with_a_line_and_a_guess(write: Write) -> None:
    told = "is not UTF-8 text. Give encoding='latin-1' if it is that."
    assert refusal(write(b"a,\xe9\n1,2\n")) == (f"data.csv, line 1 {told}", 1)
    assert refusal(write(b"a,b\n1,\xe9\n")) == (f"data.csv, line 2 {told}", 2)
    assert refusal(write(b"a,b\n" + ROW * 300_000 + b"1,\xe9\n")) == (
        f"data.csv, line 300,002 {told}",
        300_002,
    )
    assert "encoding='utf-16'" in refusal(write("a,b\n1,2\n".encode("utf-16")))[0]
    assert refusal(write(b"a,b\n1,2\n"), encoding="nonsense")[0] == (
        "data.csv: 'nonsense' is not an encoding Python knows. "
        "Give encoding='utf-8' or 'latin-1', for example."
    )


def test_a_quote_that_never_closes_is_told_with_its_line(write: Write) -> None:
    assert refusal(write(b"a,b\n" + ROW * 3 + b'1,"x\n' + ROW * 9)) == (
        "data.csv, line 5: a quote opens and is never closed.",
        5,
    )
    late = b"a,b\n" + ROW * 11_000 + b'1,"x\n'
    assert refusal(write(late + ROW * 9)) == (
        "data.csv, line 11,002: a quote opens and is never closed.",
        11_002,
    )
    told, line = refusal(write(late + ROW * ((40 << 20) // len(ROW))))
    assert (told, line) == (
        "data.csv, line 11,002: a row is longer than a block. Close the quote that is open there, "
        "or give block= more bytes than the longest row has.",
        11_002,
    )


def test_a_row_may_be_longer_than_what_is_read_at_a_time(write: Write) -> None:
    long = b"x" * (5 << 20)
    path = write(b"a,b\n" + ROW * 11_000 + b"1," + long + b"\n" + ROW)
    assert sum(chunk.n_rows for chunk in open(path).chunks()) == 11_002


def test_label_columns_that_do_not_exist_are_told_with_those_that_do(write: Write) -> None:
    path = write(b"spam,b\n1,2\n")
    assert refusal(path, label="span")[0] == (
        "data.csv has no column 'span'; it has 'spam', 'b'. Did you mean 'spam'?"
    )
    assert refusal(write(b"a;y\n1;2\n"), label="y")[0] == (
        "data.csv has no column 'y'; it has 'a;y'. Give delimiter=';' if that separates its columns."
    )
    assert refusal(write(b"y\n1\n"), label="y")[0] == "data.csv has no column besides the label 'y'."


def test_names_that_occur_twice_are_refused(write: Write) -> None:
    assert refusal(write(b"a,a\n1,2\n")) == (
        "data.csv has the column name 'a' more than once. Give every column its own name.",
        1,
    )


def test_damaged_compression_is_told(write: Write) -> None:
    assert refusal(write(b"a,b\n1,2\n", "data.csv.gz"))[0].startswith("data.csv.gz cannot be read: ")


@pytest.mark.parametrize("marker", [-999, -999.0, "-999", "-999.0"])
@pytest.mark.parametrize("spelled", ["-999", "-999.0", " -999 ", "-0999", "-9.99e2"])
def test_a_numeric_marker_means_its_number_however_it_is_spelled(write, marker, spelled):
    path = write(f"n,x,s\n1,1.5,a\n{spelled},{spelled},{spelled}\n".encode())
    source = open(path, missing=[marker])
    found = contents(source)
    assert (found["n"], found["x"]) == ([1, None], [1.5, None])
    assert [stored(column) for column in source.prefix().columns.values()][:1] == ["coded int"]
    # Text is no number, so that there only the marker's own spelling means missing.
    assert found["s"] == ["a", None if spelled == str(marker) else spelled]
    chunk = next(iter(source.chunks({"n": "number"})))
    assert plain(chunk.columns["n"]) == [1.0, None]


def test_a_numeric_marker_is_found_in_rows_after_the_first(write):
    path = write(b"n\n" + b"1\n" * 12_000 + b"-999.0\n")
    assert contents(open(path, missing=[-999]))["n"][-2:] == [1, None]


def test_a_column_of_nothing_but_numeric_markers_is_missing(write):
    assert contents(open(write(b"n,k\n-9.0,1\n-9,2\n"), missing=-9)) == {"n": [None, None], "k": [1, 2]}


def test_stray_quotes_part_no_rows_where_they_mean_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sms.tsv"
    path.write_text('ham\t"Hello\nham\tsays "so"\nspam\tfree" now\n')
    source = open(path, "label", names=["label", "text"], has_header=False, quotes=False)
    chunk = source.prefix()
    assert to_pylist(chunk.columns["text"]) == ['"Hello', 'says "so"', 'free" now']
    assert to_pylist(chunk.labels) == ["ham", "ham", "spam"]


SWALLOWED = b'label\ttext\nham\tfirst\nham\t"quoted from here\nspam\tto there" and on\nham\tlast\n'


def test_lines_that_a_stray_quote_swallows_are_told(write: Write) -> None:
    path = write(SWALLOWED, "mails.tsv")
    with pytest.warns(SwallowedLines) as told:
        swallowed = open(path)
    assert [str(each.message) for each in told] == [
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
def test_lines_that_are_meant_are_not_told(write: Write, content: bytes) -> None:
    assert open(write(content)).prefix().n_rows > 0


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_pieces_may_be_made_in_any_order_and_thread(tmp_path: Path, name: str) -> None:
    text = b"a,b,c\n" + b"".join(b'%d,%d.5,"v\n%d"\n\r\n' % (i, i, i % 7) for i in range(60_000))
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    source = open(tmp_path / name, "c")
    pieces = list(source.chunk_readers({"a": "number"}))
    with ThreadPoolExecutor(2) as pool:
        chunks = list(pool.map(lambda piece: piece(), reversed(pieces)))[::-1]
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


def test_an_error_in_a_piece_is_told_with_its_true_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n" + b'1,"x\n"\n' * 400_000 + b"z,x\n")
    with pytest.raises(SourceError, match="line 800,002, column 'a': 'z' is not a number"):
        [piece() for piece in open(path).chunk_readers({"a": "number"})]
