"""`weigh tune`: the table of combinations, and the best model."""

from __future__ import annotations

import json

import pytest

import weigh


@pytest.fixture
def rows(run, tmp_path):
    """Run `weigh` in a folder with t.csv, where two columns decide together."""
    lines = [f"{'ab'[k % 2]},{k % 7},{'yes' if k % 2 and k % 7 > 2 else 'no'}" for k in range(400)]
    (tmp_path / "t.csv").write_text("x,n,y\n" + "\n".join(lines) + "\n")
    return run


def test_the_table_lists_all_combinations_and_the_best_is_saved(rows):
    result = rows("tune", "t.csv", "--label", "y", "--grid", "prior=1,500", "-o", "new/best.weigh")
    assert result.output == (
        "2 settings of NaiveBayes, best first (25% of the rows held out)\n\n"
        "  prior  log loss  accuracy\n  1        0.0523    1.0000\n  500      0.3862    0.6064\n\n"
        "The best model is in new/best.weigh. It was trained on all rows.\n"
    )
    assert rows("fit", "t.csv", "--label", "y", "--learner", "naive-bayes").exit_code == 0
    assert weigh.load("new/best.weigh").to_bytes() == weigh.load("t.weigh").to_bytes()


@pytest.mark.parametrize(
    ("learner", "grid", "n"),
    [
        ("perceptron", ["margin=0,0.5", "max_iter=1,5,9"], 6),
        ("logistic", ["prior=normal:1,laplace:1"], 2),
        ("naive-bayes", ["prior=dirichlet:1/2;2", "prior=3"], 3),
        ("joint", ["prior=1,2"], 2),
    ],
)
def test_every_learner_is_tuned_as_in_python(rows, learner, grid, n):
    options = [word for text in grid for word in ("--grid", text)]
    result = rows("tune", "t.csv", "--label", "y", "--learner", learner, "--json", *options)
    facts = json.loads(result.stdout)
    assert len(facts["trials"]) == n
    losses = [trial["loss"] for trial in facts["trials"]]
    assert losses == sorted(losses)
    assert 0.5 < facts["trials"][0]["accuracy"] <= 1


def test_a_regression_is_tuned_by_the_squared_error(run, tmp_path):
    (tmp_path / "r.csv").write_text("x,y\n" + "".join(f"{k},{2 * k + k % 3}\n" for k in range(80)))
    result = run("tune", "r.csv", "--label", "y", "--learner", "linear", "--grid", "prior=none;normal:0.01")
    assert result.output.splitlines()[2:4] == [
        "  prior         squared error",
        "  None                 0.8309",
    ]
    arguments = ("tune", "r.csv", "--label", "y", "--learner", "linear", "--grid", "prior=none;normal:0.01")
    trial = json.loads(run(*arguments, "--json").stdout)["trials"][0]
    assert trial == {"settings": {"prior": None}, "loss": pytest.approx(0.8309, abs=1e-4)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--grid", "prior=1"], "--grid gives one combination only. Give several values: --grid NAME=V1,V2."),
        (
            ["--grid", "priors=1,2"],
            "Invalid value for '--grid': 'priors=1' is not NAME=VALUE with a parameter of naive-bayes",
        ),
        (["--grid", "prior=1,x"], "Invalid value for '--grid': 'x' is not a number. A prior is"),
        (["--grid", "prior=1,2", "-o", "t.csv"], "t.csv is also an input of this command."),
    ],
)
def test_wrong_grids_are_refused(rows, options, message):
    result = rows("tune", "t.csv", "--label", "y", *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
