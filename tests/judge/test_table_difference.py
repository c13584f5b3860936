"""`diff` of joint models, of thresholds, and of models of different families."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest

import weigh
from weigh import errors

OLD = {
    "a": ["x", "y", "x", "x", "y"],
    "b": [True, False, True, True, None],
    "c": [1.0, 2.0, 3.0, 4.0, 2.5],
    "y": ["p", "q", "q", "p", "q"],
}
MORE = {"a": ["z"], "b": [True], "c": [9.0], "y": ["p"]}
NEW: dict[str, list[Any]] = {name: [*values, *MORE[name]] for name, values in OLD.items()}
KINDS = {"c": "skip"}


def joint(table: Any, **parameters: Any) -> Any:
    return weigh.JointBayes(columns=KINDS, **parameters).fit(table, "y").model_


def test_the_probabilities_of_cells_are_those_of_the_models() -> None:
    old, new = joint(OLD), joint(NEW)
    result = weigh.diff(old, new)
    assert {(c.label, c.old, c.new) for c in result.classes} == {("p", 2, 3), ("q", 3, 3)}
    cells = {
        "a=x, b=1": {"a": "x", "b": True},
        "a=y, b=0": {"a": "y", "b": False},
        "a=y": {"a": "y", "b": None},
    }
    moved = {(change.name, change.label): change for change in result.moved}
    for (name, row), c in itertools.product(cells.items(), range(2)):
        before, after = (math.exp(float((m.scores(row) - m.log_prior)[0, c])) for m in (old, new))
        if (name, old.classes[c]) in moved:
            change = moved[name, old.classes[c]]
            assert (change.old, change.new) == (pytest.approx(before), pytest.approx(after))
        else:
            assert before == pytest.approx(after)
    assert ("a=z, b=1", "p") in moved
    assert json.loads(json.dumps(result.to_dict()))["moved"]


def test_joint_models_print_settings_rows_and_probabilities() -> None:
    text = str(weigh.diff(joint(OLD), joint(NEW, prior=None)))
    assert text.startswith("Settings:\n  prior: 1.0 → None\n\nRows:\n")
    assert "Probabilities that moved most:" in text
    assert "a=z, b=1" in text


def test_joint_models_of_other_columns_share_the_classes_only() -> None:
    other = weigh.JointBayes(columns={"c": "skip", "b": "skip"}).fit(NEW, "y")
    assert {change.name for change in weigh.diff(joint(OLD), other).moved} == {"P(class)"}


def test_thresholds_are_compared_by_cut_and_sides() -> None:
    columns = {"a": "skip", "b": "skip"}
    old = weigh.Threshold(columns=columns).fit(OLD, "y").model_
    table = NEW | {"c": [1.0, 1.2, 3.0, 4.0, 2.5, 9.0]}
    new = weigh.Threshold(columns=columns).fit(table, "y").model_
    result = weigh.diff(old, new)
    assert [str(change) for change in result.settings] == ["cut: c > 1.5 → c > 3.5"]
    for change in result.moved:
        c = old.classes.index(change.label)
        if change.name == "P(class)":
            assert (change.old, change.new) == tuple(math.exp(m.log_prior[c]) for m in (old, new))
        else:
            value = {"c: left side": -99.0, "c: right side": 99.0}[change.name]
            expected = [math.exp(m.scores({"c": value})[0, c]) for m in (old, new)]
            assert [change.old, change.new] == pytest.approx(expected)
    assert {change.name for change in result.moved} == {"P(class)", "c: left side", "c: right side"}


def test_thresholds_of_other_columns_share_the_classes_only() -> None:
    old, new = (weigh.Threshold(columns={"a": "skip", name: "skip"}).fit(OLD, "y") for name in "bc")
    result = weigh.diff(old, new)
    assert "cut: c > 1.5 → b > 0.5" in [str(change) for change in result.settings]
    assert result.moved == ()


MODELS = {
    "naive Bayes": lambda table: weigh.NaiveBayes().fit(table, "y"),
    "joint Bayes": joint,
    "threshold": lambda table: weigh.Threshold().fit(table, "y"),
    "perceptron": lambda table: weigh.Perceptron().fit(table, "y"),
    "voted": lambda table: weigh.Perceptron("voted").fit(table, "y"),
    "logistic": lambda table: weigh.LogisticRegression().fit(table, "y"),
    "online": lambda table: weigh.LogisticRegression(method="online").fit(table, "y"),
    "regression": lambda table: weigh.LinearRegression().fit(table | {"y": range(len(table["y"]))}, "y"),
    "calibrated": lambda table: weigh.calibrate(
        weigh.NaiveBayes().fit(table, "y"), OLD, "y", method="temperature"
    ),
}
FAMILIES = {
    "perceptron": "linear",
    "voted": "linear",
    "logistic": "linear",
    "online": "linear",
    "calibrated": "naive Bayes",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("first", "second"), list(itertools.product(MODELS, repeat=2)))
def test_models_of_a_family_are_compared_and_others_get_a_sentence(first: str, second: str) -> None:
    old, new = MODELS[first](OLD), MODELS[second](NEW)
    if FAMILIES.get(first, first) == FAMILIES.get(second, second):
        result = weigh.diff(old, new)
        assert not result.same
        assert str(result)
        return
    with pytest.raises(
        errors.Unsupported, match=r"have no parameters in common|two classifiers or two regressions"
    ):
        weigh.diff(old, new)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_the_same_as_itself(name: str) -> None:
    assert str(weigh.diff(MODELS[name](OLD), MODELS[name](OLD))) == "The models are the same, byte for byte."


def test_a_voted_perceptron_is_named_as_such() -> None:
    settings = map(str, weigh.diff(MODELS["voted"](OLD), MODELS["perceptron"](OLD)).settings)
    assert "kept: voted → averaged" in list(settings)
