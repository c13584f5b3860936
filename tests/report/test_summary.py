"""What to do next: advice rests on intervals and on what guessing has, and names columns and commands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weigh
from tests.report import tables
from weigh import errors

Table = dict[str, list[Any]]


def next_of(model: Any, rows: Table, **given: Any) -> str:
    return "\n".join(weigh.report_on(model, rows, **given).facts.summary.next)


def rare(n: int, seed: int) -> Table:
    """Two numbers that tell a class of 2 % fairly well."""
    rng = np.random.default_rng(seed)
    is_fraud = rng.random(n) < 0.02
    columns = {name: rng.normal(np.where(is_fraud, 1.8, 0.0), 1.0).tolist() for name in ("a", "b")}
    return {**columns, "y": np.where(is_fraud, "fraud", "ok").tolist()}


def half_found(n: int, found: float, seed: int = 0) -> tuple[Any, Table]:
    """A model that finds a share of one class and all of the other, and rows that show it."""
    rng = np.random.default_rng(seed)
    label = np.where(np.arange(n) % 3 == 0, "few", "many")
    shown = np.where((label == "few") & (rng.random(n) < found), "x", "z")
    table: Table = {"clue": shown.tolist(), "y": label.tolist()}
    return weigh.NaiveBayes().fit(table, "y"), table


def test_a_model_of_a_rare_class_is_judged_by_its_ranking() -> None:
    model = weigh.NaiveBayes().fit(rare(4000, 0), "y")
    facts = weigh.report_on(model, rare(2000, 1), train=rare(4000, 0)).facts
    assert facts.quality.skill == "ranks"
    assert facts.quality.is_imbalanced
    assert facts.summary.next[0].startswith("Accuracy is the wrong yardstick here, since 98.3 %")
    assert not any("Do not rely" in step or "Underfitting" in step for step in facts.summary.next)
    assert [tile.name for tile in facts.summary.tiles][:3] == ["ROC area", "balanced accuracy", "log loss"]
    assert facts.learning is not None
    assert facts.learning.loss == "log loss"


@pytest.mark.parametrize("found", [0.47, 0.5, 0.53])
def test_a_class_of_which_half_is_missed_is_told_on_both_sides_of_one_half(found: float) -> None:
    model, table = half_found(900, found)
    assert "Of the rows of few it finds " in next_of(model, table)


def test_a_class_found_as_well_as_others_is_not_told() -> None:
    model, table = half_found(900, 0.99)
    assert "Of the rows of" not in next_of(model, table)


def test_a_perceptron_is_not_given_a_threshold_to_choose() -> None:
    _, table = half_found(900, 0.5)
    told = next_of(weigh.Perceptron().fit(table, "y"), table)
    assert "threshold" not in told


def test_log_loss_is_told_beside_that_of_stating_the_shares(spam: weigh.Report) -> None:
    kinds = tables.mails(400, 1)["kind"]
    part = kinds.count("spam") / 400
    log = spam.facts.quality.measure("log_loss")
    assert log is not None
    assert log.guess == pytest.approx(-part * math.log(part) - (1 - part) * math.log(1 - part))
    assert spam.facts.summary.tiles[2].guess == f"stating the classes' shares: {log.guess_told}"


def test_probabilities_worse_than_none_are_not_recommended() -> None:
    rng = np.random.default_rng(0)
    label = rng.random(600) < 0.5
    clue = np.where(rng.random(600) < 0.7, label, ~label)
    table = {f"clue{k}": clue.tolist() for k in range(8)} | {"y": label.tolist()}
    with pytest.warns(errors.DependentColumns):
        model = weigh.NaiveBayes().fit(table, "y")
    told = next_of(model, table)
    assert "Do not use its probabilities: their log loss of" in told
    assert "; calibrate them on rows it has not learned from (weigh calibrate)." in told
    assert "since clue1 repeats clue0, clue2 repeats clue0" in told
    assert "--kind clue1=skip" in told


def test_a_model_no_better_than_guessing_doubts_no_label() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(1000) < 0.5, rng.random(1000) < 0.5
    table = {"a": a.tolist(), "b": b.tolist(), "y": np.where(a == b, "same", "diff").tolist()}
    first, second = ({k: v[:500] for k, v in table.items()}, {k: v[500:] for k, v in table.items()})
    with pytest.warns(errors.DependentColumns):
        facts = weigh.report_on(weigh.NaiveBayes().fit(first, "y"), second, train=first).facts
    assert facts.audit is not None
    assert facts.audit.rows == ()
    assert "no ground to doubt any label" in facts.audit.sentence
    assert not any("may be wrong" in step for step in facts.summary.next)
    assert any("these columns do not tell the label" in step for step in facts.summary.next)


def test_many_doubts_are_held_against_the_model() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    table = {"x": (y + rng.normal(0, 0.6, 1000)).tolist(), "y": [f"c{v}" for v in y]}
    facts = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table, train=table).facts
    assert facts.audit is not None
    assert "so many speak of a model that misfits rather than of wrong labels" in facts.audit.sentence
    assert facts.audit.rows


def test_columns_that_never_vary_in_a_class_are_named() -> None:
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
    model = weigh.NaiveBayes().fit(table, "y")
    rows = {"gain": [*table["gain"], 850.0], "y": [*table["y"], "b"]}
    causes = weigh.report_on(model, rows).facts.causes
    assert causes is not None
    assert causes.extreme == ("gain",)
    assert causes.lines[0].startswith("In its worst mistakes gain adds up to ")
    assert causes.lines[0].endswith("learn with --kind gain=number:bins=16.")


def test_few_rows_are_said_to_be_few() -> None:
    model = weigh.NaiveBayes().fit(tables.mails(20), "kind")
    told = next_of(model, tables.mails(20, 1))
    assert "20 rows are few to judge it by: its accuracy may be anything from " in told
    assert "It was learned from only 20 rows and has " in told


def test_without_training_rows_it_is_said_what_cannot_be_told(spam_model: Any) -> None:
    told = next_of(spam_model, tables.mails(400, 1))
    assert told.splitlines()[-1].startswith("Without its training rows (--train FILE) it cannot be told")


def test_a_regression_that_leaves_much_unexplained_is_not_simply_recommended() -> None:
    homes, rng = tables.homes(200), np.random.default_rng(0)
    noisy = {**homes, "rent": (np.array(homes["rent"]) + rng.normal(0, 500, 200)).tolist()}
    model = weigh.LinearRegression().fit(noisy, "rent")
    shifted = {**noisy, "rent": [each - 150 for each in noisy["rent"]]}
    assert "It leaves much unexplained: R² is " in next_of(model, noisy)
    assert "Its predictions are too high by 150 on average" in next_of(model, shifted)


def test_the_curve_of_a_report_is_that_of_learning_curve(spam: weigh.Report) -> None:
    found = weigh.learning_curve(weigh.NaiveBayes(), tables.mails(), "kind").curves[0]
    told = spam.facts.learning
    assert told is not None
    held = [point.loss for point in told.points if point.series == "rows held out"]
    assert held == [point.validation.value for point in found.points]
    assert told.verdict == found.diagnosis.verdict
    assert "(5 folds × 2), as weigh curve does" in told.how


def test_losses_of_a_regression_are_told_as_roots() -> None:
    model = weigh.LinearRegression().fit(tables.homes(), "rent")
    told = weigh.report_on(model, tables.homes(60, 1), train=tables.homes()).facts.learning
    found = weigh.learning_curve(weigh.LinearRegression(), tables.homes(), "rent").curves[0]
    assert told is not None
    assert told.loss == "root mean squared error"
    assert told.points[0].loss == pytest.approx(math.sqrt(found.points[0].validation.value))


def test_measures_are_named_as_evaluate_names_them_and_told_once(spam: weigh.Report) -> None:
    told = [each.title for each in spam.facts.quality.measures if not each.is_repeated]
    assert told[:3] == ["accuracy", "zero-one loss", "balanced accuracy"]
    assert "squared loss (Brier score)" in told
    assert "mean recall of classes" not in told
    assert told[-2:] == ["ROC area", "PR area"]


def test_a_giant_bar_is_cut_and_keeps_its_number() -> None:
    table: Table = {"x": ["a"] * 60 + ["b"] * 60, "n": [0.0] * 60 + [1e6] * 60, "y": ["p"] * 60 + ["q"] * 60}
    table["n"] = (np.array(table["n"]) + np.tile([0.0, 1.0], 60)).tolist()
    report = weigh.report_on(weigh.NaiveBayes().fit(table, "y"), table)
    assert report.facts.strongest is not None
    side = next(each for each in report.facts.strongest.sides if each.longest is not None)
    others = [each.amount for each in side.features if abs(each.amount) < side.longest]
    assert side.longest == pytest.approx(1.5 * max(map(abs, others)))
    assert "Bars that end in // are cut" in report.html
