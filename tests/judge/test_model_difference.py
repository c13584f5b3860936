"""`diff`: what changed between two models."""

from __future__ import annotations

import json
import math

import pytest

import weigh
from weigh import errors

OLD = {
    "x": ["a", "a", "b", "c"],
    "size": [1.0, 2.0, 3.0, 4.0],
    "flag": [True, False, True, True],
    "y": ["p", "p", "q", "q"],
}
NEW = {
    "x": ["a", "b", "b", "d", "a"],
    "size": [1.0, 4.0, 3.0, 4.0, 9.0],
    "flag": [True, False, True, True, False],
    "y": ["p", "p", "q", "q", "r"],
}


def model(table, **parameters):
    return weigh.NaiveBayes(**parameters).fit(table, "y").model_


def test_equal_models_are_the_same():
    found = weigh.diff(model(OLD), model(OLD))
    assert found.same
    assert str(found) == "The models are the same, byte for byte."


def test_classes_and_rows_are_compared():
    found = weigh.diff(model(OLD), model(NEW))
    assert [(each.label, each.old, each.new) for each in found.classes] == [
        ("p", 2, 2),
        ("q", 2, 2),
        ("r", None, 1),
    ]


def test_levels_that_appeared_and_vanished_are_named():
    (words,) = weigh.diff(model(OLD), model(NEW)).words
    assert (words.column, words.appeared, words.vanished) == ("x", ("d",), ("c",))


def test_probabilities_are_ranked_by_how_far_their_logarithm_went():
    moved = weigh.diff(model(OLD), model(NEW)).moved
    assert [abs(move.nats) for move in moved] == sorted((abs(move.nats) for move in moved), reverse=True)
    by_name = {(move.name, move.label): move for move in moved}
    # (2 + 1) / (2 + 3) became (1 + 1) / (2 + 3).
    assert by_name["x = a", "p"].nats == pytest.approx(math.log(2 / 3))
    assert by_name["P(class)", "q"].new == pytest.approx(2 / 5)


def test_means_and_spreads_are_compared():
    found = weigh.diff(model(OLD), model(NEW)).numbers
    (move,) = [each for each in found if each.label == "p"]
    assert (move.old_mean, move.new_mean, move.old_spread, move.new_spread) == (1.5, 2.5, 0.5, 1.5)
    assert move.shift == 2.0


def test_settings_that_changed_are_listed():
    first = model(OLD)
    second = model(OLD, columns={"size": "skip", "x": weigh.Text(min_length=1)}, prior=weigh.Dirichlet(2))
    lines = [str(change) for change in weigh.diff(first, second).settings]
    assert lines == [
        "column 'x': category → text(min_length=1)",
        "column 'size': number → skip",
        "prior: 1.0 → Dirichlet(2)",
    ]


def test_columns_that_came_and_went_are_settings():
    first = model({key: OLD[key] for key in ("x", "y")})
    second = model({key: OLD[key] for key in ("flag", "y")})
    lines = [str(change) for change in weigh.diff(first, second).settings]
    assert lines == ["column 'x': gone, was category", "column 'flag': new, flag"]


def test_a_probability_that_became_zero_moved_infinitely():
    first = model({"x": ["a", "b"], "y": [0, 0]}, prior=None)
    second = model({"x": ["a", "a", "b"], "y": [0, 0, 1]}, prior=None)
    found = weigh.diff(first, second)
    assert found.moved[0].nats == -math.inf
    assert json.loads(json.dumps(found.to_dict()))["moved"][0]["nats"] == "-inf"


def test_paths_and_estimators_are_taken(tmp_path):
    model(OLD).save(tmp_path / "old.weigh")
    found = weigh.diff(tmp_path / "old.weigh", weigh.NaiveBayes().fit(NEW, "y"))
    assert found == weigh.diff(model(OLD), model(NEW))


def test_the_whole_text_fits_80_columns():
    text = str(weigh.diff(model(OLD), model(NEW, prior=2)))
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(
        "Settings:\n"
        "  prior: 1.0 → 2.0\n"
        "\n"
        "Rows:\n"
        "  class  old  new  change\n"
        "  p        2    2    same\n"
        "  q        2    2    same\n"
        "  r        –    1     new\n"
        "  all      4    5      +1\n"
        "\n"
        "Values:\n"
        "  x: 1 new: d\n"
        "  x: 1 gone: c\n"
    )


def test_other_models_are_refused():
    with pytest.raises(errors.Unsupported, match="diff compares naive Bayes models, got LinearModel"):
        weigh.diff(model({"x": ["a", "b"], "y": [0, 1]}), model({"x": ["a", "b"], "y": [0, 1]}).linear())
    with pytest.raises(errors.ParameterError, match="diff: most must be at least 1, got 0"):
        weigh.diff(model(OLD), model(NEW), most=0)
