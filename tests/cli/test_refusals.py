"""What the program refuses, word for word, and its exit codes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import weigh
from weigh.advice import Call, Setting, Step, set_kind
from weigh.cli.notation import write_option

PROGRAM = [sys.executable, "-m", "weigh.cli.main"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("fit", "none.csv", "--label", "y"), "There is no file none.csv."),
        (
            ("fit", "mails.csv", "--label", "spma"),
            "mails.csv has no column 'spma'; it has 'CS373', 'investment', 'familiarity', 'spam'. Did you "
            "mean 'spam'?",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--kind", "CS37=flag"),
            "The table has no column 'CS37'; it has 'CS373', 'investment', 'familiarity'. Did you mean "
            "'CS373'?",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--set", "prior=-1"),
            "NaiveBayes: prior must be a number above zero, None, beta:a,b or dirichlet:b, got -1.",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--learner", "perceptron", "--set", "max_iter=1/2"),
            "Perceptron: max_iter must be a whole number of at least 1, got 0.5.",
        ),
        (
            ("predict", "none.weigh", "new.csv"),
            "There is no file none.weigh. Check its name, or save a model there first.",
        ),
        (
            ("predict", "mails.weigh", "new.csv", "-o", "new.csv/where.csv"),
            "new.csv/where.csv cannot be written: Not a directory. Check its folder.",
        ),
        (
            ("explain", "mails.weigh", "new.csv", "--row", "2"),
            "new.csv has 2 rows, so there is no row 2 (the first is 0).",
        ),
        (
            ("evaluate", "mails.weigh", "new.csv"),
            "new.csv has no column 'spam'; it has 'CS373', 'investment', 'familiarity'.",
        ),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_1(fitted, arguments, expected):
    result = fitted(*arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"weigh: {expected}\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("fti", "mails.csv"), "No such command 'fti'. Did you mean 'fit'?"),
        (
            ("fit", "mails.csv"),
            "Name the column to predict with --label. The columns are 'CS373', 'investment', "
            "'familiarity', 'spam'.",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--set", "smoothing=2"),
            "Invalid value for '--learner': auto compares naive-bayes and logistic here, and neither has the "
            "parameter 'smoothing'. Leave it out.",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--learner", "naive-bayes", "--set", "smoothing=2"),
            "Invalid value for '--set': 'smoothing=2' is not NAME=VALUE with a parameter of naive-bayes: "
            "prior, class_prior, complement, calibration.",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--set", "prior=__import__('os')"),
            "Invalid value for '--set': \"__import__('os')\" is not a number. A prior is a number, none, "
            "dirichlet:B or beta:A,B.",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--set", "class_prior=unifrom"),
            "Invalid value for '--set': 'unifrom' is not a number. A prior is none, a number, dirichlet:B, "
            "uniform or JSON {\"class\": probability, ...}. Did you mean 'uniform'?",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--learner", "linear", "--set", "noise=norml"),
            "Invalid value for '--set': 'norml' is not a noise distribution. Noise is normal, laplace, "
            "normal:SIGMA or laplace:B. Did you mean 'normal'?",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--kind", "CS373=nmber"),
            "Invalid value for '--kind': 'nmber' is not a kind: category, flag, count, number, curve, date, "
            "value, products, text, tokens, skip. Did you mean 'number'?",
        ),
        (
            ("fit", "mails.csv", "--label", "spam", "--kind", "CS373=number:bin=3"),
            "Invalid value for '--kind': 'bin=3' is not a setting of number: spread, floor, bins, scale, "
            "shape. Did you mean 'bins'?",
        ),
        (
            ("predict", "mails.weigh", "new.csv", "--cost", "ham:spam=3"),
            "Invalid value for '--cost': the model has no class 'ham'; it has 'not-spam', 'spam'.",
        ),
        (
            ("predict", "mails.weigh", "new.csv", "--cost", "spam"),
            "Invalid value for '--cost': 'spam' is not TRUE:SAID=COST.",
        ),
        (("explain", "mails.weigh", "new.csv"), "Name a row: --row N of DATA, or --values JSON."),
        (("explain", "mails.weigh", "--row", "1"), "--row needs DATA, the file that has the row."),
        (
            ("explain", "mails.weigh", "--values", "[1]"),
            "Invalid value for '--values': must be one row: {\"column\": value, ...}",
        ),
    ],
)
def test_wrong_usage_exits_with_code_2(fitted, arguments, expected):
    result = fitted(*arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"Error: {expected}"


def test_advice_is_in_the_words_of_the_command_line(run, tmp_path):
    (tmp_path / "odd.csv").write_text("a,b,y\n1,,p\n2,,q\n")
    result = run("fit", "odd.csv", "--label", "y")
    assert result.exit_code == 0
    assert "--kind 'b=category'" in " ".join(result.stdout.split())


def test_the_program_starts_without_the_heavy_libraries():
    heavy = ("numpy", "scipy", "pyarrow", "rich")
    code = f"import sys, weigh.cli.main; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_fitting_needs_no_scikit_learn(fitted):
    code = (
        "import sys; from weigh.cli.main import run_for_exit_code\n"
        "fitted = run_for_exit_code(['fit', 'mails.csv', '--label', 'spam'])\n"
        "print(fitted, run_for_exit_code(['predict', 'mails.weigh', 'new.csv']), 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 0 False"


def test_the_real_program_has_the_same_exit_codes(fitted):
    codes = [
        subprocess.run([*PROGRAM, *arguments], capture_output=True).returncode
        for arguments in (["--version"], ["diff", "a", "b"], ["fit"])
    ]
    assert codes == [0, 1, 2]


def test_a_reader_that_has_seen_enough_ends_the_program_quietly(fitted, tmp_path):
    mails = (tmp_path / "mails.csv").read_text()
    (tmp_path / "many.csv").write_text(mails + mails.split("\n", 1)[1] * 40_000)
    with subprocess.Popen(
        [*PROGRAM, "predict", "mails.weigh", "many.csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == b"prediction,probability\n"
        program.stdout.close()
        assert (program.wait(), program.stderr.read()) == (141, b"")


def test_an_interrupt_ends_with_130(fitted, monkeypatch):
    from weigh.cli import main

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("weigh.judge.model_difference.diff", interrupted)
    assert main.run_for_exit_code(["diff", "mails.weigh", "mails.weigh"]) == 130


@pytest.mark.parametrize(
    ("advice", "python", "expected"),
    [
        (Setting("missing", ["?"]), "missing=['?']", "--missing '?'"),
        (Setting("missing", ["?", "n/a"]), "missing=['?', 'n/a']", "--missing '?' --missing 'n/a'"),
        (Setting("quotes", False), "quotes=False", "--no-quotes"),
        (Setting("delimiter", ";"), "delimiter=';'", "--delimiter ';'"),
        (Setting("format", "mail"), "format='mail'", "--format mail"),
        (Setting("label"), "label=", "--label"),
        (Setting("columns", "count"), "columns='count'", "--kind count"),
        (set_kind("age", "number"), "columns={'age': 'number'}", "--kind 'age=number'"),
        (set_kind("it's", "skip"), """columns={"it's": 'skip'}""", """--kind 'it'"'"'s=skip'"""),
        (
            set_kind("a b", Call("Number", spread="shared")),
            "columns={'a b': weigh.Number(spread='shared')}",
            "--kind 'a b=number:spread=shared'",
        ),
        (Setting("prior", 1), "prior=1", "--set prior=1"),
        (Setting("prior", None), "prior=None", "--set prior=none"),
        (Setting("noise", Call("Normal", 1.0)), "noise=Normal(1.0)", "--set noise=normal:1.0"),
        (Setting("noise", weigh.Normal(1.5)), "noise=Normal(1.5)", "--set noise=normal:1.5"),
        (Setting("", Call("Penalty", l1=..., l2=2)), "Penalty(l1=..., l2=2)", "penalty:l1=...,l2=2"),
        (Setting("scale", "unit"), "scale='unit'", "--set scale=unit"),
        (Setting("scale", "cv"), "scale='cv'", "--set prior=normal:cv"),
        (Setting("folds", 3), "folds=3", "--folds 3"),
        (Setting("seen", False), "seen=False", "--unseen"),
        (Setting("prior", owner="NaiveBayes"), "NaiveBayes: prior", "NaiveBayes: prior"),
        (Setting("sizes", owner="measure_learning_curve"), "measure_learning_curve: sizes", "--sizes"),
        (
            Step("trained model", "Use model.uncalibrated."),
            "Use model.uncalibrated.",
            "Use the model that was calibrated.",
        ),
    ],
)
def test_advice_is_a_keyword_argument_in_python_and_an_option_on_the_command_line(advice, python, expected):
    assert (str(advice), write_option(advice)) == (python, expected)


def test_the_advice_for_a_voted_perceptron_names_an_option(fitted):
    fitted(
        "fit",
        "mails.csv",
        "--label",
        "spam",
        "--learner",
        "perceptron",
        "--set",
        "keep=voted",
        "-o",
        "v.weigh",
    )
    result = fitted("explain", "v.weigh", "mails.csv", "--row", "0", "--flip")
    assert (result.exit_code, result.stderr) == (
        1,
        "weigh: The score of a voted perceptron is not a sum of feature contributions. "
        "Train with --set keep=averaged.\n",
    )
