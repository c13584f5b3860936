"""LogisticRegression: the meaning of every parameter, results, errors and warnings."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

import weigh
from weigh import errors

N, D = 80, 4
NAMES = ["a", "b", "c", "d"]
TIGHT = {"tol": 1e-13}


def make_rows(classes: int = 2, n: int = N, seed: int = 0) -> tuple[Any, Any]:
    """Return rows and codes that depend on them; every class occurs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1, 0.5, 2, 3] + [0, 1, -1, 0]
    scores = X @ rng.normal(size=(D, classes)) + 2 * rng.gumbel(size=(n, classes))
    y = np.argmax(scores, axis=1)
    y[:classes] = np.arange(classes)
    return X, y


X, CODES = make_rows()
LABELS = np.array(["no", "yes"])[CODES]
TABLE = {**{name: X[:, j] for j, name in enumerate(NAMES)}, "late": LABELS}


def fitted(prior: Any = 1.0, **params: Any) -> Any:
    """Fit a model in the units of the table, unless a scale is given."""
    return weigh.LogisticRegression(prior, **(TIGHT | {"scale": None} | params)).fit(TABLE, "late")


def reference_fit(
    l2: Any,
    *,
    rows: Any = X,
    codes: Any = CODES,
    classes: int = 2,
    weights: Any = None,
    offset: Any = 0.0,
    bias: bool = True,
) -> tuple[Any, Any]:
    """Minimise Σ log loss + ½ Σ l2 w² with L-BFGS; return weights [d] or [classes, d] and biases."""
    d, k = rows.shape[1], 1 if classes == 2 else classes
    s = np.ones(len(codes)) if weights is None else weights
    penalty = np.broadcast_to(l2, d)

    def value(v: Any) -> tuple[float, Any]:
        W, b = v[: d * k].reshape(k, d), v[d * k :] * bias
        Z = rows @ W.T + b + np.reshape(offset, (-1, 1))
        full = np.column_stack([np.zeros(len(Z)), Z]) if k == 1 else Z
        log_p = special.log_softmax(full, axis=1)
        residual = np.exp(log_p)
        residual[np.arange(len(codes)), codes] -= 1
        residual = residual[:, 1:] if k == 1 else residual
        loss = -float(s @ log_p[np.arange(len(codes)), codes]) + 0.5 * float((penalty * W**2).sum())
        gradient = (s[:, None] * residual).T @ rows + penalty * W
        return loss, np.concatenate([gradient.ravel(), (s @ residual) * bias])

    solution = optimize.minimize(
        value,
        np.zeros(k * (d + 1)),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-11, "ftol": 0, "maxiter": 5000},
    ).x
    W, b = solution[: d * k].reshape(k, d), solution[d * k :]
    return (W[0], b[0]) if k == 1 else (W, b - b.mean())


def check(model: Any, expected: tuple[Any, Any], atol: float = 2e-6) -> None:
    np.testing.assert_allclose(model.coef_, np.atleast_2d(expected[0]), atol=atol)
    b = np.atleast_1d(expected[1])
    np.testing.assert_allclose(
        model.intercept_ - (model.intercept_.mean() if len(b) > 1 else 0), b, atol=atol
    )


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_a_number_is_the_scale_of_a_normal_prior(scale: float) -> None:
    check(fitted(scale), reference_fit(scale**-2))
    check(fitted(weigh.Normal(scale)), reference_fit(scale**-2))
    check(fitted(weigh.Penalty(l2=scale**-2)), reference_fit(scale**-2))


def test_without_a_prior_it_is_maximum_likelihood() -> None:
    check(fitted(None), reference_fit(0.0))


def test_without_a_bias_even_odds_are_at_zero() -> None:
    model = fitted(bias=False)
    w, _ = reference_fit(1.0, bias=False)
    check(model, (w, 0.0))
    np.testing.assert_array_equal(model.predict_proba(dict.fromkeys(NAMES, 0.0)), [[0.5, 0.5]])
    assert [line.feature for line in model.summary().lines] == NAMES


def test_columns_not_named_in_a_mapping_have_normal_1() -> None:
    check(fitted({"b": 0.5, "c": None, "d": weigh.Penalty(l2=7)}), reference_fit([1.0, 4.0, 0.0, 7.0]))


