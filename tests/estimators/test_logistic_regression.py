"""Logistic regression as its users see it: what every parameter means, and what a fit tells of itself."""

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


def some_rows(classes: int = 2, n: int = N, seed: int = 0) -> tuple[Any, Any]:
    """Return rows, and classes that depend on them, each of which occurs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1, 0.5, 2, 3] + [0, 1, -1, 0]
    scores = X @ rng.normal(size=(D, classes)) + 2 * rng.gumbel(size=(n, classes))
    y = np.argmax(scores, axis=1)
    y[:classes] = np.arange(classes)
    return X, y


X, CODES = some_rows()
LABELS = np.array(["no", "yes"])[CODES]
TABLE = {**{name: X[:, j] for j, name in enumerate(NAMES)}, "late": LABELS}


def fitted(prior: Any = 1.0, **given: Any) -> Any:
    return weigh.LogisticRegression(prior, **(TIGHT | given)).fit(TABLE, "late")


def least(
    l2: Any,
    *,
    rows: Any = X,
    codes: Any = CODES,
    classes: int = 2,
    weights: Any = None,
    offset: Any = 0.0,
    bias: bool = True,
) -> tuple[Any, Any]:
    """Return the weights [d] or [classes, d] and biases of least Σ log loss + ½ Σ l2 w²."""
    d, k = rows.shape[1], 1 if classes == 2 else classes
    s = np.ones(len(codes)) if weights is None else weights
    penalty = np.broadcast_to(l2, d)

    def value(v: Any) -> tuple[float, Any]:
        W, b = v[: d * k].reshape(k, d), v[d * k :] * bias
        Z = rows @ W.T + b + np.reshape(offset, (-1, 1))
        full = np.column_stack([np.zeros(len(Z)), Z]) if k == 1 else Z
        log_p = special.log_softmax(full, axis=1)
        away = np.exp(log_p)
        away[np.arange(len(codes)), codes] -= 1
        away = away[:, 1:] if k == 1 else away
        loss = -float(s @ log_p[np.arange(len(codes)), codes]) + 0.5 * float((penalty * W**2).sum())
        slopes = (s[:, None] * away).T @ rows + penalty * W
        return loss, np.concatenate([slopes.ravel(), (s @ away) * bias])

    found = optimize.minimize(
        value,
        np.zeros(k * (d + 1)),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-11, "ftol": 0, "maxiter": 5000},
    ).x
    W, b = found[: d * k].reshape(k, d), found[d * k :]
    return (W[0], b[0]) if k == 1 else (W, b - b.mean())


def check(found: Any, expected: tuple[Any, Any], atol: float = 2e-6) -> None:
    np.testing.assert_allclose(found.coef_, np.atleast_2d(expected[0]), atol=atol)
    b = np.atleast_1d(expected[1])
    np.testing.assert_allclose(
        found.intercept_ - (found.intercept_.mean() if len(b) > 1 else 0), b, atol=atol
    )


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_a_number_is_a_normal_prior_beside_the_log_loss(scale: float) -> None:
    check(fitted(scale), least(scale**-2))
    check(fitted(weigh.Normal(scale)), least(scale**-2))
    check(fitted(weigh.Penalty(l2=scale**-2)), least(scale**-2))


def test_without_a_prior_it_is_maximum_likelihood() -> None:
    check(fitted(None), least(0.0))


def test_without_a_bias_even_odds_are_at_zero() -> None:
    found = fitted(bias=False)
    w, _ = least(1.0, bias=False)
    check(found, (w, 0.0))
    np.testing.assert_array_equal(found.predict_proba(dict.fromkeys(NAMES, 0.0)), [[0.5, 0.5]])
    assert [line.feature for line in found.summary().lines] == NAMES


def test_columns_have_priors_of_their_own_and_others_have_normal_1() -> None:
    check(fitted({"b": 0.5, "c": None, "d": weigh.Penalty(l2=7)}), least([1.0, 4.0, 0.0, 7.0]))


def test_a_prior_around_a_number_or_an_older_model_pulls_there() -> None:
    shift = np.full(D, 0.5)
    w, b = least(100.0, offset=X @ shift)
    check(fitted(weigh.Normal(0.1, mean=0.5)), (w + shift, b))
    older = weigh.LogisticRegression().fit({name: values[:40] for name, values in TABLE.items()}, "late")
    found = fitted(weigh.Normal(1e-6, mean=older))
    np.testing.assert_allclose(found.coef_, older.coef_, atol=1e-9)


def test_an_older_model_of_softmax_is_a_centre_for_every_class() -> None:
    rows, codes = some_rows(3)
    older = weigh.LogisticRegression().fit(rows[:40], codes[:40])
    found = weigh.LogisticRegression(weigh.Normal(1e-6, mean=older)).fit(rows, codes)
    np.testing.assert_allclose(found.coef_, older.coef_, atol=1e-8)


def test_an_older_model_of_other_classes_is_no_centre() -> None:
    rows, codes = some_rows(3)
    two, three = weigh.LogisticRegression().fit(X, CODES), weigh.LogisticRegression().fit(rows, codes)
    one, many = "one weight per feature", "weights for 3 classes"
    for older, y, theirs, ours in ((three, CODES, many, one), (two, codes, one, many)):
        with pytest.raises(errors.ParameterError) as refused:
            weigh.LogisticRegression(weigh.Normal(1, mean=older)).fit(X, y)
        assert str(refused.value) == (
            f"The prior's mean is a model with {theirs}, but the model to learn has {ours}. Give a model of "
            "the same classes, or a number."
        )


def test_an_offset_is_added_to_the_log_odds_with_the_weight_one() -> None:
    found = fitted(offset="b")
    kept = [0, 2, 3]
    w, b = least(1.0, rows=X[:, kept], offset=X[:, 1])
    check(found, (np.insert(w, 1, 1.0), b))
    np.testing.assert_allclose(found.decision_function(TABLE), X[:, kept] @ w + b + X[:, 1], atol=1e-5)
    assert found.posterior_.sd[1] == 0


def test_units_are_standard_deviations_and_the_bias_stays_free() -> None:
    sd, mean = X.std(axis=0), X.mean(axis=0)
    w, b = least(4.0, rows=(X - mean) / sd)
    check(fitted(0.5, scale="unit"), (w / sd, b - float(mean @ (w / sd))))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_is_a_number_of_rows(classes: int) -> None:
    rows, codes = some_rows(classes)
    times = np.random.default_rng(2).integers(0, 4, N)
    times[:classes] = 1
    again = np.repeat(np.arange(N), times)
    one = weigh.LogisticRegression(**TIGHT).fit(rows, codes, times.astype(float))
    two = weigh.LogisticRegression(**TIGHT).fit(rows[again], codes[again])
    check(one, (two.coef_, two.intercept_ - (two.intercept_.mean() if classes > 2 else 0)), atol=1e-6)
    np.testing.assert_allclose(one.model_.shares, two.model_.shares)


@pytest.mark.parametrize("given", ["balanced", {"yes": 3.0}, {"no": 0.5, "yes": 2}])
def test_class_weights_are_weights_of_their_rows(given: Any) -> None:
    counts = {label: int(np.sum(label == LABELS)) for label in ("no", "yes")}
    by_class = {label: N / (2 * counts[label]) for label in counts} if given == "balanced" else given
    weights = np.array([by_class.get(label, 1.0) for label in LABELS])
    found = fitted(class_weight=given)
    check(found, least(1.0, weights=weights))
    # How often classes occurred stays what it was, for decisions by another class prior.
    np.testing.assert_allclose(found.model_.shares, [counts["no"] / N, counts["yes"] / N])


def test_class_weights_of_no_class_are_refused() -> None:
    with pytest.raises(errors.ParameterError) as refused:
        fitted(class_weight={"maybe": 2})
    assert str(refused.value) == (
        "LogisticRegression: class_weight names the class 'maybe'; the rows have 'no', 'yes'."
    )


@pytest.mark.parametrize("classes", [3, 5])
def test_more_classes_are_a_softmax(classes: int) -> None:
    rows, codes = some_rows(classes)
    found = weigh.LogisticRegression(**TIGHT).fit(rows, codes)
    W, b = least(1.0, rows=rows, codes=codes, classes=classes)
    check(found, (W, b))
    np.testing.assert_allclose(found.predict_proba(rows), special.softmax(rows @ W.T + b, axis=1), atol=1e-5)
    assert found.decision_function(rows).shape == (N, classes)


def test_classes_are_in_canonical_order_whatever_row_comes_first() -> None:
    for order in (slice(None), slice(None, None, -1)):
        found = weigh.LogisticRegression(**TIGHT).fit(X[order], LABELS[order])
        assert found.classes_.tolist() == ["no", "yes"]
        check(found, least(1.0))
    truth = weigh.LogisticRegression().fit(X, CODES == 1)
    assert truth.classes_.tolist() == [False, True]
    assert weigh.LogisticRegression().fit(X, np.where(CODES, 10, 9)).classes_.tolist() == [9, 10]


def test_probabilities_are_those_of_the_log_odds() -> None:
    found = fitted()
    odds = found.decision_function(TABLE)
    np.testing.assert_allclose(odds, X @ found.coef_[0] + found.intercept_[0], rtol=1e-12)
    np.testing.assert_allclose(found.predict_proba(TABLE)[:, 1], special.expit(odds), rtol=1e-12)
    np.testing.assert_allclose(found.predict_log_proba(TABLE)[:, 0], special.log_expit(-odds), rtol=1e-12)
    assert (found.predict(TABLE) == np.where(odds > 0, "yes", "no")).all()
    assert found.score(TABLE, "late") == np.mean(np.where(odds > 0, "yes", "no") == LABELS)


def newton(l2: float, rows: Any, codes: Any) -> Any:
    """Return the weights and the bias, last, of two classes."""
    A, penalty, w = (
        np.column_stack([rows, np.ones(len(rows))]),
        np.append(np.full(D, l2), 0.0),
        np.zeros(D + 1),
    )
    for _ in range(30):
        p = special.expit(A @ w)
        curve = A.T @ (A * (p * (1 - p))[:, None]) + np.diag(penalty)
        w = w - np.linalg.solve(curve, A.T @ (p - codes) + penalty * w)
    return w


def held_out_losses(l2s: Any, folds: int) -> Any:
    """Return the log loss of rows held out: of every class each fold has every so-manieth row."""
    fold = np.empty(N, dtype=int)
    for own in (np.flatnonzero(CODES), np.flatnonzero(1 - CODES)):
        fold[own] = np.arange(len(own)) % folds
    found = np.zeros(len(l2s))
    for held in (fold == number for number in range(folds)):
        for at, l2 in enumerate(l2s):
            w = newton(l2, X[~held], CODES[~held])
            found[at] -= float(special.log_expit((2 * CODES[held] - 1) * (X[held] @ w[:D] + w[D])).sum())
    return found


def test_cross_validation_is_a_loop_over_folds() -> None:
    found = fitted(weigh.Normal("cv"), folds=3)
    size = float(np.square(X).sum(axis=0).mean()) / 4
    tried = size * np.geomspace(1e2, 1e-4, 30)
    best = tried[np.argmin(held_out_losses(tried, 3))]
    assert found.model_.fit.l2 == pytest.approx(best, rel=1e-9)
    assert dict(found.summary().facts)["prior"] == "Normal('cv'), scale by cross-validation"
    check(found, least(best))


@pytest.mark.parametrize("prior", [weigh.Normal("cv"), weigh.Laplace("cv")])
def test_a_class_of_one_row_has_no_folds(prior: Any) -> None:
    with pytest.raises(errors.DataError) as refused:
        weigh.LogisticRegression(prior).fit(X, np.arange(N) == 3)
    assert str(refused.value) == (
        "A class has only one row, so no row is left to learn it from when that row is held out. Give more "
        "rows of this class, leave it out, or give the prior's scale as a number."
    )


def test_the_posterior_is_the_curvature_at_the_minimum() -> None:
    found = fitted(0.7)
    A = np.column_stack([X, np.ones(N)])
    p = found.predict_proba(TABLE)[:, 1]
    precision = A.T @ (A * (p * (1 - p))[:, None]) + np.diag([0.7**-2] * D + [0])
    covariance = np.linalg.inv(precision)
    posterior = found.posterior_
    np.testing.assert_allclose(posterior.covariance, covariance[:D, :D], rtol=1e-7, atol=1e-12)
    assert posterior.intercept_sd == pytest.approx(math.sqrt(covariance[D, D]), rel=1e-8)
    np.testing.assert_allclose(posterior.intercept_covariance, covariance[D, :D], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(posterior.mean, found.coef_[0])


def test_the_summary_has_walds_numbers() -> None:
    found = fitted(None)
    p = found.predict_proba(TABLE)[:, 1]
    A = np.column_stack([np.ones(N), X])
    error = np.sqrt(np.diag(np.linalg.inv(A.T @ (A * (p * (1 - p))[:, None]))))
    weights = np.concatenate([found.intercept_, found.coef_[0]])
    summary = found.summary()
    columns = {
        name: np.array([getattr(line, name) for line in summary.lines])
        for name in ("weight", "error", "ratio", "tails", "low", "high")
    }
    np.testing.assert_allclose(columns["weight"], weights)
    np.testing.assert_allclose(columns["error"], error, rtol=1e-7)
    np.testing.assert_allclose(columns["ratio"], weights / error, rtol=1e-7)
    np.testing.assert_allclose(columns["tails"], 2 * stats.norm.sf(np.abs(weights / error)), rtol=1e-6)
    np.testing.assert_allclose(columns["high"] - columns["low"], 2 * 1.959963984540054 * error, rtol=1e-7)
    assert summary.title == "Logistic regression: log-odds of yes against no"
    facts = dict(summary.facts)
    share = CODES.mean()
    empty = -N * (share * math.log(share) + (1 - share) * math.log(1 - share))
    loss = -float(np.log(np.where(CODES, p, 1 - p)).sum())
    assert facts["share of the loss explained"] == f"{1 - loss / empty:.6f}"
    assert "noise, standard deviation" not in facts


def test_a_summary_of_more_classes_has_lines_for_each() -> None:
    rows, codes = some_rows(3)
    summary = weigh.LogisticRegression().fit(rows, codes).summary()
    assert summary.title == "Logistic regression of 3 classes"
    names = [line.feature for line in summary.lines]
    assert names[:2] == ["0: bias", "0: x0"]
    assert len(names) == 3 * (D + 1)
    assert all(line.error is None for line in summary.lines)
    assert summary.equivalents is None


def test_the_summary_names_the_penalty_in_other_packages() -> None:
    assert str(fitted(2.0).summary().equivalents["LogisticRegression"]) == "LogisticRegression(C=4)"


def test_a_posterior_that_does_not_exist_is_refused_with_the_reason() -> None:
    for found in (
        weigh.LogisticRegression().fit(*some_rows(3)),
        weigh.LogisticRegression(method="online").fit(X, CODES),
    ):
        with pytest.raises(errors.Unsupported) as refused:
            found.posterior_  # noqa: B018
        assert str(refused.value) == (
            "This logistic regression has no posterior: only the exact method with two classes and a Normal "
            "prior, or none, has one, and it is kept for up to 1,000 features."
        )


def mixed(classes: int = 2) -> dict[str, Any]:
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
    table = mixed()
    found = weigh.LogisticRegression(method=method, columns={"body": "text"}).fit(table, "late")
    odds = found.decision_function(table)
    for evidence, total in zip(found.explain(table), odds, strict=True):
        assert evidence.total == pytest.approx(abs(total), rel=1e-9, abs=1e-12)
        assert math.fsum(row.nats for row in evidence.table) == pytest.approx(abs(total), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "given", [{}, {"offset": "size"}, {"method": "online"}, {"prior": weigh.Normal(2), "bias": False}]
)
def test_a_saved_model_says_the_same(given: dict[str, Any], classes: int, tmp_path: Path) -> None:
    if "offset" in given and classes > 2:
        with pytest.raises(errors.ParameterError, match="log-odds of two classes, but there are 3 classes"):
            weigh.LogisticRegression(columns={"body": "text"}, **given).fit(mixed(classes), "late")
        return
    table = mixed(classes)
    model = weigh.LogisticRegression(columns={"body": "text"}, **given).fit(table, "late").model_
    model.save(tmp_path / "m.weigh")
    again = weigh.load(tmp_path / "m.weigh")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert str(again.summary()) == str(model.summary())
    assert [str(e) for e in again.explain(table)] == [str(e) for e in model.explain(table)]
    assert again.to_bytes() == model.to_bytes()
    assert (again.fit, again.certificate) == (model.fit, model.certificate)
    if model.posterior_source is not None:
        np.testing.assert_array_equal(again.posterior.covariance, model.posterior.covariance)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))])
@pytest.mark.parametrize("method", ["exact", "online"])
def test_copies_and_pickles_say_the_same(again: Any, method: str) -> None:
    found = weigh.LogisticRegression(method=method).fit(X, LABELS)
    other = again(found)
    np.testing.assert_array_equal(other.predict_proba(X), found.predict_proba(X))
    assert other.classes_.tolist() == ["no", "yes"]


def test_a_copy_learns_on_by_itself() -> None:
    found = weigh.LogisticRegression(method="online").partial_fit(X[:40], LABELS[:40])
    before = found.coef_.copy()
    copy.copy(found).partial_fit(X[40:], LABELS[40:])
    np.testing.assert_array_equal(found.coef_, before)


def test_batches_are_one_pass_in_order() -> None:
    online = weigh.LogisticRegression(None, "online", shuffle=False, max_iter=1).fit(X, LABELS)
    batches = weigh.LogisticRegression(None, "online")
    for at in range(0, N, 13):
        batches.partial_fit(X[at : at + 13], LABELS[at : at + 13], classes=["no", "yes"])
    np.testing.assert_array_equal(batches.coef_, online.coef_)
    np.testing.assert_array_equal(batches.intercept_, online.intercept_)


def test_a_rate_makes_the_plain_update() -> None:
    rate, w, b = 0.1, np.zeros(D), 0.0
    for x, y in zip(X, CODES, strict=True):
        away = rate * (y - special.expit(w @ x + b))
        w, b = w + away * x, b + away
    found = weigh.LogisticRegression(None, "online", rate=rate, shuffle=False, max_iter=1).fit(X, CODES)
    np.testing.assert_allclose(found.coef_[0], w, rtol=1e-12)
    np.testing.assert_allclose(found.intercept_, [b], rtol=1e-12)


def test_weights_learned_in_units_are_told_for_numbers_as_they_are() -> None:
    found = weigh.LogisticRegression(method="online", scale="unit").fit(X, CODES)
    by_hand = X @ found.coef_[0] + found.intercept_[0]
    np.testing.assert_allclose(found.decision_function(X), by_hand, atol=1e-10)


def test_only_online_learners_take_batches() -> None:
    assert not hasattr(weigh.LogisticRegression(), "partial_fit")
    assert hasattr(weigh.LogisticRegression(method="online"), "partial_fit")


def test_a_batch_with_a_class_that_was_not_declared_changes_nothing() -> None:
    found = weigh.LogisticRegression(method="online").partial_fit(X, LABELS, classes=["no", "yes"])
    before = found.coef_.copy()
    with pytest.raises(errors.LabelError):
        found.partial_fit(X, np.where(CODES, "maybe", "no"), classes=["no", "yes"])
    np.testing.assert_array_equal(found.coef_, before)
    assert found.classes_.tolist() == ["no", "yes"]


def test_fitting_again_forgets_the_other_method() -> None:
    learner = weigh.LogisticRegression(method="online").fit(X, LABELS)
    learner.set_params(method="exact").fit(X, LABELS)
    assert learner.certificate_.converged
    learner.set_params(method="online").fit(X, LABELS)
    with pytest.raises(errors.Unsupported) as refused:
        learner.certificate_  # noqa: B018
    assert str(refused.value) == "Online learning proves nothing. Use method='exact' for a certificate."
    assert learner.n_iter_ >= 1


def test_batches_after_an_exact_fit_begin_anew() -> None:
    learner = weigh.LogisticRegression().fit(X, LABELS)
    learner.set_params(method="online").partial_fit(X, LABELS)
    assert learner.model_.fit.method == "online"
    fresh = weigh.LogisticRegression(method="online").partial_fit(X, LABELS)
    np.testing.assert_array_equal(learner.coef_, fresh.coef_)


def test_an_online_fit_that_is_refused_leaves_the_exact_one() -> None:
    learner = weigh.LogisticRegression().fit(X, LABELS)
    before = learner.model_.to_bytes()
    learner.set_params(method="online")
    for refused in (learner.fit, learner.partial_fit):
        with pytest.raises(errors.LabelError):
            refused(X, ["no"] * N)
        assert learner.model_.to_bytes() == before


def test_what_a_run_is_cannot_change_on_its_way() -> None:
    learner = weigh.LogisticRegression(method="online").partial_fit(X, LABELS)
    for changed, said in (
        ({"bias": False}, "bias"),
        ({"rate": 0.1}, "a rate that is given or left to be found"),
        ({"scale": "unit"}, "columns and scale"),
    ):
        other = copy.deepcopy(learner).set_params(**changed)
        with pytest.raises(errors.ParameterError) as refused:
            other.partial_fit(X, LABELS)
        assert str(refused.value) == (
            f"LogisticRegression: {said} cannot change while a run goes on. Begin a new one: fit, or a new "
            f"LogisticRegression."
        )
        np.testing.assert_array_equal(other.coef_, learner.coef_)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "newton"}, "method must be 'exact' or 'online', got 'newton'."),
        ({"folds": "loo"}, "folds must be a whole number of at least 2, got 'loo'."),
        ({"scale": "sd"}, "scale must be None or 'unit', got 'sd'."),
        (
            {"class_weight": {"no": 0}},
            "class_weight must be None, 'balanced' or a mapping from class to a number above 0, got "
            "{'no': 0}.",
        ),
        (
            {"prior": weigh.Normal("evidence")},
            "the evidence chooses scales of linear regression only. Give scale='cv', or a number.",
        ),
        ({"method": "online", "offset": "a"}, "method='online' has no offset. Use method='exact'."),
        (
            {"method": "online", "prior": weigh.Laplace(1)},
            "method='online' learns with one Normal prior around zero for all columns, or none, got "
            "prior=Laplace(1). Give a number, or method='exact'.",
        ),
    ],
)
def test_what_is_no_parameter_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(errors.ParameterError) as refused:
        fitted(**given)
    assert str(refused.value) == f"LogisticRegression: {said}"


def test_classes_that_a_plane_separates_have_no_weights_without_a_prior() -> None:
    y = X[:, 0] > 0
    with pytest.raises(errors.DataError) as refused:
        weigh.LogisticRegression(None).fit(X, y)
    assert str(refused.value) == (
        "A plane separates the classes, so without a prior the weights have no finite optimum. Give a prior, "
        "for example prior=1."
    )
    assert weigh.LogisticRegression().fit(X, y).score(X, y) > 0.95


def test_a_feature_that_only_one_class_has_is_named() -> None:
    table = {**TABLE, "alarm": np.where((LABELS == "yes") & (np.arange(N) % 3 == 0), 1.0, 0.0)}
    with pytest.raises(errors.DataError) as refused:
        weigh.LogisticRegression(None).fit(table, "late")
    assert str(refused.value) == (
        "Some features have values that occur with one class only ('alarm'), so without a prior their "
        "weights have no finite optimum. Give a prior, for example prior=1, or leave these features out."
    )
    weigh.LogisticRegression({"alarm": 1.0, **dict.fromkeys(NAMES)}).fit(table, "late")


def test_one_class_is_refused() -> None:
    with pytest.raises(errors.LabelError) as refused:
        weigh.LogisticRegression().fit(X, ["no"] * N)
    assert str(refused.value) == (
        "All rows have the label 'no'; a logistic regression learns what parts two classes or more. Give "
        "rows of another class too: the data has only one class."
    )


def test_a_fit_that_is_not_optimal_says_so() -> None:
    with pytest.warns(errors.NotOptimal) as told:
        found = weigh.LogisticRegression(max_iter=1, tol=1e-9).fit(X, CODES)
    proof = found.certificate_
    assert str(told[0].message) == (
        f"LogisticRegression stopped with its objective up to {proof.gap:.3g} above the minimum, "
        f"{proof.relative_gap:.1g} of the objective without features; tol=1e-09 was not reached (Newton, 1 "
        "iteration). Raise max_iter=1 or tol, give a stronger prior, or set scale='unit' if the columns "
        "have very different scales."
    )
    assert found.n_iter_ == 1


def test_missing_numbers_count_as_zero_with_a_warning() -> None:
    holed = X.copy()
    holed[[3, 8], [1, 2]] = np.nan
    with pytest.warns(errors.MissingNumbers) as told:
        found = weigh.LogisticRegression(**TIGHT).fit(holed, CODES)
    assert str(told[0].message) == (
        "2 numbers are missing and count as zero. Fill them in first (for example with the column's mean), "
        "or leave such rows out."
    )
    check(found, least(1.0, rows=np.nan_to_num(holed)))


def test_decisions_weigh_the_shares_of_the_training_rows() -> None:
    found = fitted()
    even = weigh.Decision(class_prior={"no": 0.5, "yes": 0.5})
    shares = found.model_.shares
    odds = found.decision_function(TABLE) - math.log(shares[1] / shares[0])
    assert (found.predict(TABLE, even) == np.where(odds > 0, "yes", "no")).all()


def check_slopes(found: Any, rows: Any, codes: Any, l1: Any, l2: Any = 0.0, atol: float = 2e-4) -> None:
    """Assert that no weight can change for the better: slopes are l1 against the sign, or less at zero."""
    shown = np.eye(len(found.classes_))[codes]
    slopes = (found.predict_proba(rows) - shown).T @ rows
    W = found.coef_
    slopes = slopes[1:] if len(found.classes_) == 2 else slopes
    slopes += np.broadcast_to(l2, W.shape[1]) * W
    l1 = np.broadcast_to(l1, W.shape)
    np.testing.assert_allclose(slopes[W != 0], -(l1 * np.sign(W))[W != 0], atol=atol)
    assert (np.abs(slopes[W == 0]) <= l1[W == 0] + atol).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_laplace_prior_leaves_weights_of_exactly_zero(classes: int) -> None:
    rows, codes = some_rows(classes)
    for prior, l1, l2 in (
        (weigh.Laplace(0.1), 10.0, 0.0),
        (weigh.Penalty(l1=8), 8.0, 0.0),
        (weigh.Penalty(l1=8, l2=3), 8.0, 3.0),
    ):
        found = weigh.LogisticRegression(prior, tol=1e-11, max_iter=10_000).fit(rows, codes)
        check_slopes(found, rows, codes, l1, l2)
        assert (found.coef_ == 0).any()
        assert (found.coef_ != 0).any()
        assert found.model_.irrelevant() or classes > 2


def test_columns_may_differ_in_the_kind_of_their_prior() -> None:
    prior = {"a": weigh.Laplace(0.1), "b": None, "c": weigh.Penalty(l1=5, l2=2), "d": weigh.Normal(0.5)}
    found = fitted(prior, tol=1e-11, max_iter=10_000)
    check_slopes(found, X, CODES, [10.0, 0.0, 5.0, 0.0], [0.0, 0.0, 2.0, 4.0])
    assert found.summary().equivalents is None


def test_the_scale_of_a_laplace_prior_is_chosen_by_cross_validation() -> None:
    found = fitted(weigh.Laplace("cv"), folds=4, tol=1e-9)
    judged = weigh.path(
        weigh.LogisticRegression(weigh.Laplace(1), tol=1e-4), X, CODES, n=20, ratio=1e-3, folds=4
    )
    assert found.model_.fit.l1 == pytest.approx(judged.l1[judged.best], rel=1e-6)
    check_slopes(found, X, CODES, found.model_.fit.l1, atol=1e-2)


def test_an_older_model_whose_classes_have_other_names_is_no_centre() -> None:
    older = weigh.LogisticRegression().fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    with pytest.raises(errors.ParameterError) as refused:
        weigh.LogisticRegression(weigh.Normal(1, mean=older)).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    assert str(refused.value) == (
        "The prior's mean is a model of the classes 'no', 'yes', but the rows have the classes 'a', 'b'. "
        "Give a model of the same classes, or a number."
    )
