"""`verify` of regressions: optimal weights pass, changes are detected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import weigh
from weigh import Laplace, Normal, Penalty
from weigh.judge import verify
from weigh.judge.verification.duality_gap import duality_gap
from weigh.judge.verification.objectives import AbsoluteLoss, LogLoss, Objective, SquaredLoss
from weigh.learn import DesignMatrix, build_design_matrix


def make_table(n: int = 60, seed: int = 0, classes: int = 0) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2]
    kind = np.array(list("abc"))[rng.integers(3, size=n)]
    y = X @ [1.0, -0.3, 2.0] + (kind == "b") + rng.standard_t(3, size=n)
    target = y if not classes else np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    named = {f"x{j}": X[:, j].tolist() for j in range(3)}
    return {**named, "kind": kind.tolist(), "y": [f"c{c}" for c in target] if classes else target.tolist()}


LINEAR = [
    {},
    {"prior": 0.5},
    {"prior": Normal("cv")},
    {"prior": Normal("evidence")},
    {"prior": Penalty(l2=3)},
    {"prior": 0.5, "scale": "unit"},
    {"prior": Normal(0.5, mean=1)},
    {"prior": 0.5, "offset": "x0"},
    {"prior": 0.5, "bias": False},
    {"noise": "laplace"},
    {"noise": "laplace", "prior": Penalty(l2=0.5)},
    {"noise": Laplace(1.5), "prior": 2.0},
    {"prior": Laplace(1)},
    {"prior": Laplace("cv")},
    {"prior": Laplace(0.2), "scale": "unit"},
    {"prior": Penalty(l1=3, l2=2)},
    {"noise": "laplace", "prior": Penalty(l1=1)},
    {"noise": "laplace", "prior": Penalty(l1=1, l2=1)},
]
LOGISTIC = [
    {},
    {"prior": Penalty(l2=0.01)},
    {"prior": Normal("cv")},
    {"scale": "unit"},
    {"prior": Penalty(l1=1, l2=0.5), "scale": "unit"},
    {"class_weight": "balanced"},
    {"bias": False},
    {"offset": "x0"},
    {"prior": Normal(1, mean=0.2)},
    {"prior": Laplace(0.5)},
    {"prior": Penalty(l1=1, l2=1)},
]
FITS = [(weigh.LinearRegression, 0, params) for params in LINEAR] + [
    (weigh.LogisticRegression, classes, params)
    for classes in (2, 3)
    for params in LOGISTIC
    if classes == 2 or "offset" not in params
]


def tamper(model):
    """Return the model with one weight slightly increased."""
    first = model.terms[0]
    weights = first.trained_weights().copy()
    weights[0, -1] += 0.05
    return replace(model, terms=[first.with_weights(weights), *model.terms[1:]])


@pytest.mark.parametrize(("learner", "classes", "params"), FITS)
def test_a_fit_verifies_and_a_changed_weight_is_detected(learner, classes, params):
    rows = make_table(classes=classes)
    model = learner(**params).fit(rows, "y").model_
    result = verify(model, rows)
    assert result.ok, str(result)
    assert result.notes == ()
    assert result.checks[-1].name == "gap to the minimum"
    wrong = {check.name for check in verify(tamper(model), rows).checks if not check.ok}
    assert {"loss of all rows", "gap to the minimum"} <= wrong


@pytest.mark.parametrize("classes", [0, 2])
def test_changed_and_missing_rows_are_detected(classes):
    learner = weigh.LogisticRegression() if classes else weigh.LinearRegression()
    rows = make_table(classes=classes)
    model = learner.fit(rows, "y").model_
    changed = {**rows, "x0": [rows["x0"][0] + 1.0, *rows["x0"][1:]]}
    wrong = {check.name for check in verify(model, changed).checks if not check.ok}
    assert {"loss of all rows", "objective"} <= wrong
    shorter = {name: values[1:] for name, values in rows.items()}
    failed = {check.name: check.differing for check in verify(model, shorter).checks if not check.ok}
    assert {"rows", "total weight of the rows"} <= set(failed)
    assert (failed["rows"][0].model, failed["rows"][0].data) == ("60", "59")


def test_other_classes_and_features_are_reported():
    rows = make_table(classes=2)
    model = weigh.LogisticRegression().fit(rows, "y").model_
    other_rows = {**rows, "kind": ["d", *rows["kind"][1:]], "y": ["other", *rows["y"][1:]]}
    failed = {check.name: check.differing for check in verify(model, other_rows).checks if not check.ok}
    assert [(m.what, m.model, m.data) for m in failed["classes"]] == [("class 'other'", "no", "yes")]
    assert [(m.what, m.model, m.data) for m in failed["features"]] == [("kind=d", "no", "yes")]


def test_a_false_objective_is_detected():
    rows = make_table()
    model = weigh.LinearRegression(prior=1).fit(rows, "y").model_
    better = replace(
        model, certificate=replace(model.certificate, objective=0.99 * model.certificate.objective)
    )
    wrong = [check.name for check in verify(better, rows).checks if not check.ok]
    assert wrong == ["objective"]


def test_a_fit_that_stopped_early_satisfies_its_stated_gap():
    rows = make_table(classes=2)
    with pytest.warns(weigh.errors.NotOptimal):
        model = weigh.LogisticRegression(prior=10, max_iter=1, tol=1e-12).fit(rows, "y").model_
    assert verify(model, rows).ok


def test_sample_weights_are_taken_from_the_source():
    rows = make_table()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=60)
    model = weigh.LinearRegression(prior=1).fit(rows, "y", sample_weight=weights).model_
    assert verify(model, weigh.rows(rows, "y", weights)).ok
    wrong = [check.name for check in verify(model, rows).checks if not check.ok]
    assert "total weight of the rows" in wrong


def test_with_priors_by_column_only_the_loss_is_checked():
    rows = make_table()
    result = verify(weigh.LinearRegression(prior={"x0": 0.5}).fit(rows, "y"), rows)
    assert result.ok
    assert [check.name for check in result.checks][-1] == "loss of all rows"
    assert result.notes == (
        "The features have individual penalties, which a model does not store: only the loss was checked.",
    )
    assert str(result).endswith("only the\nloss was checked.")
    assert result.headline.endswith("all checks agree; not checked: objective and gap.")


def test_non_numeric_labels_are_rejected():
    rows = make_table()
    model = weigh.LinearRegression().fit(rows, "y").model_
    with pytest.raises(weigh.errors.LabelError) as error:
        verify(model, {**rows, "y": ["high", "low"] * 30})
    assert str(error.value) == (
        "A regression is checked against numbers, but y has other values: 'high', 'low'."
    )


def _design(n: int, seed: int) -> DesignMatrix:
    return build_design_matrix(make_table(n, seed), "y", allows_fractions=True)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loss", ["squared", "log", "softmax", "absolute"])
@pytest.mark.parametrize("penalties", [(0.0, 0.0), (0.0, 2.0), (1.0, 0.0), (0.5, 1.0)])
def test_the_duality_gap_bounds_the_suboptimality(seed, loss, penalties):
    rng = np.random.default_rng(seed)
    rows = _design(40, seed)
    y, s = rng.normal(size=40) * 3, rng.uniform(0.5, 2.0, size=40)
    codes = rng.integers(3 if loss == "softmax" else 2, size=40).astype(float)
    losses = {
        "squared": SquaredLoss(y, s),
        "absolute": AbsoluteLoss(y, s),
        "log": LogLoss(codes, s, 2),
        "softmax": LogLoss(codes, s, 3),
    }
    k = 3 if loss == "softmax" else 1
    l1, l2 = (np.full(rows.width, penalty) for penalty in penalties)
    objective = Objective(rows, losses[loss], l1, l2, True, k)
    W, b = rng.normal(size=(rows.width, k)) * 0.1, rng.normal(size=k) * 0.1
    bound = duality_gap(objective, W, b)
    assert bound is not None
    value = objective.value(W, b)
    candidates = [(W * t, b * t) for t in (0.0, 0.5, 0.9)]
    candidates += [(W + rng.normal(size=W.shape) * 0.05, b + rng.normal(size=k) * 0.05) for _ in range(100)]
    assert value - min(objective.value(*candidate) for candidate in candidates) <= bound + 1e-9


def test_gradients_equal_finite_differences():
    rng = np.random.default_rng(0)
    y, s, codes = rng.normal(size=6), rng.uniform(0.5, 2, size=6), np.array([0.0, 1, 2, 0, 1, 2])
    cases = [
        (SquaredLoss(y, s), 1),
        (AbsoluteLoss(y, s), 1),
        (LogLoss(codes % 2, s, 2), 1),
        (LogLoss(codes, s, 3), 3),
    ]
    for loss, k in cases:
        Z, step = rng.normal(size=(6, k)), 1e-6
        for i in range(6):
            for c in range(k):
                up, down = Z.copy(), Z.copy()
                up[i, c] += step
                down[i, c] -= step
                expected = (loss.value(up) - loss.value(down)) / (2 * step)
                assert loss.gradient(Z)[i, c] == pytest.approx(expected, abs=1e-8)
        assert loss.fenchel_gap(Z, loss.gradient(Z)) == pytest.approx(0.0, abs=1e-12)
