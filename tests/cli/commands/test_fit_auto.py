"""`weigh fit` without a learner: what it compares and prints, what it trains, and which options it takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import weigh


def write_calls(path, n=240):
    """Write a table whose label depends on the time by a bump, with one label in eleven inverted.

    The time is there twice, which naive Bayes counts as twice the evidence.
    """
    lines = ["hour,minute,day,calls"]
    for i in range(n):
        hour = i * 7 % 24
        is_many = (8 < hour < 18) != (i % 11 == 0)
        lines.append(f"{hour + 0.5},{60 * hour + i * 13 % 60 + 0.5},d{i % 5},{'many' if is_many else 'few'}")
    (path / "calls.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def calls(run, tmp_path):
    write_calls(tmp_path)
    return run


def mask_numbers(text):
    """Replace the digits of losses, which are those of the solvers and not of the command."""
    return re.sub(r"\d\.\d{4}", "0.0000", text)


COMPARED = """Chosen: logistic regression with curves, because it has the lowest held-out log
loss, 0.0000.

  learner                          held-out log loss         worse by
  naive Bayes                        0.0000 ± 0.0000  0.0000 ± 0.0000
  logistic regression                0.0000 ± 0.0000  0.0000 ± 0.0000
  logistic regression with curves    0.0000 ± 0.0000

5 folds of 240 rows; ± is one standard error. The first learner whose loss
exceeds the smallest by at most one standard error, and also by at most 5 %, is
chosen.
Not tried: logistic regression with curves and pairs, because no pair of columns
lowered the loss.

The same without a comparison: --learner logistic --set curves=auto

Trained on 240 rows of calls.csv to predict calls.
"""


def test_the_comparison_is_printed_before_the_summary(calls):
    result = calls("fit", "calls.csv", "--label", "calls")
    assert result.exit_code == 0, result.output
    assert mask_numbers(result.output).startswith(COMPARED)
    assert result.output.endswith("The model is in calls.weigh.\n")
    assert max(map(len, result.output.splitlines())) <= 80


def test_the_model_is_that_of_the_chosen_learner_on_all_rows(calls, tmp_path):
    calls("fit", "calls.csv", "--label", "calls")
    options = ["--learner", "logistic", "--set", "curves=auto", "-o", "other.weigh"]
    calls("fit", "calls.csv", "--label", "calls", *options)
    assert (tmp_path / "calls.weigh").read_bytes() == (tmp_path / "other.weigh").read_bytes()


def test_json_has_the_comparison(calls):
    facts = json.loads(calls("fit", "calls.csv", "--label", "calls", "--json").output)
    choice = facts["choice"]
    assert (facts["learner"], choice["learner"]) == ("logistic", "logistic")
    assert choice["parameters"] == {"curves": "auto"}
    assert choice["options"] == "--learner logistic --set curves=auto"
    assert (choice["rows"], choice["sampled"], choice["folds"], choice["loss"]) == (240, 240, 5, "log_loss")
    assert [each["learner"] for each in choice["candidates"]] == ["naive-bayes", "logistic", "logistic"]
    assert [sorted(each) for each in choice["candidates"]] == [
        ["excess", "excess_error", "learner", "loss", "name", "standard_error"]
    ] * 3
    assert choice["untried"][0]["reason"] == "no pair of columns lowered the loss"
    python = weigh.choose_learner(weigh.open("calls.csv", label="calls"))
    assert {**choice, "options": None} == {**python.to_dict(), "options": None}


def test_a_named_learner_is_not_compared(calls):
    options = ["--learner", "naive-bayes", "--json"]
    assert "choice" not in json.loads(calls("fit", "calls.csv", "--label", "calls", *options).output)
    assert calls("fit", "calls.csv", "--label", "calls", *options[:2]).output.startswith(
        "Trained on 240 rows of calls.csv to predict calls.\n"
    )


def test_auto_is_the_default(calls):
    outputs = [
        calls("fit", "calls.csv", "--label", "calls", "-o", "m.weigh", "--json", *options).output
        for options in ([], ["--learner", "auto"])
    ]
    assert outputs[0] == outputs[1]


FEW = """Chosen: naive Bayes, because 5 rows are too few to compare learners, and it is
the simplest.

Trained on 5 rows of mails.csv to predict spam.
"""
TEXT = """Chosen: naive Bayes, because 100 % of the characters are text: it counts words
in one pass, and curves are for numbers.

Trained on 60 rows of letters.csv to predict spam.
"""
SINGLE = """Chosen: naive Bayes, because there is a single class.

Trained on 40 rows of same.csv to predict y.
"""
ONE_CANDIDATE = """Chosen: naive Bayes, because no other learner was tried.

Trained on 240 rows of calls.csv to predict calls.
"""
CONSTANT = """Chosen: linear regression, because all targets are equal.

