"""The linear form of naive Bayes: weights, files and errors."""

from __future__ import annotations

import numpy as np
import pytest

import weigh
from weigh import errors

TABLE = {
    "colour": ["red", "blue", "red", "green", None, "blue"],
    "big": [True, False, None, True, False, True],
    "size": [1.0, 2.5, 2.0, None, 4.0, 3.5],
    "words": ["a big red one", "blue", "red thing here", "green", "four words are here", "blue as well"],
    "y": ["p", "q", "p", "r", "q", "r"],
}
COLUMNS = {"size": weigh.Number(spread="shared"), "words": "text"}


@pytest.fixture
def model():
    return weigh.NaiveBayes(COLUMNS).fit(TABLE, "y").model_


def test_the_linear_form_makes_the_same_decisions_with_missing_and_unseen_values(model):
    rows = {
        "colour": ["red", "pink", None],
        "big": [None, True, False],
        "size": [None, 2.0, 3.0],
        "words": ["red red", None, "unheard here"],
    }
    linear = model.linear()
    difference = linear.scores(rows) - model.scores(rows)
    assert np.allclose(difference, difference[:, :1])
    assert linear.predict(rows).tolist() == model.predict(rows).tolist()


def test_contributions_of_the_linear_form_sum_to_its_score(model):
    linear = model.linear()
    row = {"colour": "red", "big": True, "size": 2.0, "words": "a red one"}
    evidence = linear.explain(row)[0]
    scores = dict(zip(linear.classes, linear.scores(row)[0], strict=True))
    assert evidence.total == pytest.approx(scores[evidence.verdict] - scores[evidence.runner_up])
    with pytest.raises(errors.Unsupported, match="has weights, not counts"):
        evidence.worked()


def test_a_linear_model_is_saved_and_loaded(model, tmp_path):
    linear = model.linear()
    linear.save(tmp_path / "l.weigh")
    loaded = weigh.load(tmp_path / "l.weigh")
    assert loaded.to_bytes() == linear.to_bytes()
    assert loaded.features == linear.features
    assert np.array_equal(loaded.coef, linear.coef)
    assert np.array_equal(loaded.scores(TABLE), linear.scores(TABLE))


def test_a_different_spread_in_each_class_is_not_linear():
    with pytest.raises(errors.Unsupported, match="Column 'size' has its own spread"):
        weigh.NaiveBayes().fit(TABLE, "y").model_.linear()


def test_a_probability_of_zero_has_no_finite_weight():
    table = {"x": ["a", "b", "b"], "y": [0, 1, 1]}
    linear = weigh.NaiveBayes(prior=None).fit(table, "y").model_.linear()
    with pytest.raises(errors.Unsupported, match="A probability of zero has no finite weight"):
        _ = linear.coef