def test_a_prior_mean_may_be_a_number_or_an_older_model() -> None:
    shift = np.full(D, 0.5)
    w, b = reference_fit(100.0, offset=X @ shift)
    check(fitted(weigh.Normal(0.1, mean=0.5)), (w + shift, b))
    older = weigh.LogisticRegression().fit({name: values[:40] for name, values in TABLE.items()}, "late")
    model = fitted(weigh.Normal(1e-6, mean=older))
    np.testing.assert_allclose(model.coef_, older.coef_, atol=1e-9)


def test_an_older_softmax_model_is_the_prior_mean_of_every_class() -> None:
    rows, codes = make_rows(3)
    older = weigh.LogisticRegression().fit(rows[:40], codes[:40])
    model = weigh.LogisticRegression(weigh.Normal(1e-6, mean=older)).fit(rows, codes)
    np.testing.assert_allclose(model.coef_, older.coef_, atol=1e-8)


def test_an_older_model_with_another_number_of_classes_cannot_be_the_prior_mean() -> None:
    rows, codes = make_rows(3)
    two, three = weigh.LogisticRegression().fit(X, CODES), weigh.LogisticRegression().fit(rows, codes)
    one, many = "one weight per feature", "weights for 3 classes"
    for older, y, theirs, ours in ((three, CODES, many, one), (two, codes, one, many)):
        with pytest.raises(errors.ParameterError) as excinfo:
            weigh.LogisticRegression(weigh.Normal(1, mean=older)).fit(X, y)
        assert str(excinfo.value) == (
            f"The prior's mean is a model with {theirs}, but the model to learn has {ours}. Give a model of "
            "the same classes, or a number."
        )


def test_an_offset_is_added_to_the_log_odds_with_weight_one() -> None:
    model = fitted(offset="b")
    others = [0, 2, 3]
    w, b = reference_fit(1.0, rows=X[:, others], offset=X[:, 1])
    check(model, (np.insert(w, 1, 1.0), b))
    np.testing.assert_allclose(model.decision_function(TABLE), X[:, others] @ w + b + X[:, 1], atol=1e-5)
    assert model.posterior_.sd[1] == 0


def test_unit_scale_uses_standard_deviations_and_leaves_the_bias_unpenalised() -> None:
    sd, mean = X.std(axis=0), X.mean(axis=0)
    w, b = reference_fit(4.0, rows=(X - mean) / sd)
    check(fitted(0.5, scale="unit"), (w / sd, b - float(mean @ (w / sd))))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_is_equivalent_to_repeated_rows(classes: int) -> None:
    rows, codes = make_rows(classes)
    times = np.random.default_rng(2).integers(0, 4, N)
    times[:classes] = 1
    again = np.repeat(np.arange(N), times)
    one = weigh.LogisticRegression(**TIGHT).fit(rows, codes, times.astype(float))
    two = weigh.LogisticRegression(**TIGHT).fit(rows[again], codes[again])
    check(one, (two.coef_, two.intercept_ - (two.intercept_.mean() if classes > 2 else 0)), atol=1e-6)
    np.testing.assert_allclose(one.model_.shares, two.model_.shares)


@pytest.mark.parametrize("class_weight", ["balanced", {"yes": 3.0}, {"no": 0.5, "yes": 2}])
def test_class_weights_multiply_the_weights_of_their_rows(class_weight: Any) -> None:
    counts = {label: int(np.sum(label == LABELS)) for label in ("no", "yes")}
    by_class = (
        {label: N / (2 * counts[label]) for label in counts} if class_weight == "balanced" else class_weight
    )
    weights = np.array([by_class.get(label, 1.0) for label in LABELS])
    model = fitted(class_weight=class_weight)
    check(model, reference_fit(1.0, weights=weights))
    # The class frequencies stay unweighted, for decisions with another class prior.
    np.testing.assert_allclose(model.model_.shares, [counts["no"] / N, counts["yes"] / N])


def test_class_weights_of_unknown_classes_are_an_error() -> None:
    with pytest.raises(errors.ParameterError) as excinfo:
        fitted(class_weight={"maybe": 2})
    assert str(excinfo.value) == (
        "LogisticRegression: class_weight names the class 'maybe'; the rows have 'no', 'yes'."
    )


