"""The delimiter and the encoding of a file are detected."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weigh
from weigh.errors import AssumedEncoding, SourceError, TotalsRow, UnitsRow
from weigh.source.chunk import to_pylist
from weigh.source.files.dialect_detection import TableSample, TextSample, detect_encoding, uses_decimal_comma

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def write_file(content: bytes | str, name: str = "t.csv") -> str:
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return write_file


def contents(path: str, **options: Any) -> dict[str, list[Any]]:
    chunk = weigh.open(path, **options).prefix()
    return {name: to_pylist(column) for name, column in chunk.columns.items()}


def columns(path: str, **options: Any) -> tuple[str, ...]:
    return weigh.open(path, **options).names


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "dat", "csv.gz"])
def test_a_delimiter_is_detected_whatever_the_ending(sign: str, ending: str, write: Write) -> None:
    text = "a,b,c\n1,x,2\n3,y,4\n".replace(",", sign).encode()
    path = write(gzip.compress(text) if ending.endswith("gz") else text, f"t.{ending}")
    assert contents(path) == {"a": [1, 3], "b": ["x", "y"], "c": [2, 4]}


def test_decimal_commas_do_not_separate_fields_between_semicolons(write: Write) -> None:
    path = write("a;b\n1,5;2,5\n3,25;4,75\n")
    assert contents(path) == {"a": [1.5, 3.25], "b": [2.5, 4.75]}
    assert columns(write("1,5;2,5\n3,25;4,75\n"), has_header=False) == ("x0", "x1")


def test_quoted_signs_do_not_count(write: Write) -> None:
    assert columns(write('"a;b";c\n"1;2;3";4\n"5";6\n')) == ("a;b", "c")
    assert columns(write('"a;b","c;d"\n"1;2;3",4\n"5\n;",6\n')) == ("a;b", "c;d")


def test_without_quotes_a_quote_does_not_hide_a_sign(write: Write) -> None:
    assert columns(write('"a;b;c\n1;2;3\n'), quotes=False) == ('"a', "b", "c")


def test_a_file_with_one_column_stays_one_column(write: Write) -> None:
    assert columns(write("text\nhello; you\nthis | that\n")) == ("text",)
    assert columns(write("text; or not\nhello\nyou\n")) == ("text; or not",)


def test_a_tsv_with_commas_stays_a_tsv(write: Write) -> None:
    assert columns(write("a, b\tc, d\n1,2\t3,4\n", "t.tsv")) == ("a, b", "c, d")


def test_a_comma_wins_ties(write: Write) -> None:
    assert columns(write("a;b,c;d\n1;2,3;4\n")) == ("a;b", "c;d")


def test_the_label_decides_where_several_signs_fit(write: Write) -> None:
    path = write("Preis, netto;Menge, kg;y\n1,5;2,5;p\n1,7;2,9;q\n")
    assert columns(path) == ("Preis", "netto;Menge", "kg;y")
    assert columns(path, label="y") == ("Preis, netto", "Menge, kg")


def test_the_number_of_names_decides_where_several_signs_fit(write: Write) -> None:
    assert columns(write("1,2;3,4\n5,6;7,8\n"), has_header=False, names=["a", "b"]) == ("a", "b")
    assert columns(write("1,2;3,4\n5,6;7,8\n"), has_header=False, names=["a", "b", "c"]) == ("a", "b", "c")


def test_a_ragged_line_is_reported_with_the_right_delimiter(write: Write) -> None:
    path = write("a;b;y\n" + "1,5;2;p\n" * 20 + "1;2\n")
    with pytest.raises(SourceError) as caught:
        weigh.open(path, label="y")
    assert str(caught.value) == (
        "t.csv, line 22 has 2 fields, the header has 3. A field that contains ';' must be in double quotes."
    )


def test_a_given_delimiter_is_used_without_detection(write: Write) -> None:
    assert columns(write("a;b\n1;2\n"), delimiter=",") == ("a;b",)
    assert columns(write("a:b\n1:2\n", "t.txt"), delimiter=":") == ("a", "b")


def test_a_text_without_a_table_still_needs_a_format(write: Write) -> None:
    with pytest.raises(SourceError, match=r"^The ending of t\.txt does not tell its format\. Give format="):
        weigh.open(write("Dear all,\n\nplease come, all of you, today.\n", "t.txt"))


def test_names_in_a_header_are_stripped(write: Write) -> None:
    source = weigh.open(write("a , weight [kg]\t,Preis (EUR)\n1,2,3\n"), label="Preis (EUR)")
    assert source.names == ("a", "weight [kg]")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "ft", "csv.gz"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii"]
)
def test_unicode_encodings_are_detected(ending: str, encoding: str, write: Write) -> None:
    word = "e" if encoding == "ascii" else "é"
    text = {
        "jsonl": f'{{"a": 1, "b": "{word}"}}\n',
        "ft": f"__label__x 1 {word}\n",
    }.get(ending, f"a,b\n1,{word}\n")
    data = text.encode(encoding)
    found = contents(write(gzip.compress(data) if ending.endswith("gz") else data, f"t.{ending}"))
    assert found == ({"text": [f"1 {word}"]} if ending == "ft" else {"a": [1], "b": [word]})


@pytest.mark.parametrize("ending", ["csv", "jsonl", "ft"])
def test_other_text_is_read_as_windows_1252_with_a_note(ending: str, write: Write) -> None:
    text = {"jsonl": '{"b": "5 € – è"}\n', "ft": "__label__x 5 € – è\n"}.get(ending, "b\n5 € – è\n")
    path = write(text.encode("cp1252"), f"t.{ending}")
    with pytest.warns(AssumedEncoding) as caught:
        assert list(contents(path).values()) == [["5 € – è"]]
    assert [str(each.message) for each in caught] == [
        f"t.{ending} is not UTF-8 text and was read as Windows-1252 (cp1252). "
        "If letters with accents look wrong, give encoding='cp1250' or another."
    ]


def test_a_byte_that_windows_1252_lacks_means_latin_1(write: Write) -> None:
    with pytest.warns(AssumedEncoding, match=r"was read as Latin-1 \(latin-1\)\."):
        assert contents(write(b"a\n\xe9\x81\n")) == {"a": ["é\x81"]}


def test_a_letter_behind_the_first_bytes_is_read_as_well(write: Write) -> None:
    path = write(b"a,b\n" + b"1,xxxxxxxxxxxxxxxxxx\n" * 8_000 + b"1,\xe9\n")
    with pytest.warns(AssumedEncoding):
        assert contents(path)["b"][-1] == "é"


def test_a_letter_after_the_first_rows_is_an_error_with_line_and_advice(write: Write) -> None:
    path = write(b"a,b\n" + b"1,x\n" * 149_999 + b"1,\xe9\n")
    source = weigh.open(path)
    with pytest.raises(SourceError) as caught:
        list(source.chunks())
    assert str(caught.value) == (
        "t.csv, line 150,001 is not UTF-8 text. Give encoding='cp1252' if it is that."
    )
    assert caught.value.line == 150_001
    assert [chunk.n_rows for chunk in weigh.open(path, encoding="cp1252").chunks()]


def test_damaged_utf_8_and_binary_files_are_not_taken_for_another_encoding(write: Write) -> None:
    for data in ("äöü".encode() + b"\xe9", bytes(range(128, 256)) + b"\x01", b"\x00\xff" * 10):
        with pytest.raises(SourceError, match="is not UTF-8 text"):
            contents(write(b"a,b\n1," + data + b"\n"))


def test_a_given_encoding_is_used_without_detection_and_auto_detects(write: Write) -> None:
    path = write("a\né\n")
    assert contents(path, encoding="cp1252") == {"a": ["Ã©"]}
    assert contents(path, encoding="auto") == {"a": ["é"]}


def test_a_character_may_be_cut_at_the_end_of_the_sample() -> None:
    assert detect_encoding(TextSample("aé".encode()[:2], False)) == "utf-8"
    assert detect_encoding(TextSample("aé".encode()[:2], True)) == "cp1252"


def test_a_preferred_encoding_applies_only_to_text_that_is_not_unicode() -> None:
    assert detect_encoding(TextSample("łódź".encode("cp1250"), True), "cp1250") == "cp1250"
    assert detect_encoding(TextSample("łódź".encode(), True), "cp1250") == "utf-8"
    assert detect_encoding(TextSample(b"lodz", True), "cp1250") == "utf-8"
    for wide in ("utf-16", "UTF16", "utf-16-le", "utf-32"):
        assert detect_encoding(TextSample("naïve caf".encode("cp1252"), True), wide) == "cp1252"


def test_usual_files_give_no_warning(write: Write) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert contents(write("a,b\n1,é\n")) == {"a": [1], "b": ["é"]}


@pytest.mark.parametrize(
    "word", ["Mean", "Durchschnitt", "Total", "TOTALS:", "Summe", "gesamt", '"Grand total"']
)
def test_a_row_of_totals_is_noted(word: str, write: Write) -> None:
    path = write(f"name,n,y\nann,1,p\nbob,2,q\n{word},3,\n\n")
    with pytest.warns(TotalsRow) as caught:
        assert contents(path, label="y")["n"] == [1, 2, 3]
    plain = word.strip('"')
    assert [str(each.message) for each in caught] == [
        f"t.csv: the last row begins with {plain!r} and looks like the totals of the others. Delete it "
        "if it is, because it is read like any other row."
    ]


UNITS = "id\tlead\tpH\twhen\tremark\ty\n\tmg/L\t\t\t-\t\n"
SAMPLES = "W1\t0.5\t7.1\t2024-01-02\tok\tp\nW2\t<0.1\t6.9\t2024-01-03\tok\tq\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_of_units_is_left_out_and_noted(end: str, write: Write) -> None:
    path = write((UNITS + SAMPLES).replace("\n", end), "t.tsv")
    with pytest.warns(UnitsRow) as caught:
        source = weigh.open(path, label="y")
    assert [str(each.message) for each in caught] == [
        "t.tsv: the row below the header holds units ('mg/L') and is left out."
    ]
    assert (
        source.types
        == weigh.open(write("\n".join([UNITS.split("\n")[0], SAMPLES]), "u.tsv"), label="y").types
    )
    [chunk] = source.chunks()
    assert to_pylist(chunk.columns["lead"]) == ["0.5", "<0.1"]
    assert source.format_place(0) == "line 3"
    assert source.header_text() == UNITS.strip("\n").replace("\n", end).encode()


@pytest.mark.parametrize(
    "row",
    [
        "W0\tmg/L\t\t\t\t",  # a value in a column of words
        "\tmg/L\t7\t\t\t",  # a number
        "\tn.d.\t?\t\t\t",  # only words for missing values
        "\t\t\t\t\t",
    ],
)
def test_other_first_rows_are_no_units(row: str, write: Write) -> None:
    [chunk] = weigh.open(write(UNITS.split("\n")[0] + f"\n{row}\n" + SAMPLES, "t.tsv"), label="y").chunks()
    assert chunk.n_rows == 3


def test_amounts_in_the_first_row_are_no_units(write: Write) -> None:
    assert contents(write("a,b\nEUR 5,x 1\nEUR 7,x 2\n")) == {"a": ["EUR 5", "EUR 7"], "b": ["x 1", "x 2"]}
    assert contents(write("a\nhigh\n5\n7\n")) == {"a": ["high", "5", "7"]}
    assert contents(write("a\nkm\n5\nkm\n7\n")) == {"a": ["km", "5", "km", "7"]}
    assert contents(write("a\nhigh\n5\nhigh\n7\n")) == {"a": ["high", "5", "high", "7"]}


def test_other_last_rows_are_not_noted(write: Write) -> None:
    assert columns(write("name,n\n" + "total,1\nann,2\n" * 3 + "total,3\n")) == ("name", "n")
    for last in ("Totalschaden,3,p", "sum it up,3,p", "ann,3,p", ",3,p"):
        assert contents(write(f"name,n,y\nann,1,p\nbob,2,q\n{last}\n"), label="y")["n"] == [1, 2, 3]
    assert contents(write("name,n\nTotal,1\n")) == {"name": ["Total"], "n": [1]}


def test_the_error_of_a_missing_label_names_the_row_of_totals(write: Write) -> None:
    path = write("name,n,y\n" + "ann,1,p\nbob,2,q\n" * 3 + "Total,9,\n")
    with pytest.warns(TotalsRow):
        source = weigh.open(path, label="y")
    with pytest.raises(weigh.errors.LabelError, match=r"in 1 of the first 7 rows \(first: row 6\)\."):
        weigh.NaiveBayes().fit(source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;y\n133,8;1\n98,4;2\n1.184,5;3\n", True),
        ("a;y\n133.8;1\n98,4;2\n97,4;2\n96,4;2\n", False),  # one decimal point contradicts
        ("a;y\n1,184;1\n2,184;2\n3,184;3\n", False),  # thousands
        ("a;y\n31.12.2023;1\n30.12.2023;2\n", False),  # dates
        ('a,y\n"133,8",1\n"98,4",2\n"7,25",3\n', True),
        ("a,y\n133,8\n98,4\n7,2\n", False),  # commas separate the fields
    ],
)
def test_decimal_commas_are_detected_unless_a_number_contradicts(text: str, expected: bool) -> None:
    assert uses_decimal_comma(TableSample(text, True), ";" if ";" in text else ",") == expected


def test_points_are_thousands_in_a_file_with_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("area;plot;price\n133,8;892;604.089\n98,4;1.184;450.000\n77,25;950;399.900\n")
    source = weigh.open(path, "price")
    kinds = {"area": "number", "plot": "number"}
    assert source.prefix(kinds=kinds).columns["plot"].tolist() == [892.0, 1184.0, 950.0]
    assert source.prefix(kinds=kinds).columns["area"].tolist() == [133.8, 98.4, 77.25]
    stated = weigh.open(path, "price", decimal=",")
    assert stated.prefix(kinds=kinds).columns["plot"].tolist() == [892.0, 1184.0, 950.0]
    assert weigh.open(path, "price", thousands=".").file_dialect == stated.file_dialect
