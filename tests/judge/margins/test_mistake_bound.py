"""`mistake_bound`: bounds that a reference perceptron never exceeds."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import weigh
from tests.judge.margins.designs import XOR, make_design, separable
from weigh import errors
from weigh.judge.margins import exact_margin, hinge_bound
from weigh.judge.margins.convex_hulls import augmented_vertices
from weigh.judge.margins.margin import margin
from weigh.judge.margins.mistake_bound import mistake_bound


@dataclass
class Certificate:
    """A perceptron's certificate."""

    mistakes: int
    passes: int
    radius: float = 1.0
    updates: int = field(init=False)

    def __post_init__(self):
        self.updates = self.mistakes


def perceptron(X, codes, passes, rng=None):
    """Train a reference perceptron in plain Python; score ≥ 0 is the second class."""
    rows = [[*map(float, row), 1.0] for row in X]
    w, mistakes, order = [0.0] * len(rows[0]), 0, list(range(len(rows)))
    n_passes = 0
    while n_passes < passes:
        n_passes, before = n_passes + 1, mistakes
        if rng is not None:
            rng.shuffle(order)
        for i in order:
            score = sum(a * b for a, b in zip(w, rows[i], strict=True))
            if (score >= 0) != bool(codes[i]):
                step = 1.0 if codes[i] else -1.0
                w = [a + step * b for a, b in zip(w, rows[i], strict=True)]
                mistakes += 1
        if mistakes == before:
            break
    radius = math.sqrt(max(sum(value**2 for value in row) for row in rows))
    return SimpleNamespace(certificate_=Certificate(mistakes, n_passes, radius))


def make_noisy(rng, n, d, share):
    X, codes = separable(rng, n, d)
    return X, np.where(rng.random(n) < share, 1 - codes, codes)


def test_mistakes_on_a_thousand_separable_sets_stay_within_the_bound():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        X, codes = separable(rng, n, d)
        rows = make_design(np.round(X, 2), codes)
        facts = margin(rows)
        if not facts.separable:
            continue
        learner = perceptron(np.round(X, 2), codes, 30, rng)
        assert learner.certificate_.mistakes <= (facts.radius / facts.augmented.lower) ** 2


def test_bound_of_two_close_rows_matches_a_hand_calculation():
    X, codes = [[1.0], [1.25]], [0, 1]
    result = mistake_bound(make_design(X, codes), learner=perceptron(X, codes, 1000))
    # The segment from (−1, −1) to (5/4, 1) is at distance 1/√145 from zero; R² is 41/16.
    assert result.exact == Fraction(41, 16) * 145
    assert (result.mistakes, result.holds) == (32, True)