@pytest.mark.parametrize("classes", [3, 5])
def test_several_classes_use_softmax(classes: int) -> None:
    rows, codes = make_rows(classes)
    model = weigh.LogisticRegression(**TIGHT).fit(rows, codes)
    W, b = reference_fit(1.0, rows=rows, codes=codes, classes=classes)
    check(model, (W, b))
    np.testing.assert_allclose(model.predict_proba(rows), special.softmax(rows @ W.T + b, axis=1), atol=1e-5)
    assert model.decision_function(rows).shape == (N, classes)


def test_classes_are_in_canonical_order_whatever_row_comes_first() -> None:
    for order in (slice(None), slice(None, None, -1)):
        model = weigh.LogisticRegression(**TIGHT).fit(X[order], LABELS[order])
        assert model.classes_.tolist() == ["no", "yes"]
        check(model, reference_fit(1.0))
    truth = weigh.LogisticRegression().fit(X, CODES == 1)
    assert truth.classes_.tolist() == [False, True]
    assert weigh.LogisticRegression().fit(X, np.where(CODES, 10, 9)).classes_.tolist() == [9, 10]


def test_probabilities_are_those_of_the_log_odds() -> None:
    model = fitted()
    odds = model.decision_function(TABLE)
    np.testing.assert_allclose(odds, X @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(TABLE)[:, 1], special.expit(odds), rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(TABLE)[:, 0], special.log_expit(-odds), rtol=1e-12)
    assert (model.predict(TABLE) == np.where(odds > 0, "yes", "no")).all()
    assert model.score(TABLE, "late") == np.mean(np.where(odds > 0, "yes", "no") == LABELS)


def newton_fit(l2: float, rows: Any, codes: Any) -> Any:
    """Fit two classes by Newton's method; return the weights followed by the bias."""
    A, penalty, w = (
        np.column_stack([rows, np.ones(len(rows))]),
        np.append(np.full(D, l2), 0.0),
        np.zeros(D + 1),
    )
    for _ in range(30):
        p = special.expit(A @ w)
        hessian = A.T @ (A * (p * (1 - p))[:, None]) + np.diag(penalty)
        w = w - np.linalg.solve(hessian, A.T @ (p - codes) + penalty * w)
    return w


def held_out_losses(l2s: Any, folds: int) -> Any:
    """Return the held-out log loss of each penalty with folds stratified by class."""
    fold = np.empty(N, dtype=int)
    for rows in (np.flatnonzero(CODES), np.flatnonzero(1 - CODES)):
        fold[rows] = np.arange(len(rows)) % folds
    losses = np.zeros(len(l2s))
    for test in (fold == number for number in range(folds)):
        for k, l2 in enumerate(l2s):
            w = newton_fit(l2, X[~test], CODES[~test])
            losses[k] -= float(special.log_expit((2 * CODES[test] - 1) * (X[test] @ w[:D] + w[D])).sum())
    return losses


def test_cross_validation_is_a_loop_over_folds() -> None:
    model = fitted(weigh.Normal("cv"), folds=3)
    size = float(np.square(X - X.mean(axis=0)).sum(axis=0).mean()) / 4
    penalties = size * np.geomspace(1e2, 1e-6, 20)
    best = penalties[np.argmin(held_out_losses(penalties, 3))]
    assert model.model_.fit.l2 == pytest.approx(best, rel=1e-9)
    assert dict(model.summary().facts)["prior"] == "Normal('cv'), scale by cross-validation"
    check(model, reference_fit(best))


@pytest.mark.parametrize("prior", [weigh.Normal("cv"), weigh.Laplace("cv")])
def test_cross_validation_needs_two_rows_of_each_class(prior: Any) -> None:
    with pytest.raises(errors.DataError) as excinfo:
        weigh.LogisticRegression(prior).fit(X, np.arange(N) == 3)
    assert str(excinfo.value) == (
        "A class has only one row, so no row is left to learn it from when that row is held out. Give more "
        "rows of this class, leave it out, or give the prior's scale as a number."
    )


