"""What a report tells is what the model and the rows say, recomputed here in plain Python."""

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
from weigh.report.facts import format_share


def probabilities(model: Any, table: dict[str, list[Any]]) -> list[dict[Any, float]]:
    return [dict(zip(model.classes, row, strict=True)) for row in model.predict_proba(table).tolist()]


def test_thresholds_count_what_plain_python_counts(spam: weigh.Report, spam_model: Any) -> None:
    table = tables.mails(400, 1)
    told = spam.facts.thresholds
    assert told is not None
    assert (told.label, told.other, told.start) == ("spam", "ham", 50)
    shares = [row["spam"] for row in probabilities(spam_model, table)]
    for at in (0, 7, 50, 93, 100):
        row = told.rows[at]
        said = [share >= at / 100 for share in shares]
        truth = [label == "spam" for label in table["kind"]]
        found = sum(s and t for s, t in zip(said, truth, strict=True))
        alarms = sum(s and not t for s, t in zip(said, truth, strict=True))
        missed = sum(t and not s for s, t in zip(said, truth, strict=True))
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
    told = spam.facts.mistakes
    assert told is not None
    assert told.wrong == len(wrong)
    assert [each.row for each in told.rows] == [at for _, at in sorted(wrong)[:10]]


def test_the_evidence_of_a_mistake_adds_up(spam: weigh.Report) -> None:
    assert spam.facts.mistakes is not None
    for each in spam.facts.mistakes.rows:
        total = math.fsum(reason.amount for reason in each.reasons)
        assert float(each.total.replace("−", "-")) == pytest.approx(total, abs=0.005)


def test_quality_is_that_of_evaluate(spam: weigh.Report, spam_model: Any) -> None:
    found = weigh.evaluate(spam_model, tables.mails(400, 1), "kind")
    assert isinstance(found, weigh.Evaluation)
    told = {each.name: each.value for each in spam.facts.quality.measures}
    for measure in found.measures:
        assert told[measure.name] == pytest.approx(measure.value, nan_ok=True)
    right = sum(each.rows for each in spam.facts.quality.confusion if each.true == each.predicted)
    assert right / 400 == found.measure("accuracy").value


def test_the_baseline_is_the_share_of_the_most_frequent_class(spam: weigh.Report) -> None:
    kinds = tables.mails(400, 1)["kind"]
    assert spam.facts.quality.baseline == max(kinds.count("spam"), kinds.count("ham")) / 400


def test_facts_are_plain_json(spam: weigh.Report, attacked: weigh.Report) -> None:
    for report in (spam, attacked):
        written = json.dumps(report.to_dict(), allow_nan=False)
        assert json.loads(written) == report.to_dict()


def test_files_are_named_with_their_digests(spam_model: Any, tmp_path: Path) -> None:
    model, data = tmp_path / "spam.weigh", tmp_path / "more mails.csv"
    spam_model.save(model)
    rows = tables.mails(60, 2)
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    data.write_text("\n".join(lines) + "\n")
    told = weigh.report_on(model, data).facts
    assert told.model.digest == hashlib.sha256(model.read_bytes()).hexdigest()
    assert [each.digest for each in told.reproduce.files] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in (model, data)
    ]
    assert told.reproduce.commands[0] == "weigh report spam.weigh 'more mails.csv' -o report.html"


def test_what_training_rows_add(spam: weigh.Report, spam_model: Any) -> None:
    assert spam.facts.learning is not None
    assert {point.series for point in spam.facts.learning.points} == {"rows held out", "rows learned from"}
    assert weigh.report_on(spam_model, tables.mails(50, 3)).facts.learning is None


def test_without_what_a_flip_names_the_verdict_is_another(spam: weigh.Report, spam_model: Any) -> None:
    table = tables.mails(400, 1)
    assert spam.facts.mistakes is not None
    for each in spam.facts.mistakes.rows:
        row = {name: table[name][each.row] for name in ("sender", "offer", "length")}
        if each.flip == "Whatever is taken away, the verdict stays.":
            continue
        removed = [name for name in row if f"{name} = " in each.flip.partition(" it would say ")[0]]
        assert removed
        changed = spam_model.predict(row | dict.fromkeys(removed))[0]
        assert each.flip.endswith(f" it would say {changed}.")
        assert changed != each.predicted


def test_labels_of_training_rows_are_judged_by_a_model_that_never_saw_them(spam: weigh.Report) -> None:
    table = tables.mails()
    told = spam.facts.audit
    assert told is not None
    assert told.of_training
    assert told.left_out
    first = told.rows[0]
    rest = {name: values[: first.row] + values[first.row + 1 :] for name, values in table.items()}
    without = weigh.NaiveBayes().fit(rest, "kind")
    one = {name: values[first.row : first.row + 1] for name, values in table.items()}
    assert without.predict(one)[0] == first.verdict != first.label == one["kind"][0]
    assert first.sure == format_share(float(without.predict_proba(one).max()))


def test_rows_that_the_model_has_learned_are_recognised(spam_model: Any) -> None:
    flattered = "It has learned these very rows, so the figures flatter it: judge it on rows it has not seen."
    assert flattered in weigh.report_on(spam_model, tables.mails()).facts.summary.next
    assert flattered not in weigh.report_on(spam_model, tables.mails(300, 1)).facts.summary.next