Trained on 40 rows of level.csv to predict y.
"""


@pytest.fixture
def tables(calls, tmp_path):
    """Write tables that need no comparison."""
    letters = ["win a big prize today", "see you at lunch tomorrow"] * 30
    rows = [f"{text} {k},{'no' if k % 2 else 'yes'}" for k, text in enumerate(letters)]
    (tmp_path / "letters.csv").write_text("\n".join(["text,spam", *rows]) + "\n")
    (tmp_path / "same.csv").write_text("x,y\n" + "".join(f"{k / 4},yes\n" for k in range(40)))
    (tmp_path / "level.csv").write_text("x,y\n" + "".join(f"{k / 4},2.5\n" for k in range(40)))
    return calls


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["mails.csv", "--label", "spam"], FEW),
        (["letters.csv", "--label", "spam"], TEXT),
        (["same.csv", "--label", "y"], SINGLE),
        (["calls.csv", "--label", "calls", "--set", "class_prior=uniform"], ONE_CANDIDATE),
        (["level.csv", "--label", "y"], CONSTANT),
    ],
)
def test_tables_that_need_no_comparison_get_one_sentence_and_no_scikit_learn(tables, arguments, expected):
    code = (
        "import sys; from weigh.cli.main import run_for_exit_code\n"
        f"print(run_for_exit_code({['fit', *arguments]!r}), 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(expected)
    assert done.stdout.splitlines()[-1] == "0 False"


def test_json_says_which_learners_a_rule_excludes(calls):
    arguments = ["fit", "calls.csv", "--label", "calls", "--json", "--set", "class_prior=uniform"]
    choice = json.loads(calls(*arguments).output)["choice"]
    assert (choice["candidates"], choice["sampled"], choice["folds"]) == ([], 0, 0)
    assert choice["untried"] == [
        {"name": "logistic regression", "reason": "it has no parameter 'class_prior'"}
    ]


def test_numbers_are_predicted_by_linear_regression(run, tmp_path):
    lines = ["size,rent", *(f"{k},{10 * k + k * 7 % 5 + 0.5}" for k in range(60))]
    (tmp_path / "flats.csv").write_text("\n".join(lines) + "\n")
    result = run("fit", "flats.csv", "--label", "rent")
    assert result.exit_code == 0, result.output
    assert "  learner                            held-out R²" in result.output
    assert isinstance(weigh.load("flats.weigh"), weigh.RegressionModel)
    assert (
        "Note: 'rent' has 60 distinct numbers in the first 60 rows, so numbers are\n"
        "predicted. If they are classes, say so: --kind 'rent=category'.\n"
    ) in result.output
    result = run("fit", "flats.csv", "--label", "rent", "--kind", "rent=number")
    assert "so numbers are" not in result.output
    result = run("fit", "flats.csv", "--label", "rent", "--kind", "rent=category")
    assert result.exit_code == 0, result.output
    assert len(weigh.load("flats.weigh").classes) == 60


def test_the_held_out_rows_are_not_compared(calls):
    output = calls("fit", "calls.csv", "--label", "calls", "--hold-out", "0.25").output
    assert "5 folds of 180 rows" in output
    assert "It was trained without the held-out rows." in output


def test_parameters_limit_the_choice_to_the_learners_that_have_them(calls):
    arguments = ["fit", "calls.csv", "--label", "calls", "--json", "--set"]
    choice = json.loads(calls(*arguments, "class_prior=uniform").output)["choice"]
    assert (choice["learner"], choice["reason"]) == ("naive-bayes", "no other learner was tried")
    assert choice["untried"] == [
        {"name": "logistic regression", "reason": "it has no parameter 'class_prior'"}
    ]
    choice = json.loads(calls(*arguments, "prior=dirichlet:2").output)["choice"]
    assert choice["untried"][0]["reason"] == "'dirichlet:2' is not understood"
    assert weigh.load("calls.weigh").prior == weigh.Dirichlet(2)
    choice = json.loads(calls(*arguments, "curves=none").output)["choice"]
    assert choice["learner"] == "logistic"
    assert [each["name"] for each in choice["untried"]] == ["naive Bayes"]


def test_kinds_hold_in_the_comparison_too(calls):
    result = calls("fit", "calls.csv", "--label", "calls", "--kind", "hour=skip")
    assert result.exit_code == 0, result.output
    result = calls("fit", "calls.csv", "--label", "calls", "--kind", "hour=curve")
    assert "naive Bayes, because A curve column has no distribution within a class" in " ".join(
        result.output.split()
    )


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "margin=1",
            "Invalid value for '--learner': auto compares naive-bayes and logistic here, and neither has the "
            "parameter 'margin'. Name the learner: --learner perceptron.",
        ),
        (
            "size=1",
            "Invalid value for '--learner': auto compares naive-bayes and logistic here, and neither has the "
            "parameter 'size'. Leave it out.",
        ),
        (
            "prior=many",
            "Invalid value for '--set': 'many' is not a number. A prior is a number, none, dirichlet:B or "
            "beta:A,B.",
        ),
        ("complement=perhaps", "Invalid value for '--set': 'perhaps' is neither true nor false."),
    ],
)
def test_parameters_of_other_learners_are_wrong_usage(calls, setting, message):
    result = calls("fit", "calls.csv", "--label", "calls", "--set", setting)
    assert result.exit_code == 2
    assert result.stderr.endswith(f"Error: {message}\n")


def test_missing_labels_are_refused_as_by_other_learners(run, tmp_path):
    (tmp_path / "gaps.csv").write_text("x,y\n" + "1.5,a\n2.5,b\n" * 40 + "3.5,\n")
    messages = [run("fit", "gaps.csv", "--label", "y", "--learner", each) for each in ("auto", "naive-bayes")]
    assert messages[0].exit_code == 1
    assert messages[0].stderr == messages[1].stderr
    result = run("fit", "gaps.csv", "--label", "y", "--drop-missing-labels")
    assert result.exit_code == 0, result.output
