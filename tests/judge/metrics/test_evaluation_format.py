"""The printed evaluation, compared with the expected text."""

from __future__ import annotations

import numpy as np
import pytest

from weigh.judge import evaluate


class Fixed:
    """A scikit-learn-like classifier with fixed outputs, one per row."""

    def __init__(self, classes, predictions, proba=None):
        self.classes_, self.predictions = np.array(classes, dtype=object), predictions
        if proba is not None:
            self.predict_proba = lambda _: np.array(proba, dtype=float)

    def predict(self, _rows):
        return np.array(self.predictions, dtype=object)


ROWS = [[0.0]] * 6
SMALL = Fixed(
    ["ham", "spam"],
    ["ham", "ham", "ham", "spam", "spam", "ham"],
    [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6], [0.6, 0.4]],
)
LABELS = ["ham", "ham", "ham", "spam", "spam", "spam"]


def test_a_small_evaluation_prints_as_tables():
    assert str(evaluate(SMALL, ROWS, LABELS)) == "\n".join(
        [
            "Evaluation on 6 rows, 2 classes",
            "",
            "measure                      value     low    high",
            "accuracy                    0.8333  0.3588  0.9958",
            "zero-one loss               0.1667  0.0042  0.6412",
            "balanced accuracy           0.8333  0.3783  0.9958",
            "mean precision of classes   0.8750  0.3706  0.9968",
            "mean F1 of classes          0.8286  0.2968  1.0000",
            "squared loss (Brier score)  0.1167  0.0000  0.2534",
            "log loss                    0.3892  0.0817  0.6968",
            "calibration error           0.1000  0.0000  0.4407",
            "conditional log-likelihood   −2.34       -       -",
            "",
            "ranking  ROC area     low    high  PR area     low    high  by chance",
            "spam       1.0000  0.2924  1.0000   1.0000  0.2924  1.0000     0.5000",
            "",
            "Intervals of 95%: exact (Clopper-Pearson) for shares, Student's for mean losses",
            "and the logits of areas.",
            "Intervals of mean losses are rough for so few rows.",
            "",
            "true \\ predicted  ham  spam",
            "ham                 3     0",
            "spam                1     2",
            "",
            "class  precision    low   high  recall    low   high     F1  support",
            "ham        0.750  0.194  0.994   1.000  0.292  1.000  0.857        3",
            "spam       1.000  0.158  1.000   0.667  0.094  0.992  0.800        3",
        ]
    )


def test_undefined_infinite_and_unseen_values_are_reported():
    model = Fixed(["a", "b", "c"], ["a", "a", "a"], [[1, 0, 0], [0.5, 0.5, 0], [1, 0, 0]])
    result = evaluate(model, ROWS[:3], ["a", "b", "z"], sample_weight=[1, 0.5, 1], level=0.9)
    assert str(result) == "\n".join(
        [
            "Evaluation on 3 rows, total weight 2.50, 3 classes",
            "",
            "measure                      value     low    high",
            "accuracy                    0.4000  0.0265  0.9088",
            "zero-one loss               0.6000  0.0912  0.9735",
            "balanced accuracy           0.3333  0.0167  0.6500",
            "mean precision of classes   0.1333  0.0088  0.6363",
            "mean F1 of classes          0.1905  0.0172  0.6447",
            "squared loss                0.4500  0.0000  1.0000",
            "Brier score                 0.9000  0.0000  2.0000",
            "log loss                       inf     inf     inf",
            "calibration error           0.5000  0.0165  0.9835",
            "conditional log-likelihood    −inf       -       -",
            "",
            "ranking            ROC area     low    high  PR area     low    high  by chance",
            "mean of 2 classes    0.8333  0.2554  1.0000   0.7500  0.2136  0.9992",
            "a                    0.6667  0.0081  0.9999   0.5000  0.0015  0.9985     0.4000",
            "b                    1.0000  0.0500  1.0000   1.0000  0.0500  1.0000     0.2000",
            "",
            "Intervals of 90%: exact (Clopper-Pearson) for shares, Student's for mean losses",
            "and the logits of areas.",
            "1 class without rows: no area, and not in the means.",
            "Intervals of mean losses are rough for so few rows.",
            "Unequal weights: intervals count 2.8 effective rows.",
            "1 row with labels that the model has never seen, counted as errors with",
            "probability zero: 'z'.",
            "",
            "true \\ predicted     a  b  c",
            "a                    1  0  0",
            "b                 0.50  0  0",
            "c                    0  0  0",
            "(never seen)         1  0  0",
            "",
            "class  precision    low   high  recall    low   high     F1  support",
            "a          0.400  0.027  0.909   1.000  0.050  1.000  0.571        1",
            "b              -      -      -   0.000  0.000  0.950  0.000     0.50",
            "c              -      -      -       -      -      -      -        0",
        ]
    )


def test_an_interval_clipped_at_zero_is_noted_as_rough():
    table = [[0.999, 0.001]] * 99
    sure = Fixed(["a", "b"], ["a"] * 100, [*table, [1 - 1e-12, 1e-12]])
    rows, labels = [[i] for i in range(100)], ["a"] * 99 + ["b"]
    losses = "squared loss (Brier score) and log loss"
    note = f"A few rows dominate the {losses}: the interval, cut off at 0, is rough."
    assert note in " ".join(str(evaluate(sure, rows, labels)).split())
    mild = Fixed(["a", "b"], ["a"] * 100, [[0.7, 0.3]] * 100)
    assert "rough" not in str(evaluate(mild, rows, labels))