def test_the_posterior_covariance_is_the_inverse_hessian_at_the_minimum() -> None:
    model = fitted(0.7)
    A = np.column_stack([X, np.ones(N)])
    p = model.predict_proba(TABLE)[:, 1]
    precision = A.T @ (A * (p * (1 - p))[:, None]) + np.diag([0.7**-2] * D + [0])
    covariance = np.linalg.inv(precision)
    posterior = model.posterior_
    np.testing.assert_allclose(posterior.covariance, covariance[:D, :D], rtol=1e-7, atol=1e-12)
    assert posterior.intercept_sd == pytest.approx(math.sqrt(covariance[D, D]), rel=1e-8)
    np.testing.assert_allclose(posterior.intercept_covariance, covariance[D, :D], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(posterior.mean, model.coef_[0])


def test_the_summary_has_wald_statistics() -> None:
    model = fitted(None)
    p = model.predict_proba(TABLE)[:, 1]
    A = np.column_stack([np.ones(N), X])
    standard_errors = np.sqrt(np.diag(np.linalg.inv(A.T @ (A * (p * (1 - p))[:, None]))))
    weights = np.concatenate([model.intercept_, model.coef_[0]])
    summary = model.summary()
    columns = {
        name: np.array([getattr(line, name) for line in summary.lines])
        for name in ("weight", "error", "ratio", "tails", "low", "high")
    }
    np.testing.assert_allclose(columns["weight"], weights)
    np.testing.assert_allclose(columns["error"], standard_errors, rtol=1e-7)
    np.testing.assert_allclose(columns["ratio"], weights / standard_errors, rtol=1e-7)
    np.testing.assert_allclose(
        columns["tails"], 2 * stats.norm.sf(np.abs(weights / standard_errors)), rtol=1e-6
    )
    np.testing.assert_allclose(
        columns["high"] - columns["low"], 2 * 1.959963984540054 * standard_errors, rtol=1e-7
    )
    assert summary.title == "Logistic regression: log-odds of yes against no"
    facts = dict(summary.facts)
    frequency = CODES.mean()
    null_loss = -N * (frequency * math.log(frequency) + (1 - frequency) * math.log(1 - frequency))
    loss = -float(np.log(np.where(CODES, p, 1 - p)).sum())
    assert facts["share of the loss explained"] == f"{1 - loss / null_loss:.6f}"
    assert "noise, standard deviation" not in facts


def test_a_summary_of_more_classes_has_lines_for_each() -> None:
    rows, codes = make_rows(3)
    summary = weigh.LogisticRegression().fit(rows, codes).summary()
    assert summary.title == "Logistic regression of 3 classes"
    names = [line.feature for line in summary.lines]
    assert names[:2] == ["0: bias", "0: x0"]
    assert len(names) == 3 * (D + 1)
    assert all(line.error is None for line in summary.lines)
    assert summary.equivalents is None


def test_the_summary_names_the_penalty_in_other_packages() -> None:
    assert str(fitted(2.0).summary().equivalents["LogisticRegression"]) == "LogisticRegression(C=4)"


def test_a_missing_posterior_is_an_error_with_the_reason() -> None:
    for model in (
        weigh.LogisticRegression().fit(*make_rows(3)),
        weigh.LogisticRegression(method="online").fit(X, CODES),
    ):
        with pytest.raises(errors.Unsupported) as excinfo:
            model.posterior_  # noqa: B018
        assert str(excinfo.value) == (
            "This logistic regression has no posterior: only the exact method with two classes and a Normal "
            "prior, or none, has one, and it is kept for up to 1,000 features."
        )


def mixed_table(classes: int = 2) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    return {
        "size": rng.normal(size=N),
        "grade": np.array(["low", "mid", "high"])[rng.integers(0, 3, N)],
        "known": rng.random(N) < 0.5,
        "body": [["free money", "see you at noon", "lunch"][i % 3] + f" word{i % 5}" for i in range(N)],
        "late": rng.integers(0, classes, N),
    }


@pytest.mark.parametrize("method", ["exact", "online"])
def test_explanations_sum_to_the_log_odds(method: str) -> None:
    table = mixed_table()
    model = weigh.LogisticRegression(method=method, columns={"body": "text"}).fit(table, "late")
    odds = model.decision_function(table)
    for evidence, total in zip(model.explain(table), odds, strict=True):
        assert evidence.total == pytest.approx(abs(total), rel=1e-9, abs=1e-12)
        assert math.fsum(row.nats for row in evidence.table) == pytest.approx(abs(total), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "params", [{}, {"offset": "size"}, {"method": "online"}, {"prior": weigh.Normal(2), "bias": False}]
)
def test_a_saved_model_gives_the_same_results(params: dict[str, Any], classes: int, tmp_path: Path) -> None:
    if "offset" in params and classes > 2:
        with pytest.raises(errors.ParameterError, match="log-odds of two classes, but there are 3 classes"):
            weigh.LogisticRegression(columns={"body": "text"}, **params).fit(mixed_table(classes), "late")
        return
    table = mixed_table(classes)
    model = weigh.LogisticRegression(columns={"body": "text"}, **params).fit(table, "late").model_
    model.save(tmp_path / "m.weigh")
    again = weigh.load(tmp_path / "m.weigh")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert str(again.summary()) == str(model.summary())
    assert [str(e) for e in again.explain(table)] == [str(e) for e in model.explain(table)]
    assert again.to_bytes() == model.to_bytes()
    assert (again.fit, again.certificate) == (model.fit, model.certificate)
    if model.posterior_source is not None:
        np.testing.assert_array_equal(again.posterior.covariance, model.posterior.covariance)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("method", ["exact", "online"])
def test_copies_and_pickles_give_the_same_results(again: Any, method: str) -> None:
    model = weigh.LogisticRegression(method=method).fit(X, LABELS)
    other = again(model)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other.classes_.tolist() == ["no", "yes"]


def test_a_copy_trains_independently() -> None:
    model = weigh.LogisticRegression(method="online").partial_fit(X[:40], LABELS[:40])
    before = model.coef_.copy()
    copy.copy(model).partial_fit(X[40:], LABELS[40:])
    np.testing.assert_array_equal(model.coef_, before)


def test_batches_equal_one_pass_in_order() -> None:
    online = weigh.LogisticRegression(None, "online", shuffle=False, max_iter=1).fit(X, LABELS)
    batches = weigh.LogisticRegression(None, "online")
    for at in range(0, N, 13):
        batches.partial_fit(X[at : at + 13], LABELS[at : at + 13], classes=["no", "yes"])
    np.testing.assert_array_equal(batches.coef_, online.coef_)
    np.testing.assert_array_equal(batches.intercept_, online.intercept_)


def test_a_numeric_rate_gives_the_plain_update() -> None:
    rate, w, b = 0.1, np.zeros(D), 0.0
    for x, y in zip(X, CODES, strict=True):
        step = rate * (y - special.expit(w @ x + b))
        w, b = w + step * x, b + step
    model = weigh.LogisticRegression(None, "online", rate=rate, shuffle=False, max_iter=1).fit(X, CODES)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)
    np.testing.assert_allclose(model.intercept_, [b], rtol=1e-12)


