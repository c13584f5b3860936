"""The trace of online logistic regression: its steps by hand, and the weights of the learner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors

MAILS = {
    "CS373": [0, 0, 0, 0, 1],
    "investment": [1, 0, 1, 1, 0],
    "familiarity": ["low", "high", "high", "medium", "low"],
    "spam": ["spam", "not-spam", "spam", "not-spam", "not-spam"],
}
COLUMNS = {"familiarity": weigh.Category(levels=["high", "medium", "low"])}


def learner(**parameters: Any) -> weigh.LogisticRegression:
    return weigh.LogisticRegression(**{"method": "online", "rate": 1.0, "columns": COLUMNS} | parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"prior": None, "max_iter": 1, "shuffle": False},
        {"prior": 2.0, "max_iter": 7, "rate": 0.3},
        {"prior": 1.0, "max_iter": 30, "tol": 1e-2, "shuffle": False},
        {"prior": None, "bias": False, "tol": 0, "random_state": 5},
    ],
)
def test_the_last_weights_are_those_of_the_learner(parameters: dict[str, Any]) -> None:
    fitted = learner(**parameters).fit(MAILS, "spam")
    traced = weigh.trace(learner(**parameters), MAILS, "spam")
    weights, bias = traced.weights()
    np.testing.assert_allclose(list(weights.values()), fitted.coef_[0], atol=1e-13)
    assert bias == pytest.approx(float(fitted.intercept_[0]), abs=1e-13)
    assert traced.passes == fitted.n_iter_


def test_the_first_steps_are_those_by_hand() -> None:
    traced = weigh.trace(learner(prior=None, max_iter=1, shuffle=False), MAILS, "spam")
    assert [round(step.probability, 4) for step in traced.steps] == [0.5, 0.6225, 0.4391, 0.8175, 0.5302]
    assert traced.steps[0].gradient == {"investment": 0.5, "familiarity=low": 0.5}
    assert r"\begin{tabular}" in traced.table("latex")


def test_the_other_class_as_positive_turns_all_signs() -> None:
    steps = learner(prior=1.0, max_iter=3)
    first, second = (weigh.trace(steps, MAILS, "spam", positive=name) for name in ("spam", "not-spam"))
    assert second.classes == ("spam", "not-spam")
    np.testing.assert_allclose(
        list(first.weights()[0].values()), [-w for w in second.weights()[0].values()], atol=1e-14
    )


def test_only_the_first_steps_are_made_if_asked_for() -> None:
    X, y = np.ones((60_000, 2)), np.arange(60_000) % 2
    traced = weigh.trace(learner(columns="auto"), X, y, most=2)
    assert len(traced.steps) == 2
    assert "… and up to 1,199,998 more steps" in traced.table()
    with pytest.raises(errors.Unsupported, match="the limit is 50,000"):
        weigh.trace(learner(columns="auto"), X, y)


def test_a_limit_where_the_training_ends_hides_no_steps() -> None:
    steps = learner(prior=None, max_iter=30, tol=0.2, shuffle=False)
    whole = weigh.trace(steps, MAILS, "spam")
    assert whole.passes < 30
    for most, n_hidden in ((len(whole.steps), 0), (len(whole.steps) - 1, 151 - len(whole.steps))):
        assert weigh.trace(steps, MAILS, "spam", most=most).n_hidden == n_hidden


@pytest.mark.parametrize("passes", [0, [3], [1, 3], "a", []])
def test_passes_that_do_not_exist_are_refused(passes: Any) -> None:
    traced = weigh.trace(learner(max_iter=2), MAILS, "spam")
    with pytest.raises(errors.ParameterError, match="a list of numbers from 1 to 2, got"):
        traced.table(passes=passes)
    assert traced.table(passes=7) == traced.table()


@pytest.mark.parametrize("parameters", [{"method": "exact", "rate": "safe"}, {"rate": "safe"}])
def test_other_steps_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(errors.Unsupported, match="plain gradient steps of one size"):
        weigh.trace(learner(**parameters), MAILS, "spam")
    with pytest.raises(errors.Unsupported, match="has two classes, got 3"):
        weigh.trace(learner(columns="auto"), {"a": [1, 2, 3], "y": ["u", "v", "w"]}, "y")