def test_a_probability_of_zero_is_noted():
    model = Fixed(["a", "b"], ["a", "a"], [[1, 0], [1, 0]])
    note = "In 1 row the true class has probability zero: the log loss is infinite."
    assert note in str(evaluate(model, ROWS[:2], ["a", "b"]))


def test_a_label_of_the_wrong_type_gets_a_hint():
    text = str(evaluate(Fixed([0, 1], [0, 1]), ROWS[:2], ["0", "1"]))
    assert "'0' is not the class 0: their types differ." in " ".join(text.split())
    assert "\nThe classifier gives no probabilities, so there are no other measures.\n" in text


def test_many_classes_print_the_ten_worst():
    names = [f"topic {i}" for i in range(40)]
    predictions = ["topic 0" if i < 15 else name for i, name in enumerate(names)]
    lines = str(evaluate(Fixed(names, predictions), [[0]] * 40, names)).splitlines()
    start = lines.index("The 10 most frequent mistakes:")
    assert lines[start + 1 : start + 3] == [
        "true      predicted  rows",
        "topic 1   topic 0       1",
    ]
    start = lines.index("The 10 classes with the lowest F1:")
    assert len(lines[start + 2 :]) == 10
    assert lines[start + 2].split()[:2] == ["topic", "1"]


def test_many_classes_without_a_mistake_say_so():
    names = [f"topic {i}" for i in range(40)]
    assert "No mistakes." in str(evaluate(Fixed(names, names), [[0]] * 40, names)).splitlines()


@pytest.mark.parametrize("count", [2, 8, 40])
def test_no_line_is_longer_than_80_columns(count):
    names = [f"{i} is a class with a very long name " * 4 for i in range(count)]
    proba = np.random.default_rng(0).dirichlet(np.ones(count), count)
    for probabilities in (None, proba):
        text = str(evaluate(Fixed(names, names[::-1], probabilities), [[0]] * count, names))
        assert max(map(len, text.splitlines())) <= 80


def test_a_class_name_cannot_break_the_lines():
    text = str(evaluate(Fixed(["a\nb", ""], ["a\nb", ""]), ROWS[:2], ["a\nb", ""]))
    assert "'a\\nb'" in text
    assert "''" in text


def test_html_escapes_everything():
    evil = "<script>alert('&')</script>"
    html = evaluate(Fixed([evil, "b"], [evil, "b"]), ROWS[:2], [evil, "<b>"])._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;" in html
    assert ">Evaluation on 2 rows, 2 classes</caption>" in html


def test_html_shows_measures_areas_and_classes():
    html = evaluate(SMALL, ROWS, LABELS)._repr_html_()
    for note in ("squared loss (Brier score)", "calibration error", "ROC area", "PR area", "precision"):
        assert note in html


def test_one_row_of_one_class_is_noted():
    text = str(evaluate(Fixed(["a"], ["a"], [[1.0]]), ROWS[:1], ["a"]))
    assert "Areas need rows of at least two classes." in text
    assert "\nranking" not in text


def test_the_ten_worst_ranked_of_many_classes_follow_their_mean():
    names = [f"topic {i}" for i in range(40)]
    proba = np.random.default_rng(1).dirichlet(np.ones(40), 80)
    result = evaluate(Fixed(names, names * 2, proba), [[0]] * 80, names * 2)
    lines = str(result).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("ranking"))
    assert lines[start + 1].startswith("mean of 40 classes")
    shown = [float(line.split()[2]) for line in lines[start + 2 : start + 12]]
    worst = sorted(row.roc_area.value for row in result.per_class)[:10]
    assert shown == pytest.approx(worst, abs=5e-5)
    assert lines[start + 12] == ""


def test_the_most_frequent_class_is_the_baseline_of_the_accuracy():
    labels = ["ham"] * 9 + ["spam"] * 3
    model = Fixed(["ham", "spam"], labels, [[0.9, 0.1]] * 9 + [[0.1, 0.9]] * 3)
    line = "Always predicting ham, the most frequent class, has the accuracy 0.7500."
    assert line in str(evaluate(model, [[0]] * 12, labels)).split("\n")
    assert "Always" not in str(evaluate(model, [[0]] * 12, ["ham"] * 12))  # there is nothing to compare
    unknown = "Always predicting eggs, the most frequent class, has the accuracy 0.6667."
    assert unknown in str(evaluate(model, [[0]] * 12, ["eggs"] * 8 + ["spam"] * 4)).split("\n")


def test_a_class_with_a_no_break_space_is_shown_as_it_is_written():
    labels = ["1\xa0234 €", "2\xa0345 €"] * 6
    model = Fixed(["1\xa0234 €", "2\xa0345 €"], labels, [[0.9, 0.1], [0.1, 0.9]] * 6)
    text = str(evaluate(model, [[0]] * 12, labels))
    assert "1\xa0234 €" in text
    assert "\\xa0" not in text
