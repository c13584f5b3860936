"""`weigh spell check`: output, exit codes and corrected files."""

from __future__ import annotations

import bz2
import json
import math
import os
import re
import subprocess
import sys

import pytest

import weigh
from tests.cli.commands.spell.conftest import LETTER, Run

FIXED = LETTER.replace("weather", "whether").replace("there", "their")
LINE = re.compile(r"(\S+): (\w+ → \w+) \(p=0\.\d+; because: '[^\n]+\)")


def parse_suggestions(lines: str) -> list[tuple[str, ...]]:
    matches = [LINE.fullmatch(line) for line in lines.splitlines()]
    assert all(matches), lines
    return [match.groups() for match in matches if match]


def test_suggestions_have_position_and_reasons(run: Run) -> None:
    result = run("check", "letter.txt")
    assert parse_suggestions(result.stdout) == [
        ("letter.txt:1:18", "weather → whether"),
        ("letter.txt:2:11", "there → their"),
    ]
    assert (result.exit_code, result.stderr) == (3, "2 suggestions in 1 text.\n")


def test_no_suggestions_is_success(run: Run) -> None:
    result = run("check", "texts/0.txt", "texts/1.txt")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No suggestions in 2 texts.\n")


def test_json_equals_the_function(run: Run) -> None:
    expected = [each.to_dict() for each in weigh.Speller.load("toy.weigh").check_file("letter.txt")]
    result = run("check", "letter.txt", "--json")
    assert result.exit_code == 3
    assert result.stderr == ""
    assert json.loads(result.stdout) == {
        "texts": 1,
        "fixed": False,
        "suggestions": expected,
        "skipped": [],
        "failed": [],
    }


def test_threshold_option(run: Run) -> None:
    for wrong in ("0.2", "2", "often"):
        assert run("check", "letter.txt", "--threshold", wrong).exit_code == 2
    assert run("check", "letter.txt", "--threshold", "1").exit_code == 0
    assert run("check", "-", "--threshold", "1", input=LETTER.encode()).exit_code == 0
    assert run("check", "--fix", "letter.txt", "--threshold", "1").stdout == ""
    assert len(parse_suggestions(run("check", "letter.txt", "--threshold", "0.5").stdout)) == 2


def test_json_has_all_reasons_and_log_odds(run: Run) -> None:
    for each in json.loads(run("check", "letter.txt", "--json").stdout)["suggestions"]:
        weights = [reason["weight"] for reason in each["reasons"]]
        assert min(weights) < 0 < max(weights)
        assert each["log_odds"] == pytest.approx(math.fsum(weights), rel=1e-12)
        # With two words, the log-odds determine the probability.
        assert each["probability"] == pytest.approx(1 / (1 + math.exp(-each["log_odds"])))


def test_other_files_in_folders_are_skipped(run: Run, folder) -> None:
    (folder / "texts" / "picture.dat").write_bytes(b"\x00\x01")
    (folder / "texts" / "code.py").write_text("weather = there\n")
    (folder / "texts" / "letter.md").write_text(LETTER)
    result = run("check", "texts")
    assert [place for place, _ in parse_suggestions(result.stdout)] == [
        "texts/letter.md:1:18",
        "texts/letter.md:2:11",
    ]
    first, second = result.stderr.splitlines()
    assert first == "2 suggestions in 1 of 4 texts."
    assert second.startswith("weigh: note: 2 files skipped: texts/code.py: source code, not prose; ")
    assert len(json.loads(run("check", "texts", "--json").stdout)["skipped"]) == 2


@pytest.mark.parametrize("name", ["bad.txt", "bad.md", "below/bad.tex", "bad.rst.bz2", "bad.html"])
def test_unreadable_text_in_a_folder_is_a_failure(run: Run, folder, name) -> None:
    (folder / "texts" / "below").mkdir()
    (folder / "texts" / name).write_bytes(b"caf\xe9 and weather")
    result = run("check", "texts")
    assert (result.exit_code, result.stdout) == (1, "")
    error, rest = result.stderr.splitlines()
    assert error.startswith(f"weigh: texts/{name}")
    assert rest == "No suggestions in 3 texts."
    output = json.loads(run("check", "texts", "--json").stdout)
    assert (len(output["failed"]), output["skipped"]) == (1, [])
    assert output["failed"][0] == error.removeprefix("weigh: ")
    learned = run("learn", "texts", "--sets", "sets.txt", "--alarms", "10")
    assert learned.exit_code == 0
    assert learned.stderr.startswith(f"weigh: note: 1 file skipped: texts/{name}: ")


