"""`weigh spell check`: what is told of a text, where to, with which exit code, and what is written."""

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
from tests.cli.spell.conftest import LETTER, Run

FIXED = LETTER.replace("weather", "whether").replace("there", "their")
LINE = re.compile(r"(\S+): (\w+ → \w+) \(p=0\.\d+; because: '[^\n]+\)")


def told(lines: str) -> list[tuple[str, ...]]:
    found = [LINE.fullmatch(line) for line in lines.splitlines()]
    assert all(found), lines
    return [each.groups() for each in found if each]


def test_a_suggestion_has_its_place_and_its_reasons(run: Run) -> None:
    found = run("check", "letter.txt")
    assert told(found.stdout) == [
        ("letter.txt:1:18", "weather → whether"),
        ("letter.txt:2:11", "there → their"),
    ]
    assert (found.exit_code, found.stderr) == (3, "2 suggestions in 1 text.\n")


def test_text_without_suggestions_is_told_of_and_is_no_failure(run: Run) -> None:
    found = run("check", "texts/0.txt", "texts/1.txt")
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", "Nothing to suggest in 2 texts.\n")


def test_the_program_says_what_the_function_says(run: Run) -> None:
    expected = [each.to_dict() for each in weigh.Speller.load("toy.weigh").check_file("letter.txt")]
    found = run("check", "letter.txt", "--json")
    assert found.exit_code == 3
    assert found.stderr == ""
    assert json.loads(found.stdout) == {
        "texts": 1,
        "fixed": False,
        "suggestions": expected,
        "skipped": [],
        "failed": [],
    }


def test_a_threshold_of_its_own_is_asked_of_the_text(run: Run) -> None:
    for wrong in ("0.2", "2", "often"):
        assert run("check", "letter.txt", "--threshold", wrong).exit_code == 2
    assert run("check", "letter.txt", "--threshold", "1").exit_code == 0
    assert run("check", "-", "--threshold", "1", input=LETTER.encode()).exit_code == 0
    assert run("check", "--fix", "letter.txt", "--threshold", "1").stdout == ""
    assert len(told(run("check", "letter.txt", "--threshold", "0.5").stdout)) == 2


def test_all_reasons_are_in_the_json_with_their_sum(run: Run) -> None:
    for each in json.loads(run("check", "letter.txt", "--json").stdout)["suggestions"]:
        weights = [reason["weight"] for reason in each["reasons"]]
        assert min(weights) < 0 < max(weights)
        assert each["log_odds"] == pytest.approx(math.fsum(weights), rel=1e-12)
        # Two words: the sum says the probability.
        assert each["probability"] == pytest.approx(1 / (1 + math.exp(-each["log_odds"])))


def test_folders_are_read_and_what_is_no_text_is_left_out(run: Run, folder) -> None:
    (folder / "texts" / "picture.dat").write_bytes(b"\x00\x01")
    (folder / "texts" / "code.py").write_text("weather = there\n")
    (folder / "texts" / "letter.md").write_text(LETTER)
    found = run("check", "texts")
    assert [place for place, _ in told(found.stdout)] == ["texts/letter.md:1:18", "texts/letter.md:2:11"]
    first, second = found.stderr.splitlines()
    assert first == "2 suggestions in 1 of 4 texts."
    assert second.startswith("weigh: note: 2 files left out: texts/code.py: source code, not prose; ")
    assert len(json.loads(run("check", "texts", "--json").stdout)["skipped"]) == 2


@pytest.mark.parametrize("name", ["bad.txt", "bad.md", "below/bad.tex", "bad.rst.bz2", "bad.html"])
def test_a_text_of_a_folder_that_cannot_be_read_is_a_failure(run: Run, folder, name) -> None:
    (folder / "texts" / "below").mkdir()
    (folder / "texts" / name).write_bytes(b"caf\xe9 and weather")
    found = run("check", "texts")
    assert (found.exit_code, found.stdout) == (1, "")
    refusal, rest = found.stderr.splitlines()
    assert refusal.startswith(f"weigh: texts/{name}")
    assert rest == "Nothing to suggest in 3 texts."
    facts = json.loads(run("check", "texts", "--json").stdout)
    assert (len(facts["failed"]), facts["skipped"]) == (1, [])
    assert facts["failed"][0] == refusal.removeprefix("weigh: ")
    learned = run("learn", "texts", "--sets", "sets.txt", "--alarms", "10")
    assert learned.exit_code == 0
    assert learned.stderr.startswith(f"weigh: note: 1 file left out: texts/{name}: ")


