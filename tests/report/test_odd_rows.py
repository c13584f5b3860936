"""Rows that are hard to judge by: strange labels, one class, one row, and training rows that are none."""

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
def half_strange(spam_model: Any) -> Any:
    table = tables.mails(400, 1)
    labels = ["other" if at % 2 else kind for at, kind in enumerate(table["kind"])]
    return weigh.report_on(spam_model, relabelled(table, labels)).facts


def test_rows_without_a_known_label_are_refused(spam_model: Any) -> None:
    told = "The model knows none of the labels of these rows. It knows 'ham', 'spam', they have 'Ham'."
    with pytest.raises(errors.LabelError, match=told):
        weigh.report_on(spam_model, relabelled(tables.mails(20), ["Ham"] * 20))


def test_the_baseline_counts_labels_that_the_model_does_not_know(half_strange: Any) -> None:
    assert half_strange.quality.baseline == 0.5
    assert "right on 50.0 %" in half_strange.quality.sentences[1]
    assert half_strange.summary.next[0] == (
        "200 rows of 400 have labels that the model does not know (other): learn from such rows if they are "
        "classes of their own, or mend the spelling."
    )


def test_strange_labels_are_not_taken_for_over_sureness(half_strange: Any) -> None:
    assert half_strange.calibration.verdict == "strangers"
    assert half_strange.calibration.advice == ""


def test_rows_of_one_class_are_not_compared(spam_model: Any) -> None:
    table = tables.mails(400, 1)
    ham = [at for at, kind in enumerate(table["kind"]) if kind == "ham"]
    told = weigh.report_on(spam_model, {name: [v[at] for at in ham] for name, v in table.items()}).facts
    assert told.quality.baseline is None
    assert told.quality.sentences[1].endswith("always giving the same answer: all rows are of ham.")
    assert told.summary.next[0] == "Judge it on rows of other classes too: these are all of ham."
    assert not any("Do not rely" in step for step in told.summary.next)
    assert {each.section for each in told.left_out} >= {"Curves"}


def test_one_row_is_too_few_to_judge_by(spam_model: Any) -> None:
    told = weigh.report_on(spam_model, first(tables.mails(400, 1), 1)).facts
    assert told.summary.next[0] == "Judge it on more rows: 1 row is too few to tell how good it is."
    assert not any("Nothing here" in step or "Do not rely" in step for step in told.summary.next)
    model = weigh.LinearRegression().fit(tables.homes(), "rent")
    facts = weigh.report_on(model, first(tables.homes(), 1)).facts
    assert "nan" not in " ".join(facts.quality.sentences)
    assert facts.summary.next[0].startswith("Judge it on more rows")


def test_a_tile_leaves_out_an_interval_that_says_nothing(spam_model: Any) -> None:
    report = weigh.report_on(spam_model, first(tables.mails(400, 1), 2))
    for tile in report.facts.summary.tiles:
        assert "> 99.99 %" not in tile.note
        assert "∞" not in tile.note
    accuracy = report.facts.quality.measure("accuracy")
    assert accuracy is not None
    assert is_informative(accuracy)


def test_a_regression_that_is_worse_than_the_mean_is_called_so() -> None:
    homes = tables.homes()
    model = weigh.LinearRegression().fit(homes, "rent")
    told = weigh.report_on(model, {**homes, "rent": homes["rent"][::-1]}).facts
    r2 = told.quality.measure("r2")
    assert r2 is not None
    assert r2.value < r2.high < 0
    assert told.quality.sentences[0].startswith("It is worse than always predicting the mean of these rows")
    assert "Do not rely on it: it is surely worse than always predicting the mean." in told.summary.next


def test_a_tie_counts_as_it_was_decided() -> None:
    table = {"a": ["x", "y", "x", "y"], "k": ["n", "n", "p", "p"]}
    facts = weigh.report_on(weigh.NaiveBayes(class_prior="uniform").fit(table, "k"), table).facts
    assert facts.thresholds is not None
    at = facts.thresholds.rows[facts.thresholds.start]
    said = sum(each.rows for each in facts.quality.confusion if each.predicted == "p")
    assert at.found + at.false_alarms == said == 0
    assert facts.thresholds.sentence.startswith(
        "The model says p when its probability is more than one half."
    )


def test_verdicts_that_do_not_follow_from_one_half_are_not_said_to() -> None:
    mails = tables.mails()
    X, y = np.c_[mails["length"], np.array(mails["offer"], float)], np.array(mails["kind"])
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)

    class Careful:
        """Says spam only where it is nearly sure."""

        classes_ = forest.classes_
        _estimator_type = "classifier"
        predict_proba = staticmethod(forest.predict_proba)

        def predict(self, rows: Any) -> Any:
            return np.where(forest.predict_proba(rows)[:, 1] > 0.9, "spam", "ham")

    facts = weigh.report_on(Careful(), X, y).facts
    assert facts.thresholds is not None
    assert facts.thresholds.sentence.startswith("The model decides otherwise than by these probabilities")
    share = forest.predict_proba(X)[:, 1]
    at = facts.thresholds.rows[50]
    assert at.found + at.false_alarms == float((share >= 0.5).sum())


def test_a_perceptron_ranks_and_has_no_probabilities() -> None:
    report = weigh.report_on(weigh.Perceptron().fit(tables.mails(), "kind"), tables.mails(80, 5))
    assert report.facts.curves is not None
    assert "ranks the row of spam above the other in" in report.facts.curves.sentence
    assert "probability" not in report.facts.curves.sentence
    assert report.facts.audit is not None
    assert report.facts.audit.rows[0].sure.endswith(" points")


