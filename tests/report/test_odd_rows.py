"""Reports on unsuitable rows: unknown labels, one class, one row, and wrong training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

import weigh
from tests.report import tables
from weigh import errors
from weigh.report.summary import is_informative

Table = dict[str, list[Any]]


def relabelled(table: Table, labels: list[Any]) -> Table:
    return {**table, "kind": labels}


def first(table: Table, n: int) -> Table:
    return {name: values[:n] for name, values in table.items()}


@pytest.fixture(scope="module")
def half_unknown(spam_model: Any) -> Any:
    table = tables.mails(400, 1)
    labels = ["other" if at % 2 else kind for at, kind in enumerate(table["kind"])]
    return weigh.report_on(spam_model, relabelled(table, labels)).facts


def test_rows_without_a_known_label_raise(spam_model: Any) -> None:
    message = "none of the labels of these rows. Its classes are 'ham', 'spam', the labels are 'Ham'."
    with pytest.raises(errors.LabelError, match=message):
        weigh.report_on(spam_model, relabelled(tables.mails(20), ["Ham"] * 20))


def test_the_baseline_counts_labels_that_the_model_does_not_know(half_unknown: Any) -> None:
    assert half_unknown.quality.baseline == 0.5
    assert "correct on 50.0 %" in half_unknown.quality.sentences[1]
    assert half_unknown.summary.next[0] == (
        "200 of 400 rows have labels that the model does not know (other): correct the spelling, or train on "
        "such rows if this is a class of its own."
    )


def test_unknown_labels_are_not_taken_for_overconfidence(half_unknown: Any) -> None:
    assert half_unknown.calibration.verdict == "unknown labels"
    assert half_unknown.calibration.advice == ""


def test_rows_of_one_class_have_no_baseline(spam_model: Any) -> None:
    table = tables.mails(400, 1)
    ham = [at for at, kind in enumerate(table["kind"]) if kind == "ham"]
    facts = weigh.report_on(spam_model, {name: [v[at] for at in ham] for name, v in table.items()}).facts
    assert facts.quality.baseline is None
    assert facts.quality.sentences[1].endswith("with a constant prediction: all rows are ham.")
    assert facts.summary.next[0] == "Evaluate it on rows of other classes too: all of these are ham."
    assert not any("Do not rely" in step for step in facts.summary.next)
    assert {each.section for each in facts.left_out} >= {"Curves"}


def test_one_row_is_too_few_for_an_evaluation(spam_model: Any) -> None:
    facts = weigh.report_on(spam_model, first(tables.mails(400, 1), 1)).facts
    assert facts.summary.next[0] == "Evaluate it on more rows: 1 row is too few to say how good it is."
    assert not any("No measure here" in step or "Do not rely" in step for step in facts.summary.next)
    model = weigh.LinearRegression().fit(tables.homes(), "rent")
    facts = weigh.report_on(model, first(tables.homes(), 1)).facts
    assert "nan" not in " ".join(facts.quality.sentences)
    assert facts.summary.next[0].startswith("Evaluate it on more rows")


def test_tiles_omit_uninformative_intervals(spam_model: Any) -> None:
    report = weigh.report_on(spam_model, first(tables.mails(400, 1), 2))
    for tile in report.facts.summary.tiles:
        assert "> 99.99 %" not in tile.note
        assert "∞" not in tile.note
    accuracy = report.facts.quality.measure("accuracy")
    assert accuracy is not None
    assert is_informative(accuracy)


def test_a_regression_that_is_worse_than_the_mean_is_reported_as_such() -> None:
    homes = tables.homes()
    model = weigh.LinearRegression().fit(homes, "rent")
    facts = weigh.report_on(model, {**homes, "rent": homes["rent"][::-1]}).facts
    r2 = facts.quality.measure("r2")
    assert r2 is not None
    assert r2.value < r2.high < 0
    assert facts.quality.sentences[0].startswith("It is worse than always predicting the mean of these rows")
    assert (
        "Do not rely on it: it is significantly worse than always predicting the mean." in facts.summary.next
    )


def test_ties_are_counted_as_the_model_decides_them() -> None:
    table = {"a": ["x", "y", "x", "y"], "k": ["n", "n", "p", "p"]}
    facts = weigh.report_on(weigh.NaiveBayes(class_prior="uniform").fit(table, "k"), table).facts
    assert facts.thresholds is not None
    at = facts.thresholds.rows[facts.thresholds.start]
    n_predicted = sum(each.rows for each in facts.quality.confusion if each.predicted == "p")
    assert at.found + at.false_alarms == n_predicted == 0
    assert facts.thresholds.sentence.startswith("The model predicts p if its probability is above one half.")


def test_other_decision_rules_than_one_half_are_recognised() -> None:
    mails = tables.mails()
    X, y = np.c_[mails["length"], np.array(mails["offer"], float)], np.array(mails["kind"])
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)

    class Careful:
        """Predicts spam only with high probability."""

        classes_ = forest.classes_
        _estimator_type = "classifier"
        predict_proba = staticmethod(forest.predict_proba)

        def predict(self, rows: Any) -> Any:
            return np.where(forest.predict_proba(rows)[:, 1] > 0.9, "spam", "ham")

    facts = weigh.report_on(Careful(), X, y).facts
    assert facts.thresholds is not None
    assert facts.thresholds.sentence.startswith("The model does not decide by these probabilities alone")
    probability = forest.predict_proba(X)[:, 1]
    at = facts.thresholds.rows[50]
    assert at.found + at.false_alarms == float((probability >= 0.5).sum())


def test_a_perceptron_ranks_without_probabilities() -> None:
    report = weigh.report_on(weigh.Perceptron().fit(tables.mails(), "kind"), tables.mails(80, 5))
    assert report.facts.curves is not None
    assert "ranks the row of spam higher" in report.facts.curves.sentence
    assert "probability" not in report.facts.curves.sentence
    assert report.facts.audit is not None
    assert report.facts.audit.rows[0].sure.endswith(" points")


def test_too_few_training_rows_omit_the_learning_curve(spam_model: Any) -> None:
    for model, rows in (
        (spam_model, first(tables.mails(), 4)),
        (
            weigh.LogisticRegression().fit(tables.mails(), "kind"),
            relabelled(tables.mails(), ["ham"] * 299 + ["spam"]),
        ),
    ):
        facts = weigh.report_on(model, tables.mails(60, 1), train=rows).facts
        assert facts.learning is None
        reason = {each.section: each.why for each in facts.left_out}["Learning curve"]
        assert "too few" in reason
        assert "folds=" not in reason


def test_training_rows_without_a_column_raise(spam_model: Any) -> None:
    rows = tables.mails(30)
    del rows["length"]
    with pytest.raises(errors.ColumnError):
        weigh.report_on(spam_model, tables.mails(30, 1), train=rows)


def test_wrong_training_rows_are_recognised(spam_model: Any) -> None:
    facts = weigh.report_on(spam_model, tables.mails(60, 1), train=tables.mails(300, 9)).facts
    assert facts.audit is not None
    assert facts.audit.whose == "rows passed as training rows"
    assert facts.audit.sentence.startswith("The model was not trained on the rows passed as training rows. ")


def test_training_rows_may_be_arrays() -> None:
    mails = tables.mails()
    X, y = np.c_[mails["length"], np.array(mails["offer"], float)], np.array(mails["kind"])
    facts = weigh.report_on(weigh.NaiveBayes().fit(X, y), X, y, train=(X, y)).facts
    assert facts.learning is not None
    assert facts.audit is not None
    assert facts.audit.left_out


def test_labels_are_called_wrong_only_by_a_good_and_calibrated_model() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 1000)
    table = {"x": (y + rng.normal(0, 2, 1000)).tolist(), "y": [f"c{v}" for v in y]}
    model = weigh.NaiveBayes().fit(table, "y")
    audit = weigh.report_on(model, first(table, 300), train=table).facts.audit
    assert audit is not None
    assert "wrong rather than hard" not in audit.sentence
    assert audit.advice == ""


def test_a_few_wrong_labels_are_reported() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(600) < 0.5, 0.0, 10.0) + rng.normal(size=600)
    table = {"x": x.tolist(), "y": np.where(x > 5, "high", "low").tolist()}
    wrong = {**table, "y": ["high" if at < 5 else label for at, label in enumerate(table["y"])]}
    n_wrong = sum(a != b for a, b in zip(wrong["y"], table["y"], strict=True))
    nb = weigh.NaiveBayes(columns=weigh.Number(spread="own")).fit(wrong, "y")
    facts = weigh.report_on(nb, table, train=wrong).facts
    assert facts.audit is not None
    assert facts.audit.sentence.endswith(f"; {n_wrong} labels look wrong rather than hard to predict.")


def test_calibration_advice_names_a_tool_that_fits_the_model() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.random(300) < 0.5
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    other = rng.normal(size=(300, 3)), rng.random(300) < 0.5
    calibration = weigh.report_on(forest, *other).facts.calibration
    assert calibration is not None
    assert calibration.verdict == "overconfident"
    assert calibration.advice.endswith("(scikit-learn's CalibratedClassifierCV).")


def test_a_calibrated_model_is_described_as_such(spam_model: Any) -> None:
    calibrated = weigh.calibrate(spam_model, tables.mails(300, 5), "kind")
    rng = np.random.default_rng(0)
    table = tables.mails(400, 1)
    noisy = [{"spam": "ham", "ham": "spam"}[k] if rng.random() < 0.25 else k for k in table["kind"]]
    facts = weigh.report_on(calibrated, relabelled(table, noisy)).facts
    assert "Its probabilities were calibrated on rows it was not trained on" in facts.summary.what
    assert facts.calibration is not None
    assert facts.calibration.advice.startswith(
        "Do not trust its probabilities, which are too high: it was calibrated on other rows"
    )


def test_calibration_is_not_advised_for_a_model_of_one_class() -> None:
    mails = tables.mails()
    model = weigh.NaiveBayes().fit(relabelled(mails, ["ham"] * 300), "kind")
    facts = weigh.report_on(model, relabelled(tables.mails(100, 1), ["ham"] * 100)).facts
    assert facts.calibration is None or facts.calibration.advice == ""


def test_log_odds_are_not_called_probabilities() -> None:
    model = weigh.LogisticRegression().fit(tables.mails(), "kind")
    sentence = weigh.report_on(model, tables.mails(60, 1)).facts.model.sentence
    assert sentence.endswith("to the log-odds of the classes, which give the probabilities.")


def test_reasons_of_omitted_sections_contain_no_internal_names() -> None:
    mails = {name: tables.mails()[name] for name in ("sender", "offer", "kind")}
    reports = [weigh.report_on(weigh.JointBayes().fit(mails, "kind"), mails).facts]
    X, y = np.c_[tables.mails()["length"]], np.array(tables.mails()["kind"])
    reports.append(weigh.report_on(SVC().fit(X, y), X, y).facts)
    for facts in reports:
        for each in facts.left_out:
            assert not any(word in each.why for word in ("got ", "JointModel", "SVC", "explain "))
    assert "Columns" in {each.section for each in reports[1].left_out}