def test_excluded_files_are_not_checked(run: Run, folder) -> None:
    for name in ("venv/a.md", "below/venv/b.md", "below/CHANGELOG.md", ".hidden/c.md"):
        (folder / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "texts" / name).write_text(LETTER)
    result = run("check", "texts", "--exclude", "venv", "--exclude", "CHANGELOG*")
    assert (result.exit_code, result.stderr) == (0, "No suggestions in 3 texts.\n")
    assert json.loads(run("check", "texts", "--exclude", "venv/", "--json").stdout)["texts"] == 4
    named = ("check", "texts/below/CHANGELOG.md", "letter.txt")
    assert run(*named, "--exclude", "below").stderr == "2 suggestions in 1 text.\n"


def test_code_in_markdown_is_not_checked(run: Run, folder) -> None:
    (folder / "page.md").write_text("```\nI could not tell weather to laugh.\n```\n")
    assert run("check", "page.md").exit_code == 0


def test_fix_changes_only_the_words(run: Run, folder) -> None:
    raw = b"\xef\xbb\xbf" + LETTER.replace("\n", "\r\n").encode()
    (folder / "letter.txt").write_bytes(raw)
    (folder / "letter.txt").chmod(0o640)
    result = run("check", "--fix", "letter.txt")
    assert len(parse_suggestions(result.stdout)) == 2
    assert (result.exit_code, result.stderr) == (0, "2 words corrected in 1 text.\n")
    assert (folder / "letter.txt").read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()
    assert (folder / "letter.txt").stat().st_mode & 0o777 == 0o640
    assert run("check", "--fix", "letter.txt").stderr == "No suggestions in 1 text.\n"


def test_fix_keeps_the_encoding(run: Run, folder) -> None:
    (folder / "letter.txt").write_bytes(f"Café. {LETTER}".encode("latin-1"))
    refused = run("check", "letter.txt")
    assert refused.exit_code == 1
    assert "--encoding" in refused.stderr
    assert run("check", "--fix", "letter.txt", "--encoding", "latin-1").exit_code == 0
    assert (folder / "letter.txt").read_bytes() == f"Café. {FIXED}".encode("latin-1")


def test_compressed_file_is_checked_but_not_fixed(run: Run, folder) -> None:
    packed = bz2.compress(LETTER.encode())
    (folder / "letter.txt.bz2").write_bytes(packed)
    assert run("check", "letter.txt.bz2").exit_code == 3
    refused = run("check", "--fix", "letter.txt.bz2")
    assert refused.exit_code == 1
    assert refused.stderr == "weigh: letter.txt.bz2 is compressed and was not changed. Decompress it first.\n"
    assert (folder / "letter.txt.bz2").read_bytes() == packed


def test_unfixable_text_does_not_stop_the_others(run: Run, folder) -> None:
    (folder / "mixed").mkdir()
    error = "mixed/b.txt.bz2 is compressed and was not changed. Decompress it first."
    for again in ([], ["--json"]):
        (folder / "mixed" / "a.txt").write_text(LETTER)
        (folder / "mixed" / "b.txt.bz2").write_bytes(bz2.compress(LETTER.encode()))
        (folder / "mixed" / "c.txt").write_text(LETTER)
        result = run("check", "--fix", "mixed", *again)
        assert result.exit_code == 1
        assert (folder / "mixed" / "a.txt").read_text() == (folder / "mixed" / "c.txt").read_text() == FIXED
        assert result.stderr.startswith(f"weigh: {error}\n")
    output = json.loads(result.stdout)
    assert output["failed"] == [error]
    assert [each["name"] for each in output["suggestions"]] == ["mixed/a.txt"] * 2 + ["mixed/c.txt"] * 2


