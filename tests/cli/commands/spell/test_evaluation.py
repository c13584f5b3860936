"""`weigh spell evaluate`, `compare`, `curve` and `lsp`: results, errors and progress."""

from __future__ import annotations

import json

import pytest

import weigh
from tests.cli.commands.spell.conftest import Run, sentences
from tests.cli.output.test_progress import Terminal
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.documents import read_documents
from weigh.apps.spelling.evaluation.compare import compare_learners
from weigh.apps.spelling.evaluation.curve import measure_learning_curve
from weigh.apps.spelling.evaluation.directions import evaluate_directions
from weigh.apps.spelling.evaluation.swaps import evaluate_swaps
from weigh.apps.spelling.learners import LEARNERS
from weigh.cli.output import text as output

TWO = ("--learner", "naive-bayes", "--learner", "memory")


@pytest.fixture
def other(folder):
    """A text that the speller was not trained on."""
    (folder / "other.txt").write_text(sentences(("Eva", "our aunt")))
    return "other.txt"


def plain(found) -> object:
    return json.loads(json.dumps(found.to_dict()))


def test_evaluate_equals_the_function(run: Run, other) -> None:
    text = (weigh.Speller.load("toy.weigh"), [(other, sentences(("Eva", "our aunt")))])
    result = run("evaluate", other, "--swap", "50", "--seed", "3", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == plain(evaluate_swaps(*text, one_in=50, seed=3))
    assert run("evaluate", other).stdout == f"{evaluate_swaps(*text)}\n"


def test_evaluate_directions_equals_the_function(run: Run, other) -> None:
    expected = evaluate_directions(weigh.Speller.load("toy.weigh"), read_documents(other))
    assert run("evaluate", other, "--directions").stdout == f"{expected}\n"
    assert json.loads(run("evaluate", other, "--directions", "--json").stdout) == plain(expected)


def test_compare_equals_the_function(run: Run, other) -> None:
    sets = ConfusionSets.read("sets.txt")
    result = run("compare", "texts", "--on", other, "--sets", "sets.txt", *TWO, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == plain(
        compare_learners(read_documents("texts"), read_documents(other), sets, ("naive-bayes", "memory"))
    )
    everyone = json.loads(run("compare", "texts", "--sets", "sets.txt", "--json").stdout)
    assert [each["name"] for each in everyone["learners"]] == ["majority", *LEARNERS]
    assert (everyone["learned_documents"], everyone["judged_documents"]) == (2, 1)


def test_curve_equals_the_function(run: Run, other) -> None:
    sets = ConfusionSets.read("sets.txt")
    sizes = ("--sizes", "2000,4000,8000", "--seed", "5")
    result = run("curve", "texts", "--on", other, "--sets", "sets.txt", *TWO, *sizes, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = measure_learning_curve(
        read_documents("texts"),
        read_documents(other),
        sets,
        ("naive-bayes", "memory"),
        sizes=[2000, 4000, 8000],
        seed=5,
    )
    assert json.loads(result.stdout) == plain(expected)


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "texts"),
        ("compare", "texts", "--sets", "sets.txt", *TWO),
        ("curve", "texts", "--sets", "sets.txt", *TWO, "--sizes", "2000,4000,8000"),
    ],
    ids=["evaluate", "compare", "curve"],
)
def test_results_fit_80_columns_and_can_be_plotted(run: Run, folder, arguments) -> None:
    result = run(*arguments, "--plot", "picture.svg")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout.endswith("\nThe picture is in picture.svg.\n")
    assert (folder / "picture.svg").read_text().startswith("<svg")
    refused = run(*arguments, "--plot", "picture.gif")
    assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("evaluate", "nowhere.txt"), 1, "There is no file nowhere.txt."),
        (("evaluate", "texts", "--swap", "1"), 2, "'--swap'"),
        (
            ("compare", "texts", "--sets", "sets.txt", "--learner", "forest"),
            2,
            "Invalid value for '--learner': 'forest' is not one of",
        ),
        (("compare", "texts", "--on", ""), 2, "the path is empty."),
        (("compare", "texts/0.txt", "--sets", "sets.txt"), 1, "or give test documents with --on."),
        (
            ("compare", "texts/0.txt", "--sets", "sets.txt"),
            1,
            "weigh: There is too little text: 0 words to learn from and ",
        ),
        (("compare", "texts", "--window", "101"), 2, "'--window': 101 is not in the range 1<=x<=100."),
        (("evaluate", "blank.txt"), 1, "weigh: No word was swapped: 0 of 2 words belong to"),
        (("evaluate", "blank.txt"), 1, "Give more text, or a smaller --swap."),
        (
            ("evaluate", "blank.txt", "--directions"),
            1,
            "weigh: No word of the speller's sets occurs in the 2 words",
        ),
        (("curve", "texts", "--sets", "sets.txt", "--sizes", "many"), 2, "is not a list of whole numbers"),
        (("curve", "texts", "--sets", "sets.txt", "--sizes", "0"), 2, "'--sizes': '0' has a number below 1."),
        (
            ("curve", "texts", "--sets", "sets.txt", "--sizes", "99999"),
            1,
            "weigh: --sizes must be numbers of",
        ),
    ],
)
def test_evaluation_errors(run: Run, folder, arguments, code, message) -> None:
    (folder / "blank.txt").write_text("No such.")
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


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
def test_progress_is_shown(monkeypatch, arguments, last) -> None:
    from weigh.cli.main import app

    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setattr(output, "PROGRESS_DELAY", 0.0)
    monkeypatch.setattr("weigh.cli.commands.spell.progress.time.monotonic", lambda: 0.0)
    app.main(["spell", *arguments], prog_name="weigh", standalone_mode=False)
    stages = [line.removesuffix(" …") for line in shown.getvalue().split("\r\033[K")]
    assert stages[-2:] == [last, ""]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ("toy.weigh", None)),
        (["-m", "mine.weigh"], ("mine.weigh", None)),
        (["--tcp", "7777"], ("toy.weigh", ("127.0.0.1", 7777))),
        (["--tcp", "localhost:7777"], ("toy.weigh", ("localhost", 7777))),
    ],
)
def test_lsp_passes_speller_and_address(run: Run, monkeypatch, arguments, expected) -> None:
    calls = []
    monkeypatch.setattr(
        "weigh.apps.spelling.language_server.serve", lambda *arguments: calls.append(arguments[:2])
    )
    assert run("lsp", *arguments).exit_code == 0
    assert calls == [expected]


def test_lsp_rejects_an_invalid_address(run: Run) -> None:
    result = run("lsp", "--tcp", "nowhere")
    assert result.exit_code == 2
    assert result.stderr.endswith("--tcp takes HOST:PORT, such as 127.0.0.1:10025, not 'nowhere'.\n")
