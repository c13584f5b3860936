"""`weigh spell evaluate`, `compare`, `curve` and `lsp`: what they hand on, and what they tell meanwhile."""

from __future__ import annotations

import json

import pytest

import weigh
from tests.cli.spell.conftest import Run, sentences
from tests.cli.test_progress import Terminal
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.documents import read_documents
from weigh.apps.spelling.evaluation.compare import compare_learners
from weigh.apps.spelling.evaluation.curve import measure_learning_curve
from weigh.apps.spelling.evaluation.directions import evaluate_directions
from weigh.apps.spelling.evaluation.swaps import evaluate_swaps
from weigh.apps.spelling.learners import LEARNERS
from weigh.cli import output

TWO = ("--learner", "naive-bayes", "--learner", "memory")


@pytest.fixture
def other(folder):
    """A text of somebody else."""
    (folder / "other.txt").write_text(sentences(("Eva", "our aunt")))
    return "other.txt"


def plain(found) -> object:
    return json.loads(json.dumps(found.to_dict()))


def test_an_evaluation_is_that_of_the_function(run: Run, other) -> None:
    text = (weigh.Speller.load("toy.weigh"), [(other, sentences(("Eva", "our aunt")))])
    told = run("evaluate", other, "--swap", "50", "--seed", "3", "--json")
    assert (told.exit_code, told.stderr) == (0, "")
    assert json.loads(told.stdout) == plain(evaluate_swaps(*text, one_in=50, seed=3))
    assert run("evaluate", other).stdout == f"{evaluate_swaps(*text)}\n"


def test_an_evaluation_may_go_word_by_word(run: Run, other) -> None:
    expected = evaluate_directions(weigh.Speller.load("toy.weigh"), read_documents(other))
    assert run("evaluate", other, "--directions").stdout == f"{expected}\n"
    assert json.loads(run("evaluate", other, "--directions", "--json").stdout) == plain(expected)


def test_a_comparison_is_that_of_the_function(run: Run, other) -> None:
    sets = ConfusionSets.read("sets.txt")
    told = run("compare", "texts", "--on", other, "--sets", "sets.txt", *TWO, "--json")
    assert (told.exit_code, told.stderr) == (0, "")
    assert json.loads(told.stdout) == plain(
        compare_learners(read_documents("texts"), read_documents(other), sets, ("naive-bayes", "memory"))
    )
    everyone = json.loads(run("compare", "texts", "--sets", "sets.txt", "--json").stdout)
    assert [each["name"] for each in everyone["learners"]] == ["majority", *LEARNERS]
    assert (everyone["learned_documents"], everyone["judged_documents"]) == (2, 1)


