"""Decision regions: the grid has the predictions of the model; linear boundaries and margins are detected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh import errors
from weigh.explain.decision_regions import LinearScore, fit_linear_score

APART = {"x": [0.0, 1.0, 3.0, 4.0], "y": [0.0, 0.5, 2.0, 3.0], "label": ["no", "no", "yes", "yes"]}


def mixed(n: int = 80) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(3, n))
    kind = np.where(rng.random(n) < 0.7, "usual", "rare")
    label = np.where(a + b * b + 0.3 * c > 0.6, "yes", "no")
    return {"a": a, "kind": kind, "b": b, "c": c, "label": label}


def test_the_grid_has_the_predictions_of_the_model_with_other_columns_fixed() -> None:
    table = mixed()
    learner = weigh.NaiveBayes().fit(table, "label")
    result = weigh.regions(learner, table, across="a", up="b", cells=7)
    assert result.held == {"kind": "usual", "c": float(np.median(table["c"]))}
    x, y = np.meshgrid(result.x, result.y)
    held = {name: [value] * 49 for name, value in result.held.items()}
    rows = {"a": x.ravel(), "b": y.ravel(), **held}
    said = [[result.classes[code] for code in line] for line in result.verdicts.tolist()]
    assert np.ravel(said).tolist() == learner.predict(rows).tolist()
    assert result.shares.ravel() == pytest.approx(learner.predict_proba(rows).max(axis=1), abs=0)


def test_the_rows_keep_their_own_verdicts_and_wrong_ones_are_counted() -> None:
    table = mixed()
    learner = weigh.NaiveBayes().fit(table, "label")
    result = weigh.regions(learner, table)
    assert (result.across, result.up) == ("a", "b")
    assert [spot.verdict for spot in result.spots] == learner.predict(table).tolist()
    assert result.errors == int((learner.predict(table) != table["label"]).sum())
    assert result.errors > 0


def test_fixed_values_can_be_given() -> None:
    table = mixed()
    learner = weigh.NaiveBayes().fit(table, "label")
    usual, rare = (weigh.regions(learner, table, hold={"kind": kind}, cells=9) for kind in ("usual", "rare"))
    assert rare.held["kind"] == "rare"
    assert not np.array_equal(usual.shares, rare.shares)


def test_the_boundary_of_a_plane_is_its_weights() -> None:
    learner = weigh.Perceptron(shuffle=False, keep="last").fit(APART, "label")
    result = weigh.regions(learner, APART)
    assert result.boundary is not None
    assert result.boundary.w == pytest.approx(tuple(learner.coef_[0]))
    assert result.boundary.b == pytest.approx(float(learner.intercept_[0]))


def test_the_margin_is_the_distance_of_the_nearest_row_times_the_length_of_the_weights() -> None:
    learner = weigh.Perceptron(shuffle=False, keep="last", max_iter=100, scale=None).fit(APART, "label")
    result = weigh.regions(learner, APART)
    assert result.margin is not None
    assert result.boundary is not None
    assert result.margin / math.hypot(*result.boundary.w) == pytest.approx(learner.certificate_.margin)


def test_margins_need_all_rows_correct_and_no_fixed_column() -> None:
    wrong = {**APART, "label": ["no", "yes", "no", "yes"]}
    learner = weigh.LogisticRegression().fit(wrong, "label")
    assert weigh.regions(learner, wrong).margin is None
    wide = {**APART, "z": [0.5, 0.1, 0.2, 0.7]}
    assert weigh.regions(weigh.LogisticRegression().fit(wide, "label"), wide).margin is None


def test_only_a_shared_variance_gives_a_linear_boundary() -> None:
    table = {name: mixed()[name] for name in ("a", "b", "label")}
    for spread, is_straight in (("own", False), ("shared", True)):
        learner = weigh.NaiveBayes(columns=weigh.Number(spread=spread)).fit(table, "label")
        assert (weigh.regions(learner, table).boundary is not None) is is_straight


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=3), LogisticRegression()])
def test_scikit_learn_classifiers_are_supported(learner: Any) -> None:
    table = mixed()
    frame = pd.DataFrame({"a": table["a"], "b": table["b"]})
    learner.fit(frame, table["label"])
    labelled = frame.assign(label=table["label"])
    by_name = weigh.regions(learner, labelled, label="label", cells=8)
    by_label = weigh.regions(learner, frame, label=table["label"], cells=8)
    assert np.array_equal(by_name.verdicts, by_label.verdicts)
    x, y = np.meshgrid(by_name.x, by_name.y)
    rows = pd.DataFrame({"a": x.ravel(), "b": y.ravel()})
    said = np.array(by_name.classes)[by_name.verdicts.ravel()]
    assert said.tolist() == learner.predict(rows).tolist()
    assert (by_name.boundary is not None) is isinstance(learner, LogisticRegression)


def test_arrays_without_labels_are_drawn_by_their_verdicts() -> None:
    table = mixed()
    X = np.column_stack([table["a"], table["b"]])
    learner = weigh.LogisticRegression().fit(X, table["label"])
    result = weigh.regions(learner, X, cells=5)
    assert (result.across, result.up) == ("x0", "x1")
    assert result.errors == 0
    assert {spot.label for spot in result.spots} == {None}
    assert result.plot().to_dict()


def test_the_picture_has_areas_the_boundary_both_margins_and_the_points() -> None:
    learner = weigh.Perceptron(shuffle=False, keep="last", max_iter=100).fit(APART, "label")
    spec = weigh.regions(learner, APART, cells=12).plot().to_dict()
    rows = [row for table in spec["datasets"].values() for row in table]
    assert {row["series"] for row in rows if "series" in row} == {"boundary", "margin of yes", "margin of no"}
    assert [row["label"] for row in rows if "wrong" in row] == ["no", "no", "yes", "yes"]


def test_only_linear_scores_are_fitted() -> None:
    x, y = (each.ravel() for each in np.meshgrid(np.linspace(0, 1, 5), np.linspace(5, 9, 5)))
    result = fit_linear_score(x, y, 2 * x - 3 * y + 1)
    assert result is not None
    assert (*result.w, result.b) == pytest.approx((2, -3, 1))
    assert fit_linear_score(x, y, x * y) is None
    assert fit_linear_score(x, y, 0 * x) is None


def test_a_line_is_clipped_to_its_box() -> None:
    assert LinearScore((1.0, 1.0), 0.0).line(1.0, (0.0, 1.0), (0.0, 1.0)) == [(0.0, 1.0), (1.0, 0.0)]
    assert LinearScore((1.0, 0.0), 0.0).line(0.5, (0.0, 1.0), (0.0, 1.0)) == [(0.5, 0.0), (0.5, 1.0)]
    assert LinearScore((1.0, 1.0), 0.0).line(9.0, (0.0, 1.0), (0.0, 1.0)) == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: weigh.regions(weigh.NaiveBayes().fit(mixed(), "label"), mixed(), across="kind"),
            errors.ColumnError,
            "regions needs numeric columns, but 'kind' is a category. Fix its value instead: "
            "hold={'kind': ...}.",
        ),
        (
            lambda: weigh.regions(weigh.NaiveBayes().fit(mixed(), "label"), mixed(), across="d"),
            errors.ColumnError,
            "The classifier has no column 'd'; it has 'a', 'kind', 'b', 'c'.",
        ),
        (
            lambda: weigh.regions(weigh.NaiveBayes().fit(mixed(), "label"), mixed(), hold={"a": 1}),
            errors.ColumnError,
            "The set of fixed columns has no column 'a'; it has 'kind', 'c'.",
        ),
        (
            lambda: weigh.regions(
                weigh.NaiveBayes().fit({"x": [1.5, 2.5], "y": [0, 1]}, "y"), {"x": [1.5], "y": [0]}, up="x"
            ),
            errors.ColumnError,
            "regions needs two different numeric columns; the classifier has 'x'.",
        ),
        (
            lambda: weigh.regions(weigh.NaiveBayes(), mixed()),
            errors.Unsupported,
            "regions needs a fitted classifier, got NaiveBayes. Fit a classifier first.",
        ),
        (
            lambda: weigh.regions(weigh.NaiveBayes().fit(mixed(), "label"), mixed(), cells=1),
            errors.ParameterError,
            "regions: cells must be at least 2, got 1.",
        ),
    ],
)
def test_invalid_arguments_are_rejected(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


PLACES = np.random.default_rng(0).normal(size=(60, 2))
SIDES = np.where(PLACES[:, 0] > 0, "a", "b")


def test_labels_are_the_third_argument() -> None:
    for learner in (weigh.NaiveBayes(), DecisionTreeClassifier()):
        learner.fit(PLACES, SIDES)
        result = weigh.regions(learner, PLACES, SIDES, cells=5)
        assert [spot.label for spot in result.spots] == SIDES.tolist()


@pytest.mark.parametrize(
    "learner", [weigh.NaiveBayes(), weigh.LogisticRegression(), weigh.Perceptron(), DecisionTreeClassifier()]
)
def test_rows_without_a_finite_range_are_rejected(learner: Any) -> None:
    learner.fit(PLACES, SIDES)
    with pytest.raises(errors.ColumnError, match="column 'x0' has numbers as large as 5"):
        weigh.regions(learner, PLACES * [2.5e307, 1], SIDES)
    with pytest.raises(errors.ColumnError, match="column 'x0' has no finite number"):
        weigh.regions(learner, PLACES * np.nan, SIDES)
    for constant in (0.0, 1e30):
        result = weigh.regions(learner, PLACES * 0 + constant, SIDES, cells=4)
        assert result.x[0] < constant < result.x[-1]


def test_infinite_scores_give_no_line() -> None:
    x, y = np.arange(4.0), np.arange(4.0) % 2
    assert fit_linear_score(x, y, np.array([0.0, 1.0, np.inf, np.nan])) is None


@pytest.mark.parametrize(
    ("rows", "given", "error", "message"),
    [
        (None, {}, errors.DataError, "table [rows, columns] for a scikit-learn classifier, got None."),
        (
            PLACES[:, 0],
            {},
            errors.DataError,
            "table [rows, columns] for a scikit-learn classifier, got ndarray of shape 60.",
        ),
        (
            PLACES[:0],
            {},
            errors.DataError,
            "table [rows, columns] for a scikit-learn classifier, got ndarray of shape 0×2.",
        ),
        (PLACES, {"label": SIDES[:5]}, errors.LabelError, "each of the 60 rows, got ndarray of shape 5."),
        (PLACES, {"label": "side"}, errors.LabelError, "each of the 60 rows, got 'side'."),
        (PLACES, {"across": PLACES}, errors.ColumnError, "The classifier has no column"),
        (
            PLACES,
            {"hold": [1]},
            errors.ParameterError,
            "hold must be a mapping from columns to values, got [1].",
        ),
        (pd.DataFrame(PLACES, columns=["a", "a"]), {}, errors.ColumnError, "duplicate column names"),
        (pd.DataFrame(PLACES), {"label": "side"}, errors.ColumnError, "The table has no column 'side'"),
    ],
)
def test_rows_for_scikit_learn_classifiers_are_validated(
    rows: Any, given: Any, error: Any, message: str
) -> None:
    learner = DecisionTreeClassifier().fit(PLACES, SIDES)
    with pytest.raises(error) as raised:
        weigh.regions(learner, rows, **given)
    assert message in str(raised.value)


def test_multi_output_classifiers_are_rejected() -> None:
    with pytest.raises(errors.LabelError, match="The labels are lists"):
        weigh.regions(weigh.Perceptron().fit(PLACES, SIDES), PLACES, [["a"]] * 60)
    both = DecisionTreeClassifier().fit(PLACES, np.column_stack([SIDES, SIDES]))
    with pytest.raises(errors.Unsupported, match="one label per row, got a multi-output one"):
        weigh.regions(both, PLACES)
