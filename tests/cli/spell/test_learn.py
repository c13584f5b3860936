"""`weigh spell learn` and `sets`: where a speller goes, what is told of it, and the lists of words."""

from __future__ import annotations

import json
import sys

import pytest

import weigh
from tests.cli.spell.conftest import Run
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.learners import LEARNERS, LINEAR_LEARNERS
from weigh.cli.spell.options import OTHER_LEARNERS_HELP, SPELLER_LEARNERS_HELP

SETS = ("--sets", "sets.txt", "--alarms", "10")


def test_what_was_learned_is_told_with_its_place(folder) -> None:
    lines = (folder / "told.txt").read_text().splitlines()
    assert lines[0] == "Speller for 2 sets of 4 words that are mixed up"
    assert lines[-1].endswith("toy.weigh.")
    assert str(weigh.Speller.load("toy.weigh")) == "\n".join(lines[:-2])
    assert max(map(len, lines[:-1])) <= 80


def test_the_default_place_is_where_check_looks(run: Run, folder, monkeypatch) -> None:
    monkeypatch.delenv("WEIGH_SPELLER")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    assert run("learn", "texts", "--sets", f"{folder}/sets.txt", "--alarms", "10").exit_code == 0
    assert (folder / "data" / "weigh" / "speller.weigh").exists()
    assert run("check", "letter.txt").exit_code == 3


def test_learning_as_json_tells_what_the_speller_knows(run: Run) -> None:
    told = run("learn", "texts", *SETS, "-o", "again.weigh", "--json")
    assert (told.exit_code, told.stderr) == (0, "")
    expected = weigh.Speller.load("again.weigh").to_dict()
    assert json.loads(told.stdout) == {
        **json.loads(json.dumps(expected)),
        "notes": [],
        "skipped": [],
        "file": "again.weigh",
        "replaced": False,
    }


def test_what_was_learned_can_be_drawn(run: Run, folder) -> None:
    told = run("learn", "texts", *SETS, "--plot", "sets.svg")
    assert told.stdout.endswith(".\n\nThe picture is in sets.svg.\n")
    assert (folder / "sets.svg").read_text().startswith("<svg")


def test_a_promise_that_cannot_be_shown_is_doubted_once(run: Run) -> None:
    told = run("learn", "texts", "--sets", "sets.txt", "-o", "again.weigh")
    assert (told.exit_code, told.stderr) == (0, "")
    assert " ".join(told.stdout.split()).count("too little text to promise 0.5 false alarms") == 1
    notes = json.loads(run("learn", "texts", "--sets", "sets.txt", "--json").stdout)["notes"]
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([], 2, "Missing argument 'CORPUS...'."),
        (["texts", "-o", "nowhere/x.weigh"], 2, "'nowhere/x.weigh' cannot be written"),
        (["texts", "-o", ""], 2, "the path is empty."),
        (["texts/0.txt", "-o", "texts/0.txt"], 1, "texts/0.txt is read by this very command."),
        (["texts", "--sets", "klingon"], 1, "There is no list 'klingon'"),
        (
            ["texts", "--learner", "voted"],
            2,
            "Invalid value for '--learner': 'voted' is not one of 'logistic', ",
        ),
        (["texts", "--alarms", "0"], 2, "Invalid value for '--alarms': 0.0 is not in the range x>0."),
        (["texts", "--alarms", "nan"], 2, "Invalid value for '--alarms': nan is no finite number."),
        (["texts", "--window", "101"], 2, "Invalid value for '--window': 101 is not in the range 1<=x<=100."),
        (["texts", "--features", "0"], 2, "Invalid value for '--features': 0 is not in the range x>=1."),
        (["texts", "--at-least", "0"], 2, "Invalid value for '--at-least': 0 is not in the range x>=1."),
        (["texts", "-o", "/dev/null"], 2, "Invalid value for '-o': '/dev/null' is no file."),
        (["nowhere"], 1, "There is no file nowhere."),
        (["letter.txt"], 1, "There is too little text to learn from: 11 words in 1 document."),
        (
            ["texts", "--at-least", "9999"],
            1,
            "Give more text, or sets of words that it has, or a smaller --at-least.",
        ),
        (["-"], 1, "There is no text to learn from"),
    ],
)
def test_what_cannot_be_learned_is_told(run: Run, folder, arguments, code, sentence) -> None:
    before = sorted(path.name for path in folder.iterdir())
    told = run("learn", *arguments)
    assert (told.exit_code, told.stdout) == (code, "")
    assert sentence in told.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_speller_that_takes_the_place_of_another_says_so(run: Run) -> None:
    first = run("learn", "texts", *SETS, "-o", "again.weigh")
    assert first.stdout.endswith("\n\nThe speller is in again.weigh.\n")
    again = run("learn", "texts", *SETS, "-o", "again.weigh")
    assert again.stdout.endswith("\nThe speller is in again.weigh, in place of the one that was there.\n")
    assert json.loads(run("learn", "texts", *SETS, "-o", "again.weigh", "--json").stdout)["replaced"] is True


def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_learned(run: Run, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setattr("weigh.apps.spelling.training.train_speller", None)
    told = run("learn", "texts", *SETS, "--plot", "sets.svg")
    assert (told.exit_code, told.stdout) == (1, "")
    assert "pip install '.[report]'" in told.stderr


def test_what_is_excluded_is_not_learned(run: Run) -> None:
    facts = json.loads(run("learn", "texts", *SETS, "--exclude", "0.txt", "-o", "two.weigh", "--json").stdout)
    assert facts["facts"]["documents"] == 2


def test_help_tells_every_learner() -> None:
    names = [
        line.split()[0] for line in (SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP).splitlines() if line.strip()
    ]
    assert tuple(names) == LEARNERS
    assert tuple(names[: len(LINEAR_LEARNERS)]) == LINEAR_LEARNERS


def test_a_folder_as_the_file_is_refused_before_anything_is_learned(run: Run, monkeypatch) -> None:
    monkeypatch.setattr("weigh.apps.spelling.training.train_speller", None)
    found = run("learn", "letter.txt", "-o", "texts")
    assert found.exit_code == 2
    assert found.stderr.endswith(
        "Invalid value for '-o': 'texts' is a folder. Give the name of a file in it.\n"
    )


def test_lists_are_told_and_printed_as_files_are_written(run: Run, folder) -> None:
    told = run("sets")
    assert told.stdout.splitlines()[0].split() == ["list", "sets", "words"]
    assert [line.split()[0] for line in told.stdout.splitlines()[1:]] == list(ConfusionSets.list_names())
    for name in ConfusionSets.list_names():
        (folder / "copy.txt").write_text(run("sets", name).stdout)
        assert ConfusionSets.read("copy.txt").sets == ConfusionSets.by_name(name).sets
        assert json.loads(run("sets", name, "--json").stdout) == ConfusionSets.by_name(name).to_dict()
    assert [each["name"] for each in json.loads(run("sets", "--json").stdout)] == list(
        ConfusionSets.list_names()
    )
    assert run("sets", "sets.txt").stdout == "weather whether\ntheir there\n"
    assert run("sets", "klingon").exit_code == 1


def test_names_that_people_try_lead_to_the_command(run: Run) -> None:
    assert run("train").stderr.endswith("Error: No such command 'train'. Did you mean 'learn'?\n")
