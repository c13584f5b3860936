"""Names from files, in the output of every command: they neither control the terminal nor add lines."""

from __future__ import annotations

import csv
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.hostile import (
    CONTROL_NAMES,
    HOSTILE_NAMES,
    INJECTED,
    MARKUP_NAMES,
    find_control_characters,
    find_injected_lines,
)
from weigh.cli.main import app

LABEL = "label\x1b[31m\n" + INJECTED
COLOUR, SIZE = "colour\x9b2J\r" + INJECTED, "size\u202e\x07"
HOSTILE_FILE = "rows\x1b[31m.csv"
WEATHER = "I did not know whether the {} was there. They took their {} with them, and the weather was {}.\n"


def write_table(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def write_mail(folder: Path) -> None:
    folder.mkdir()
    for k, name in enumerate(CONTROL_NAMES):
        headers = f"From: {name} <a@b.example>\nSubject: {name}\nDate: Mon, {k + 1} Jun 2026 10:00:00 +0000\n"
        content = f"{headers}\n{folder.name} {name} word{k}\n".encode()
        (folder / f"{k}\x1b[31m\n{INJECTED}").write_bytes(content)


def hostile_rows(labels: list[str], n: int) -> list[list[object]]:
    """Return rows in which the level of the first column mostly tells the label."""
    return [
        [HOSTILE_NAMES[(k + k // 11) % len(HOSTILE_NAMES)], k % 5 + k / 100, labels[k % len(labels)]]
        for k in range(n)
    ]


def run(*arguments: str, input: bytes = b"") -> Result:
    return CliRunner().invoke(app, arguments, input=input, prog_name="weigh", color=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables, mail and texts full of hostile names, and models, a store and a speller trained on them."""
    folder = tmp_path_factory.mktemp("hostile")
    names = [COLOUR, SIZE, LABEL]
    many = hostile_rows(HOSTILE_NAMES, 2 * len(HOSTILE_NAMES))
    write_table(folder / HOSTILE_FILE, names, many)
    write_table(folder / "two.csv", names, hostile_rows(CONTROL_NAMES[:2], 24))
    write_table(folder / "three.csv", names, hostile_rows(CONTROL_NAMES[4:7], 12))
    write_table(folder / "markup.csv", names, hostile_rows(MARKUP_NAMES[:3], 12))
    write_table(folder / "numbers.csv", names, [[*row[:2], k % 7] for k, row in enumerate(many)])
    write_table(folder / "other.csv", ["other\x1b[0m\n" + INJECTED, SIZE], [["a", 1], ["b", 2]])
    write_mail(folder / "ham")
    write_mail(folder / "spam")
    (folder / "texts").mkdir()
    for k, name in enumerate(CONTROL_NAMES):
        text = "".join(WEATHER.format(thing, thing, name) for thing in ("boat", "dog", name, "hat") * 8)
        (folder / "texts" / f"{k}\x9b\n{INJECTED}.txt").write_text(text)
    (folder / "letter\x1b[31m.txt").write_text(
        f"Tell me weather {CONTROL_NAMES[8]} to laugh.\nThey took there dog.\n"
    )
    (folder / "sets\x1b.txt").write_text("weather whether\ntheir there\n")
    return folder


@pytest.fixture
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the folder, with a store and a speller in it, and with a model of every kind."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("WEIGH_MAIL", str(folder / "store\x1b[31m"))
    monkeypatch.setenv("WEIGH_SPELLER", "speller\x1b[31m.weigh")
    if not os.path.exists("many.weigh"):
        for arguments in TRAINING:
            result = run(*arguments)
            assert result.exit_code == 0, result.output
            assert_harmless(result)
    return folder


def assert_harmless(result: Result) -> None:
    assert not find_control_characters(result.output), result.output
    assert not find_injected_lines(result.output)


TRAINING = [
    ("fit", HOSTILE_FILE, "--label", LABEL, "-o", "chosen.weigh"),
    ("fit", HOSTILE_FILE, "--label", LABEL, "--learner", "naive-bayes", "-o", "many.weigh"),
    ("fit", HOSTILE_FILE, "--label", LABEL, "-o", "other\x1b.weigh", "--json", "--set", "prior=2"),
    ("fit", "two.csv", "--label", LABEL, "--learner", "naive-bayes", "-o", "two.weigh"),
    ("fit", "two.csv", "--label", LABEL, "--learner", "perceptron", "-o", "perceptron.weigh"),
    ("fit", "two.csv", "--label", LABEL, "--learner", "logistic", "-o", "logistic.weigh"),
    ("fit", "two.csv", "--label", LABEL, "--learner", "threshold", "-o", "threshold.weigh"),
    ("fit", "numbers.csv", "--label", LABEL, "--learner", "linear", "-o", "linear.weigh"),
    ("mail", "learn", "--words", "--spam", "spam", "--ham", "ham"),
    ("spell", "learn", "texts", "--sets", "sets\x1b.txt", "--alarms", "10"),
]
ROW = (HOSTILE_FILE, "--row", "4")
COMMANDS = [
    ("predict", "many.weigh", HOSTILE_FILE),
    ("predict", "many.weigh", HOSTILE_FILE, "--proba", "--check"),
    ("predict", "many.weigh", HOSTILE_FILE, "--proba", "--json"),
    ("predict", "perceptron.weigh", "two.csv"),
    ("predict", "linear.weigh", HOSTILE_FILE, "--std"),
    ("explain", "many.weigh"),
    ("explain", "many.weigh", "--json"),
    ("explain", "linear.weigh"),
    ("explain", "chosen.weigh"),
    ("diff", "logistic.weigh", "chosen.weigh"),
    ("explain", "many.weigh", *ROW),
    ("explain", "many.weigh", *ROW, "--json"),
    ("explain", "many.weigh", *ROW, "--worked"),
    ("explain", "many.weigh", *ROW, "--worked", "--json"),
    ("explain", "many.weigh", *ROW, "--latex"),
    ("explain", "many.weigh", *ROW, "--flip"),
    ("explain", "two.weigh", "two.csv", "--row", "1", "--flip"),
    ("explain", "two.weigh", "two.csv", "--row", "1", "--flip", "--json"),
    ("explain", "logistic.weigh", *ROW),
    ("explain", "linear.weigh", *ROW),
    ("explain", "threshold.weigh", *ROW),
    ("effects", "logistic.weigh", "two.csv"),
    ("effects", "linear.weigh", HOSTILE_FILE, "--json"),
    ("evaluate", "many.weigh", HOSTILE_FILE),
    ("evaluate", "many.weigh", HOSTILE_FILE, "--json"),
    ("evaluate", "two.weigh", "three.csv"),
    ("evaluate", "linear.weigh", "numbers.csv"),
    ("calibrate", "many.weigh", HOSTILE_FILE, "-o", "sure\x1b[31m.weigh"),
    ("audit", "many.weigh", HOSTILE_FILE),
    ("audit", "many.weigh", HOSTILE_FILE, "--json"),
    ("audit", "many.weigh", HOSTILE_FILE, "-o", "-"),
    ("verify", "many.weigh", HOSTILE_FILE),
    ("verify", "two.weigh", "three.csv"),
    ("diff", "two.weigh", "many.weigh"),
    ("diff", "two.weigh", "many.weigh", "--json"),
    ("trace", "two.csv", "--label", LABEL, "--passes", "2"),
    ("trace", "three.csv", "--label", LABEL, "--passes", "2"),
    ("trace", "three.csv", "--label", LABEL, "--kind", f"{COLOUR}=skip", "--passes", "2"),
    ("trace", "two.csv", "--label", LABEL, "--passes", "2", "--latex"),
    ("trace", "two.csv", "--label", LABEL, "--json"),
    ("trace", "two.csv", "--label", LABEL, "-o", "page\x1b[31m.html"),
    ("report", "two.weigh", "two.csv", "--json"),
    ("compare", "two.csv", "--label", LABEL, "--learner", "naive-bayes", "--folds", "2", "--repeats", "1"),
    ("curve", "two.csv", "--label", LABEL, "--sizes", "4,8,12", "--folds", "2", "--repeats", "1"),
    ("path", "numbers.csv", "--label", LABEL, "--set", "prior=laplace:cv", "--n", "3"),
    ("bias-variance", "two.csv", "--label", LABEL, "--learner", "naive-bayes", "--rounds", "3"),
    ("mail", "filter", "--list", "spam"),
    ("mail", "filter", "--list", "--json", "spam"),
    ("mail", "explain", f"spam/4\x1b[31m\n{INJECTED}"),
    ("mail", "explain", "--json", f"spam/4\x1b[31m\n{INJECTED}"),
    ("mail", "words"),
    ("mail", "status"),
    ("mail", "audit", "--spam", "spam", "--ham", "ham"),
    ("mail", "evaluate", "--spam", "spam", "--ham", "ham", "--learner", "naive-bayes", "--no-bogofilter"),
    ("spell", "check", "letter\x1b[31m.txt", "texts"),
    ("spell", "check", "--json", "letter\x1b[31m.txt"),
    ("spell", "evaluate", "texts", "--swap", "20"),
    ("spell", "evaluate", "texts", "--directions"),
    ("spell", "compare", "texts", "--sets", "sets\x1b.txt", "--learner", "naive-bayes"),
    ("spell", "sets", "sets\x1b.txt"),
]
# The others exit with 0.
EXIT_CODES = {
    ("verify", "two.weigh", "three.csv"): 1,
    ("spell", "check", "letter\x1b[31m.txt", "texts"): 3,
    ("spell", "check", "--json", "letter\x1b[31m.txt"): 3,
}
REFUSED = [
    ("predict", "many.weigh", "other.csv"),
    ("predict", "many.weigh", "absent\x1b[31m\n.csv"),
    ("predict", "many.weigh", HOSTILE_FILE, "--cost", "a\x1b:b=1"),
    ("predict", "many\x1b.weigh", HOSTILE_FILE),
    ("explain", "many.weigh", "--class", "absent\x1b\n"),
    ("explain", "many.weigh", "--values", '{"absent\\u001b": 1}'),
    ("evaluate", "two.weigh", HOSTILE_FILE, "--label", "absent\x9b"),
    ("fit", "two.csv"),
    ("fit", "two.csv", "--label", LABEL, "--kind", "absent\x1b=number"),
    ("fit", "two.csv", "--label", LABEL, "--set", "x\x1b=1"),
    ("compare", "two.csv", "--label", LABEL, "--learner", "x\x1b"),
    ("x\x1b[31m",),
    ("mail", "learn", "--spam", "absent\x1b\n"),
    ("spell", "check", "absent\x1b\n"),
]


@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: ascii(" ".join(arguments)))
def test_no_name_controls_the_terminal_or_adds_a_line(
    inside: Path, arguments: tuple[str, ...], columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    result = run(*arguments)
    assert result.exit_code == EXIT_CODES.get(arguments, 0), result.output
    assert_harmless(result)


@pytest.mark.parametrize("arguments", REFUSED, ids=lambda arguments: ascii(" ".join(arguments)))
def test_no_error_message_controls_the_terminal_or_adds_a_line(
    inside: Path, arguments: tuple[str, ...]
) -> None:
    result = run(*arguments)
    assert result.exit_code in (1, 2), result.output
    assert_harmless(result)


def test_pages_have_neither_scripts_nor_control_characters_of_names(inside: Path) -> None:
    assert run("trace", "markup.csv", "--label", LABEL, "-o", "page\x1b[31m.html").exit_code == 0
    page = (inside / "page\x1b[31m.html").read_text()
    assert not find_control_characters(page)
    assert "alert(1)" in page
    assert "<script>alert" not in page


def test_the_header_of_a_mail_stays_one_field_in_ascii(inside: Path) -> None:
    for path in sorted((inside / "spam").iterdir()):
        content = path.read_bytes()
        filtered = run("mail", "filter", str(path)).stdout_bytes
        header = filtered.removesuffix(content)
        assert header.startswith(b"X-Weigh: ")
        assert len(filtered) == len(header) + len(content)
        assert not find_control_characters(header.decode("ascii"))
        assert all(line.startswith(b" ") for line in header.splitlines()[1:])


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "many.weigh", HOSTILE_FILE, "--proba"),
        ("predict", "many.weigh", HOSTILE_FILE, "--proba", "--raw"),
        ("audit", "many.weigh", HOSTILE_FILE, "--raw", "-o", "-"),
        ("explain", "many.weigh", *ROW, "--worked"),
    ],
    ids=lambda arguments: ascii(" ".join(arguments)),
)
def test_a_terminal_gets_no_control_characters_even_with_raw(
    inside: Path, arguments: tuple[str, ...]
) -> None:
    leader, terminal = pty.openpty()
    with open(leader, "rb", buffering=0) as screen:
        command = [sys.executable, "-m", "weigh.cli.main", *arguments]
        program = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal)
        os.close(terminal)
        shown = b""
        try:
            while piece := screen.read(1 << 16):
                shown += piece
        except OSError:  # how Linux reports that the terminal was closed
            pass
        assert program.wait() == 0
    text = shown.decode().replace("\r\n", "\n")  # the terminal's own line ends
    assert r"escape\x1b[31mred" in text
    assert not find_control_characters(text)
    assert not find_injected_lines(text)
