from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.data import LabelledTexts
from benchmarks.quality import default_settings, default_summary
from benchmarks.quality.default_settings import BinnedBayes, list_contenders
from benchmarks.quality.default_summary import (
    ERRORS,
    LOG_LOSS,
    compare_splits,
    expected_calibration_error,
    fit_temperature,
    format_comparison,
    format_report,
)
from benchmarks.quality.defaults import measure_table
from benchmarks.quality.public_tables import Table, find_class, find_number, is_tuning_table, make_table
from benchmarks.quality.text_defaults import read_body, score_contender


def make_frame(rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "x": x,
            "scaled": 1e4 * (x + rng.normal(size=rows)),
            "colour": np.where(rng.random(rows) < 0.3, "red", "blue"),
            "copy": np.where(x > 0, 1, 2),
            "note": [f"note {i}" for i in range(rows)],
            "label": np.where(x > 0, "yes", "no"),
        }
    )


def make_record(table: str, default: list[float], rival: list[float]) -> dict[str, Any]:
    def result(role: str, losses: list[float]) -> dict[str, Any]:
        return {"role": role, "learner": "NaiveBayes", "losses": {ERRORS: losses}, "seconds": 0.001}

    contenders = {"NaiveBayes()": result("default", default), "CategoricalNB": result("peer", rival)}
    return {"table": table, "rows": 100, "columns": 3, "contenders": contenders, "chosen": {}, "failures": {}}


def test_the_label_is_the_most_balanced_factor_and_its_copies_are_dropped() -> None:
    table = make_table("t", make_frame(), "classification")
    assert table is not None
    assert set(table.y) == {"yes", "no"}
    # `x` separates the classes by one cut, `copy` codes them, `id` counts the rows, `note` never repeats.
    assert list(table.X) == ["scaled", "colour"]


def test_a_counter_of_the_rows_is_dropped_from_a_sample_too() -> None:
    frame = make_frame(2_000).drop(columns=["x", "copy"])
    table = make_table("t", frame, "classification", "label", max_rows=200)
    assert table is not None
    assert len(table.y) == 200
    assert list(table.X) == ["scaled", "colour"]


def test_a_regression_drops_numbers_that_nearly_equal_the_label() -> None:
    frame = make_frame().assign(twice=lambda frame: 2 * frame["x"] + 1)
    assert find_number(frame[["x", "twice", "scaled"]]) == "x"
    table = make_table("t", frame[["x", "twice", "scaled", "colour"]], "regression", "x")
    assert table is not None
    assert list(table.X) == ["scaled", "colour"]
    assert make_table("t", frame.assign(sum=1e4 * frame["x"] + frame["scaled"]), "regression", "sum") is None


def test_a_label_needs_ten_rows_of_every_class() -> None:
    rare = pd.DataFrame({"a": ["x"] * 100 + ["y"] * 9}, dtype=object)
    assert find_class(rare) is None
    assert find_class(pd.DataFrame({"a": ["x"] * 100 + ["y"] * 10}, dtype=object)) == "a"


def test_well_known_tables_belong_to_the_tuning_half() -> None:
    X = pd.DataFrame({"x": [1.0]})
    assert not is_tuning_table("adult/train.csv")
    assert Table("adult/train.csv", "classification", X, X["x"]).half == "tuning"
    halves = {Table(name, "regression", X, X["x"]).half for name in ("MASS/crabs", "MASS/biopsy")}
    assert halves == {"tuning", "held-out"}


def test_a_setting_that_this_version_does_not_know_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {
        "known": {"scale": "unit"},
        "unknown value": {"scale": "no such scale"},
        "unknown parameter": {"no_such_parameter": 1},
    }
    monkeypatch.setattr(default_settings, "MANUAL", {**default_settings.MANUAL, "Perceptron": settings})
    names = [c.name for c in list_contenders("classification") if c.learner == "Perceptron"]
    assert names == ["Perceptron()", "Perceptron: known", "sklearn Perceptron"]


def test_manual_settings_state_what_a_version_may_choose_automatically() -> None:
    fixed = {c.name: c.make.args[1] for c in list_contenders("classification") if c.role == "setting"}
    assert fixed["NaiveBayes: own spread"]["calibration"] is None
    assert fixed["NaiveBayes: own spread, temperature"]["calibration"] == "temperature"
    assert fixed["NaiveBayes: 10 bins"]["calibration"] is None
    assert fixed["NaiveBayes: 10 bins"]["number"].bins == 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_contender_has_a_loss_for_every_split() -> None:
    table = make_table("t", make_frame().drop(columns=["x", "copy"]), "classification")
    assert table is not None
    record = measure_table(table, n_repeats=1)
    assert record["failures"] == {}
    for name, fields in record["contenders"].items():
        assert {len(losses) for losses in fields["losses"].values()} == {5}, name
    assert set(record["chosen"]) == {"NaiveBayes", "Perceptron", "LogisticRegression"}
    chosen = record["chosen"]["Perceptron"][ERRORS]
    assert chosen["losses"] == [
        record["contenders"][name]["losses"][ERRORS][i] for i, name in enumerate(chosen["names"])
    ]
    assert LOG_LOSS not in record["contenders"]["Perceptron()"]["losses"]
    assert "best manual setting (oracle)" in format_report([record])
    again = measure_table(table, n_repeats=1, roles=["default"])
    assert {fields["role"] for fields in again["contenders"].values()} == {"default"}
    losses = record["contenders"]["NaiveBayes()"]["losses"]
    assert again["contenders"]["NaiveBayes()"]["losses"] == losses