def test_a_curve_is_that_of_the_function(run: Run, other) -> None:
    sets = ConfusionSets.read("sets.txt")
    sizes = ("--sizes", "2000,4000,8000", "--seed", "5")
    told = run("curve", "texts", "--on", other, "--sets", "sets.txt", *TWO, *sizes, "--json")
    assert (told.exit_code, told.stderr) == (0, "")
    expected = measure_learning_curve(
        read_documents("texts"),
        read_documents(other),
        sets,
        ("naive-bayes", "memory"),
        sizes=[2000, 4000, 8000],
        seed=5,
    )
    assert json.loads(told.stdout) == plain(expected)


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "texts"),
        ("compare", "texts", "--sets", "sets.txt", *TWO),
        ("curve", "texts", "--sets", "sets.txt", *TWO, "--sizes", "2000,4000,8000"),
    ],
    ids=["evaluate", "compare", "curve"],
)
def test_results_fit_80_columns_and_can_be_drawn(run: Run, folder, arguments) -> None:
    told = run(*arguments, "--plot", "picture.svg")
    assert told.exit_code == 0, told.output
    assert max(map(len, told.stdout.splitlines())) <= 80
    assert told.stdout.endswith("\nThe picture is in picture.svg.\n")
    assert (folder / "picture.svg").read_text().startswith("<svg")
    refused = run(*arguments, "--plot", "picture.gif")
    assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("evaluate", "nowhere.txt"), 1, "There is no file nowhere.txt."),
        (("evaluate", "texts", "--swap", "1"), 2, "'--swap'"),
        (
            ("compare", "texts", "--sets", "sets.txt", "--learner", "forest"),
            2,
            "Invalid value for '--learner': 'forest' is not one of",
        ),
        (("compare", "texts", "--on", ""), 2, "the path is empty."),
        (("compare", "texts/0.txt", "--sets", "sets.txt"), 1, "or say with --on which ones to judge by."),
        (("compare", "texts/0.txt", "--sets", "sets.txt"), 1, "weigh: 0 words to learn from and "),
        (("compare", "texts", "--window", "101"), 2, "'--window': 101 is not in the range 1<=x<=100."),
        (("evaluate", "blank.txt"), 1, "weigh: No word was replaced in 2 words, of which 0 belong to"),
        (("evaluate", "blank.txt"), 1, "Give more text, or a smaller --swap."),
        (
            ("evaluate", "blank.txt", "--directions"),
            1,
            "weigh: No word of the speller's sets is in the 2 words",
        ),
        (("curve", "texts", "--sets", "sets.txt", "--sizes", "many"), 2, "is not whole numbers"),
        (("curve", "texts", "--sets", "sets.txt", "--sizes", "0"), 2, "'--sizes': '0' has a number below 1."),
        (
            ("curve", "texts", "--sets", "sets.txt", "--sizes", "99999"),
            1,
            "weigh: --sizes must be numbers of",
        ),
    ],
)
def test_what_cannot_be_tried_is_told(run: Run, folder, arguments, code, sentence) -> None:
    (folder / "blank.txt").write_text("No such.")
    told = run(*arguments)
    assert (told.exit_code, told.stdout) == (code, "")
    assert sentence in told.stderr


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        (
            ("learn", "texts", "--sets", "sets.txt", "--alarms", "10"),
            "0.1 MB of text read, 100 % learned, 0 s",
        ),
        (("compare", "texts", "--sets", "sets.txt", *TWO), "0.1 MB of text read, 6 of 6 steps, 0 s"),
        (("evaluate", "texts/0.txt"), "1 of 1 steps, 0 s"),
    ],
    ids=["learn", "compare", "evaluate"],
)
@pytest.mark.usefixtures("folder")
def test_long_work_tells_how_much_text_and_how_far(monkeypatch, arguments, last) -> None:
    from weigh.cli.main import app

    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setattr(output, "PROGRESS_DELAY", 0.0)
    monkeypatch.setattr("weigh.cli.spell.progress.time.monotonic", lambda: 0.0)
    app.main(["spell", *arguments], prog_name="weigh", standalone_mode=False)
    said = [line.removesuffix(" …") for line in shown.getvalue().split("\r\033[K")]
    assert said[-2:] == [last, ""]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ("toy.weigh", None)),
        (["-m", "mine.weigh"], ("mine.weigh", None)),
        (["--tcp", "7777"], ("toy.weigh", ("127.0.0.1", 7777))),
        (["--tcp", "localhost:7777"], ("toy.weigh", ("localhost", 7777))),
    ],
)
def test_the_language_server_gets_its_speller_and_its_place(
    run: Run, monkeypatch, arguments, expected
) -> None:
    asked = []
    monkeypatch.setattr("weigh.apps.spelling.language_server.serve", lambda *given: asked.append(given[:2]))
    assert run("lsp", *arguments).exit_code == 0
    assert asked == [expected]


def test_a_language_server_has_a_place_that_is_one(run: Run) -> None:
    told = run("lsp", "--tcp", "nowhere")
    assert told.exit_code == 2
    assert told.stderr.endswith("--tcp takes HOST:PORT, such as 127.0.0.1:10025, not 'nowhere'.\n")
