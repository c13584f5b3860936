"""`weigh spell learn` and `sets`: files, output, errors and lists."""

from __future__ import annotations

import json
import sys

import pytest

import weigh
from tests.cli.commands.spell.conftest import Run
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.learners import LEARNERS, LINEAR_LEARNERS
from weigh.cli.commands.spell.options import OTHER_LEARNERS_HELP, SPELLER_LEARNERS_HELP

SETS = ("--sets", "sets.txt", "--alarms", "10")


def test_learn_prints_the_speller_and_its_file(folder) -> None:
    lines = (folder / "output.txt").read_text().splitlines()
    assert lines[0] == "Speller for 2 confusion sets (4 words)"
    assert lines[-1].endswith("toy.weigh.")
    assert str(weigh.Speller.load("toy.weigh")) == "\n".join(lines[:-2])
    assert max(map(len, lines[:-1])) <= 80


def test_default_file_is_shared_by_learn_and_check(run: Run, folder, monkeypatch) -> None:
    monkeypatch.delenv("WEIGH_SPELLER")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    assert run("learn", "texts", "--sets", f"{folder}/sets.txt", "--alarms", "10").exit_code == 0
    assert (folder / "data" / "weigh" / "speller.weigh").exists()
    assert run("check", "letter.txt").exit_code == 3


def test_learn_json_equals_the_speller(run: Run) -> None:
    result = run("learn", "texts", *SETS, "-o", "again.weigh", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = weigh.Speller.load("again.weigh").to_dict()
    assert json.loads(result.stdout) == {
        **json.loads(json.dumps(expected)),
        "notes": [],
        "skipped": [],
        "file": "again.weigh",
        "replaced": False,
    }


def test_learn_saves_a_plot(run: Run, folder) -> None:
    result = run("learn", "texts", *SETS, "--plot", "sets.svg")
    assert result.stdout.endswith(".\n\nThe picture is in sets.svg.\n")
    assert (folder / "sets.svg").read_text().startswith("<svg")


def test_shortfall_warning_is_shown_once(run: Run) -> None:
    result = run("learn", "texts", "--sets", "sets.txt", "-o", "again.weigh")
    assert (result.exit_code, result.stderr) == (0, "")
    assert " ".join(result.stdout.split()).count("too little text to promise 0.5 false alarms") == 1
    notes = json.loads(run("learn", "texts", "--sets", "sets.txt", "--json").stdout)["notes"]
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Missing argument 'CORPUS...'."),
        (["texts", "-o", "texts/0.txt/x"], 2, "'texts/0.txt/x' cannot be written: 'texts/0.txt' is not"),
        (["texts", "-o", ""], 2, "the path is empty."),
        (["texts/0.txt", "-o", "texts/0.txt"], 1, "texts/0.txt is also an input of this command."),
        (["texts", "--sets", "klingon"], 1, "There is no list 'klingon'"),
        (
            ["texts", "--learner", "voted"],
            2,
            "Invalid value for '--learner': 'voted' is not one of 'logistic', ",
        ),
        (["texts", "--alarms", "0"], 2, "Invalid value for '--alarms': 0.0 is not in the range x>0."),
        (["texts", "--alarms", "nan"], 2, "Invalid value for '--alarms': nan is not a finite number."),
        (["texts", "--window", "101"], 2, "Invalid value for '--window': 101 is not in the range 1<=x<=100."),
        (["texts", "--features", "0"], 2, "Invalid value for '--features': 0 is not in the range x>=1."),
        (["texts", "--at-least", "0"], 2, "Invalid value for '--at-least': 0 is not in the range x>=1."),
        (["texts", "-o", "/dev/null"], 2, "Invalid value for '-o': '/dev/null' is not a regular file."),
        (["nowhere"], 1, "There is no file nowhere."),
        (["letter.txt"], 1, "There is too little text to learn from: 11 words in 1 document."),
        (
            ["texts", "--at-least", "9999"],
            1,
            "Give more text, sets of words that occur in it, or a smaller --at-least.",
        ),
        (["-"], 1, "There is no text to learn from"),
    ],
)
def test_learn_errors(run: Run, folder, arguments, code, message) -> None:
    before = sorted(path.name for path in folder.iterdir())
    result = run("learn", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def test_replacing_a_speller_is_reported(run: Run) -> None:
    first = run("learn", "texts", *SETS, "-o", "again.weigh")
    assert first.stdout.endswith("\n\nThe speller is in again.weigh.\n")
    again = run("learn", "texts", *SETS, "-o", "again.weigh")
    assert again.stdout.endswith("\nThe speller is in again.weigh, replacing the one that was there.\n")
    assert json.loads(run("learn", "texts", *SETS, "-o", "again.weigh", "--json").stdout)["replaced"] is True


def test_missing_plot_library_is_detected_before_training(run: Run, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setattr("weigh.apps.spelling.training.train_speller", None)
    result = run("learn", "texts", *SETS, "--plot", "sets.svg")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "pip install '.[report]'" in result.stderr


def test_excluded_files_are_not_learned(run: Run) -> None:
    output = json.loads(
        run("learn", "texts", *SETS, "--exclude", "0.txt", "-o", "two.weigh", "--json").stdout
    )
    assert output["facts"]["documents"] == 2


def test_help_lists_every_learner() -> None:
    names = [
        line.split()[0] for line in (SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP).splitlines() if line.strip()
    ]
    assert tuple(names) == LEARNERS
    assert tuple(names[: len(LINEAR_LEARNERS)]) == LINEAR_LEARNERS


def test_folder_as_output_is_rejected_before_training(run: Run, monkeypatch) -> None:
    monkeypatch.setattr("weigh.apps.spelling.training.train_speller", None)
    result = run("learn", "letter.txt", "-o", "texts")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "Invalid value for '-o': 'texts' is a folder. Give the name of a file in it.\n"
    )


def test_sets_lists_and_prints_lists_in_file_format(run: Run, folder) -> None:
    result = run("sets")
    assert result.stdout.splitlines()[0].split() == ["list", "sets", "words"]
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == list(ConfusionSets.list_names())
    for name in ConfusionSets.list_names():
        (folder / "copy.txt").write_text(run("sets", name).stdout)
        assert ConfusionSets.read("copy.txt").sets == ConfusionSets.by_name(name).sets
        assert json.loads(run("sets", name, "--json").stdout) == ConfusionSets.by_name(name).to_dict()
    assert [each["name"] for each in json.loads(run("sets", "--json").stdout)] == list(
        ConfusionSets.list_names()
    )
    assert run("sets", "sets.txt").stdout == "weather whether\ntheir there\n"
    assert run("sets", "klingon").exit_code == 1


def test_common_synonyms_suggest_the_command(run: Run) -> None:
    assert run("train").stderr.endswith("Error: No such command 'train'. Did you mean 'learn'?\n")
