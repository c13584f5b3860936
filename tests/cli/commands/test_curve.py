"""`weigh curve`: what it tells of learners with more and more rows, and what it refuses."""

from __future__ import annotations

import json
import random
import re

import pytest

import weigh

TOLD = """error rate on 120 rows, 3 folds

threshold
  rows  training loss  validation loss  interval     fit
    20              0                0    0 to 0   TIME
    40              0                0    0 to 0   TIME
no power law: at least 4 sizes are needed, and there are 2
fine: the loss is low on all rows, and no other learner is 5 % better
  training loss             0 (0 to 0)
  validation loss           0 (0 to 0)
  generalisation gap        0 (0 to 0)
  baseline loss             0.5
- The effect of more rows is unknown: at least 4 sizes are needed, and there are
  2.
"""


@pytest.fixture
def days(run, tmp_path):
    chance = random.Random(0)
    lines = [
        f"{'sun' if k % 3 else 'fog'},{k % 2 * 10 + chance.random():.2f},{'ny'[k % 2]}" for k in range(120)
    ]
    (tmp_path / "days.csv").write_text("\n".join(["sky,warm,play", *lines, ""]))
    return run


def test_curve_prints_losses_power_law_and_diagnosis(days):
    given = (
        "--label",
        "play",
        "--learner",
        "threshold",
        "--sizes",
        "20,40",
        "--folds",
        "3",
        "--repeats",
        "1",
    )
    said = re.sub(r"\d+\.\d ms", "TIME", days("curve", "days.csv", *given).output).split("\n")
    assert [line.split() for line in said] == [line.split() for line in TOLD.split("\n")]


def test_json_is_what_python_finds(days, tmp_path):
    given = ("--label", "play", "--set", "prior=2", "--loss", "log_loss", "--seed", "3", "--json")
    result = json.loads(days("curve", "days.csv", *given).output)
    source = weigh.open(tmp_path / "days.csv", label="play")
    found = weigh.learning_curve({"naive-bayes": weigh.NaiveBayes(prior=2)}, source, loss="log_loss", seed=3)
    expected = found.to_dict()
    for facts in (result, expected):
        for point in facts["curves"][0]["points"]:
            del point["seconds"]
    assert result == expected


def test_several_learners_cross_and_are_drawn(days, tmp_path):
    pytest.importorskip("altair")
    given = ("--label", "play", "--learner", "naive-bayes", "--learner", "tree", "--plot", "curve.svg")
    said = days("curve", "days.csv", *given, "--sizes", "20,40,60", "--jobs", "2").output
    assert "naive-bayes and tree: no significant difference at the largest size." in said
    assert said.endswith("\n\nThe picture is in curve.svg.\n")
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 2, "Name the column to predict with --label."),
        (["--label", "play", "--learner", "forest"], 1, "--learner: there is no learner 'forest'"),
        (["--label", "play", "--sizes", "ten"], 2, "'ten' is not a list of whole numbers"),
        (["--label", "play", "--sizes", "5,500"], 1, "sizes must be whole numbers of rows from 2 to 96"),
        (["--label", "play", "--plot", "curve.pdf"], 2, "'curve.pdf' does not end in .svg, .png or .html."),
        (["--label", "play", "--learner", "tree", "--set", "depth=2"], 2, "tree has no settings on the"),
        (["--label", "play", "--level", "95"], 2, "95.0 is not in the range 0<x<1"),
        (
            ["--label", "play", "--learner", "tree", "--learner", "joint", "--set", "prior=2"],
            2,
            "--set is for a single --learner.",
        ),
        (["--label", "play", "--loss", "squared_error"], 1, "loss must be for classifiers one of"),
    ],
)
def test_invalid_options_are_reported(days, options, code, said):
    done = days("curve", "days.csv", *options)
    assert done.exit_code == code
    assert said in done.output
