"""CSV that is safe in a spreadsheet: what is escaped, what is not, and how names come back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner

import weigh
from tests.hostile import FORMULA_NAMES, HOSTILE_NAMES, LONE_SURROGATE, find_control_characters
from weigh.cli.main import app
from weigh.csv_writer import CsvWriter


def field(cell: object, raw: bool = False) -> str:
    return CsvWriter(io.StringIO(), raw).field(cell)


@pytest.mark.parametrize("name", FORMULA_NAMES[:-3])
def test_a_quote_is_put_before_what_a_spreadsheet_may_run(name: str) -> None:
    (cells,) = csv.reader([field(name)])
    assert cells[0].startswith("'")
    (cells,) = csv.reader([field(name, raw=True)])
    assert cells == [name]


@pytest.mark.parametrize(
    "cell",
    [
        "-3.5",
        "+1e5",
        "-1E-3",
        "-.5",
        "+7.",
        "-inf",
        "+",
        "-",
        "spam",
        "a=b",
        "x-y",
        "x@y",
        "2+3",
        "P(=1)",
        "",
    ],
)
def test_numbers_signs_and_ordinary_names_are_unchanged(cell: str) -> None:
    assert field(cell) == field(cell, raw=True) == cell


def test_numbers_and_missing_values_are_written_as_in_python() -> None:
    assert [field(cell) for cell in (-3.5, 7, True, None, 1e300)] == ["-3.5", "7", "True", "", "1e+300"]


@pytest.mark.parametrize("name", ["a;=1+1", "a\t=1+1", 'a,"=1+1', "a\n=1+1", "a\r=1+1"])
def test_names_are_quoted_where_another_separator_would_start_a_cell(name: str) -> None:
    assert field(name, raw=True) == '"' + name.replace('"', '""') + '"'
    assert field(name).startswith('"') or "\\" in field(name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose classes have hostile names, and a row of each class."""
    folder = tmp_path_factory.mktemp("classes")
    rows = {"x": [f"level {k}" for k in range(len(HOSTILE_NAMES))], "y": HOSTILE_NAMES}
    weigh.NaiveBayes({"x": "category"}).fit(rows, "y").model_.save(folder / "m.weigh")
    with (folder / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x", "y"], *zip(rows["x"], rows["y"], strict=True)])
    return folder


def write_csv(folder: Path, command: str, *arguments: str) -> list[dict[str, str]]:
    output = str(folder / "out.csv")
    command_line = [command, f"{folder}/m.weigh", f"{folder}/rows.csv", "-o", output, *arguments]
    result = CliRunner().invoke(app, command_line, prog_name="weigh")
    assert result.exit_code == 0, result.output
    with open(output, newline="") as file:
        return list(csv.DictReader(file))


def test_raw_output_has_the_names_themselves(folder: Path) -> None:
    predictions = write_csv(folder, "predict", "--proba", "--raw")
    assert [row["prediction"] for row in predictions] == HOSTILE_NAMES
    assert {f"P({name})" for name in HOSTILE_NAMES} < set(predictions[0])
    assert [row["label"] for row in write_csv(folder, "audit", "--raw", "--unseen")] == HOSTILE_NAMES


@pytest.mark.parametrize("arguments", [["predict", "--proba", "--check"], ["audit", "--unseen"]])
def test_other_output_has_neither_formulas_nor_control_characters(folder: Path, arguments: list[str]) -> None:
    rows = write_csv(folder, *arguments)
    assert len(rows) == len(HOSTILE_NAMES)
    assert not find_control_characters((folder / "out.csv").read_text())
    cells = [cell for row in rows for cell in (*row, *row.values())]
    assert not [cell for cell in cells if cell.lstrip().startswith(tuple("=+-@＝＋－＠")) and len(cell) > 1]


def test_a_name_that_cannot_be_encoded_is_written_as_an_escape(tmp_path: Path) -> None:
    rows = {"x": ["a", "b"], "y": [LONE_SURROGATE, "other"]}
    weigh.NaiveBayes({"x": "category"}).fit(rows, "y").model_.save(tmp_path / "m.weigh")
    (tmp_path / "rows.csv").write_text("x\na\nb\n")
    for raw in ([], ["--raw"]):
        assert [row["prediction"] for row in write_csv(tmp_path, "predict", *raw)] == [r"half\ud800", "other"]
