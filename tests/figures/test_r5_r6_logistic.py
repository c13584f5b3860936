"""R5 and R6 through the learner: one step on the five mails, and MAP as a penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import weigh

KINDS = {
    "CS373": "number",
    "investment": "number",
    "familiarity": weigh.Category(levels=("high", "medium", "low")),
}


def test_the_first_step_on_one_mail_is_half_its_features(spam_table: dict[str, list[Any]]) -> None:
    # At zero every mail has the probability ½, so a step of ε adds ±ε/2 of its features.
    for at, label in enumerate(spam_table["spam"]):
        one = {name: [values[at]] for name, values in spam_table.items()}
        learner = weigh.LogisticRegression(None, "online", rate=1.0, columns=KINDS)
        found = learner.partial_fit(one, "spam", classes=["not-spam", "spam"])
        sign = 0.5 if label == "spam" else -0.5
        weights = dict(zip(found.model_.features, found.coef_[0], strict=True))
        assert weights["CS373"] == sign * one["CS373"][0]
        assert weights["investment"] == sign * one["investment"][0]
        assert weights[f"familiarity={one['familiarity'][0]}"] == sign
        assert found.intercept_[0] == sign


def test_steps_from_zero_add_up_to_the_gradient_of_the_lecture(spam_table: dict[str, list[Any]]) -> None:
    tiny = 1e-9
    learner = weigh.LogisticRegression(None, "online", rate=tiny, shuffle=False, max_iter=1, columns=KINDS)
    found = learner.fit(spam_table, "spam")
    weights = dict(zip(found.model_.features, found.coef_[0] / tiny, strict=True))
    names = ["CS373", "investment", *(f"familiarity={level}" for level in ("high", "medium", "low"))]
    expected = [-0.5, 0.5, 0.0, -0.5, 0.0]
    np.testing.assert_allclose([weights.get(name, 0.0) for name in names], expected, atol=1e-7)
    assert found.intercept_[0] / tiny == pytest.approx(-0.5, abs=1e-7)


@pytest.mark.parametrize("prior", [weigh.Normal(0.7), weigh.Laplace(0.4), weigh.Penalty(l1=0.5, l2=0.5)])
def test_the_map_weights_minimise_the_penalised_objective(prior: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X @ [1.0, -1.0, 0.0] + rng.logistic(size=60) > 0).astype(int)
    found = weigh.LogisticRegression(prior, bias=False, tol=1e-12, max_iter=10_000).fit(X, y)

    def minus_log_posterior(w: Any) -> float:
        return -float(special.log_expit((2 * y - 1) * (X @ w)).sum()) + prior.value(w)

    best = minus_log_posterior(found.coef_[0])
    assert best == pytest.approx(found.certificate_.objective, rel=1e-12)
    for step in rng.normal(size=(200, 3)) * 10.0 ** -rng.uniform(0, 5, (200, 1)):
        assert minus_log_posterior(found.coef_[0] + step) >= best - 1e-9


def test_online_training_converges_to_the_exact_weights() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = (X @ [1.0, -1.0, 0.5] + rng.logistic(size=500) > 0).astype(int)
    exact = weigh.LogisticRegression().fit(X, y)
    online = weigh.LogisticRegression(method="online", max_iter=200, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(online.coef_, exact.coef_, rtol=0.1)
    assert abs(online.predict_proba(X) - exact.predict_proba(X)).max() < 0.02
