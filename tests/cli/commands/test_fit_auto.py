"""`weigh fit --learner auto`: what it prints, what it trains, and which options it takes."""

from __future__ import annotations

import json
import re

import pytest

import weigh
from weigh.cli.commands import fit


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
    result = calls("fit", "calls.csv", "--label", "calls", "--learner", "auto")
    assert result.exit_code == 0, result.output
    assert mask_numbers(result.output).startswith(COMPARED)
    assert result.output.endswith("The model is in calls.weigh.\n")
    assert max(map(len, result.output.splitlines())) <= 80


def test_the_model_is_that_of_the_chosen_learner_on_all_rows(calls, tmp_path):
    calls("fit", "calls.csv", "--label", "calls", "--learner", "auto")
    options = ["--learner", "logistic", "--set", "curves=auto", "-o", "other.weigh"]
    calls("fit", "calls.csv", "--label", "calls", *options)
    assert (tmp_path / "calls.weigh").read_bytes() == (tmp_path / "other.weigh").read_bytes()


def test_json_has_the_comparison(calls):
    facts = json.loads(calls("fit", "calls.csv", "--label", "calls", "--learner", "auto", "--json").output)
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


def test_other_learners_print_no_comparison(calls):
    assert "choice" not in json.loads(calls("fit", "calls.csv", "--label", "calls", "--json").output)


FEW = """Chosen: naive Bayes, because 5 rows are too few to compare learners, and it is
the simplest.

Not tried: logistic regression with curves, because no column is a number or
date.

The same without a comparison: --learner naive-bayes

Trained on 5 rows of mails.csv to predict spam.
"""


def test_few_rows_are_not_compared(run):
    assert run("fit", "mails.csv", "--label", "spam", "--learner", "auto").output.startswith(FEW)


def test_numbers_are_predicted_by_linear_regression(run, tmp_path):
    lines = ["size,rent", *(f"{k},{10 * k + k * 7 % 5 + 0.5}" for k in range(60))]
    (tmp_path / "flats.csv").write_text("\n".join(lines) + "\n")
    result = run("fit", "flats.csv", "--label", "rent", "--learner", "auto")
    assert result.exit_code == 0, result.output
    assert "  learner                            held-out R²" in result.output
    assert isinstance(weigh.load("flats.weigh"), weigh.RegressionModel)
    result = run("fit", "flats.csv", "--label", "rent", "--learner", "auto", "--kind", "rent=category")
    assert result.exit_code == 0, result.output
    assert len(weigh.load("flats.weigh").classes) == 60


def test_the_held_out_rows_are_not_compared(calls):
    output = calls("fit", "calls.csv", "--label", "calls", "--learner", "auto", "--hold-out", "0.25").output
    assert "5 folds of 180 rows" in output
    assert "It was trained without the held-out rows." in output


def test_parameters_limit_the_choice_to_the_learners_that_have_them(calls):
    arguments = ["fit", "calls.csv", "--label", "calls", "--learner", "auto", "--json", "--set"]
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
    result = calls("fit", "calls.csv", "--label", "calls", "--learner", "auto", "--kind", "hour=skip")
    assert result.exit_code == 0, result.output
    result = calls("fit", "calls.csv", "--label", "calls", "--learner", "auto", "--kind", "hour=curve")
    assert "naive Bayes, because A curve column has no distribution within a class" in " ".join(
        result.output.split()
    )


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "margin=1",
            "Invalid value for '--learner': auto compares naive-bayes and logistic here, and neither has the "
            "parameter margin. Name the learner: --learner perceptron.",
        ),
        (
            "size=1",
            "Invalid value for '--learner': auto compares naive-bayes and logistic here, and neither has the "
            "parameter size. Leave it out.",
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
    result = calls("fit", "calls.csv", "--label", "calls", "--learner", "auto", "--set", setting)
    assert result.exit_code == 2
    assert result.stderr.endswith(f"Error: {message}\n")


def test_missing_labels_are_refused_as_by_other_learners(run, tmp_path):
    (tmp_path / "gaps.csv").write_text("x,y\n" + "1.5,a\n2.5,b\n" * 40 + "3.5,\n")
    messages = [run("fit", "gaps.csv", "--label", "y", "--learner", each) for each in ("auto", "naive-bayes")]
    assert messages[0].exit_code == 1
    assert messages[0].stderr == messages[1].stderr
    result = run("fit", "gaps.csv", "--label", "y", "--learner", "auto", "--drop-missing-labels")
    assert result.exit_code == 0, result.output


def test_the_default_is_a_learner_or_auto():
    option = next(each for each in fit.command.params if each.name == "learner")
    assert option.default == fit.DEFAULT_LEARNER
    assert fit.DEFAULT_LEARNER in option.type.choices
