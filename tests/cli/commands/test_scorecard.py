"""`weigh scorecard`: the points it prints, and the models it refuses."""

from __future__ import annotations

import json

import pytest

import weigh

POINTS = """Scorecard: every 20 points double the odds of spam.

  term         cell    points
  base                    −23
  CS373        1           −8
               0            0
  investment   1          +18
               0            0
  familiarity  high        +5
               low         +6
               medium     −11
"""
FLAGS = ("--kind", "CS373=flag", "--kind", "investment=flag")


@pytest.fixture
def logistic(run):
    fit = ("fit", "mails.csv", "--label", "spam", "--learner", "logistic", "-o", "points.weigh")
    assert run(*fit, *FLAGS).exit_code == 0
    return run


def test_points_are_listed_by_term(logistic):
    output = logistic("scorecard", "points.weigh").output
    assert output.startswith(POINTS)
    assert "  1          50.00 %\n" in output
    assert output.endswith("by about 0.01333 (root mean square over the training rows).\n")


def test_json_is_what_python_finds(logistic, tmp_path):
    given = json.loads(
        logistic("scorecard", "points.weigh", "--points", "50", "--odds", "3", "--json").output
    )
    expected = weigh.load(tmp_path / "points.weigh").scorecard(points=50, odds=3)
    assert given == json.loads(json.dumps(expected.to_dict()))
    assert (given["points"], given["odds"]) == (50, 3)


def test_the_estimator_has_the_card_of_its_model():
    table = {"colour": ["red", "blue"] * 10, "y": ["a", "b"] * 9 + ["b", "a"]}
    fitted = weigh.LogisticRegression().fit(table, "y")
    assert fitted.scorecard(30, 4) == fitted.model_.scorecard(30, 4)
    assert fitted.scorecard(30, 4) != fitted.model_.scorecard(20, 4)


def test_the_picture_is_written_and_its_path_printed(logistic, tmp_path):
    pytest.importorskip("altair")
    output = logistic("scorecard", "points.weigh", "-o", "points.svg").output
    assert output.endswith("\n\nThe picture is in points.svg.\n")
    assert "every 20 points double the odds of spam" in (tmp_path / "points.svg").read_text()


def test_other_models_are_refused(fitted):
    result = fitted("scorecard", "mails.weigh")
    assert result.exit_code == 1
    assert result.output == (
        "weigh: A scorecard needs a logistic regression (weigh fit --learner logistic).\n"
    )


def test_straight_lines_are_refused_with_the_setting_that_helps(run):
    fit = ("fit", "mails.csv", "--label", "spam", "--learner", "logistic", "-o", "lines.weigh")
    assert run(*fit).exit_code == 0
    assert run("scorecard", "lines.weigh").output == (
        "weigh: A scorecard has points for ranges, levels and flags, but value columns 'CS373', 'investment' "
        "have a weight per unit. Train with --set curves=auto, or leave them out.\n"
    )


def test_odds_must_be_above_one(logistic):
    result = logistic("scorecard", "points.weigh", "--odds", "1")
    assert (result.exit_code, "odds must be a number above 1, got 1.0" in result.output) == (1, True)
