"""`weigh report`: a page and its facts."""

from __future__ import annotations

import html
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.report import tables
from weigh.cli.main import run_for_exit_code


@pytest.fixture
def files(spam_model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    spam_model.save("spam.weigh")
    for name, table in (("test.csv", tables.mails(400, 1)), ("train.csv", tables.mails())):
        lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
        Path(name).write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_page_is_written(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "--title", "Mails", "--most", "3"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("Mails\n")
    assert output.endswith("\nThe report is in report.html.\n")
    assert max(map(len, output.splitlines())) <= 80
    assert (files / "report.html").read_text("utf-8").count('class="card"') == 3


def test_facts_are_printed_as_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "--train", "train.csv", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["model"]["kind"] == "naive Bayes"
    assert [each["role"] for each in facts["reproduce"]["files"]] == ["model", "data", "training"]
    assert facts["learning"] is not None
    assert not (files / "report.html").exists()


def test_input_files_are_not_overwritten(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "test.csv"]) == 1
    assert "test.csv is also an input of this command" in capsys.readouterr().err


def test_missing_packages_are_reported_before_any_work(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr("weigh.report.builder.report_on", lambda *_, **__: pytest.fail("work has started"))
    assert run_for_exit_code(["report", "spam.weigh", "test.csv"]) == 1
    assert "but Jinja2 is not installed" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.chdir(files)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "--json"]) == 0


def test_too_many_mistakes_are_a_usage_error(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "--most", "51"]) == 2
    assert "1<=x<=50" in capsys.readouterr().err


def test_the_commands_of_a_page_reproduce_it(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files / "deep"
    folder.mkdir()
    lines = (files / "test.csv").read_text().splitlines()
    (folder / "mails.txt").write_text("\n".join(line.replace(",", ";") for line in lines[1:]) + "\n")
    options = [
        "--names",
        lines[0],
        "--delimiter",
        ";",
        "--format",
        "csv",
        "--most",
        "3",
        "--title",
        "Our mails",
    ]
    args = ["report", str(files / "spam.weigh"), str(folder / "mails.txt"), *options, "-o", "deep/mails.html"]
    assert run_for_exit_code(args) == 0
    page = (folder / "mails.html").read_text("utf-8")
    assert str(files) not in page
    (folder / "spam.weigh").write_bytes((files / "spam.weigh").read_bytes())
    monkeypatch.chdir(folder)
    capsys.readouterr()
    assert run_for_exit_code([*args[:1], "spam.weigh", "mails.txt", *options, "--json"]) == 0
    commands = json.loads(capsys.readouterr().out)["reproduce"]["commands"]
    command = next(line for line in html.unescape(page).splitlines() if "weigh report" in line)
    assert command.endswith(
        "weigh report spam.weigh mails.txt --names sender,offer,length,kind --delimiter ';' "
        "--format csv --title 'Our mails' --most 3 -o mails.html"
    )
    (folder / "mails.html").unlink()
    assert run_for_exit_code(shlex.split(command.partition("weigh ")[2])) == 0
    assert (folder / "mails.html").read_text("utf-8") == page
    assert run_for_exit_code(shlex.split(commands[1])[1:]) == 0


def test_the_page_can_be_written_to_standard_output(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "page.html"]) == 0
    capsys.readouterr()
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "-"]) == 0
    page = (files / "page.html").read_text("utf-8")
    assert capsys.readouterr().out == page.replace("-o page.html", "-o -")
    assert not (files / "-").exists()
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "-", "--json"]) == 2
    assert "--json and -o - both write to standard output" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "predict", "audit", "calibrate"])
def test_an_empty_output_name_is_an_error(
    files: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_for_exit_code([command, "spam.weigh", "test.csv", "-o", ""]) == 1
    assert capsys.readouterr().err == "weigh: The output file has an empty name. Give a file name.\n"
    assert not (files / "report.html").exists()