def test_an_over_sure_model_is_called_so() -> None:
    rng = np.random.default_rng(0)
    label = rng.random(600) < 0.5
    clue = np.where(rng.random(600) < 0.75, label, ~label)
    # One clue, told eight times: naive Bayes takes it for eight.
    table = {f"clue{k}": clue.tolist() for k in range(8)} | {"y": label.tolist()}
    with pytest.warns(errors.DependentColumns):
        model = weigh.NaiveBayes().fit(table, "y")
    told = weigh.report_on(model, table).facts
    assert told.calibration is not None
    assert told.calibration.verdict == "over-sure"
    assert told.calibration.stated > 0.99
    assert any("calibrate" in step for step in told.summary.next)
    with pytest.warns(errors.SeenRows):
        calibrated = weigh.calibrate(model, table)
    fine = weigh.report_on(calibrated, table).facts
    assert fine.calibration is not None
    assert fine.calibration.verdict == "fine"
    assert any(each.name == "calibration" and "temperature" in each.value for each in fine.model.settings)


def test_a_model_no_better_than_guessing_is_not_recommended() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=200).tolist(), "y": np.where(rng.random(200) < 0.5, "a", "b").tolist()}
    told = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table | {"x": table["x"][::-1]}).facts
    assert told.summary.next[0].startswith("Do not rely on it yet")


def test_strange_rows_and_shifted_columns_are_told(spam_model: Any) -> None:
    table = tables.mails(100, 4)
    table["sender"] = ["nobody"] * 30 + table["sender"][30:]
    told = weigh.report_on(spam_model, table).facts
    assert told.familiar is not None
    assert told.familiar.strange == 30
    assert any("unlike training" in step for step in told.summary.next)


def left_out(facts: Any) -> dict[str, str]:
    return {each.section: each.why for each in facts.left_out}


def test_a_perceptron_has_no_thresholds_and_no_calibration() -> None:
    model = weigh.Perceptron().fit(tables.mails(), "kind")
    facts = weigh.report_on(model, tables.mails(80, 5)).facts
    assert facts.thresholds is facts.calibration is None
    assert facts.audit is not None
    assert facts.audit.rows[0].sure.startswith("by ")
    assert {"Decision threshold", "Calibration", "Unfamiliar rows"} <= left_out(facts).keys()
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


def test_classifiers_of_others_get_what_their_answers_allow() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["cat", "dog", "owl"], 40)
    X = rng.normal(size=(120, 3)) + np.repeat([0, 1, 2], 40)[:, None]
    facts = weigh.report_on(GaussianNB().fit(X, y), X, y).facts
    assert facts.model.kind == "GaussianNB of sklearn"
    assert facts.strongest is facts.schema is facts.familiar is None
    assert facts.mistakes is not None
    assert facts.mistakes.rows[0].reasons == ()
    assert [each.name for each in facts.mistakes.rows[0].values] == ["x0", "x1", "x2"]
    svc = weigh.report_on(LinearSVC().fit(X, y), X, y).facts
    assert svc.calibration is None
    assert svc.summary.tiles[0].name == "accuracy"


def test_models_of_stated_numbers_and_of_one_column_are_told() -> None:
    horse = weigh.BayesModel.from_parameters(
        class_prior={"Horse": 0.05, "Dog": 0.95}, columns={"speed": {"Horse": (11.5, 1), "Dog": (5, 1)}}
    )
    rows = {"speed": [9.0, 5.0, 6.0, 12.0]}
    told = weigh.report_on(horse, rows, ["Horse", "Dog", "Dog", "Dog"]).facts
    assert told.model.rows is None
    assert told.mistakes is not None
    assert [each.row for each in told.mistakes.rows] == [3]
    mails = tables.mails()
    stump = weigh.Threshold().fit({"length": mails["length"], "kind": mails["kind"]}, "kind")
    facts = weigh.report_on(stump, {"length": mails["length"], "kind": mails["kind"]}).facts
    assert facts.model.kind == "threshold"


def test_many_classes_have_their_commonest_mistakes_listed() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 30, 900)
    x = np.where(rng.random(900) < 0.8, y, rng.integers(0, 30, 900))
    table = {"x": [f"v{v}" for v in x], "y": [f"c{v}" for v in y]}
    facts = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table).facts
    assert not facts.quality.is_whole
    assert all(each.true != each.predicted for each in facts.quality.confusion)
    assert facts.strongest is not None
    assert facts.strongest.left_out == 18


def test_how_many_to_list_must_be_a_number(spam_model: Any) -> None:
    with pytest.raises(errors.ParameterError, match="report_on: most must be a whole number from 1 to 50"):
        weigh.report_on(spam_model, tables.mails(), most=0)


def test_rows_whose_values_all_occur_in_training_are_not_taken_for_training_rows() -> None:
    table = {"x": ["a", "b"] * 50, "y": ["p", "q"] * 50}
    model = weigh.NaiveBayes().fit(table, "y")
    told = weigh.report_on(model, {"x": ["a", "b"], "y": ["p", "q"]}).facts.audit
    assert told is not None
    assert not told.left_out