def test_fixed_texts_are_reported_despite_failures(run: Run, folder) -> None:
    (folder / "binary.txt").write_bytes(b"\x00")
    result = run("check", "--fix", "--json", "letter.txt", "binary.txt", "texts")
    output = json.loads(result.stdout)
    assert (result.exit_code, output["texts"], len(output["suggestions"])) == (1, 4, 2)
    assert output["failed"][0].startswith("binary.txt is a binary file")


@pytest.mark.parametrize("pack", [bytes, bz2.compress])
def test_standard_input_with_a_name(run: Run, pack) -> None:
    result = run("check", "-", input=pack(LETTER.encode()))
    assert [place for place, _ in parse_suggestions(result.stdout.replace("standard input", "it"))] == [
        "it:1:18",
        "it:2:11",
    ]
    code = pack(f"```\n{LETTER}```\n".encode())
    assert run("check", "-", input=code).exit_code == 3
    assert run("check", "-", "--name", "page.md", input=code).exit_code == 0


@pytest.mark.usefixtures("folder")
def test_closed_standard_input_is_reported() -> None:
    program = f'"{sys.executable}" -m weigh.cli.main spell check - <&-'
    completed = subprocess.run(["sh", "-c", program], capture_output=True, encoding="utf-8")
    message = "weigh: Standard input is closed. Give a file, or something to read.\n"
    assert (completed.returncode, completed.stderr) == (1, message)


def test_fixed_standard_input_is_written_to_standard_output(run: Run) -> None:
    result = run("check", "--fix", "-", input=LETTER.encode())
    assert (result.exit_code, result.stdout) == (0, FIXED)
    assert result.stderr.startswith("standard input:1:18: weather → whether (p=")
    assert result.stderr.endswith("\n2 words corrected in 1 text.\n")
    refused = run("check", "--fix", "--json", "-", input=LETTER.encode())
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_internal_error_exits_with_one(run: Run, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("fault")

    monkeypatch.setattr("weigh.Speller.check_file", fail)
    assert run("check", "letter.txt").exit_code == 1


@pytest.mark.parametrize("encoding", ["latin-1", "cp437", "utf-8"])
def test_unencodable_output_is_escaped(run: Run, folder, encoding) -> None:
    os.rename("letter.txt", b"\xff.txt")
    program = [sys.executable, "-m", "weigh.cli.main", "spell", "check", "\udcff.txt"]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    plain = subprocess.run(program, capture_output=True, env=environment)
    arrow = "→" if encoding == "utf-8" else "\\u2192"
    assert plain.returncode == 3
    assert f"weather {arrow} whether" in plain.stdout.decode(encoding)
    output = subprocess.run([*program, "--json"], capture_output=True, env=environment)
    assert [each["name"] for each in json.loads(output.stdout.decode(encoding))["suggestions"]] == [
        "\udcff.txt"
    ] * 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.txt"], 1, "weigh: There is no file nowhere.txt.\n"),
        (["letter.txt", "-m", "letter.txt"], 1, "letter.txt"),
        (["letter.txt", "-m", ""], 2, "the path is empty."),
        ([], 2, "Missing argument 'FILES...'."),
        (["letter.txt", "--encoding", "martian"], 1, "martian"),
        (["letter.txt", "--name", "page.md"], 2, "--name applies to standard input only; give '-', too."),
        (
            ["letter.txt", "--threshold", "nan"],
            2,
            "Invalid value for '--threshold': nan is not a finite number.",
        ),
        (["letter.txt", "--exclude", "**"], 2, "a pattern is a name, such as venv"),
        (["/dev/zero"], 1, "weigh: /dev/zero is not a regular file. Give a file or a folder of text, or "),
    ],
)
def test_check_errors(run: Run, arguments, code, message) -> None:
    result = run("check", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_missing_speller_error_says_how_to_train_one(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("WEIGH_SPELLER", "none.weigh")
    result = run("check", "letter.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "weigh: none.weigh: no such speller. Train one on your own text with weigh spell learn FOLDER, "
        "or name another with -m FILE or $WEIGH_SPELLER.\n"
    )
    named = run("check", "letter.txt", "-m", "other.weigh")
    assert (named.exit_code, named.stdout) == (1, "")
    assert named.stderr.startswith("weigh: other.weigh: no such speller.")
    assert "weigh spell learn FOLDER -o other.weigh, or name another with -m FILE or $" in named.stderr
