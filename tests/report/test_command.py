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
    told = capsys.readouterr().out
    assert told.startswith("Mails\n")
    assert told.endswith("\nThe report is in report.html.\n")
    assert max(map(len, told.splitlines())) <= 80
    assert (files / "report.html").read_text("utf-8").count('class="card"') == 3


def test_facts_are_printed_as_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "--train", "train.csv", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["model"]["kind"] == "naive Bayes"
    assert [each["role"] for each in facts["reproduce"]["files"]] == ["model", "data", "training"]
    assert facts["learning"] is not None
    assert not (files / "report.html").exists()


def test_what_is_read_is_not_written_over(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "test.csv"]) == 1
    assert "test.csv is read by this very command" in capsys.readouterr().err


def test_what_a_page_lacks_is_said_before_any_work(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr("weigh.report.report_on", lambda *_, **__: pytest.fail("it has begun to work"))
    assert run_for_exit_code(["report", "spam.weigh", "test.csv"]) == 1
    assert "here Jinja2 is not installed" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.chdir(files)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "--json"]) == 0


def test_more_mistakes_than_a_page_holds_are_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "--most", "51"]) == 2
    assert "1<=x<=50" in capsys.readouterr().err


def test_the_commands_of_a_page_make_it_again(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files / "deep"
    folder.mkdir()
    lines = (files / "test.csv").read_text().splitlines()
    (folder / "mails.txt").write_text("\n".join(line.replace(",", ";") for line in lines[1:]) + "\n")
    given = [
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
    told = ["report", str(files / "spam.weigh"), str(folder / "mails.txt"), *given, "-o", "deep/mails.html"]
    assert run_for_exit_code(told) == 0
    page = (folder / "mails.html").read_text("utf-8")
    assert str(files) not in page
    (folder / "spam.weigh").write_bytes((files / "spam.weigh").read_bytes())
    monkeypatch.chdir(folder)
    capsys.readouterr()
    assert run_for_exit_code([*told[:1], "spam.weigh", "mails.txt", *given, "--json"]) == 0
    commands = json.loads(capsys.readouterr().out)["reproduce"]["commands"]
    written = next(line for line in html.unescape(page).splitlines() if "weigh report" in line)
    assert written.endswith(
        "weigh report spam.weigh mails.txt --names sender,offer,length,kind --delimiter ';' "
        "--format csv --title 'Our mails' --most 3 -o mails.html"
    )
    (folder / "mails.html").unlink()
    assert run_for_exit_code(shlex.split(written.partition("weigh ")[2])) == 0
    assert (folder / "mails.html").read_text("utf-8") == page
    assert run_for_exit_code(shlex.split(commands[1])[1:]) == 0


def test_the_page_goes_to_standard_output_where_it_is_asked_to(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "page.html"]) == 0
    capsys.readouterr()
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "-"]) == 0
    page = (files / "page.html").read_text("utf-8")
    assert capsys.readouterr().out == page.replace("-o page.html", "-o -")
    assert not (files / "-").exists()
    assert run_for_exit_code(["report", "spam.weigh", "test.csv", "-o", "-", "--json"]) == 2
    assert "--json and -o - both write to standard output" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "predict", "audit", "calibrate"])
def test_a_file_without_a_name_is_refused(
    files: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_for_exit_code([command, "spam.weigh", "test.csv", "-o", ""]) == 1
    assert capsys.readouterr().err == "weigh: The output file has an empty name. Give a file name.\n"
    assert not (files / "report.html").exists()
