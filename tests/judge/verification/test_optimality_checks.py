"""`verify` of regressions: what is optimal agrees, what was changed is found."""

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


def table(n: int = 60, seed: int = 0, classes: int = 0) -> dict[str, list]:
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
FITS = [(weigh.LinearRegression, 0, each) for each in LINEAR] + [
    (weigh.LogisticRegression, classes, each)
    for classes in (2, 3)
    for each in LOGISTIC
    if classes == 2 or "offset" not in each
]


def tampered(model):
    """The same model, one of whose weights is a little larger."""
    first = model.terms[0]
    weights = first.trained_weights().copy()
    weights[0, -1] += 0.05
    return replace(model, terms=[first.with_weights(weights), *model.terms[1:]])


@pytest.mark.parametrize(("learner", "classes", "given"), FITS)
def test_a_fit_agrees_and_a_changed_weight_is_found(learner, classes, given):
    rows = table(classes=classes)
    model = learner(**given).fit(rows, "y").model_
    found = verify(model, rows)
    assert found.ok, str(found)
    assert found.notes == ()
    assert found.checks[-1].name == "gap to the minimum"
    wrong = {check.name for check in verify(tampered(model), rows).checks if not check.ok}
    assert {"loss of all rows", "gap to the minimum"} <= wrong


@pytest.mark.parametrize("classes", [0, 2])
def test_a_wrong_row_and_a_missing_row_are_found(classes):
    learner = weigh.LogisticRegression() if classes else weigh.LinearRegression()
    rows = table(classes=classes)
    model = learner.fit(rows, "y").model_
    changed = {**rows, "x0": [rows["x0"][0] + 1.0, *rows["x0"][1:]]}
    wrong = {check.name for check in verify(model, changed).checks if not check.ok}
    assert {"loss of all rows", "objective"} <= wrong
    shorter = {name: values[1:] for name, values in rows.items()}
    failed = {check.name: check.differing for check in verify(model, shorter).checks if not check.ok}
    assert {"rows", "total weight of the rows"} <= set(failed)
    assert (failed["rows"][0].model, failed["rows"][0].data) == ("60", "59")


def test_other_classes_and_features_are_told():
    rows = table(classes=2)
    model = weigh.LogisticRegression().fit(rows, "y").model_
    strange = {**rows, "kind": ["d", *rows["kind"][1:]], "y": ["other", *rows["y"][1:]]}
    failed = {check.name: check.differing for check in verify(model, strange).checks if not check.ok}
    assert [(each.what, each.model, each.data) for each in failed["classes"]] == [
        ("class 'other'", "no", "yes")
    ]
    assert [(each.what, each.model, each.data) for each in failed["features"]] == [("kind=d", "no", "yes")]


def test_a_claim_of_a_smaller_objective_is_found():
    rows = table()
    model = weigh.LinearRegression(prior=1).fit(rows, "y").model_
    better = replace(
        model, certificate=replace(model.certificate, objective=0.99 * model.certificate.objective)
    )
    wrong = [check.name for check in verify(better, rows).checks if not check.ok]
    assert wrong == ["objective"]


def test_a_fit_that_stopped_early_keeps_to_the_gap_it_states():
    rows = table(classes=2)
    with pytest.warns(weigh.errors.NotOptimal):
        model = weigh.LogisticRegression(prior=10, max_iter=1, tol=1e-12).fit(rows, "y").model_
    assert verify(model, rows).ok


def test_weights_of_rows_are_those_of_the_source():
    rows = table()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=60)
    model = weigh.LinearRegression(prior=1).fit(rows, "y", sample_weight=weights).model_
    assert verify(model, weigh.rows(rows, "y", weights)).ok
    wrong = [check.name for check in verify(model, rows).checks if not check.ok]
    assert "total weight of the rows" in wrong


def test_priors_by_column_leave_the_loss_to_be_checked():
    rows = table()
    found = verify(weigh.LinearRegression(prior={"x0": 0.5}).fit(rows, "y"), rows)
    assert found.ok
    assert [check.name for check in found.checks][-1] == "loss of all rows"
    assert found.notes == (
        "The features have individual penalties, which a model does not store: only the loss was checked.",
    )
    assert str(found).endswith("only the\nloss was checked.")


def test_online_learning_proves_nothing():
    rows = table(classes=2)
    found = verify(weigh.LogisticRegression(method="online").fit(rows, "y"), rows)
    assert found.notes == (
        "The weights were learned online, without a certificate: only rows and classes were checked.",
    )
    assert found.to_dict()["notes"] == list(found.notes)


def test_labels_that_are_no_numbers_are_refused():
    rows = table()
    model = weigh.LinearRegression().fit(rows, "y").model_
    with pytest.raises(weigh.errors.LabelError) as refused:
        verify(model, {**rows, "y": ["high", "low"] * 30})
    assert str(refused.value) == (
        "A regression is checked against rows with a number each, and y has others: 'high', 'low'."
    )


def _design(n: int, seed: int) -> DesignMatrix:
    return build_design_matrix(table(n, seed), "y")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loss", ["squared", "log", "softmax", "absolute"])
@pytest.mark.parametrize("penalties", [(0.0, 0.0), (0.0, 2.0), (1.0, 0.0), (0.5, 1.0)])
def test_the_gap_bounds_what_a_point_is_above_a_better_one(seed, loss, penalties):
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
    l1, l2 = (np.full(rows.width, each) for each in penalties)
    objective = Objective(rows, losses[loss], l1, l2, True, k)
    W, b = rng.normal(size=(rows.width, k)) * 0.1, rng.normal(size=k) * 0.1
    bound = duality_gap(objective, W, b)
    assert bound is not None
    value = objective.value(W, b)
    tried = [(W * t, b * t) for t in (0.0, 0.5, 0.9)]
    tried += [(W + rng.normal(size=W.shape) * 0.05, b + rng.normal(size=k) * 0.05) for _ in range(100)]
    assert value - min(objective.value(*each) for each in tried) <= bound + 1e-9


def test_slopes_are_those_of_finite_differences():
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
                slope = (loss.value(up) - loss.value(down)) / (2 * step)
                assert loss.gradient(Z)[i, c] == pytest.approx(slope, abs=1e-8)
        assert loss.fenchel_gap(Z, loss.gradient(Z)) == pytest.approx(0.0, abs=1e-12)