@pytest.mark.parametrize("seed", range(25))
def test_mistakes_on_noisy_rows_stay_within_the_hinge_bounds(seed):
    rng = np.random.default_rng(seed)
    n, d, passes = int(rng.integers(20, 120)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    X, codes = make_noisy(rng, n, d, rng.choice([0.03, 0.1, 0.3]))
    X = X * rng.choice([0.1, 1.0, 10.0])
    learner = perceptron(X, codes, passes, rng)
    result = mistake_bound(make_design(X, codes), learner=learner, passes=passes)
    assert result.holds
    assert result.bound <= n * passes or result.form == "margin"


@pytest.mark.parametrize("seed", range(5))
def test_both_hinge_forms_hold_for_any_plane_and_any_margin(seed):
    rng = np.random.default_rng(seed)
    X, codes = make_noisy(rng, 60, 3, 0.1)
    vertices = augmented_vertices(make_design(X, codes), 2.0 * codes - 1)
    radius = float(vertices.norms.max())
    mistakes = perceptron(X, codes, 3, rng).certificate_.mistakes
    for _ in range(200):
        w = rng.normal(size=4)
        products = vertices.dot(w / np.linalg.norm(w))
        t = float(rng.exponential(2.0))
        assert mistakes <= hinge_bound._squared_hinge_root(products, radius, 3, t) ** 2
        assert mistakes <= hinge_bound._hinge_root(products, radius, 3, t) ** 2


def test_hinge_forms_match_their_formulas():
    products = np.array([0.5, -0.2, 0.1])
    gamma, radius, passes = 0.25, 1.5, 2
    shortfall = math.sqrt(2 * (0.45**2 + 0.15**2))
    assert hinge_bound._squared_hinge_root(products, radius, passes, 1 / gamma) == pytest.approx(
        (radius + shortfall) / gamma
    )
    loss, ratio = 2 * (0.45 + 0.15) / gamma, radius / gamma
    expected = (ratio + math.sqrt(ratio**2 + 4 * loss)) / 2
    assert hinge_bound._hinge_root(products, radius, passes, 1 / gamma) == pytest.approx(expected)


@pytest.mark.parametrize("form", ["squared hinge", "hinge"])
def test_reported_plane_margin_and_loss_reproduce_the_bound(form, monkeypatch):
    worse = {"squared hinge": "_hinge_root", "hinge": "_squared_hinge_root"}[form]
    monkeypatch.setattr(hinge_bound, worse, lambda *_: 1e9)
    X, codes = make_noisy(np.random.default_rng(3), 150, 3, 0.03)
    result = mistake_bound(make_design(X, codes), passes=2)
    assert result.form == form
    u = np.array([*(result.w[f"x{j}"] for j in range(3)), result.b])
    assert np.linalg.norm(u) == pytest.approx(1)
    Z = np.column_stack([X, np.ones(150)])
    radius, gamma = np.linalg.norm(Z, axis=1).max(), result.margin
    shortfall = np.maximum(0, gamma - (2 * codes - 1) * (Z @ u))
    assert radius == pytest.approx(result.radius)
    if form == "squared hinge":
        expected = ((radius + math.sqrt(2 * (shortfall**2).sum())) / gamma) ** 2
        assert result.loss == pytest.approx(2 * (shortfall**2).sum() / gamma**2)
    else:
        loss = 2 * shortfall.sum() / gamma
        expected = ((radius / gamma + math.sqrt(radius**2 / gamma**2 + 4 * loss)) / 2) ** 2
        assert result.loss == pytest.approx(loss)
    assert result.bound == pytest.approx(expected)


def test_the_squared_form_is_close_to_the_best_of_random_planes():
    rng = np.random.default_rng(8)
    X, codes = make_noisy(rng, 200, 2, 0.05)
    vertices = augmented_vertices(make_design(X, codes), 2.0 * codes - 1)
    radius = float(vertices.norms.max())
    best = min(
        hinge_bound._golden_section_minimum(
            vertices.dot(u / np.linalg.norm(u)), radius, 200, 1, hinge_bound._squared_hinge_root
        )[1]
        for u in rng.normal(size=(3000, 3))
    )
    result = [
        hinge_bound._golden_section_minimum(
            vertices.dot(u / np.linalg.norm(u)), radius, 200, 1, hinge_bound._squared_hinge_root
        )[1]
        for u in hinge_bound._candidate_planes(vertices, 1)
    ]
    assert min(result) <= best * 1.001


def test_the_bound_is_invariant_to_scale():
    X, codes = make_noisy(np.random.default_rng(4), 80, 3, 0.1)
    one = hinge_bound.hinge_bound(augmented_vertices(make_design(X, codes), 2.0 * codes - 1), 2)
    vertices = augmented_vertices(make_design(X, codes), 2.0 * codes - 1)
    rows = replace(vertices.rows, values=vertices.rows.values * 8)
    scaled = hinge_bound.hinge_bound(replace(vertices, rows=rows, scale=vertices.scale / 8), 2)
    assert scaled.bound == pytest.approx(one.bound, rel=1e-9)
    assert scaled.gamma == pytest.approx(one.gamma, rel=1e-6)


def test_xor_has_no_better_bound_than_one_mistake_per_example():
    result = mistake_bound(make_design(XOR, [0, 1, 1, 0]), learner=perceptron(XOR, [0, 1, 1, 0], 3))
    assert (result.form, result.bound, result.passes) == ("count", 12.0, 3)
    assert result.holds
    assert json.loads(json.dumps(result.to_dict()))["margin"] is None


def test_without_a_learner_mistakes_are_not_compared():
    result = mistake_bound(make_design([[1], [4]], [0, 1]))
    assert (result.mistakes, result.holds, result.passes) == (None, None, None)
    assert result.exact == 17 / Fraction(9, 29)
    assert result.bound == float(result.exact)


def test_the_float_bound_is_not_below_the_exact_one(monkeypatch):
    monkeypatch.setattr(exact_margin, "decimal_fraction", Fraction)
    tables = [separable(np.random.default_rng(seed), 12, 3) for seed in range(20)]
    exact = [mistake_bound(make_design(*table)).exact for table in tables]
    monkeypatch.setattr(exact_margin, "MAX_EXACT_VALUES", 0)
    for table, bound in zip(tables, exact, strict=True):
        result = mistake_bound(make_design(*table))
        assert result.exact is None
        assert bound <= Fraction(result.bound) <= bound * (1 + Fraction(1, 10**8))


def test_more_mistakes_than_the_bound_are_reported():
    result = mistake_bound(make_design([[1], [4]], [0, 1]), learner=Certificate(60, 5, math.sqrt(17)))
    assert result.holds is False
    assert str(result).endswith(
        "The bound does not hold: 60 > 54.78. The learner saw other rows or features, or\nmade more passes."
    )


def test_a_checked_bound_prints_as_an_inequality():
    text = """\
A perceptron makes at most 54 mistakes on these 2 rows, in any number of passes.

                              value
  radius R              4.123105626
  margin γ, at least   0.5570860145
  bound R²/γ²         54.777778 = 493/9
  mistakes made                   7

The classes are separable, so the bound holds in any order of the rows.
Checked: the learner made 7 mistakes, 7 ≤ 54.78."""
    result = mistake_bound(make_design([[1], [4]], [0, 1]), learner=Certificate(7, 5, math.sqrt(17)))
    assert [line.split() for line in str(result).splitlines()] == [line.split() for line in text.splitlines()]


def test_every_form_prints_within_eighty_columns_and_converts_to_json():
    rng = np.random.default_rng(2)
    tables = [(XOR, np.array([0, 1, 1, 0])), make_noisy(rng, 300, 3, 0.03), separable(rng, 300, 3)]
    for (X, codes), form in zip(tables, ("count", "hinge", "margin"), strict=True):
        result = mistake_bound(make_design(X, codes), learner=perceptron(X, codes, 2), passes=2)
        assert result.form == form
        assert max(map(len, str(result).splitlines())) <= 80
        assert json.loads(json.dumps(result.to_dict()))["holds"] is True
        assert "<table " in result._repr_html_()


def test_a_learner_without_a_certificate_is_rejected():
    with pytest.raises(errors.Unsupported) as error:
        mistake_bound(make_design([[1], [4]], [0, 1]), learner=object())
    assert str(error.value) == (
        "mistake_bound compares with the mistakes of a fitted perceptron, got object, which has no "
        "certificate_.mistakes. Fit a weigh.Perceptron first, or leave learner out."
    )


def test_a_perceptron_that_updates_within_its_margin_is_rejected():
    learner = Certificate(7, 5, math.sqrt(17))
    learner.updates = 9
    with pytest.raises(errors.Unsupported) as error:
        mistake_bound(make_design([[1], [4]], [0, 1]), learner=learner)
    assert str(error.value) == (
        "The bound holds for a perceptron that updates only after mistakes; this one made 9 updates for 7 "
        "mistakes. Fit one with margin=0, or leave learner out."
    )


def test_a_perceptron_fitted_on_other_rows_is_rejected():
    with pytest.raises(errors.DataError) as error:
        mistake_bound(make_design([[1], [4]], [0, 1]), learner=Certificate(7, 5, 4.0))
    assert str(error.value) == (
        "The learner was fitted on rows of radius 4; these have 4.12311. Give the rows and columns that it "
        "was fitted on."
    )


def test_rows_of_different_weights_are_rejected():
    rows = replace(make_design([[1], [4]], [0, 1]), weights=np.array([1.0, 2.0]))
    with pytest.raises(errors.DataError, match="needs rows of equal weight, got different weights"):
        mistake_bound(rows)


@pytest.mark.parametrize("passes", [0, 1.5, True])
def test_passes_must_be_a_whole_number(passes):
    with pytest.raises(errors.ParameterError) as error:
        mistake_bound(make_design([[1], [4]], [0, 1]), passes=passes)
    assert str(error.value) == (f"mistake_bound: passes must be a whole number, at least 1, got {passes!r}.")


def test_one_class_is_rejected_with_its_name():
    with pytest.raises(errors.DataError, match="mistake_bound needs rows of two classes, got 2 of one: 'a'"):
        mistake_bound(make_design([[1], [4]], [0, 0]))


def test_the_bound_of_a_named_table_holds_for_the_default_perceptron():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 40)
    table = {"a": 1000 * y + rng.normal(0, 30, 40) + 500, "b": rng.normal(0, 0.01, 40), "y": y}
    learner = weigh.Perceptron().fit(table, "y")
    found = mistake_bound(table, "y", learner=learner)
    assert found.holds
    assert found.radius == pytest.approx(learner.certificate_.radius)
    assert mistake_bound(table, "y").bound == found.bound
    assert mistake_bound(table, "y", scale=None).bound > 2 * found.bound
    assert "Numbers are standardised, as a perceptron learns them." in " ".join(str(found).split())


@pytest.mark.filterwarnings("ignore::weigh.errors.FrozenScales")
def test_the_bound_uses_the_scale_of_a_learners_first_batch():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    rows = [{"a": 50.0 * int(c) + v, "y": int(c)} for c, v in zip(y, rng.normal(0, 5, 60), strict=True)]
    learner = weigh.Perceptron().partial_fit(rows[:20], "y").partial_fit(rows[20:], "y")
    assert mistake_bound(rows, "y", learner=learner).radius == pytest.approx(learner.certificate_.radius)
