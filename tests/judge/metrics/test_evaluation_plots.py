"""Plots of evaluations: their data, and plots that are not available."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from tests.judge.metrics.scripted import Scripted, evaluate_scripted
from weigh import errors
from weigh.cli.commands.evaluate import PLOT_HELP
from weigh.judge import evaluate
from weigh.judge.metrics.evaluation_format import EVALUATION_PLOTS, NAME_WIDTH


def spec(chart):
    return json.loads(chart.to_json())


def make_evaluation(n_classes=3, n=90, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    return evaluate_scripted(labels, (rng.dirichlet(np.ones(n_classes), n) + np.eye(n_classes)[labels]) / 2)


def values(chart):
    """Return all data rows of a chart."""
    chart_spec = spec(chart)
    datasets = [*chart_spec.get("datasets", {}).values(), chart_spec.get("data", {}).get("values", [])]
    return [row for rows in datasets for row in rows]


@pytest.mark.parametrize("what", EVALUATION_PLOTS)
@pytest.mark.parametrize("n_classes", [2, 3, 40])
def test_every_plot_renders(what, n_classes):
    assert spec(make_evaluation(n_classes).plot(what))["title"]


def test_the_default_plot_is_the_confusion_matrix():
    evaluation = make_evaluation()
    assert spec(evaluation.plot()) == spec(evaluation.plot("confusion"))
    cells = {(row["row"], row["column"]): row["value"] for row in values(evaluation.plot()) if "shade" in row}
    table = evaluation.confusion.table()
    assert cells == {(str(t), str(p)): table[t, p] for t in range(3) for p in range(3)}


def test_unseen_labels_have_their_own_row():
    evaluation = evaluate_scripted([0, 1, 7], [[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    cells = {(row["row"], row["column"]): row["value"] for row in values(evaluation.plot()) if "shade" in row}
    assert cells["(never seen)", "0"] == 1


def test_truncated_names_stay_distinct():
    names = [f"a class with a very long name that ends in {end}" for end in "xyz"]
    table = np.random.default_rng(0).dirichlet(np.ones(3), 9)
    evaluation = evaluate(Scripted(table, classes=names), np.arange(9)[:, None], names * 3)
    shown = {row["row"] for row in values(evaluation.plot()) if "shade" in row}
    assert len(shown) == 3
    assert max(map(len, shown)) <= NAME_WIDTH


def test_unknown_and_unavailable_plots_are_rejected():
    with pytest.raises(errors.ParameterError, match="what must be one of 'confusion', 'reliability'"):
        make_evaluation().plot("rock")
    bare = evaluate_scripted([1, 1], [[0.2, 0.8], [0.4, 0.6]])
    with pytest.raises(errors.Unsupported, match=r"no curves to plot\. Areas need rows of at least two"):
        bare.plot("roc")
    scored = evaluate_scripted([0, 1, 1], np.array([-1.0, 1.0, 2.0]), as_scores=True)
    with pytest.raises(errors.Unsupported, match=r"no calibration to plot\. The classifier gives no prob"):
        scored.plot("reliability")


def test_a_regression_is_plotted_as_points():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2500, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=2500)
    evaluation = evaluate(LinearRegression().fit(X, y), X, y)
    assert len(evaluation.sample) == 1000
    assert [evaluation.sample[0].row, evaluation.sample[-1].row] == [0, 2499]
    rows = [row for row in values(evaluation.plot()) if "text" in row]
    first = evaluation.sample[0]
    assert (rows[0]["x"], rows[0]["y"]) == pytest.approx((first.true, first.predicted))
    rows = [row for row in values(evaluation.plot("residuals")) if "text" in row]
    assert (rows[0]["x"], rows[0]["y"]) == pytest.approx((first.predicted, first.error))
    with pytest.raises(errors.ParameterError, match="what must be 'predicted' or 'residuals'"):
        evaluation.plot("roc")


def test_the_command_line_lists_every_plot():
    assert [*EVALUATION_PLOTS, "predicted", "residuals"] == list(PLOT_HELP)