def test_weights_of_standardised_numbers_are_in_original_units() -> None:
    model = weigh.LogisticRegression(method="online", scale="unit").fit(X, CODES)
    by_hand = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), by_hand, atol=1e-10)


def test_only_the_online_method_has_partial_fit() -> None:
    assert not hasattr(weigh.LogisticRegression(), "partial_fit")
    assert hasattr(weigh.LogisticRegression(method="online"), "partial_fit")


def test_a_batch_with_a_class_that_was_not_declared_changes_nothing() -> None:
    model = weigh.LogisticRegression(method="online").partial_fit(X, LABELS, classes=["no", "yes"])
    before = model.coef_.copy()
    with pytest.raises(errors.LabelError):
        model.partial_fit(X, np.where(CODES, "maybe", "no"), classes=["no", "yes"])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.classes_.tolist() == ["no", "yes"]


def test_refitting_discards_the_other_method() -> None:
    learner = weigh.LogisticRegression(method="online").fit(X, LABELS)
    learner.set_params(method="exact").fit(X, LABELS)
    assert learner.certificate_.converged
    learner.set_params(method="online").fit(X, LABELS)
    with pytest.raises(errors.Unsupported) as excinfo:
        learner.certificate_  # noqa: B018
    assert str(excinfo.value) == "Online learning has no certificate. Use method='exact' to get one."
    assert learner.n_iter_ >= 1


def test_partial_fit_after_an_exact_fit_starts_from_zero() -> None:
    learner = weigh.LogisticRegression().fit(X, LABELS)
    learner.set_params(method="online").partial_fit(X, LABELS)
    assert learner.model_.fit.method == "online"
    fresh = weigh.LogisticRegression(method="online").partial_fit(X, LABELS)
    np.testing.assert_array_equal(learner.coef_, fresh.coef_)


