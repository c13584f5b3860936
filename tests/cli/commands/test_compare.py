"""`weigh compare` and `weigh bias-variance`: what Python finds, told and drawn."""

from __future__ import annotations

import json

import pytest

import weigh
from weigh import errors
from weigh.trials.learners import LEARNER_FACTORIES

DAYS = "sky,warm,play\n" + "".join(
    f"{['sun', 'fog', 'rain'][k % 3]},{k % 7}.5,{'yes' if (k % 3) + (k % 5) < 3 else 'no'}\n"
    for k in range(60)
)
GIVEN = ("days.csv", "--label", "play", "--learner", "naive-bayes", "--learner", "tree")


@pytest.fixture
def days(run, tmp_path):
    (tmp_path / "days.csv").write_text(DAYS)
    return run


def source(tmp_path):
    return weigh.open(tmp_path / "days.csv", label="play")


def test_compare_prints_the_results_of_the_python_function(days, tmp_path):
    expected = json.loads(days("compare", *GIVEN, "--folds", "3", "--repeats", "2", "--json").output)
    found = weigh.compare(["naive-bayes", "tree"], source(tmp_path), folds=3, repeats=2)
    assert expected["pairs"] == found.to_dict()["pairs"]
    assert [each["losses"] for each in expected["scores"]] == [each.losses.tolist() for each in found.scores]
    assert expected["curve"] is None


def test_compare_prints_scores_pairs_and_traits_on_request(days):
    plain = days("compare", *GIVEN, "--folds", "3", "--repeats", "1").output
    assert plain.startswith("2 learners on 60 rows, 1 × 3 folds: error rate\n\n  learner ")
    assert "hypothesis space" not in plain
    expected = days("compare", *GIVEN, "--folds", "3", "--repeats", "1", "--traits").output
    assert "\n\nhypothesis space\n  naive-bayes          one distribution per class" in expected


def test_compare_takes_the_usual_learners_and_says_where_they_cross(days):
    expected = json.loads(
        days("compare", *GIVEN[:3], "--folds", "2", "--repeats", "1", "--curve", "--json").output
    )
    assert [each["learner"] for each in expected["scores"]][:2] == ["naive-bayes", "logistic"]
    assert len(expected["curve"]["crossings"]) == 10


def test_bias_variance_prints_the_results_of_the_python_function(days, tmp_path):
    given = ("--rounds", "6", "--which", "domingos", "--seed", "3")
    expected = json.loads(days("bias-variance", *GIVEN, *given, "--json").output)
    learners = ["naive-bayes", "tree"]
    found = weigh.bias_variance(learners, source(tmp_path), rounds=6, which="domingos", seed=3)
    assert expected == found.to_dict()
    text = days("bias-variance", *GIVEN, *given).output
    assert text == f"{found}\n"


@pytest.mark.parametrize(
    "command", [("compare", "--repeats", "1", "--what", "differences"), ("bias-variance",)]
)
def test_pictures_are_written_and_their_paths_printed(days, tmp_path, command):
    pytest.importorskip("altair")
    expected = days(*command, *GIVEN, "--plot", "it.svg").output
    assert expected.endswith("\n\nThe picture is in it.svg.\n")
    assert (tmp_path / "it.svg").read_text().startswith("<svg")


def test_unsupported_pictures_are_rejected_before_any_fit(days, monkeypatch):
    monkeypatch.setattr(
        "weigh.trials.comparison.compare", lambda *given, **more: pytest.fail("tried all the same")
    )
    for options, said in {
        ("--what", "curve", "--plot", "it.svg"): "--what curve draws learning curves; give --curve too.",
        ("--what", "times"): "--what selects a picture; give --plot FILE too.",
        ("--what", "nonsense", "--plot", "it.svg"): "'nonsense' is not one of 'scores', 'differences'",
    }.items():
        result = days("compare", *GIVEN, *options)
        assert result.exit_code == 2
        assert said in result.output


@pytest.mark.parametrize("command", [("compare", "--repeats", "1"), ("bias-variance",), ("curve",)])
def test_results_are_printed_even_if_the_picture_fails(days, monkeypatch, command):
    def refused(*given):
        raise errors.Unsupported("no picture today")

    monkeypatch.setattr("weigh.pictures.image", refused)
    result = days(*command, *GIVEN, "--plot", "it.svg")
    assert result.exit_code == 1
    assert "naive-bayes" in result.output
    assert result.output.rstrip().endswith("weigh: no picture today")


def test_kinds_apply_to_every_learner(days, tmp_path):
    given = ("compare", *GIVEN[:3], "--kind", "warm=category", "--folds", "3", "--repeats", "1", "--json")
    expected = json.loads(days(*given).output)
    assert all("columns={'warm': Category()}" in each["settings"] for each in expected["scores"][:5])
    tree = LEARNER_FACTORIES["tree"]().set_params(asnumbers__columns={"warm": "category"})
    found = weigh.compare(tree, source(tmp_path), folds=3, repeats=1)
    assert expected["scores"][3]["losses"] == found.scores[0].losses.tolist()


def test_level_and_baseline_are_pythons(days, tmp_path):
    given = ("--folds", "3", "--repeats", "1", "--level", "0.5", "--no-baseline", "--json")
    expected = json.loads(days("compare", *GIVEN, *given).output)
    found = weigh.compare(
        ["naive-bayes", "tree"], source(tmp_path), folds=3, repeats=1, level=0.5, baseline=False
    )
    assert [each["loss"] for each in expected["scores"]] == [each.loss.to_dict() for each in found.scores]
    curve = json.loads(days("curve", *GIVEN, "--level", "0.5", "--json").output)
    assert curve["level"] == 0.5


@pytest.mark.parametrize("command", ["compare", "bias-variance"])
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["days.csv"], 2, "Name the column to predict with --label."),
        (
            ["days.csv", "--label", "warm"],
            1,
            "weigh: 'warm' has 7 distinct numbers in the first 60 rows, and",
        ),
        ([*GIVEN, "--plot", "it.txt"], 2, "'it.txt' does not end in"),
        ([*GIVEN, "--learner", "treee"], 1, "weigh: --learner: there is no learner 'treee'; there are"),
        ([*GIVEN, "--loss", "cost"], 1, "loss must be for classifiers one of 'zero_one'"),
        ([*GIVEN, "--set", "prior=2"], 2, "--set is for a single --learner."),
    ],
)
def test_invalid_options_are_reported(days, command, options, code, said):
    result = days(command, *options)
    assert result.exit_code == code
    assert said in result.output