def test_training_rows_too_few_for_folds_leave_out_the_learning_curve(spam_model: Any) -> None:
    for model, rows in (
        (spam_model, first(tables.mails(), 4)),
        (
            weigh.LogisticRegression().fit(tables.mails(), "kind"),
            relabelled(tables.mails(), ["ham"] * 299 + ["spam"]),
        ),
    ):
        facts = weigh.report_on(model, tables.mails(60, 1), train=rows).facts
        assert facts.learning is None
        why = {each.section: each.why for each in facts.left_out}["Learning curve"]
        assert "too few" in why
        assert "folds=" not in why


def test_a_wrong_training_file_is_refused(spam_model: Any) -> None:
    rows = tables.mails(30)
    del rows["length"]
    with pytest.raises(errors.ColumnError):
        weigh.report_on(spam_model, tables.mails(30, 1), train=rows)


def test_rows_never_learned_are_not_called_training_rows(spam_model: Any) -> None:
    facts = weigh.report_on(spam_model, tables.mails(60, 1), train=tables.mails(300, 9)).facts
    assert facts.audit is not None
    assert facts.audit.whose == "rows given as training rows"
    assert facts.audit.sentence.startswith(
        "The rows given as training rows are not those that the model has learned. "
    )


def test_training_rows_may_be_arrays() -> None:
    mails = tables.mails()
    X, y = np.c_[mails["length"], np.array(mails["offer"], float)], np.array(mails["kind"])
    facts = weigh.report_on(weigh.NaiveBayes().fit(X, y), X, y, train=(X, y)).facts
    assert facts.learning is not None
    assert facts.audit is not None
    assert facts.audit.left_out


def test_labels_are_called_wrong_only_by_a_model_that_is_good_and_means_it() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 1000)
    table = {"x": (y + rng.normal(0, 2, 1000)).tolist(), "y": [f"c{v}" for v in y]}
    model = weigh.NaiveBayes().fit(table, "y")
    told = weigh.report_on(model, first(table, 300), train=table).facts.audit
    assert told is not None
    assert "wrong rather than hard" not in told.sentence
    assert told.advice == ""


def test_a_few_wrong_labels_are_told() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(600) < 0.5, 0.0, 10.0) + rng.normal(size=600)
    table = {"x": x.tolist(), "y": np.where(x > 5, "high", "low").tolist()}
    wrong = {**table, "y": ["high" if at < 5 else label for at, label in enumerate(table["y"])]}
    n_wrong = sum(a != b for a, b in zip(wrong["y"], table["y"], strict=True))
    told = weigh.report_on(weigh.NaiveBayes().fit(wrong, "y"), table, train=wrong).facts
    assert told.audit is not None
    assert told.audit.sentence.endswith(f"of these, {n_wrong} labels look wrong rather than hard.")


def test_the_remedy_for_probabilities_can_be_taken() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.random(300) < 0.5
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    other = rng.normal(size=(300, 3)), rng.random(300) < 0.5
    told = weigh.report_on(forest, *other).facts.calibration
    assert told is not None
    assert told.verdict == "over-sure"
    assert told.advice.endswith("(CalibratedClassifierCV of scikit-learn).")


def test_a_calibrated_model_is_told_as_one(spam_model: Any) -> None:
    calibrated = weigh.calibrate(spam_model, tables.mails(300, 5), "kind")
    rng = np.random.default_rng(0)
    table = tables.mails(400, 1)
    noisy = [{"spam": "ham", "ham": "spam"}[k] if rng.random() < 0.25 else k for k in table["kind"]]
    facts = weigh.report_on(calibrated, relabelled(table, noisy)).facts
    assert "Its probabilities were set right by rows it had not learned from" in facts.summary.what
    assert facts.calibration is not None
    assert facts.calibration.advice.startswith(
        "Do not take its probabilities at their word: it was calibrated on other rows"
    )


def test_a_model_of_one_class_is_not_told_to_calibrate() -> None:
    mails = tables.mails()
    model = weigh.NaiveBayes().fit(relabelled(mails, ["ham"] * 300), "kind")
    facts = weigh.report_on(model, relabelled(tables.mails(100, 1), ["ham"] * 100)).facts
    assert facts.calibration is None or facts.calibration.advice == ""


def test_log_odds_are_not_called_probabilities() -> None:
    model = weigh.LogisticRegression().fit(tables.mails(), "kind")
    told = weigh.report_on(model, tables.mails(60, 1)).facts.model.sentence
    assert told.endswith("to the log-odds of the classes, from which probabilities follow.")


def test_what_is_left_out_is_told_in_words_for_readers() -> None:
    mails = {name: tables.mails()[name] for name in ("sender", "offer", "kind")}
    rows = [weigh.report_on(weigh.JointBayes().fit(mails, "kind"), mails).facts]
    X, y = np.c_[tables.mails()["length"]], np.array(tables.mails()["kind"])
    rows.append(weigh.report_on(SVC().fit(X, y), X, y).facts)
    for facts in rows:
        for each in facts.left_out:
            assert not any(word in each.why for word in ("got ", "JointModel", "SVC", "explain "))
    assert "Columns" in {each.section for each in rows[1].left_out}
