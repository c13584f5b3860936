"""`weigh trace`: what it prints and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from weigh.cli.commands.trace import command

MAILS = ("mails.csv", "--label", "spam", "--kind", "familiarity=category:levels=high|medium|low")
ONE_PASS = """Perceptron over 5 rows: spam is 1, not-spam is 0.
x = (CS373, investment, familiarity=high, familiarity=medium, familiarity=low)
Initialize: w = (0,0,0,0,0) and b = 0

Iteration 1:
w·x+b  sign(·)  correct?  error      error × x            w'   b
    0        1       yes      0    (0,0,0,0,0)   (0,0,0,0,0)   0
    0        1        no     -1   (0,0,-1,0,0)  (0,0,-1,0,0)  -1
   -2        0        no      1    (0,1,1,0,0)   (0,1,0,0,0)   0
    1        1        no     -1  (0,-1,0,-1,0)  (0,0,0,-1,0)  -1
   -1        0       yes      0    (0,0,0,0,0)  (0,0,0,-1,0)  -1

9 mistakes; converged: nothing changes in iteration 4.
Last: w = (-1,2,0,-2,1) and b = -1
"""


@pytest.fixture
def traced(run: Any) -> Any:
    """Run `weigh trace` in the folder of the five mails."""

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(command, arguments)

    return invoke


def test_the_steps_are_printed(traced: Any) -> None:
    result = traced(*MAILS, "--set", "keep=last", "--set", "shuffle=false", "--passes", "1")
    assert (result.exit_code, result.output) == (0, ONE_PASS)


def test_json_has_every_step(traced: Any) -> None:
    facts = json.loads(traced(*MAILS, "--set", "shuffle=false", "--json").output)
    assert (facts["mistakes"], facts["passes"], len(facts["steps"])) == (9, 4, 20)


def test_latex_is_printed(traced: Any) -> None:
    output = traced(*MAILS, "--latex", "--passes", "1").output
    assert output.count(r"\begin{tabular}") == 1


def test_a_page_is_written_and_named(traced: Any, tmp_path: Path) -> None:
    result = traced(*MAILS, "-o", "page.html")
    assert (result.exit_code, result.output) == (0, "The page is in page.html.\n")
    assert "<h1>Perceptron: not-spam or spam</h1>" in (tmp_path / "page.html").read_text("utf-8")


def test_fewer_steps_can_be_asked_for(traced: Any) -> None:
    output = traced(*MAILS, "--set", "shuffle=false", "--most", "2").output
    assert "\n1 mistake in the first 2 steps, of at most 100.\n" in output


def test_a_trace_that_ends_early_can_be_json_or_a_page(traced: Any, tmp_path: Path) -> None:
    assert len(json.loads(traced(*MAILS, "--most", "2", "--json").output)["steps"]) == 2
    assert traced(*MAILS, "--most", "2", "-o", "page.html").exit_code == 0
    assert "2 steps" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    "options", [("--passes", "1", "--json"), ("--average", "--json"), ("--average", "-o", "page.html")]
)
def test_options_of_the_printed_table_are_refused_elsewhere(traced: Any, options: tuple[str, ...]) -> None:
    result = traced(*MAILS, *options)
    assert result.exit_code == 2
    assert "printed table" in result.output


def test_the_first_steps_of_many_rows_can_be_traced(traced: Any, tmp_path: Path) -> None:
    rows = "".join(f"{k % 7},{'ab'[k % 2]}\n" for k in range(20_000))
    (tmp_path / "many.csv").write_text("x,y\n" + rows, "utf-8")
    assert traced("many.csv", "--label", "y").exit_code == 1
    output = traced("many.csv", "--label", "y", "--set", "shuffle=false", "--most", "3").output
    assert "in the first 3 steps, of at most 400,000.\n" in output


AVERAGED = """Iteration 1:
w·x+b  error  step      error × x                       a  b of a
    0      0    10    (0,0,0,0,0)             (0,0,0,0,0)       0
    0     -1     9   (0,0,-1,0,0)         (0,0,-9/10,0,0)   -9/10
   -2      1     8    (0,1,1,0,0)       (0,4/5,-1/10,0,0)   -1/10
    1     -1     7  (0,-1,0,-1,0)  (0,1/10,-1/10,-7/10,0)    -4/5
   -1      0     6    (0,0,0,0,0)  (0,1/10,-1/10,-7/10,0)    -4/5
"""


def test_the_accumulator_of_the_average_is_shown(traced: Any) -> None:
    output = traced(*MAILS, "--set", "shuffle=false", "--set", "max_iter=2", "--average").output
    assert AVERAGED in output
    assert "(-1/10,7/10,-1/5,-9/10,2/5)   -7/10\n" in output


def test_the_positive_class_can_be_named(traced: Any) -> None:
    output = traced(*MAILS, "--set", "shuffle=false", "--positive", "not-spam").output
    assert output.startswith("Perceptron over 5 rows: not-spam is 1, spam is 0.\n")
    assert traced(*MAILS, "--positive", "not spam").exit_code == 2


def test_logistic_regression_is_traced(traced: Any) -> None:
    options = [f"--set={each}" for each in ("rate=1", "prior=none", "max_iter=1", "shuffle=false")]
    output = traced(*MAILS, "--learner", "logistic", *options).output
    assert "  4  0   0.1210  0.5302  -0.5302  (-0.530,0.243,-0.062,-0.817,-0.030)  -0.9092\n" in output
    result = traced(*MAILS, "--learner", "logistic")
    assert result.exit_code == 1


def test_class_weights_name_classes_that_are_numbers(traced: Any) -> None:
    arguments = ("mails.csv", "--label", "CS373", "--set", 'class_weight={"1": 2}', "--set", "record=true")
    result = traced(*arguments)
    assert result.exit_code == 0
    assert "weight × error" in result.output or "change of w" in result.output


def test_a_missing_label_is_reported(traced: Any) -> None:
    result = traced("mails.csv")
    assert result.exit_code == 2
    assert "Name the column to predict with --label. The columns are 'CS373', " in result.output
