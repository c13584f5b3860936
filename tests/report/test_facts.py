"""The facts of a report equal those recomputed here in plain Python."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import weigh
from tests.report import tables
from weigh import errors
from weigh.report.data_checks import unfamiliarity_facts
from weigh.report.facts import format_share


def probabilities(model: Any, table: dict[str, list[Any]]) -> list[dict[Any, float]]:
    return [dict(zip(model.classes, row, strict=True)) for row in model.predict_proba(table).tolist()]


def test_threshold_counts_equal_those_of_plain_python(spam: weigh.Report, spam_model: Any) -> None:
    table = tables.mails(400, 1)
    thresholds = spam.facts.thresholds
    assert thresholds is not None
    assert (thresholds.label, thresholds.other, thresholds.start) == ("spam", "ham", 50)
    shares = [row["spam"] for row in probabilities(spam_model, table)]
    for at in (0, 7, 50, 93, 100):
        row = thresholds.rows[at]
        predicted = [share >= at / 100 for share in shares]
        truth = [label == "spam" for label in table["kind"]]
        found = sum(p and t for p, t in zip(predicted, truth, strict=True))
        alarms = sum(p and not t for p, t in zip(predicted, truth, strict=True))
        missed = sum(t and not p for p, t in zip(predicted, truth, strict=True))
        assert (row.found, row.false_alarms, row.missed) == (found, alarms, missed)
        assert row.passed == 400 - found - alarms - missed
        assert row.recall == found / (found + missed)
        assert row.precision == (found / (found + alarms) if found + alarms else None)


def test_mistakes_are_the_rows_with_the_least_probability_of_their_class(
    spam: weigh.Report, spam_model: Any
) -> None:
    table = tables.mails(400, 1)
    shares = probabilities(spam_model, table)
    wrong = [
        (shares[at][label], at)
        for at, label in enumerate(table["kind"])
        if spam_model.classes[int(np.argmax(list(shares[at].values())))] != label
    ]
    mistakes = spam.facts.mistakes
    assert mistakes is not None
    assert mistakes.wrong == len(wrong)
    assert [each.row for each in mistakes.rows] == [at for _, at in sorted(wrong)[:10]]


def test_the_evidence_of_a_mistake_adds_up(spam: weigh.Report) -> None:
    assert spam.facts.mistakes is not None
    for each in spam.facts.mistakes.rows:
        total = math.fsum(reason.amount for reason in each.reasons)
        assert float(each.total.replace("−", "-")) == pytest.approx(total, abs=0.005)


def test_measures_equal_those_of_evaluate(spam: weigh.Report, spam_model: Any) -> None:
    evaluation = weigh.evaluate(spam_model, tables.mails(400, 1), "kind")
    assert isinstance(evaluation, weigh.Evaluation)
    values = {each.name: each.value for each in spam.facts.quality.measures}
    for measure in evaluation.measures:
        assert values[measure.name] == pytest.approx(measure.value, nan_ok=True)
    right = sum(each.rows for each in spam.facts.quality.confusion if each.true == each.predicted)
    assert right / 400 == evaluation.measure("accuracy").value


def test_the_baseline_is_the_share_of_the_most_frequent_class(spam: weigh.Report) -> None:
    kinds = tables.mails(400, 1)["kind"]
    assert spam.facts.quality.baseline == max(kinds.count("spam"), kinds.count("ham")) / 400


def test_facts_are_plain_json(spam: weigh.Report, attacked: weigh.Report) -> None:
    for report in (spam, attacked):
        text = json.dumps(report.to_dict(), allow_nan=False)
        assert json.loads(text) == report.to_dict()


def test_files_are_named_with_their_digests(spam_model: Any, tmp_path: Path) -> None:
    model, data = tmp_path / "spam.weigh", tmp_path / "more mails.csv"
    spam_model.save(model)
    rows = tables.mails(60, 2)
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    data.write_text("\n".join(lines) + "\n")
    facts = weigh.report_on(model, data).facts
    assert facts.model.digest == hashlib.sha256(model.read_bytes()).hexdigest()
    assert [each.digest for each in facts.reproduce.files] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in (model, data)
    ]
    assert facts.reproduce.commands[0] == "weigh report spam.weigh 'more mails.csv' -o report.html"


def test_training_rows_add_a_learning_curve(spam: weigh.Report, spam_model: Any) -> None:
    assert spam.facts.learning is not None
    assert {point.series for point in spam.facts.learning.points} == {"held-out rows", "training rows"}
    assert weigh.report_on(spam_model, tables.mails(50, 3)).facts.learning is None


def test_removing_the_named_features_changes_the_prediction(spam: weigh.Report, spam_model: Any) -> None:
    table = tables.mails(400, 1)
    assert spam.facts.mistakes is not None
    for each in spam.facts.mistakes.rows:
        row = {name: table[name][each.row] for name in ("sender", "offer", "length")}
        if each.flip == "No removal of features changes the prediction.":
            continue
        removed = [name for name in row if f"{name} = " in each.flip.partition(" it would predict ")[0]]
        assert removed
        changed = spam_model.predict(row | dict.fromkeys(removed))[0]
        assert each.flip.endswith(f" it would predict {changed}.")
        assert changed != each.predicted


def test_labels_of_training_rows_are_audited_by_leave_one_out(spam: weigh.Report) -> None:
    table = tables.mails()
    audit = spam.facts.audit
    assert audit is not None
    assert audit.of_training
    assert audit.left_out
    first = audit.rows[0]
    others = {name: values[: first.row] + values[first.row + 1 :] for name, values in table.items()}
    leave_one_out = weigh.NaiveBayes().fit(others, "kind")
    one = {name: values[first.row : first.row + 1] for name, values in table.items()}
    assert leave_one_out.predict(one)[0] == first.verdict != first.label == one["kind"][0]
    assert first.sure == format_share(float(leave_one_out.predict_proba(one).max()))


def test_training_rows_are_recognised(spam_model: Any) -> None:
    advice = "It was trained on these rows, so the measures are too optimistic: evaluate it on new rows."
    assert advice in weigh.report_on(spam_model, tables.mails()).facts.summary.next
    assert advice not in weigh.report_on(spam_model, tables.mails(300, 1)).facts.summary.next


def test_training_rows_of_a_logistic_regression_are_recognised() -> None:
    table = tables.mails()
    model = weigh.LogisticRegression().fit(table, "kind")
    advice = "It was trained on these rows, so the measures are too optimistic: evaluate it on new rows."
    assert advice in weigh.report_on(model, table, label="kind").facts.summary.next
    other = weigh.report_on(model, tables.mails(300, 1), label="kind")
    assert not any("trained on these rows" in each for each in other.facts.summary.next)


def test_an_overconfident_model_is_detected() -> None:
    rng = np.random.default_rng(0)
    label = rng.random(600) < 0.5
    clue = np.where(rng.random(600) < 0.75, label, ~label)
    # One column, repeated eight times: naive Bayes counts its evidence eight times.
    table = {f"clue{k}": clue.tolist() for k in range(8)} | {"y": label.tolist()}
    with pytest.warns(errors.DependentColumns):
        model = weigh.NaiveBayes().fit(table, "y")
    facts = weigh.report_on(model, table).facts
    assert facts.calibration is not None
    assert facts.calibration.verdict == "overconfident"
    assert facts.calibration.stated > 0.99
    assert any("calibrate" in step for step in facts.summary.next)
    with pytest.warns(errors.SeenRows):
        calibrated = weigh.calibrate(model, table)
    fine = weigh.report_on(calibrated, table).facts
    assert fine.calibration is not None
    assert fine.calibration.verdict == "fine"
    assert any(each.name == "calibration" and "temperature" in each.value for each in fine.model.settings)


def test_a_model_no_better_than_the_baseline_is_not_recommended() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=200).tolist(), "y": np.where(rng.random(200) < 0.5, "a", "b").tolist()}
    facts = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table | {"x": table["x"][::-1]}).facts
    assert facts.summary.next[0].startswith("Do not rely on it yet")


def test_unfamiliar_rows_are_reported(spam_model: Any) -> None:
    table = tables.mails(100, 4)
    table["sender"] = ["nobody"] * 30 + table["sender"][30:]
    facts = weigh.report_on(spam_model, table).facts
    assert facts.familiar is not None
    assert 30 <= facts.familiar.strange <= 32
    assert ", 30 with a value never seen" in facts.familiar.sentence
    assert "Of rows like the training rows, about 1 % are flagged by chance." in facts.familiar.sentence
    assert any("differ from the training rows" in step for step in facts.summary.next)


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_the_sentence_of_unfamiliar_rows_claims_no_rate_that_is_not_known() -> None:
    rng = np.random.default_rng(0)
    rows = {"n": rng.poisson(3.0, 200), "a": rng.choice(["x", "z"], 200)}
    y = np.array(["p", "q"] * 100)
    model = weigh.NaiveBayes(columns="count").fit({"n": rows["n"]}, y)
    assert unfamiliarity_facts(model.model_, {"n": rows["n"]}).sentence == (
        "No row of 200 can be examined: the model keeps too little of n. None of the 1 column has shifted "
        "notably."
    )
    mixed = weigh.NaiveBayes(columns={"n": "count"})
    weights = rng.uniform(0.5, 1.5, 200)
    sentence = unfamiliarity_facts(mixed.fit(rows, y, sample_weight=weights).model_, rows).sentence
    assert sentence.endswith(
        ". How many are flagged by chance is not known for weighted training rows. Not examined: n."
    )


def left_out(facts: Any) -> dict[str, str]:
    return {each.section: each.why for each in facts.left_out}


def test_a_perceptron_has_no_thresholds_and_no_calibration() -> None:
    model = weigh.Perceptron().fit(tables.mails(), "kind")
    facts = weigh.report_on(model, tables.mails(80, 5)).facts
    assert facts.thresholds is facts.calibration is None
    assert facts.audit is not None
    assert facts.audit.rows[0].sure.startswith("by ")
    assert {"Decision threshold", "Calibration"} <= left_out(facts).keys()
    assert facts.familiar is not None
    assert facts.mistakes is not None
    assert facts.mistakes.rows[0].unit == "points"


def test_a_regression_has_errors_and_weights() -> None:
    model = weigh.LinearRegression().fit(tables.homes(), "rent")
    rows = tables.homes(60, 1)
    facts = weigh.report_on(model, rows, train=tables.homes()).facts
    predicted = model.predict({name: rows[name] for name in ("area", "rooms")})
    error = np.abs(predicted - np.array(rows["rent"]))
    assert facts.numbers is not None
    assert [each.row for each in facts.numbers.missed] == np.argsort(-error, kind="stable")[:10].tolist()
    assert facts.numbers.has_intervals
    assert {each.name for each in facts.numbers.weights} == {"bias", "area", "rooms"}
    assert facts.learning is not None
    assert facts.mistakes is None


def test_classifiers_of_other_libraries_get_the_sections_that_need_only_predictions() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["cat", "dog", "owl"], 40)
    X = rng.normal(size=(120, 3)) + np.repeat([0, 1, 2], 40)[:, None]
    facts = weigh.report_on(GaussianNB().fit(X, y), X, y).facts
    assert facts.model.kind == "GaussianNB (sklearn)"
    assert facts.strongest is facts.schema is facts.familiar is None
    assert facts.mistakes is not None
    assert facts.mistakes.rows[0].reasons == ()
    assert [each.name for each in facts.mistakes.rows[0].values] == ["x0", "x1", "x2"]
    svc = weigh.report_on(LinearSVC().fit(X, y), X, y).facts
    assert svc.calibration is None
    assert svc.summary.tiles[0].name == "accuracy"


def test_models_of_stated_parameters_and_thresholds_have_reports() -> None:
    horse = weigh.BayesModel.from_parameters(
        class_prior={"Horse": 0.05, "Dog": 0.95}, columns={"speed": {"Horse": (11.5, 1), "Dog": (5, 1)}}
    )
    rows = {"speed": [9.0, 5.0, 6.0, 12.0]}
    facts = weigh.report_on(horse, rows, ["Horse", "Dog", "Dog", "Dog"]).facts
    assert facts.model.rows is None
    assert facts.mistakes is not None
    assert [each.row for each in facts.mistakes.rows] == [3]
    mails = tables.mails()
    stump = weigh.Threshold().fit({"length": mails["length"], "kind": mails["kind"]}, "kind")
    facts = weigh.report_on(stump, {"length": mails["length"], "kind": mails["kind"]}).facts
    assert facts.model.kind == "threshold"


def test_many_classes_have_their_most_frequent_confusions_listed() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 30, 900)
    x = np.where(rng.random(900) < 0.8, y, rng.integers(0, 30, 900))
    table = {"x": [f"v{v}" for v in x], "y": [f"c{v}" for v in y]}
    facts = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table).facts
    assert not facts.quality.is_whole
    assert all(each.true != each.predicted for each in facts.quality.confusion)
    assert facts.strongest is not None
    assert facts.strongest.left_out == 18


def test_an_invalid_number_of_mistakes_raises(spam_model: Any) -> None:
    with pytest.raises(errors.ParameterError, match="report_on: most must be a whole number from 1 to 50"):
        weigh.report_on(spam_model, tables.mails(), most=0)


def test_rows_whose_values_occur_in_training_are_not_taken_for_training_rows() -> None:
    table = {"x": ["a", "b"] * 50, "y": ["p", "q"] * 50}
    model = weigh.NaiveBayes().fit(table, "y")
    audit = weigh.report_on(model, {"x": ["a", "b"], "y": ["p", "q"]}).facts.audit
    assert audit is not None
    assert not audit.left_out
