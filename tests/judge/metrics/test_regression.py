"""Evaluation of regressions: scikit-learn's measures, bootstrap intervals and invalid input."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weigh
from weigh import errors
from weigh.judge import RegressionEvaluation, evaluate
from weigh.judge.metrics.confidence_intervals import MAX_RESAMPLED_ROWS, bootstrap_regression_metrics


def rows(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, 100 + X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "learner",
    [
        weigh.LinearRegression(),
        Ridge(),
        make_pipeline(StandardScaler(), Ridge()),
        GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3),
    ],
    ids=["ours", "ridge", "pipeline", "search"],
)
def test_measures_equal_those_of_scikit_learn(learner, weighted):
    X, y = rows()
    weight = np.random.default_rng(1).uniform(size=50) if weighted else None
    model = learner.fit(X[50:], y[50:])
    result = evaluate(model, X[:50], y[:50], sample_weight=weight)
    predicted = model.predict(X[:50])
    assert isinstance(result, RegressionEvaluation)
    expected = {
        "r2": r2_score(y[:50], predicted, sample_weight=weight),
        "rmse": math.sqrt(mean_squared_error(y[:50], predicted, sample_weight=weight)),
        "mae": mean_absolute_error(y[:50], predicted, sample_weight=weight),
        "bias": np.average(predicted - y[:50], weights=weight),
    }
    for name, value in expected.items():
        assert result.measure(name).value == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_model_estimator_table_and_source_give_the_same_evaluation(tmp_path):
    X, y = rows(30)
    table = {f"x{j}": X[:, j] for j in range(4)} | {"y": y}
    learner = weigh.LinearRegression().fit(table, "y")
    path = tmp_path / "rows.csv"
    lines = [",".join(map(repr, line)) for line in np.column_stack([X, y]).tolist()]
    path.write_text("\n".join(["x0,x1,x2,x3,y", *lines]) + "\n")
    by_table = evaluate(learner, table)
    assert by_table.to_dict() == evaluate(learner.model_, table, "y").to_dict()
    assert by_table.to_dict() == evaluate(learner.model_, weigh.open(path, label="y")).to_dict()


def test_intervals_have_about_their_nominal_coverage():
    rng = np.random.default_rng(3)
    n_covered = 0
    for _ in range(60):
        error = rng.normal(0.3, 1.0, size=50)
        _, (low, high) = bootstrap_regression_metrics(error, rng.normal(size=50), np.ones(50), 0.9)
        n_covered += low[3] <= 0.3 <= high[3]
    assert 46 <= n_covered <= 59


def test_the_normal_approximation_agrees_with_the_bootstrap(monkeypatch):
    rng = np.random.default_rng(4)
    error, true = rng.normal(0.1, 1.0, size=1000), rng.normal(size=1000) * 3
    _, exact = bootstrap_regression_metrics(error, true, np.ones(1000), 0.95)
    monkeypatch.setattr("weigh.judge.metrics.confidence_intervals.MAX_RESAMPLED_ROWS", 100)
    _, approximate = bootstrap_regression_metrics(error, true, np.ones(1000), 0.95)
    np.testing.assert_allclose(approximate, exact, atol=0.02)
    assert MAX_RESAMPLED_ROWS == 10_000


def test_intervals_are_reproducible():
    X, y = rows(40)
    model = weigh.LinearRegression().fit(X, y)
    assert evaluate(model, X, y).to_dict() == evaluate(model, X, y).to_dict()


def test_r2_of_constant_targets_is_one_or_zero():
    model = weigh.LinearRegression().fit({"x": [0.0, 1.0, 2.0], "y": [5.0, 5.0, 5.0]}, "y")
    assert evaluate(model, {"x": [4.0, 7.0], "y": [5.0, 5.0]}).r2.value == 1.0
    assert evaluate(model, {"x": [4.0, 7.0], "y": [6.0, 6.0]}).r2.value == 0.0


def test_one_row_has_no_interval_and_no_r2():
    model = weigh.LinearRegression().fit({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 2.0]}, "y")
    result = evaluate(model, {"x": [4.0], "y": [5.0]})
    assert math.isnan(result.r2.value)
    assert math.isnan(result.rmse.low)
    assert result.mae.value == pytest.approx(1.0)


PRINTED = """Evaluation on 4 rows

measure                    value       low     high
R²                       0.84416  −0.33333  0.94083
root mean squared error   1.6771   0.66144   2.6458
mean absolute error        1.375     0.625      2.5
mean error                 0.125        −1        2

Intervals of 95%: bootstrap over the rows (2,000 samples, seed 0). An error is
predicted − true.

Rows with the largest errors:
row  true  predicted  error
3       0          3      3
0      11         10     −1
1       9          8     −1
2     4.5          4   −0.5"""


def test_it_prints_measures_and_the_largest_errors():
    model = weigh.LinearRegression().fit({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 2.0]}, "y")
    result = evaluate(model, {"x": [10.0, 8.0, 4.0, 3.0], "y": [11.0, 9.0, 4.5, 0.0]})
    assert str(result) == PRINTED
    assert max(map(len, str(result).splitlines())) <= 80
    assert json.loads(json.dumps(result.to_dict()))["measures"][1]["value"] == pytest.approx(
        math.sqrt(11.25 / 4)
    )
    assert ">mean error</td>" in result._repr_html_()


def test_invalid_input_is_rejected():
    X, y = rows(10)
    model = weigh.LinearRegression().fit(X, y)
    with pytest.raises(errors.LabelError) as error:
        evaluate(model, X, ["a", *y[1:].tolist()])
    assert str(error.value) == (
        "Row 0 (the first is 0) has the label 'a', which is not a finite number; a regression needs numbers. "
        "Leave such rows out, or name another label column."
    )
    with pytest.raises(errors.LabelError, match=r"^Row 2 \(the first is 0\) has no label, so it cannot"):
        evaluate(model, X, np.where(np.arange(10) == 2, np.nan, y))
    with pytest.raises(errors.DataError, match=r"^The sample weights sum to zero; give some row"):
        evaluate(model, X, y, sample_weight=np.zeros(10))
    with pytest.raises(errors.DataError, match=r"^y has 9 values for 10 rows; give one per row\.$"):
        evaluate(Ridge().fit(X, y), X, y[:9])
    with pytest.raises(errors.Unsupported, match=r"^The regression predicts numbers of shape \(10, 2\)"):
        evaluate(Ridge().fit(X, np.column_stack([y, y])), X, y)
    with pytest.raises(
        errors.Unsupported, match=r"^evaluate needs a trained classifier or regression, got obj"
    ):
        evaluate(object(), X, y)
    with pytest.raises(
        errors.Unsupported, match=r"^This evaluation has no measure 'mse'; it has 'r2', 'rmse'"
    ):
        evaluate(model, X, y).measure("mse")