def test_a_failed_online_fit_keeps_the_exact_model() -> None:
    learner = weigh.LogisticRegression().fit(X, LABELS)
    before = learner.model_.to_bytes()
    learner.set_params(method="online")
    for fit in (learner.fit, learner.partial_fit):
        with pytest.raises(errors.LabelError):
            fit(X, ["no"] * N)
        assert learner.model_.to_bytes() == before


def test_some_parameters_cannot_change_during_training() -> None:
    learner = weigh.LogisticRegression(method="online").partial_fit(X, LABELS)
    for changed, message in (
        ({"bias": False}, "bias cannot change"),
        ({"rate": 0.1}, "rate cannot change between 'safe' and a number"),
        ({"scale": "unit"}, "columns and scale cannot change"),
    ):
        other = copy.deepcopy(learner).set_params(**changed)
        with pytest.raises(errors.ParameterError) as excinfo:
            other.partial_fit(X, LABELS)
        assert str(excinfo.value) == (
            f"LogisticRegression: {message} when training continues. Start again: fit, or use a new "
            f"LogisticRegression."
        )
        np.testing.assert_array_equal(other.coef_, learner.coef_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "newton"}, "method must be 'exact' or 'online', got 'newton'."),
        ({"folds": "loo"}, "folds must be a whole number of at least 2, got 'loo'."),
        ({"scale": "sd"}, "scale must be 'auto', 'unit' or None, got 'sd'."),
        (
            {"class_weight": {"no": -1}},
            "class_weight must be None, 'balanced' or a mapping from class to a number: 0, or from 1e-50 to "
            "1e+50, got {'no': -1}.",
        ),
        (
            {"prior": weigh.Normal("evidence")},
            "scale='evidence' is available for linear regression only. Give scale='cv', or a number.",
        ),
        (
            {"method": "online", "offset": "a"},
            "method='online' does not support offset. Use method='exact'.",
        ),
        (
            {"method": "online", "prior": weigh.Laplace(1)},
            "method='online' supports one Normal prior with mean zero for all columns, or None, got "
            "prior=Laplace(1). Give a number, or method='exact'.",
        ),
    ],
)
def test_invalid_parameters_are_errors(params: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.ParameterError) as excinfo:
        fitted(**params)
    assert str(excinfo.value) == f"LogisticRegression: {message}"


def test_separable_classes_without_a_prior_are_an_error() -> None:
    y = X[:, 0] > 0
    with pytest.raises(errors.DataError) as excinfo:
        weigh.LogisticRegression(None).fit(X, y)
    assert str(excinfo.value) == (
        "A plane separates the classes, so without a prior the weights have no finite optimum. Give a prior, "
        "for example prior=1."
    )
    assert weigh.LogisticRegression().fit(X, y).score(X, y) > 0.95


def test_a_feature_that_only_one_class_has_is_named() -> None:
    table = {**TABLE, "alarm": np.where((LABELS == "yes") & (np.arange(N) % 3 == 0), 1.0, 0.0)}
    with pytest.raises(errors.DataError) as excinfo:
        weigh.LogisticRegression(None).fit(table, "late")
    assert str(excinfo.value) == (
        "Some features have values that occur with one class only ('alarm'), so without a prior their "
        "weights have no finite optimum. Give a prior, for example prior=1, or leave these features out."
    )
    weigh.LogisticRegression({"alarm": 1.0, **dict.fromkeys(NAMES)}).fit(table, "late")


def test_one_class_is_an_error() -> None:
    with pytest.raises(errors.LabelError) as excinfo:
        weigh.LogisticRegression().fit(X, ["no"] * N)
    assert str(excinfo.value) == (
        "All rows have the label 'no'; logistic regression needs at least two classes. Give rows of another "
        "class too: the data has only one class."
    )


def test_a_fit_that_is_not_optimal_warns() -> None:
    with pytest.warns(errors.NotOptimal) as caught:
        model = weigh.LogisticRegression(max_iter=1, tol=1e-9).fit(X, CODES)
    certificate = model.certificate_
    assert str(caught[0].message) == (
        f"LogisticRegression stopped with its objective up to {certificate.gap:.3g} above the minimum, "
        f"{certificate.relative_gap:.1g} of the objective without features; tol=1e-09 was not reached "
        f"(Newton, 1 iteration). Try max_iter=10 or a larger tol, give a stronger prior, or set "
        "scale='unit' if the "
        f"columns have very different scales."
    )
    assert model.n_iter_ == 1