def test_the_peer_with_bins_and_levels_equals_the_product_of_its_parts() -> None:
    from sklearn.naive_bayes import GaussianNB

    frame = make_frame()
    numbers = frame[["x", "scaled"]]
    peer = BinnedBayes(numbers, bins=None).fit(numbers, frame["label"].to_numpy())
    expected = GaussianNB().fit(numbers, frame["label"]).predict_proba(numbers)
    np.testing.assert_allclose(peer.predict_proba(numbers), expected, atol=1e-9)


def test_the_interval_is_that_of_the_corrected_resampled_t_test() -> None:
    losses, rival = [0.5, 0.3, 0.4, 0.6, 0.2], [0.3, 0.2, 0.2, 0.3, 0.2]
    difference = compare_splits("t", losses, rival)
    assert difference.mean == pytest.approx(0.16)
    # s² = 0.013, 1/J + n_test/n_train = 0.45, t(4) = 2.7764
    assert difference.margin == pytest.approx(2.7764 * np.sqrt(0.013 * 0.45), rel=1e-4)
    assert not difference.is_worse
    assert compare_splits("t", [0.5] * 5, [0.4] * 5).is_worse


def test_the_report_names_the_tables_on_which_a_default_loses() -> None:
    records = [make_record("lost", [0.5] * 5, [0.4] * 5), make_record("even", [0.1] * 5, [0.1] * 5)]
    report = format_report(records)
    assert "| NaiveBayes() | error rate | CategoricalNB | 2 | +5.00 (+0.00 to +10.00) |" in report
    assert "- NaiveBayes(), error rate, worse than CategoricalNB: lost (+10.00)." in report
    assert "None." in format_report(records[1:])


def test_two_runs_are_compared_on_the_tables_that_both_have() -> None:
    before = [make_record("a", [0.5] * 5, [0.4] * 5), make_record("b", [0.5] * 5, [0.4] * 5)]
    after = [make_record("a", [0.3] * 5, [0.4] * 5), make_record("c", [0.9] * 5, [0.4] * 5)]
    text = format_comparison(before, [*after, {**before[1], "columns": 2}])
    assert "| NaiveBayes() | error rate | 1 | -20.00 (-20.00 to -20.00) |" in text
    assert "- NaiveBayes(), error rate, better than before: a (-20.00)." in text


def test_overconfident_predictions_have_a_temperature_above_one_and_a_calibration_error() -> None:
    rng = np.random.default_rng(0)
    logit = rng.normal(size=4_000)
    codes = (rng.random(4_000) < 1 / (1 + np.exp(-logit))).astype(np.int64)

    def probabilities(factor: float) -> Any:
        p = 1 / (1 + np.exp(-factor * logit))
        return np.column_stack([1 - p, p])

    assert fit_temperature(probabilities(3.0), codes) == pytest.approx(3.0, rel=0.15)
    assert fit_temperature(probabilities(1.0), codes) == pytest.approx(1.0, rel=0.15)
    assert expected_calibration_error(probabilities(1.0), codes) < 0.03
    assert expected_calibration_error(probabilities(3.0), codes) > 0.1


def test_ranks_leave_out_tables_on_which_a_contender_failed() -> None:
    records = [make_record("a", [0.5] * 5, [0.4] * 5), make_record("b", [0.1] * 5, [0.4] * 5)]
    del records[1]["contenders"]["CategoricalNB"]
    assert "| NaiveBayes() | 0.5000 | 0.5000 | 2.00 |" in default_summary.format_ranks(records)


def test_the_body_of_a_mail_has_its_text_parts_only() -> None:
    mail = b"Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b\n"
    mail += b"Content-Type: image/png\n\nnoise\n--b\nContent-Type: text/html\n\n<b>last</b>\n--b--\n"
    assert read_body(mail) == "first\n<b>last</b>"


def test_texts_are_scored_by_accuracy_and_log_loss() -> None:
    class Fair:
        classes_ = np.array(["a", "b"])

        def fit(self, texts: Any, labels: Any) -> Fair:
            return self

        def predict_proba(self, texts: Any) -> Any:
            return np.full((len(texts), 2), 0.5)

    texts = LabelledTexts(["x", "y"], np.array(["a", "b"]))
    score = score_contender(Fair, [(texts, texts)])
    assert score.accuracy == 0.5
    assert np.concatenate(score.log_losses) == pytest.approx(np.log(2))
