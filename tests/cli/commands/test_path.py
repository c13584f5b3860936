"""`weigh path`: the fits it tells, the picture it draws, what it refuses."""

from __future__ import annotations

import json

import pytest

import weigh
from tests.cli.test_fit_regression import FLATS

TOLD = """4 fits over 3 features, strong penalty first, on standardised numbers

  l2       features  largest weight        gap  held-out loss  ± std. error
  7500            3           rooms  8.259e−11        80693           3e+04
  7.5             3           rooms  8.259e−11        14217         5.9e+03
  0.0075          3  district=south  8.259e−11       1000.3 *       3.7e+02
  7.5e−06         3  district=south  8.259e−11       1481.3           8e+02

  * smallest held-out loss
"""


@pytest.fixture
def flats(run, tmp_path):
    (tmp_path / "flats.csv").write_text(FLATS)
    return run


def test_path_prints_every_strength_and_marks_the_best(flats):
    given = ("--label", "rent", "--set", "prior=normal:cv", "--set", "scale=unit", "--folds", "5", "--n", "4")
    assert flats("path", "flats.csv", *given).output == TOLD


def test_a_lasso_begins_without_any_weight(flats):
    given = ("--label", "rent", "--set", "prior=laplace:cv", "--set", "scale=unit", "--n", "4", "--json")
    expected = json.loads(flats("path", "flats.csv", *given).output)
    assert (expected["penalty"], expected["weights"][0], expected["l2"]) == ("l1", [0.0] * 3, [0.0] * 4)
    assert any(expected["weights"][-1])


def test_json_is_what_python_finds(flats, tmp_path):
    given = ("--label", "district", "--learner", "logistic", "--n", "3", "--json")
    expected = json.loads(flats("path", "flats.csv", *given).output)
    source = weigh.open(tmp_path / "flats.csv", label="district")
    assert expected == weigh.path(weigh.LogisticRegression(), source, n=3).to_dict()


def test_the_picture_is_written_and_its_path_printed(flats, tmp_path):
    pytest.importorskip("altair")
    given = ("--label", "rent", "--set", "prior=1", "--n", "3", "--plot", "path.svg")
    assert flats("path", "flats.csv", *given).output.endswith("\n\nThe picture is in path.svg.\n")
    assert (tmp_path / "path.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--label", "rent"],
            1,
            "weigh: path needs a prior whose strength can change: --set prior=normal:cv for ridge, "
            "laplace:cv for lasso, or penalty:l1=1,l2=1 for an elastic net.\n",
        ),
        (
            ["--label", "rent", "--set", "prior=1", "--ratio", "2"],
            1,
            "weigh: path: ratio must be a share between 0 and 1, got 2.0.\n",
        ),
        (
            ["--label", "district", "--learner", "logistic", "--set", "method=online"],
            1,
            "weigh: A regularisation path needs exact fits. Leave out --set method=online.\n",
        ),
        (
            ["--label", "rent", "--set", "prior=1", "--plot", "path.pdf"],
            2,
            "Error: Invalid value for '--plot': 'path.pdf' does not end in .svg, .png or .html.\n",
        ),
        (
            [],
            2,
            "Error: Name the column to predict with --label. The columns are 'size', 'rooms', 'district', "
            "'rent'.\n",
        ),
    ],
)
def test_path_rejects_invalid_options_in_one_sentence(flats, options, code, said):
    result = flats("path", "flats.csv", *options)
    assert result.exit_code == code
    assert result.output.endswith(said)
