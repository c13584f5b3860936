"""`diff` of linear models: contributions of curves, levels, numbers, words and pairs that changed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weigh
from tests.additive_models import LABEL, fit_additive, make_table
from weigh import errors
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights

TABLE = {
    "size": [1.0, 2.0, 3.0, 4.0, 2.5, 3.5],
    "kind": ["a", "b", "c", "a", "b", "c"],
    "words": ["red fox", "blue fox", "red dog", "blue dog", "red cat", "blue cat"],
    "y": ["p", "q", "p", "q", "q", "p"],
}
KINDS = {"size": "number", "kind": "category", "words": "text"}


def curve(
    cuts: list[float], heights: list[float], counts: list[float], strength: float = 2.0
) -> CurveWeights:
    table = np.array([[0.0, height] for height in heights])
    positions = np.arange(len(cuts) + 1.0)
    strengths = np.array([strength, 1.0, 1.0])
    return CurveWeights(
        "age", np.array(cuts), table, np.array(counts), positions, np.array([0.0, 60.0]), strengths
    )


def model_of(*terms: Any) -> Any:
    """Return a model of the column age, and of its pair with income if there are two terms."""
    pairs = (("age", "income"),) if len(terms) == 3 else ()
    cuts = {"age": [30.0], "income": [3.0]} if pairs else {"age": [30.0]}
    model = fit_additive(make_table(50), cuts=cuts, categories=(), numbers=(), pairs=pairs)
    return replace(model, terms=list(terms), base=np.zeros(2))


def changes(old: Any, new: Any) -> dict[str, Any]:
    return {change.term: change for change in weigh.diff(old, new).terms}


def test_curves_are_compared_over_the_common_refinement() -> None:
    old = model_of(curve([20.0, 40.0], [-1.0, 0.0, 1.0, 0.3], [10, 20, 30, 5]))
    new = model_of(curve([30.0], [-0.5, 0.5, 0.0], [40, 20, 10], strength=3.0))
    (change,) = weigh.diff(old, new).terms
    # ≤ 20: +0.5; 20 to 30: −0.5; 30 to 40: +0.5; above 40: −0.5; missing: −0.3
    assert change.largest == pytest.approx(0.5)
    assert (change.where, change.label, change.change) == ("≤ 20", "c1", "changed")
    assert (change.old_strength, change.new_strength) == (2.0, 3.0)
    assert change.mean == pytest.approx((40 * 0.5 + 20 * 0.5 + 10 * 0.3) / 70)


def test_counts_are_divided_by_the_widths_of_finer_cells() -> None:
    old = model_of(curve([10.0], [-1.0, 1.0, 0.0], [10, 20, 0]))
    new = model_of(curve([40.0], [0.0, 0.0, 0.0], [40, 20, 0]))
    # Of the 40 rows up to 40, a quarter is up to 10.
    changed = model_of(curve([10.0], [-2.0, 1.0, 0.0], [10, 20, 0]))
    assert changes(old, new)["age"].mean == pytest.approx(1.0)
    assert changes(changed, new)["age"].mean == pytest.approx((10 * 2 + 50 * 1) / 60)


def test_curves_with_equal_heights_have_not_changed() -> None:
    old = model_of(curve([20.0], [-1.0, 1.0, 0.0], [10, 10, 0]))
    finer = model_of(curve([20.0, 30.0], [-1.0, 1.0, 1.0, 0.0], [10, 5, 5, 0]))
    result = weigh.diff(old, finer)
    assert not result.same
    assert str(result) == "The contributions of all columns are the same."


def test_a_number_that_became_a_curve_is_compared_at_its_cells() -> None:
    table = make_table(100, classes=0)
    table[LABEL] = [2.0 * x for x in table["income"]]
    columns = {"income": "number", "age": "skip", "colour": "skip", "size": "skip"}
    line = weigh.LinearRegression(columns=columns, prior=None).fit(table, LABEL).model_
    model = fit_additive(table, cuts={"income": [2.0, 3.0, 4.0]}, categories=(), numbers=(), pairs=())
    term = model.terms[0]
    heights = 2.0 * (term.positions - np.average(term.positions, weights=term.counts[:-1]))
    step = replace(model, terms=[term.with_weights(np.append(heights, 0.0)[:, None])])
    (change,) = weigh.diff(line, step).terms
    assert abs(change.largest) == pytest.approx(0.0, abs=1e-9)  # there are no missing values
    raised = replace(
        step, terms=[term.with_weights(np.append(heights + np.array([0, 0.5, 0, 0]), 0.0)[:, None])]
    )
    (change,) = weigh.diff(line, raised).terms
    assert (change.where, change.largest) == ("2 to 3", pytest.approx(0.5))
    (change,) = weigh.diff(raised, line).terms
    assert (change.where, change.largest) == ("2 to 3", pytest.approx(-0.5))


def surface(cuts: list[float], heights: list[float], counts: list[float]) -> PairWeights:
    table = np.array([[0.0, height] for height in heights])
    axes = PairAxis("age", np.array([30.0])), PairAxis("income", np.array(cuts))
    return PairWeights(*axes, table, np.array(counts), np.array([1.5]))


def test_surfaces_are_compared_over_the_common_refinement() -> None:
    flat = [curve([30.0], [0.0, 0.0, 0.0], [1, 1, 0])] * 2
    old = model_of(*flat, surface([3.0], [1.0, -1.0, -1.0, 1.0], [4, 4, 4, 4]))
    new = model_of(*flat, surface([2.0], [1.0, -1.0, -1.0, 2.0], [2, 6, 2, 6]))
    change = changes(old, new)["age × income"]
    # Income 2 to 3 changed from 1 to −1 and from −1 to 2, and above 3 from 1 to 2.
    assert (change.largest, change.where) == (pytest.approx(3.0), "> 30, 2 to 3")
    assert change.mean == pytest.approx((3 * 2 + 3 * 3 + 3 * 1) / 16)
    gone = changes(old, model_of(flat[0]))["age × income"]
    assert (gone.change, gone.largest, gone.mean) == ("gone", pytest.approx(-1.0), pytest.approx(1.0))
    assert (gone.old_strength, gone.new_strength) == (1.5, None)


def test_groups_of_levels_of_a_surface_are_compared_level_by_level() -> None:
    def grouped(groups: list[int], heights: list[float]) -> Any:
        axis = PairAxis("colour", None, ["red", "green", "blue"], np.array(groups, dtype=np.int32))
        table = np.array([[0.0, height] for height in heights])
        term = PairWeights(PairAxis("age", np.array([30.0])), axis, table, np.ones(len(table)), np.ones(1))
        return replace(model, terms=[model.terms[0], model.terms[1], term])

    model = fit_additive(make_table(50), cuts={"age": [30.0]}, numbers=(), pairs=(("age", "colour"),))
    old = grouped([0, 1, 1], [1.0, -1.0, -1.0, 1.0])
    new = grouped([0, 1, 0], [1.0, -1.0, -1.0, 1.0])
    change = changes(old, new)["age × colour"]
    assert (change.largest, change.where) == (pytest.approx(2.0), "≤ 30, blue")


def test_levels_words_and_numbers_of_regressions_are_compared() -> None:
    first = weigh.LogisticRegression(columns=KINDS, prior=1).fit(TABLE, "y").model_
    second = weigh.LogisticRegression(columns=KINDS, prior=5).fit(TABLE, "y").model_
    result = weigh.diff(first, second)
    by_term = {change.term: change for change in result.terms}
    assert set(by_term) == {"size", "kind", "words"}
    names, old, new = first.features, first.coef, second.coef
    for term, where in (("kind", "kind="), ("words", "words: ")):
        differences = {n.split("=")[-1]: b - a for n, a, b in zip(names, old, new, strict=True) if where in n}
        largest = max(differences.values(), key=abs)
        assert by_term[term].largest == pytest.approx(largest)
        assert by_term[term].mean == pytest.approx(np.mean(np.abs(list(differences.values()))))
    assert [str(s) for s in result.settings] == ["prior: Normal(1) → Normal(5)"]
    (bias,) = result.biases
    assert (bias.label, bias.old, bias.new) == (
        "q",
        pytest.approx(first.base[1]),
        pytest.approx(second.base[1]),
    )


def test_a_level_that_only_one_model_knows_is_compared_with_an_unseen_one() -> None:
    first = weigh.LogisticRegression(columns={"kind": "category", "size": "skip", "words": "skip"}, prior=1)
    other = {**TABLE, "kind": ["a", "b", "d", "a", "b", "d"]}
    old, new = first.fit(TABLE, "y").model_, first.fit(other, "y").model_
    (change,) = weigh.diff(old, new).terms
    level = dict(zip(old.features, old.coef, strict=True))["kind=c"]
    assert (change.where, change.largest) == ("c", pytest.approx(-level))


def test_many_classes_are_compared_with_the_mean_of_all() -> None:
    table = {"size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": ["a", "b", "c", "a", "b", "c"]}
    old = weigh.LogisticRegression(prior=1).fit(table, "y").model_
    new = weigh.LogisticRegression(prior=2).fit(table, "y").model_
    result = weigh.diff(old, new)
    difference = (new.coef - new.coef.mean(axis=0)) - (old.coef - old.coef.mean(axis=0))
    at = int(np.argmax(np.abs(difference[:, 0])))
    (change,) = result.terms
    assert (change.label, change.largest) == ("abc"[at], pytest.approx(difference[at, 0]))
    assert [b.label for b in result.biases] == ["a", "b", "c"]


def test_perceptrons_are_compared_in_points() -> None:
    old = weigh.Perceptron(columns=KINDS).fit(TABLE, "y").model_
    new = weigh.Perceptron(columns=KINDS, max_iter=1).fit(TABLE, "y").model_
    result = weigh.diff(old, new)
    assert result.unit == "points"
    difference = dict(zip(old.features, new.coef - old.coef, strict=True))
    largest = max((d for n, d in difference.items() if n.startswith("words")), key=abs)
    assert {c.term: c.largest for c in result.terms}["words"] == pytest.approx(largest)


def test_a_column_that_became_another_kind_is_gone_and_new() -> None:
    old = weigh.LogisticRegression(columns=KINDS | {"size": "number"}, prior=1).fit(TABLE, "y")
    new = weigh.LogisticRegression(columns=KINDS | {"size": "category"}, prior=1).fit(TABLE, "y")
    found = [c.change for c in weigh.diff(old, new).terms if c.term == "size"]
    assert sorted(found) == ["gone", "new"]


def test_the_text_names_cells_strengths_and_settings() -> None:
    old = model_of(curve([20.0, 40.0], [-1.0, 0.0, 1.0, 0.3], [10, 20, 30, 5]))
    new = replace(model_of(curve([30.0], [-0.5, 0.5, 0.0], [40, 20, 10], 3.0)), base=np.array([0.0, 0.25]))
    new = replace(new, fit=replace(new.fit, rows=70))
    result = weigh.diff(old, new)
    assert str(result) == (
        "Settings:\n"
        "  rows: 50 → 70\n"
        "\n"
        "Bias:\n"
        "      old   new\n"
        "  c1    0  0.25\n"
        "\n"
        "Contributions that changed most, in nats:\n"
        "       largest  where     mean  strength  →\n"
        "  age  +0.5000   ≤ 20  0.47143         2  3"
    )
    assert json.loads(json.dumps(result.to_dict()))["terms"][0]["where"] == "≤ 20"
    assert list(result.to_frame()["term"]) == ["age"]


def test_models_that_cannot_be_compared_are_refused_with_a_sentence() -> None:
    classifier = weigh.LogisticRegression(columns=KINDS).fit(TABLE, "y")
    regression = weigh.LinearRegression().fit({"size": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 5.0]}, "y")
    with pytest.raises(errors.Unsupported) as raised:
        weigh.diff(classifier, regression)
    assert str(raised.value) == (
        "diff compares two classifiers or two regressions, got LogisticModel and RegressionModel."
    )
    other = weigh.LogisticRegression(columns=KINDS).fit({**TABLE, "y": ["r", "s", "r", "s", "r", "s"]}, "y")
    with pytest.raises(errors.Unsupported) as raised:
        weigh.diff(classifier, other)
    assert str(raised.value) == (
        "diff needs at least two classes that both models have; the old one has 'p', 'q', the new one 'r', "
        "'s'."
    )


def test_nothing_is_drawn_if_nothing_changed() -> None:
    model = weigh.LogisticRegression(columns=KINDS).fit(TABLE, "y")
    assert str(weigh.diff(model, model)) == "The models are the same, byte for byte."
    with pytest.raises(errors.Unsupported) as raised:
        weigh.diff(model, model).plot()
    assert str(raised.value) == "No contribution has changed, so there is nothing to draw."