def test_what_is_excluded_is_not_read(run: Run, folder) -> None:
    for name in ("venv/a.md", "below/venv/b.md", "below/CHANGELOG.md", ".hidden/c.md"):
        (folder / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "texts" / name).write_text(LETTER)
    found = run("check", "texts", "--exclude", "venv", "--exclude", "CHANGELOG*")
    assert (found.exit_code, found.stderr) == (0, "Nothing to suggest in 3 texts.\n")
    assert json.loads(run("check", "texts", "--exclude", "venv/", "--json").stdout)["texts"] == 4
    named = ("check", "texts/below/CHANGELOG.md", "letter.txt")
    assert run(*named, "--exclude", "below").stderr == "2 suggestions in 1 text.\n"


def test_code_in_markdown_is_left_alone(run: Run, folder) -> None:
    (folder / "page.md").write_text("```\nI could not tell weather to laugh.\n```\n")
    assert run("check", "page.md").exit_code == 0


def test_a_fix_changes_the_words_and_no_other_byte(run: Run, folder) -> None:
    raw = b"\xef\xbb\xbf" + LETTER.replace("\n", "\r\n").encode()
    (folder / "letter.txt").write_bytes(raw)
    (folder / "letter.txt").chmod(0o640)
    found = run("check", "--fix", "letter.txt")
    assert len(told(found.stdout)) == 2
    assert (found.exit_code, found.stderr) == (0, "2 words put right in 1 text.\n")
    assert (folder / "letter.txt").read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()
    assert (folder / "letter.txt").stat().st_mode & 0o777 == 0o640
    assert run("check", "--fix", "letter.txt").stderr == "Nothing to suggest in 1 text.\n"


def test_a_fix_keeps_the_encoding(run: Run, folder) -> None:
    (folder / "letter.txt").write_bytes(f"Café. {LETTER}".encode("latin-1"))
    refused = run("check", "letter.txt")
    assert refused.exit_code == 1
    assert "--encoding" in refused.stderr
    assert run("check", "--fix", "letter.txt", "--encoding", "latin-1").exit_code == 0
    assert (folder / "letter.txt").read_bytes() == f"Café. {FIXED}".encode("latin-1")


def test_a_packed_file_is_checked_and_not_written(run: Run, folder) -> None:
    packed = bz2.compress(LETTER.encode())
    (folder / "letter.txt.bz2").write_bytes(packed)
    assert run("check", "letter.txt.bz2").exit_code == 3
    refused = run("check", "--fix", "letter.txt.bz2")
    assert refused.exit_code == 1
    assert refused.stderr == "weigh: letter.txt.bz2 is packed and stays as it is. Unpack it first.\n"
    assert (folder / "letter.txt.bz2").read_bytes() == packed


def test_a_text_that_cannot_be_fixed_stops_no_other(run: Run, folder) -> None:
    (folder / "mixed").mkdir()
    refusal = "mixed/b.txt.bz2 is packed and stays as it is. Unpack it first."
    for again in ([], ["--json"]):
        (folder / "mixed" / "a.txt").write_text(LETTER)
        (folder / "mixed" / "b.txt.bz2").write_bytes(bz2.compress(LETTER.encode()))
        (folder / "mixed" / "c.txt").write_text(LETTER)
        found = run("check", "--fix", "mixed", *again)
        assert found.exit_code == 1
        assert (folder / "mixed" / "a.txt").read_text() == (folder / "mixed" / "c.txt").read_text() == FIXED
        assert found.stderr.startswith(f"weigh: {refusal}\n")
    facts = json.loads(found.stdout)
    assert facts["failed"] == [refusal]
    assert [each["name"] for each in facts["suggestions"]] == ["mixed/a.txt"] * 2 + ["mixed/c.txt"] * 2


def test_what_was_fixed_is_told_where_the_next_text_cannot_be_read(run: Run, folder) -> None:
    (folder / "binary.txt").write_bytes(b"\x00")
    found = run("check", "--fix", "--json", "letter.txt", "binary.txt", "texts")
    facts = json.loads(found.stdout)
    assert (found.exit_code, facts["texts"], len(facts["suggestions"])) == (1, 4, 2)
    assert facts["failed"][0].startswith("binary.txt is not a text but binary")


