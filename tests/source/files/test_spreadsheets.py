"""Sheets of spreadsheets are read as tables."""

from __future__ import annotations

import datetime as dt
import sys
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import weigh
from weigh.errors import OddSheet, ParameterError, SourceError, TotalsRow, UnitsRow
from weigh.source import Source
from weigh.source.chunk import to_pylist
from weigh.source.files import spreadsheets
from weigh.source.files.sheet_layout import column_letters, find_table

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine")

Write = Callable[..., str]
PETS = [["legs", "weight", "pet"], [4, 4.5, "cat"], [2, 0.25, "bird"], [4, 30, "dog"]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*sheets: Sequence[Sequence[Any]], path: str = "t.xlsx", merged: Sequence[Any] = ()) -> str:
    """Write sheets called S1, S2, ...; `merged` are ranges of the first one with their texts."""
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm"}) as book:
        for i, rows in enumerate(sheets, 1):
            sheet = book.add_worksheet(f"S{i}")
            for r, row in enumerate(rows):
                for c, value in enumerate(row):
                    if value is not None:
                        sheet.write(r, c, value)
            for place, text in merged if i == 1 else ():
                sheet.merge_range(*place, text)
    return path


def contents(source: Source) -> dict[str, list[Any]]:
    chunk = source.prefix()
    return {
        name: [None if value != value else value for value in to_pylist(column)]
        for name, column in chunk.columns.items()
    }


def read_error(path: str, **options: Any) -> str:
    with pytest.raises(SourceError) as caught:
        weigh.open(path, **options)
    assert caught.value.path == path
    return str(caught.value)


def test_a_sheet_is_a_table_for_any_learner() -> None:
    source = weigh.open(write(PETS), label="pet")
    assert (source.names, source.n_rows, source.named) == (("legs", "weight"), 3, True)
    assert contents(source) == {"legs": [4, 2, 4], "weight": [4.5, 0.25, 30.0]}
    model = weigh.NaiveBayes().fit(source)
    assert model.predict({"legs": 2, "weight": 0.3}).tolist() == ["bird"]


def test_a_sheet_gives_the_model_of_the_same_csv_file() -> None:
    rows = [["a", "n", "f", "y"], ["x", 1, 0.5, "p"], [None, 2, 1.5, "q"], ["z", 3, None, "p"]]
    Path("t.csv").write_text("\n".join(",".join("" if v is None else str(v) for v in row) for row in rows))
    sheet, csv = (weigh.NaiveBayes().fit(weigh.open(path, label="y")) for path in (write(rows), "t.csv"))
    assert sheet.model_.to_bytes() == csv.model_.to_bytes()


def test_types_of_cells_are_kept() -> None:
    day, time = dt.datetime(2024, 1, 31), dt.datetime(2024, 1, 31, 12, 30)
    rows = [
        ["flag", "whole", "part", "day", "time", "mixed", "y"],
        [True, 1, 0.25, day, day, 1, "p"],
        [False, 2, None, day, time, "x", "q"],
    ]
    assert contents(weigh.open(write(rows), label="y")) == {
        "flag": [True, False],
        "whole": [1, 2],
        "part": [0.25, None],
        "day": ["2024-01-31", "2024-01-31"],
        "time": ["2024-01-31T00:00:00", "2024-01-31T12:30:00"],
        "mixed": [1, "x"],
    }


