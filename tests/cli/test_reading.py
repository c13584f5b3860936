"""How commands read data: patterns, other formats, and standard input."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import weigh
from tests.cli.conftest import MAILS, NEW
from weigh.cli.main import app


@pytest.fixture
def piped(run):
    """Run `weigh` with something on its standard input."""

    def invoke(given: str | bytes, *arguments: str) -> Result:
        return CliRunner().invoke(app, arguments, input=given, prog_name="weigh")

    return invoke


def test_fit_reads_standard_input(piped):
    result = piped(MAILS, "fit", "-", "--format", "csv", "--label", "spam", "-o", "m.weigh")
    printed = "Trained on 5 rows of standard input to predict spam."
    assert (result.exit_code, result.output.splitlines()[0]) == (0, printed)
    made = weigh.NaiveBayes().fit(weigh.open("mails.csv", label="spam")).model_
    assert Path("m.weigh").read_bytes() == made.to_bytes()


def test_packed_standard_input_is_unpacked(piped):
    packed = gzip.compress(MAILS.encode())
    assert piped(packed, "fit", "-", "--format", "csv", "--label", "spam", "-o", "m.weigh").exit_code == 0
    assert weigh.load("m.weigh").counts.rows.tolist() == [3, 2]


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_standard_input_gives_what_the_file_gives(command, piped, fitted):
    name, text = ("mails.csv", MAILS) if command == "evaluate" else ("new.csv", NEW)
    options = ("--row", "1") if command == "explain" else ()
    from_file = fitted(command, "mails.weigh", name, *options)
    piped_in = piped(text, command, "mails.weigh", "-", "--format", "csv", *options)
    assert from_file.exit_code == 0
    assert (piped_in.exit_code, piped_in.output) == (0, from_file.output)


def test_standard_input_without_a_format_is_an_error(piped):
    result = piped(MAILS, "fit", "-", "--label", "spam", "-o", "m.weigh")
    assert result.exit_code == 1
    assert "Standard input has no ending that tells its format." in result.output
    assert not Path("m.weigh").exists()


def test_a_pattern_is_expanded(run, tmp_path):
    (tmp_path / "more.csv").write_text(MAILS)
    assert run("fit", "m*.csv", "--label", "spam", "-o", "m.weigh").exit_code == 0
    assert weigh.load("m.weigh").counts.rows.tolist() == [6, 4]


def test_a_folder_per_class_is_learned_from_and_predicted(run, tmp_path):
    for name, text in {"ham": "see you soon", "spam": "buy now"}.items():
        (tmp_path / "texts" / name).mkdir(parents=True)
        (tmp_path / "texts" / name / "1.txt").write_text(text)
    result = run("fit", "texts", "--label", "class", "-o", "m.weigh", "--json")
    assert json.loads(result.output)["columns"][0]["kind"] == "text"
    predicted = run("predict", "m.weigh", "texts").output.splitlines()
    assert [line.split(",")[0] for line in predicted] == ["prediction", "ham", "spam"]
    assert run("evaluate", "m.weigh", "texts").exit_code == 0


@pytest.mark.parametrize(
    ("format", "train", "new", "expected"),
    [
        ("fasttext", "__label__a one\n__label__b two\n", "two\none\n", ["b", "a"]),
        ("vw", "1 |n x |m y\n-1 |n z |m w\n", "|m w\n|n x\n", ["-1", "1"]),
        ("libsvm", "1 1:3\n2 2:3 9:1\n", "0 2:5\n0 1:5\n", ["2", "1"]),
    ],
)
def test_rows_that_lack_columns_of_a_sparse_format_are_predicted(format, train, new, expected, run, tmp_path):
    (tmp_path / "train").write_text(train)
    (tmp_path / "new").write_text(new)
    assert run("fit", "train", "--label", "label", "--format", format, "-o", "m.weigh").exit_code == 0
    predicted = run("predict", "m.weigh", "new", "--format", format).output.splitlines()[1:]
    assert [line.split(",")[0] for line in predicted] == expected


def test_the_formats_are_those_of_the_library(run):
    from weigh.source.files.formats import FORMATS

    assert f"[{'|'.join(FORMATS)}]" in "".join(run("fit", "--help").output.split())
