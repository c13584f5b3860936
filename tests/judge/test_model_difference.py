"""`diff`: the changes between two models."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp

import weigh
from weigh import errors
from weigh.judge import setting_changes

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


def fit_model(table, **parameters):
    return weigh.NaiveBayes(**parameters).fit(table, "y").model_


def test_equal_models_are_the_same():
    result = weigh.diff(fit_model(OLD), fit_model(OLD))
    assert result.same
    assert str(result) == "The models are the same, byte for byte."


def test_classes_and_rows_are_compared():
    result = weigh.diff(fit_model(OLD), fit_model(NEW))
    assert [(change.label, change.old, change.new) for change in result.classes] == [
        ("p", 2, 2),
        ("q", 2, 2),
        ("r", None, 1),
    ]


def test_levels_that_appeared_and_vanished_are_named():
    (words,) = weigh.diff(fit_model(OLD), fit_model(NEW)).words
    assert (words.column, words.appeared, words.vanished) == ("x", ("d",), ("c",))


def test_probabilities_are_ranked_by_the_change_of_their_logarithm():
    moved = weigh.diff(fit_model(OLD), fit_model(NEW)).moved
    assert [abs(change.nats) for change in moved] == sorted(
        (abs(change.nats) for change in moved), reverse=True
    )
    by_name = {(change.name, change.label): change for change in moved}
    # (2 + 1) / (2 + 3) became (1 + 1) / (2 + 3).
    assert by_name["x = a", "p"].nats == pytest.approx(math.log(2 / 3))
    assert by_name["P(class)", "q"].new == pytest.approx(2 / 5)


def test_means_and_spreads_are_compared():
    result = weigh.diff(fit_model(OLD), fit_model(NEW)).numbers
    (change,) = [change for change in result if change.label == "p"]
    assert (change.old_mean, change.new_mean, change.old_spread, change.new_spread) == (1.5, 2.5, 0.5, 1.5)
    assert change.shift == 2.0


def test_settings_that_changed_are_listed():
    first = fit_model(OLD)
    second = fit_model(OLD, columns={"size": "skip", "x": weigh.Text(min_length=1)}, prior=weigh.Dirichlet(2))
    lines = [str(change) for change in weigh.diff(first, second).settings]
    assert lines == [
        "column 'x': category → text(min_length=1)",
        "column 'size': number(shape=auto) → skip",
        "prior: 1.0 → Dirichlet(2)",
    ]


def test_added_and_removed_columns_are_settings():
    first = fit_model({key: OLD[key] for key in ("x", "y")})
    second = fit_model({key: OLD[key] for key in ("flag", "y")})
    lines = [str(change) for change in weigh.diff(first, second).settings]
    assert lines == ["column 'x': gone, was category", "column 'flag': new, flag"]


def test_a_probability_that_became_zero_changed_infinitely():
    first = fit_model({"x": ["a", "b"], "y": [0, 0]}, prior=None)
    second = fit_model({"x": ["a", "a", "b"], "y": [0, 0, 1]}, prior=None)
    result = weigh.diff(first, second)
    assert result.moved[0].nats == -math.inf
    assert json.loads(json.dumps(result.to_dict()))["moved"][0]["nats"] == "-inf"


def test_paths_and_estimators_are_accepted(tmp_path):
    fit_model(OLD).save(tmp_path / "old.weigh")
    result = weigh.diff(tmp_path / "old.weigh", weigh.NaiveBayes().fit(NEW, "y"))
    assert result == weigh.diff(fit_model(OLD), fit_model(NEW))


def test_the_text_fits_into_80_columns():
    text = str(weigh.diff(fit_model(OLD), fit_model(NEW, prior=2)))
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


def test_other_models_are_rejected():
    model = fit_model({"x": ["a", "b"], "y": [0, 1]})
    with pytest.raises(errors.Unsupported) as raised:
        weigh.diff(model, model.linear())
    assert str(raised.value) == (
        "BayesModel and LinearModel have no parameters in common: diff compares two naive Bayes models, two "
        "joint models, two thresholds or two linear models. Compare their predictions on labelled rows, with "
        "evaluate."
    )
    with pytest.raises(errors.ParameterError, match="diff: most must be at least 1, got 0"):
        weigh.diff(fit_model(OLD), fit_model(NEW), most=0)


def test_many_columns_are_compared_by_the_number_of_each_kind(monkeypatch):
    monkeypatch.setattr(setting_changes, "MAX_COMPARED_COLUMNS", 3)
    rows, y = np.eye(4), ["p", "p", "q", "q"]
    counts, flags = (weigh.NaiveBayes(columns=kind).fit(rows, y) for kind in ("count", "flag"))
    wider = weigh.NaiveBayes(columns="count").fit(np.eye(4, 5), y)
    assert list(map(str, weigh.diff(counts, flags).settings)) == ["columns: 4 count → 4 flag"]
    assert list(map(str, weigh.diff(counts, wider).settings)) == ["columns: 4 count → 5 count"]
    assert weigh.diff(fit_model(OLD), fit_model(OLD)).settings == ()
    assert not weigh.diff(counts, counts).settings


def test_models_of_two_million_columns_are_compared_by_the_columns_that_changed():
    def fit(values):
        rows = sp.csr_matrix((values, ([0, 1, 2], [0, 1, 1_999_999])), (3, 2_000_000))
        return weigh.NaiveBayes(columns="count").fit(rows, ["p", "q", "q"])

    result = weigh.diff(fit([1, 1, 1]), fit([1, 1, 5]))
    assert (result.same, result.settings, result.words) == (False, (), ())
    assert (result.moved[0].name, result.moved[0].label) == ("x1999999", "q")
