"""Advice is based on intervals and baselines, and names columns and commands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weigh
from tests.report import tables
from weigh import errors
from weigh.report.model_facts import FeatureStrength, _bar_limit

Table = dict[str, list[Any]]


def advice_on(model: Any, rows: Table, **options: Any) -> str:
    return "\n".join(weigh.report_on(model, rows, **options).facts.summary.next)


def rare(n: int, seed: int) -> Table:
    """Two numbers that predict a class of 2 % fairly well."""
    rng = np.random.default_rng(seed)
    is_fraud = rng.random(n) < 0.02
    columns = {name: rng.normal(np.where(is_fraud, 1.8, 0.0), 1.0).tolist() for name in ("a", "b")}
    return {**columns, "y": np.where(is_fraud, "fraud", "ok").tolist()}


def partial_recall(n: int, recall: float, seed: int = 0) -> tuple[Any, Table]:
    """A model with a given recall of one class and full recall of the other, and its rows."""
    rng = np.random.default_rng(seed)
    label = np.where(np.arange(n) % 3 == 0, "few", "many")
    clue = np.where((label == "few") & (rng.random(n) < recall), "x", "z")
    table: Table = {"clue": clue.tolist(), "y": label.tolist()}
    return weigh.NaiveBayes().fit(table, "y"), table


def test_a_model_of_a_rare_class_is_judged_by_its_ranking() -> None:
    model = weigh.NaiveBayes().fit(rare(4000, 0), "y")
    facts = weigh.report_on(model, rare(2000, 1), train=rare(4000, 0)).facts
    assert facts.quality.skill == "ranks"
    assert facts.quality.is_imbalanced
    assert facts.summary.next[0].startswith("Accuracy is misleading here, because 98.3 %")
    assert not any("Do not rely" in step or "Underfitting" in step for step in facts.summary.next)
    assert [tile.name for tile in facts.summary.tiles][:3] == ["ROC area", "balanced accuracy", "log loss"]
    assert facts.learning is not None
    assert facts.learning.loss == "log loss"


@pytest.mark.parametrize("recall", [0.47, 0.5, 0.53])
def test_a_class_with_a_recall_near_one_half_is_reported(recall: float) -> None:
    model, table = partial_recall(900, recall)
    assert " of the rows of few, compared with " in advice_on(model, table)


def test_a_class_with_a_high_recall_is_not_reported() -> None:
    model, table = partial_recall(900, 0.99)
    assert "It finds only" not in advice_on(model, table)


def test_a_perceptron_gets_no_advice_on_thresholds() -> None:
    _, table = partial_recall(900, 0.5)
    advice = advice_on(weigh.Perceptron().fit(table, "y"), table)
    assert "threshold" not in advice


def test_log_loss_is_shown_with_that_of_the_class_frequencies(spam: weigh.Report) -> None:
    kinds = tables.mails(400, 1)["kind"]
    part = kinds.count("spam") / 400
    log = spam.facts.quality.measure("log_loss")
    assert log is not None
    assert log.guess == pytest.approx(-part * math.log(part) - (1 - part) * math.log(1 - part))
    assert spam.facts.summary.tiles[2].guess == f"class frequencies: {log.guess_told}"


def test_probabilities_worse_than_the_class_frequencies_are_not_recommended() -> None:
    rng = np.random.default_rng(0)
    label = rng.random(600) < 0.5
    clue = np.where(rng.random(600) < 0.7, label, ~label)
    table = {f"clue{k}": clue.tolist() for k in range(8)} | {"y": label.tolist()}
    with pytest.warns(errors.DependentColumns):
        model = weigh.NaiveBayes().fit(table, "y")
    advice = advice_on(model, table)
    assert "Do not use its probabilities: their log loss of" in advice
    remedy = (
        '; train it with calibration="auto" (--set calibration=auto), or calibrate it on rows it was not '
    )
    assert f"{remedy}trained on (weigh calibrate)." in advice
    assert "because 'clue1' repeats 'clue0', 'clue2' repeats 'clue0'" in advice
    assert "--kind clue1=skip" in advice


def test_a_model_no_better_than_the_baseline_doubts_no_label() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(1000) < 0.5, rng.random(1000) < 0.5
    table = {"a": a.tolist(), "b": b.tolist(), "y": np.where(a == b, "same", "diff").tolist()}
    first, second = ({k: v[:500] for k, v in table.items()}, {k: v[500:] for k, v in table.items()})
    with pytest.warns(errors.DependentColumns):
        facts = weigh.report_on(weigh.NaiveBayes().fit(first, "y"), second, train=first).facts
    assert facts.audit is not None
    assert facts.audit.rows == ()
    assert "no evidence against any label" in facts.audit.sentence
    assert not any("may be wrong" in step for step in facts.summary.next)
    better = next(step for step in facts.summary.next if step.startswith("Another learner does better: "))
    assert better.startswith("Another learner does better: tree errs on 0 % where this errs on ")
    assert better.endswith(
        "Try scikit-learn's DecisionTreeClassifier, or add features: products, words, columns."
    )


def test_many_doubtful_labels_indicate_a_poor_fit() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    labels = np.where(rng.random(1000) < 0.15, 1 - y, y)
    table = {"x": (6 * y + rng.normal(0, 0.6, 1000)).tolist(), "y": [f"c{v}" for v in labels]}
    facts = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table, train=table).facts
    assert facts.audit is not None
    assert "so many suggest a poor fit of the model rather than wrong labels" in facts.audit.sentence
    assert facts.audit.rows


def test_columns_with_zero_variance_in_a_class_are_named() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    table = {"flat": np.where(y, rng.normal(0, 1, 400), 7.0).tolist(), "y": np.where(y, "a", "b").tolist()}
    with pytest.warns(errors.FlatColumns):
        model = weigh.NaiveBayes().fit(table, "y")
    causes = weigh.report_on(model, table).facts.causes
    assert causes is not None
    assert causes.constant == ("flat",)
    assert "--kind flat=number:spread=shared or --kind flat=skip" in causes.lines[0]


def test_numbers_that_decide_a_mistake_alone_are_named() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    gain = rng.normal(10, 3, 400) + np.where(y & (rng.random(400) < 0.1), 900, 0)
    table = {"gain": gain.tolist(), "y": np.where(y, "a", "b").tolist()}
    model = weigh.NaiveBayes(number=weigh.Number(shape="normal")).fit(table, "y")
    rows = {"gain": [*table["gain"], 850.0], "y": [*table["y"], "b"]}
    causes = weigh.report_on(model, rows).facts.causes
    assert causes is not None
    assert causes.extreme == ("gain",)
    assert causes.lines[0].startswith("In the worst mistakes gain contributes up to ")
    assert causes.lines[0].endswith("train with --kind gain=number:shape=histogram.")


def test_few_rows_are_reported() -> None:
    model = weigh.NaiveBayes().fit(tables.mails(20), "kind")
    advice = advice_on(model, tables.mails(20, 1))
    assert "Evaluate it on more than 20 rows: its accuracy may be anything from " in advice
    assert "It was trained on only 20 rows and has " in advice


def test_without_training_rows_the_report_asks_for_them(spam_model: Any) -> None:
    advice = advice_on(spam_model, tables.mails(400, 1))
    assert advice.splitlines()[-1].startswith("Add the training rows (--train FILE) to detect")


def test_a_regression_with_a_low_r2_or_a_bias_gets_advice() -> None:
    homes, rng = tables.homes(200), np.random.default_rng(0)
    noisy = {**homes, "rent": (np.array(homes["rent"]) + rng.normal(0, 500, 200)).tolist()}
    model = weigh.LinearRegression().fit(noisy, "rent")
    shifted = {**noisy, "rent": [each - 150 for each in noisy["rent"]]}
    assert "Much of the variance is unexplained: R² is " in advice_on(model, noisy)
    assert "Its predictions are too high by 150 on average" in advice_on(model, shifted)


def test_the_curve_of_a_report_equals_that_of_learning_curve(spam: weigh.Report) -> None:
    curve = weigh.learning_curve(weigh.NaiveBayes(), tables.mails(), "kind").curves[0]
    facts = spam.facts.learning
    assert facts is not None
    held_out = [point.loss for point in facts.points if point.series == "held-out rows"]
    assert held_out == [point.validation.value for point in curve.points]
    assert facts.verdict == curve.diagnosis.verdict
    assert "(5 folds × 2), as in weigh curve;" in facts.how


def test_losses_of_a_regression_are_root_mean_squared_errors() -> None:
    model = weigh.LinearRegression().fit(tables.homes(), "rent")
    facts = weigh.report_on(model, tables.homes(60, 1), train=tables.homes()).facts.learning
    curve = weigh.learning_curve(weigh.LinearRegression(), tables.homes(), "rent").curves[0]
    assert facts is not None
    assert facts.loss == "root mean squared error"
    assert facts.points[0].loss == pytest.approx(math.sqrt(curve.points[0].validation.value))


def test_measures_are_titled_as_in_evaluate_and_shown_once(spam: weigh.Report) -> None:
    titles = [each.title for each in spam.facts.quality.measures if not each.is_repeated]
    assert titles[:3] == ["accuracy", "zero-one loss", "balanced accuracy"]
    assert "squared loss (Brier score)" in titles
    assert "mean recall of classes" not in titles
    assert titles[-2:] == ["ROC area", "PR area"]


def test_an_outlying_bar_is_cut() -> None:
    table: Table = {"x": ["a"] * 60 + ["b"] * 60, "n": [0.0] * 60 + [1e6] * 60, "y": ["p"] * 60 + ["q"] * 60}
    table["n"] = (np.array(table["n"]) + np.tile([0.0, 1.0], 60)).tolist()
    report = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table)
    assert report.facts.strongest is not None
    side = next(each for each in report.facts.strongest.sides if each.longest is not None)
    others = [each.amount for each in side.features if abs(each.amount) < side.longest]
    assert side.longest == pytest.approx(1.5 * max(map(abs, others)))
    assert "Bars that end in // are cut" in report.html


def test_bars_are_not_cut_if_most_of_them_are_long() -> None:
    def longest_of(*sizes: float) -> float | None:
        return _bar_limit(tuple(FeatureStrength("x", size, "", "", "") for size in sizes))

    assert longest_of(2.0, 2.1, 0.001) is None
    assert longest_of(2.0, 0.002, 0.001) == pytest.approx(0.003)


def customers(n: int, first: int) -> Table:
    """Rows with an identifier and a clue that is mostly right."""
    rng = np.random.default_rng(first)
    label = rng.choice(["no", "yes"], n)
    clue = np.where(rng.random(n) < 0.8, label, rng.choice(["no", "yes"], n))
    ids = [f"c{i}" for i in range(first, first + n)]
    return {"customer": ids, "clue": clue.tolist(), "y": label.tolist()}


@pytest.mark.parametrize(
    ("make", "n_new"),
    # Of few new rows, the training rows tell; a perceptron does not know their number.
    [
        (weigh.NaiveBayes, 60),
        (weigh.NaiveBayes, 300),
        (weigh.LogisticRegression, 60),
        (weigh.Perceptron, 300),
    ],
)
def test_an_identifier_is_called_one_and_not_overfitting(make: Any, n_new: int) -> None:
    train = customers(300, 0)
    model = make(columns={"customer": "category"}).fit(train, "y")
    facts = weigh.report_on(model, customers(n_new, 1000), train=train).facts
    assert "customer looks like an ID: skip it (--kind customer=skip)." in facts.summary.next
    assert facts.learning is not None
    for sentence in (*facts.summary.next, facts.learning.sentence):
        assert "verfitting:" not in sentence
        assert "train it again on newer rows" not in sentence
        assert "be careful with predictions" not in sentence


def test_two_identifiers_are_named_together() -> None:
    train = customers(300, 0)
    train["mail"] = [f"{name}@example.com" for name in train["customer"]]
    model = weigh.NaiveBayes(columns={"customer": "category", "mail": "category"}).fit(train, "y")
    assert "customer and mail look like IDs: skip them (--kind COLUMN=skip)." in advice_on(model, train)


def test_an_ordinary_category_is_not_called_an_identifier() -> None:
    train = customers(300, 0)
    train["customer"] = [f"c{i // 2}" for i in range(300)]
    model = weigh.NaiveBayes(columns={"customer": "category"}).fit(train, "y")
    assert "looks like an ID" not in advice_on(model, train)
