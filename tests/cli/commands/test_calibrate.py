"""`weigh calibrate`, and `weigh fit --set calibration=...`: what they write, tell and refuse."""

from __future__ import annotations

import json

import numpy as np
import pytest

import weigh

TOLD = """Calibrated on 300 rows of held.csv: temperature 1.935.

  on these rows      before   after
  accuracy           0.6900  0.6900
  log loss           0.6441  0.5953
  brier              0.2193  0.2055
  calibration error  0.1180  0.0439

The model is in sure.weigh.
"""


def lines(n: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = y + 1.5 * rng.normal(size=n)
    rows = ["one,two,three,kind"]
    rows += [f"{a:.3f},{a:.2f},{a:.1f},{'no' if b else 'yes'}" for a, b in zip(x.tolist(), y, strict=True)]
    return "\n".join(rows) + "\n"


@pytest.fixture
def held(run, tmp_path):
    (tmp_path / "train.csv").write_text(lines(200, 0))
    (tmp_path / "held.csv").write_text(lines(300, 1))
    assert (
        run("fit", "train.csv", "--label", "kind", "--learner", "naive-bayes", "-o", "m.weigh").exit_code == 0
    )
    return run


def test_losses_before_and_after_are_printed(held, tmp_path):
    assert held("calibrate", "m.weigh", "held.csv", "-o", "sure.weigh").output == TOLD
    model = weigh.load(tmp_path / "m.weigh")
    again = weigh.calibrate(model, weigh.open(tmp_path / "held.csv", label="kind"))
    assert (tmp_path / "sure.weigh").read_bytes() == again.to_bytes()


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_json_holds_the_map_and_the_measures(held, tmp_path, method):
    given = ("m.weigh", "held.csv", "-o", "sure.weigh", "--method", method, "--label", "kind", "--json")
    printed = json.loads(held("calibrate", *given).output)
    model = weigh.load(tmp_path / "sure.weigh")
    assert printed["calibration"] == model.calibration.to_dict()
    assert (printed["rows"], printed["model"]) == (300, "sure.weigh")
    found = weigh.evaluate(model, weigh.open(tmp_path / "held.csv", label="kind"))
    assert printed["measures"]["log_loss"]["after"] == found.measure("log_loss").value
    assert printed["measures"]["log_loss"]["before"] > printed["measures"]["log_loss"]["after"]


def test_a_perceptron_has_no_losses_before(held):
    held("fit", "train.csv", "--label", "kind", "--learner", "perceptron", "-o", "p.weigh")
    printed = held("calibrate", "p.weigh", "held.csv", "-o", "sure.weigh", "--method", "platt").output
    assert "log loss                –  0.6" in printed
    assert "P(no)" in held("predict", "sure.weigh", "held.csv", "--proba").output


def test_a_calibrated_file_is_used_like_any_other(held):
    held("calibrate", "m.weigh", "held.csv", "-o", "sure.weigh", "--method", "platt")
    assert held("evaluate", "sure.weigh", "held.csv").exit_code == 0
    assert "  calibration  " in held("explain", "sure.weigh", "held.csv", "--row", "0").output
    assert "What speaks for no" in held("explain", "sure.weigh").output
    assert "all checks agree; not checked: calibration." in held("verify", "sure.weigh", "train.csv").output
    assert "calibration: new, platt" in held("diff", "m.weigh", "sure.weigh").output
    assert held("predict", "sure.weigh", "held.csv", "--check", "--unsure", "0.4").exit_code == 0
    assert "(replaced)" in held("calibrate", "sure.weigh", "held.csv", "-o", "m.weigh").output


def test_fit_calibrates_on_leave_one_out_scores(held, tmp_path):
    given = ("train.csv", "--label", "kind", "-o", "f.weigh", "--set", "calibration=temperature")
    printed = held("fit", *given).output
    source = weigh.open(tmp_path / "train.csv", label="kind")
    with pytest.warns(weigh.errors.DependentColumns):
        expected = weigh.NaiveBayes(calibration="temperature").fit(source)
    assert (tmp_path / "f.weigh").read_bytes() == expected.model_.to_bytes()
    assert f"Calibration: {expected.calibration_}." in " ".join(printed.split())
    printed = json.loads(held("fit", *given, "--json").output)
    assert printed["calibration"] == expected.calibration_.to_dict() | {"text": str(expected.calibration_)}


def test_fit_decides_by_itself_whether_to_calibrate(held, tmp_path):
    (tmp_path / "few.csv").write_text(lines(199, 0))
    given = ("--label", "kind", "-o", "f.weigh", "--set", "calibration=auto")
    printed = held("fit", "held.csv", *given).output
    assert "\n\nCalibration: temperature 3.105 (leave-one-out log loss 0.78 -> 0.60).\n\n" in printed
    printed = held("fit", "few.csv", *given).output
    assert "\n\nCalibration: none, because there are fewer than 200 rows.\n\n" in printed
    printed = json.loads(held("fit", "few.csv", *given, "--json").output)
    assert printed["calibration"] == {
        "method": None,
        "reason": "there are fewer than 200 rows",
        "text": "none, because there are fewer than 200 rows",
    }


@pytest.mark.parametrize(
    ("given", "code", "printed"),
    [
        (("calibrate", "m.weigh", "held.csv"), 2, "Missing option '-o' / '--output'."),
        (("calibrate", "m.weigh", "held.csv", "-o", "m.weigh"), 1, "m.weigh is also an input of this"),
        (
            ("calibrate", "m.weigh", "held.csv", "-o", "x.weigh", "--method", "beta"),
            2,
            "'beta' is not one of",
        ),
        (("calibrate", "m.weigh", "held.csv", "-o", "x.weigh", "--label", "no"), 1, "has no column 'no'"),
        (
            ("fit", "train.csv", "--label", "kind", "--set", "calibration=beta"),
            1,
            "NaiveBayes: calibration must be None, 'auto', 'temperature', 'platt' or 'isotonic', got 'beta'.",
        ),
        (
            ("fit", "train.csv", "--label", "kind", "--learner", "joint", "--set", "calibration=platt"),
            2,
            "is not NAME=VALUE with a parameter of joint",
        ),
    ],
)
def test_invalid_options_are_rejected(held, tmp_path, given, code, printed):
    result = held(*given)
    assert result.exit_code == code
    assert printed in " ".join(str(result.output).split())
    assert not (tmp_path / "x.weigh").exists()
