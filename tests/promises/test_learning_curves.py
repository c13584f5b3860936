"""Learning curves say whether more data or another learner would help."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")


def xor_table(n: int) -> tuple[Any, Any]:
    """Return two flags, noise columns, and whether exactly one flag is set, with 5 % wrong labels."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(n, 4))
    return X, (X[:, 0] ^ X[:, 1]) ^ (rng.random(n) < 0.05)


def test_where_no_plane_helps_another_learner_is_named() -> None:
    curve = weigh.learning_curve("naive-bayes", *xor_table(1000))
    assert curve.diagnosis.verdict == "underfitting"
    assert curve.diagnosis.rival == "tree"
    assert curve.diagnosis.rows_help != "yes"
    assert "DecisionTreeClassifier" in curve.diagnosis.advice[0]


def test_where_rows_are_few_more_rows_help() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    flags = rng.random((800, 300)) < 0.5 + 0.04 * (2 * y - 1)[:, None]
    learners = {"naive-bayes": weigh.NaiveBayes(), "smoother": weigh.NaiveBayes(prior=10)}
    curve = weigh.learning_curve(learners, flags, y)["naive-bayes"]
    assert curve.diagnosis.rows_help == "yes"
    assert curve.diagnosis.advice[-1].startswith("More rows help: the predicted loss for 6,400 rows is 0.1")
    assert curve.at(6400).value < curve.points[-1].validation.value


def test_where_another_learner_is_better_with_many_rows_it_is_named() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    sign = (2 * y - 1)[:, None]
    flags = rng.random((1500, 20)) < 0.5 + 0.15 * sign
    # Eight columns that nearly repeat each other make naive Bayes overconfident.
    copies = (rng.random((1500, 1)) < 0.5 + 0.2 * sign) ^ (rng.random((1500, 8)) < 0.05)
    both = weigh.learning_curve(["naive-bayes", "logistic"], np.hstack([flags, copies]), y)
    (crossing,) = both.crossings
    assert crossing.pair == ("naive-bayes", "logistic")
    assert crossing.large == "logistic"
    assert both["naive-bayes"].diagnosis.rival == "logistic"