def test_missing_numbers_are_treated_as_zero_with_a_warning() -> None:
    X_missing = X.copy()
    X_missing[[3, 8], [1, 2]] = np.nan
    with pytest.warns(errors.MissingNumbers) as caught:
        model = weigh.LogisticRegression(**TIGHT).fit(X_missing, CODES)
    assert str(caught[0].message) == (
        "2 numbers are missing and count as zero. Fill them in first (for example with the column's mean), "
        "or leave such rows out."
    )
    check(model, reference_fit(1.0, rows=np.nan_to_num(X_missing)))


def test_decisions_use_the_class_frequencies_of_the_training_rows() -> None:
    model = fitted()
    even = weigh.Decision(class_prior={"no": 0.5, "yes": 0.5})
    shares = model.model_.shares
    odds = model.decision_function(TABLE) - math.log(shares[1] / shares[0])
    assert (model.predict(TABLE, even) == np.where(odds > 0, "yes", "no")).all()


def check_optimality(model: Any, rows: Any, codes: Any, l1: Any, l2: Any = 0.0, atol: float = 2e-4) -> None:
    """Check the subgradient condition: gradient = −l1 sign(w), or |gradient| ≤ l1 where w = 0."""
    one_hot = np.eye(len(model.classes_))[codes]
    gradient = (model.predict_proba(rows) - one_hot).T @ rows
    W = model.coef_
    gradient = gradient[1:] if len(model.classes_) == 2 else gradient
    gradient += np.broadcast_to(l2, W.shape[1]) * W
    l1 = np.broadcast_to(l1, W.shape)
    np.testing.assert_allclose(gradient[W != 0], -(l1 * np.sign(W))[W != 0], atol=atol)
    assert (np.abs(gradient[W == 0]) <= l1[W == 0] + atol).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_laplace_prior_leaves_weights_of_exactly_zero(classes: int) -> None:
    rows, codes = make_rows(classes)
    for prior, l1, l2 in (
        (weigh.Laplace(0.1), 10.0, 0.0),
        (weigh.Penalty(l1=8), 8.0, 0.0),
        (weigh.Penalty(l1=8, l2=3), 8.0, 3.0),
    ):
        model = weigh.LogisticRegression(prior, tol=1e-11, max_iter=10_000).fit(rows, codes)
        check_optimality(model, rows, codes, l1, l2)
        assert (model.coef_ == 0).any()
        assert (model.coef_ != 0).any()
        assert model.model_.irrelevant() or classes > 2


def test_columns_may_differ_in_the_kind_of_their_prior() -> None:
    prior = {"a": weigh.Laplace(0.1), "b": None, "c": weigh.Penalty(l1=5, l2=2), "d": weigh.Normal(0.5)}
    model = fitted(prior, tol=1e-11, max_iter=10_000)
    check_optimality(model, X, CODES, [10.0, 0.0, 5.0, 0.0], [0.0, 0.0, 2.0, 4.0])
    assert model.summary().equivalents is None


def test_the_scale_of_a_laplace_prior_is_chosen_by_cross_validation() -> None:
    model = fitted(weigh.Laplace("cv"), folds=4, tol=1e-9)
    path = weigh.path(
        weigh.LogisticRegression(weigh.Laplace(1), tol=1e-4), X, CODES, n=20, ratio=1e-3, folds=4
    )
    assert model.model_.fit.l1 == pytest.approx(path.l1[path.best], rel=1e-6)
    check_optimality(model, X, CODES, model.model_.fit.l1, atol=1e-2)


def test_an_older_model_with_other_class_names_cannot_be_the_prior_mean() -> None:
    older = weigh.LogisticRegression().fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    with pytest.raises(errors.ParameterError) as excinfo:
        weigh.LogisticRegression(weigh.Normal(1, mean=older)).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    assert str(excinfo.value) == (
        "The prior's mean is a model of the classes 'no', 'yes', but the rows have the classes 'a', 'b'. "
        "Give a model of the same classes, or a number."
    )