def test_percentages_are_numbers_and_errors_are_missing() -> None:
    with xlsxwriter.Workbook("t.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["share", "error"])
        sheet.write_number(1, 0, 0.25, book.add_format({"num_format": "0%"}))
        sheet.write_formula(1, 1, "=NA()", None, "#N/A")
        sheet.write_row(2, 0, [0.5, 7])
    assert contents(weigh.open("t.xlsx")) == {"share": [0.25, 0.5], "error": [None, 7]}


def test_empty_rows_and_columns_and_titles_are_left_out() -> None:
    rows = [
        [],
        [None, "Pets of the year 2024"],
        [],
        *([None, *row, None, None] for row in PETS[:3]),
        [],
        [None, *PETS[3]],
        [None, None, ""],
    ]
    source = weigh.open(write(rows), label="pet")
    assert contents(source) == {"legs": [4, 2, 4], "weight": [4.5, 0.25, 30.0]}
    title = [((0, 0, 0, 2), "Pets")]
    assert weigh.open(write([[], *PETS], merged=title), label="pet").names == ("legs", "weight")


def test_two_rows_of_a_header_are_joined() -> None:
    rows = [
        ["Region", "Q1", None, "Q2", None],
        [None, "sales", "cost", "sales", "cost"],
        ["north", 1, 2, 3, 4],
        ["south", 5, 6, 7, 8],
    ]
    names = ("Region", "Q1 sales", "Q1 cost", "Q2 sales", "Q2 cost")
    merged = [((0, 1, 0, 2), "Q1"), ((0, 3, 0, 4), "Q2"), ((0, 0, 1, 0), "Region")]
    source = weigh.open(write(rows, merged=merged))
    assert source.names == names
    assert contents(source)["Q2 cost"] == [4, 8]
    unmerged = find_table([["" if v is None else v for v in row] for row in rows], None)
    assert unmerged is not None
    assert tuple(unmerged.names) == names


def test_a_column_of_texts_is_not_a_second_row_of_the_header() -> None:
    source = weigh.open(write([["a", "b"], ["x", "y"], ["z", "w"]]))
    assert contents(source) == {"a": ["x", "z"], "b": ["y", "w"]}


def test_columns_without_a_name_are_called_by_their_letters() -> None:
    path = write([["a", None, "c"], [1, 2, 3], [4, 5, 6]])
    with pytest.warns(OddSheet) as caught:
        assert weigh.open(path).names == ("a", "column B", "c")
    assert str(caught[0].message) == (
        "t.xlsx: a column has no name in row 1, the header, and is called 'column B'."
    )
    assert [column_letters(i) for i in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


def test_names_are_texts_and_unique() -> None:
    assert weigh.open(write([[2023, " sales\n[EUR] "], [1, 2]])).names == ("2023", "sales [EUR]")
    assert read_error(write([["a", "a"], [1, 2]])) == (
        "t.xlsx has the column name 'a' more than once. Give every column its own name."
    )


def test_the_first_sheet_with_cells_is_read_and_the_others_are_listed() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert weigh.open(write([], PETS, path="one.xlsx")).names == ("legs", "weight", "pet")
    path = write([], PETS, [["a", "b"], [1, 2]])
    with pytest.warns(OddSheet) as caught:
        assert weigh.open(path).names == ("legs", "weight", "pet")
    assert str(caught[0].message) == (
        "t.xlsx has 2 sheets with cells: 'S2', 'S3'. The first was read. For another, give sheet='S3'."
    )


@pytest.mark.parametrize("sheet", ["S3", 2, "2"])
def test_a_sheet_is_selected_by_name_or_index(sheet: str | int) -> None:
    assert weigh.open(write([], PETS, [["a", "b"], [1, 2]]), sheet=sheet).names == ("a", "b")


def test_a_sheet_that_does_not_exist_is_reported() -> None:
    path = write(PETS, [])
    assert read_error(path, sheet="s1") == ("t.xlsx has no sheet 's1'; it has 'S1', 'S2'. Did you mean 'S1'?")
    assert read_error(path, sheet="S2") == "t.xlsx has no cells in the sheet 'S2'."
    Path("t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="sheet must be given only for a spreadsheet"):
        weigh.open("t.csv", sheet="S1")


def test_sheets_without_a_header_have_given_names() -> None:
    path = write(PETS[1:])
    assert weigh.open(path, has_header=False, names=["a", "b", "c"]).names == ("a", "b", "c")
    assert weigh.open(path, has_header=False).names == ("x0", "x1", "x2")


def test_markers_of_missing_values_apply_to_sheets() -> None:
    path = write([["a", "b"], ["?", -999], ["x", 1]])
    assert contents(weigh.open(path, missing=["?", -999])) == {"a": [None, "x"], "b": [None, 1]}


def test_several_workbooks_are_one_table_of_text_where_one_has_text() -> None:
    write([["a", "y"], [1, "p"]], path="1.xlsx")
    write([["y", "a"], ["q", "x"]], path="2.xlsx")
    chunks = list(weigh.open("*.xlsx", label="y").chunks())
    assert [to_pylist(chunk.columns["a"]) for chunk in chunks] == [["1"], ["x"]]
    assert [chunk.first_row for chunk in chunks] == [0, 1]


def test_a_model_of_a_csv_file_reads_a_sheet() -> None:
    Path("t.csv").write_text("code,y\n" + "".join(f"{'abc12'[i % 5]},{i % 2}\n" for i in range(51)))
    model = weigh.NaiveBayes().fit(weigh.open("t.csv", label="y"))
    sheet = weigh.open(write([["code", "y"], [1, 0], ["a", 1]]), label="y")
    assert model.predict(sheet).tolist() == model.predict([{"code": "1"}, {"code": "a"}]).tolist()


def test_damaged_and_foreign_files_are_reported() -> None:
    good = Path(write(PETS)).read_bytes()
    for name, data in {
        "cut": good[:3000],
        "text": b"a,b\n1,2\n",
        "ole": spreadsheets._OLE_MAGIC * 100,
    }.items():
        Path(f"{name}.xlsx").write_bytes(data)
    Path("empty.xlsx").write_bytes(b"")
    with zipfile.ZipFile("other.xlsx", "w") as archive:
        archive.writestr("a.txt", "b")
    assert read_error("empty.xlsx") == "empty.xlsx is empty."
    assert read_error("ole.xlsx") == (
        "ole.xlsx is protected with a password, or damaged. Save it without a password."
    )
    for name in ("cut", "text", "other"):
        message = read_error(f"{name}.xlsx")
        assert message.startswith(f"{name}.xlsx cannot be read as a spreadsheet: ")
        assert message.endswith(". Open it and save it again, or save it as CSV.")


def test_bytes_damaged_anywhere_raise_no_other_error() -> None:
    good = Path(write(PETS)).read_bytes()
    for at in range(0, len(good), 97):
        Path("bad.xlsx").write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                weigh.open("bad.xlsx").prefix()
        except SourceError:
            pass


def test_a_sheet_without_rows_is_reported() -> None:
    assert read_error(write([["a", "b"]])) == "t.xlsx, sheet 'S1': there is a header but no rows."
    assert read_error(write([], [])) == "t.xlsx has no cells."


def test_a_cell_in_a_far_corner_takes_no_memory() -> None:
    with xlsxwriter.Workbook("far.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write(1_048_575, 16_383, 1)
    assert read_error("far.xlsx") == (
        "far.xlsx has a sheet with a cell XFD1048576, too much for a spreadsheet. Delete what is not "
        "part of the table, or save the sheet as CSV."
    )


def test_a_file_that_unpacks_to_gigabytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheets, "MAX_UNPACKED_BYTES", 1000)
    message = read_error(write(PETS))
    assert message.startswith("t.xlsx unpacks to ")
    assert message.endswith(
        " bytes, too much for a spreadsheet. Delete what is not part of the table, or save the sheet as CSV."
    )


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert read_error(write(PETS)) == (
        "t.xlsx is a spreadsheet, which needs the package python-calamine: pip install 'weigh[excel]'. "
        "Or save it as CSV."
    )


@pytest.mark.parametrize("sheet", [1, "1", "S2"])
def test_a_model_reads_the_sheet_that_it_was_trained_on(sheet: str | int) -> None:
    words = [["x", "y"], *(["no", "ab"[k % 2]] for k in range(120))]
    numbers = [["x", "y"], *([k * 1.5, "ab"[k % 2]] for k in range(120))]
    path = write(words, numbers)
    model = weigh.NaiveBayes().fit(weigh.open(path, "y", sheet=sheet)).model_
    assert dict(model.schema.dialect) == {"sheet": "S2"}
    assert to_pylist(weigh.open(path, "y", like=model).prefix(2).columns["x"]) == [0.0, 1.5]


@pytest.mark.parametrize("sheet", [1.5, ["S1"], True])
def test_a_sheet_is_a_name_or_an_index(sheet: Any) -> None:
    with pytest.raises(ParameterError, match="open: sheet must be the name or the index of a sheet, got"):
        weigh.open("there-is-no-such-file.xlsx", sheet=sheet)


def write_ods(rows: str, path: str = "t.ods") -> str:
    names = {"office": "office", "table": "table", "text": "text"}
    spaces = " ".join(f'xmlns:{k}="urn:oasis:names:tc:opendocument:xmlns:{v}:1.0"' for k, v in names.items())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="S1">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def ods_row(*cells: str | float, repeats: int = 1) -> str:
    written = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
        if isinstance(cell, str)
        else f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
        for cell in cells
    )
    return f'<table:table-row table:number-rows-repeated="{repeats}">{written}</table:table-row>'


def test_an_ods_file_is_read() -> None:
    empty = (
        '<table:table-row table:number-rows-repeated="1048576">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    path = write_ods(ods_row("a", "y") + ods_row(1, "p") + ods_row(2.5, "q", repeats=2) + empty)
    assert contents(weigh.open(path, label="y")) == {"a": [1.0, 2.5, 2.5]}


def test_an_ods_file_of_many_equal_rows_is_refused() -> None:
    path = write_ods(ods_row("a", "y") + ods_row(1, "p", repeats=1_000_000_000))
    assert read_error(path) == (
        "t.ods has a sheet with 1,000,000,000 equal cells or rows, too much for a spreadsheet. Delete "
        "what is not part of the table, or save the sheet as CSV."
    )


def test_a_row_of_totals_in_a_sheet_is_noted() -> None:
    path = write([["name", "n"], ["ann", 1], ["bob", 2], ["Total", 3]])
    with pytest.warns(TotalsRow) as caught:
        weigh.open(path)
    assert str(caught[0].message) == (
        "t.xlsx: the last row (2; the first is 0) begins with 'Total' and looks like the totals of the "
        "others. Delete it if it is, because it is read like any other row."
    )


def test_a_row_of_units_in_a_sheet_is_left_out_and_noted() -> None:
    path = write([PETS[0], [None, "kg", None], *PETS[1:]])
    with pytest.warns(UnitsRow) as caught:
        source = weigh.open(path, label="pet")
    assert [str(each.message) for each in caught] == [
        "t.xlsx: the row below the header holds units ('kg') and is left out."
    ]
    assert contents(source) == contents(weigh.open(write(PETS, path="u.xlsx"), label="pet"))