@pytest.mark.parametrize("pack", [bytes, bz2.compress])
def test_standard_input_is_a_text_of_any_name(run: Run, pack) -> None:
    found = run("check", "-", input=pack(LETTER.encode()))
    assert [place for place, _ in told(found.stdout.replace("standard input", "it"))] == [
        "it:1:18",
        "it:2:11",
    ]
    code = pack(f"```\n{LETTER}```\n".encode())
    assert run("check", "-", input=code).exit_code == 3
    assert run("check", "-", "--name", "page.md", input=code).exit_code == 0


@pytest.mark.usefixtures("folder")
def test_standard_input_that_is_closed_is_told() -> None:
    program = f'"{sys.executable}" -m weigh.cli.main spell check - <&-'
    done = subprocess.run(["sh", "-c", program], capture_output=True, encoding="utf-8")
    told = "weigh: Standard input is closed. Give a file, or something to read.\n"
    assert (done.returncode, done.stderr) == (1, told)


def test_a_fix_of_standard_input_comes_out(run: Run) -> None:
    found = run("check", "--fix", "-", input=LETTER.encode())
    assert (found.exit_code, found.stdout) == (0, FIXED)
    assert found.stderr.startswith("standard input:1:18: weather → whether (p=")
    assert found.stderr.endswith("\n2 words put right in 1 text.\n")
    refused = run("check", "--fix", "--json", "-", input=LETTER.encode())
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_a_fault_of_the_program_is_no_suggestion(run: Run, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("fault")

    monkeypatch.setattr("weigh.Speller.check_file", fail)
    assert run("check", "letter.txt").exit_code == 1


@pytest.mark.parametrize("encoding", ["latin-1", "cp437", "utf-8"])
def test_a_terminal_without_arrows_is_told_all_the_same(run: Run, folder, encoding) -> None:
    os.rename("letter.txt", b"\xff.txt")
    program = [sys.executable, "-m", "weigh.cli.main", "spell", "check", "\udcff.txt"]
    surroundings = os.environ | {"PYTHONIOENCODING": encoding}
    plain = subprocess.run(program, capture_output=True, env=surroundings)
    arrow = "→" if encoding == "utf-8" else "\\u2192"
    assert plain.returncode == 3
    assert f"weather {arrow} whether" in plain.stdout.decode(encoding)
    facts = subprocess.run([*program, "--json"], capture_output=True, env=surroundings)
    assert [each["name"] for each in json.loads(facts.stdout.decode(encoding))["suggestions"]] == [
        "\udcff.txt"
    ] * 2


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["nowhere.txt"], 1, "weigh: There is no file nowhere.txt.\n"),
        (["letter.txt", "-m", "letter.txt"], 1, "letter.txt"),
        (["letter.txt", "-m", ""], 2, "the path is empty."),
        ([], 2, "Missing argument 'FILES...'."),
        (["letter.txt", "--encoding", "martian"], 1, "martian"),
        (["letter.txt", "--name", "page.md"], 2, "--name is that of standard input: give '-', too."),
        (
            ["letter.txt", "--threshold", "nan"],
            2,
            "Invalid value for '--threshold': nan is no finite number.",
        ),
        (["letter.txt", "--exclude", "**"], 2, "a pattern is a name, such as venv"),
        (["/dev/zero"], 1, "weigh: /dev/zero is not a regular file. Give a file or a folder of text, or "),
    ],
)
def test_what_cannot_be_done_is_told(run: Run, arguments, code, sentence) -> None:
    found = run("check", *arguments)
    assert (found.exit_code, found.stdout) == (code, "")
    assert sentence in found.stderr


def test_without_a_speller_one_is_told_how_to_begin(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("WEIGH_SPELLER", "none.weigh")
    found = run("check", "letter.txt")
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr == (
        "weigh: none.weigh: there is no speller yet. Make one by learning from text of your own: "
        "weigh spell learn FOLDER. Or name another: -m FILE, or $WEIGH_SPELLER.\n"
    )
    named = run("check", "letter.txt", "-m", "other.weigh")
    assert (named.exit_code, named.stdout) == (1, "")
    assert named.stderr.startswith("weigh: other.weigh: there is no speller yet.")
    assert "weigh spell learn FOLDER -o other.weigh. Or name another: -m FILE, or $" in named.stderr
