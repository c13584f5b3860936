"""Scorecards: whole points that add up to the log-odds, within the stated errors of rounding."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weigh
from tests.additive_models import LABEL, fit_additive, make_table
from weigh import errors
from weigh.features.kinds import Flag
from weigh.features.schema import Schema
from weigh.model.distributions.word_weights import ValueWeights

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.ExtraColumns")
TABLE = make_table(400)


def additive_model() -> Any:
    return fit_additive(TABLE, numbers=())


def small_model(heights: list[float], base: float = 0.0) -> Any:
    """Return a model of one curve with the cuts 10, 20, 30 and 45."""
    model = fit_additive(TABLE, cuts={"age": [10.0, 20.0, 30.0, 45.0]}, categories=(), numbers=(), pairs=())
    table = np.array([[0.0, height] for height in heights])
    return replace(model, terms=[model.terms[0].with_weights(table)], base=np.array([0.0, base]))


def log_odds(model: Any, rows: Any) -> Any:
    return np.diff(model.scores(rows))[:, 0]


@pytest.mark.parametrize(("points", "odds"), [(20, 2), (1, 2), (50, 10), (7.5, 1.5)])
def test_totals_give_the_log_odds_within_the_stated_error(points: float, odds: float) -> None:
    model = additive_model()
    card = model.scorecard(points, odds)
    probability = card.probability(card.score(TABLE))
    difference = np.log(probability / (1 - probability)) - log_odds(model, TABLE)
    assert np.abs(difference).max() <= card.largest_error + 1e-12
    assert card.rms_error == pytest.approx(math.sqrt(np.mean(difference**2)), rel=0.35)


def test_the_largest_error_is_the_sum_over_the_columns() -> None:
    model, factor = additive_model(), 20 / math.log(2)
    errors_by_term = [
        np.abs(np.rint(factor * heights) / factor - heights).max()
        for heights in (term.trained_weights()[:, 1] for term in model.terms)
    ]
    assert model.scorecard().largest_error == pytest.approx(sum(errors_by_term), rel=1e-12)


def test_the_error_over_the_rows_is_weighted_by_the_counts() -> None:
    model = small_model([0.01, 0.0, 0.0, 0.0, 0.0, 0.0])
    counts = model.terms[0].counts
    share, error = counts[0] / counts.sum(), 0.01  # 0.01 nats are 0 points
    assert model.scorecard().rms_error == pytest.approx(math.sqrt(share) * error, rel=1e-12)
    assert model.scorecard().largest_error == pytest.approx(error, rel=1e-12)


def test_points_double_the_odds() -> None:
    card = additive_model().scorecard(points=20, odds=2)
    first, second = card.probability(np.array([5, 25]))
    assert second / (1 - second) == pytest.approx(2 * first / (1 - first), rel=1e-12)
    wider = additive_model().scorecard(points=30, odds=3)
    first, second = wider.probability(0), wider.probability(30)
    assert second / (1 - second) == pytest.approx(3 * first / (1 - first), rel=1e-12)


def test_the_base_points_have_the_probability_of_the_bias() -> None:
    model = small_model([0.0] * 6, base=0.512)
    card = model.scorecard()
    assert card.base_points == round(0.512 * 20 / math.log(2)) == 15
    assert card.probability(15) == pytest.approx(1 / (1 + math.exp(-0.512)), rel=1e-12)


def test_totals_are_the_sums_of_the_listed_points() -> None:
    card = additive_model().scorecard()
    points = {(row.term, row.cell): row.points for row in card.table}
    row = {"age": 25.0, "income": 3.2, "colour": "red"}
    expected = sum(
        points[key]
        for key in [
            ("base", ""),
            ("age", "20 to 30"),
            ("income", "3 to 3.5"),
            ("colour", "red"),
            ("age × income", "10 to 30, 2 to 3.5"),
            ("income × colour", "2 to 3.5, green and 1 more"),
        ]
    )
    assert card.score([row]).tolist() == [expected]
    missing = {"age": None, "income": 3.2, "colour": "pink"}
    expected = points["base", ""] + points["age", "missing"] + points["income", "3 to 3.5"]
    assert card.score([missing]).tolist() == [expected]


def test_neighbouring_cells_with_equal_points_are_one_range() -> None:
    nat = math.log(2) / 20  # one point
    card = small_model([0.1 * nat, -0.2 * nat, 2 * nat, 2.2 * nat, -1 * nat, 3 * nat]).scorecard()
    assert [(row.cell, row.points) for row in card.table] == [
        ("", 0),
        ("≤ 20", 0),
        ("20 to 45", 2),
        ("> 45", -1),
        ("missing", 3),
    ]
    flat = small_model([nat] * 6).scorecard()
    assert [(row.cell, row.points) for row in flat.table[1:]] == [("any", 1), ("missing", 1)]


def test_a_term_without_points_is_one_line() -> None:
    nat = math.log(2) / 20  # one point
    card = small_model([0.4 * nat, -0.4 * nat, 0.2 * nat, 0.0, 0.0, -0.1 * nat]).scorecard()
    assert [(row.term, row.cell, row.points) for row in card.table[1:]] == [("age", "any", 0)]
    assert card.largest_error == pytest.approx(0.4 * nat)


def test_flags_have_points_if_they_are_present() -> None:
    model = small_model([0.0] * 6)
    schema = Schema(["vip"], [Flag()], label=LABEL)
    term = ValueWeights("vip", ["vip"], np.array([[0.0, math.log(2)]]), True)
    card = replace(model, schema=schema, terms=[term]).scorecard()
    assert [(row.term, row.cell, row.points) for row in card.table] == [
        ("base", "", 0),
        ("vip", "1", 20),
        ("vip", "0", 0),
    ]
    assert card.score({"vip": [True, False]}).tolist() == [20, 0]


def test_the_text_and_the_frame_list_all_points() -> None:
    nat = math.log(2) / 20
    card = small_model([-3 * nat, -3 * nat, 0.0, 2 * nat, 10.3 * nat, nat], base=1.0).scorecard()
    assert str(card) == (
        "Scorecard: every 20 points double the odds of c1.\n"
        "\n"
        "  term  cell      points\n"
        "  base               +29\n"
        "  age   ≤ 20          −3\n"
        "        20 to 30       0\n"
        "        30 to 45      +2\n"
        "        > 45         +10\n"
        "        missing       +1\n"
        "\n"
        "From this total on, at least:\n"
        "  total  probability\n"
        "  −132        1.00 %\n"
        "  −84         5.00 %\n"
        "  −63        10.00 %\n"
        "  −31        25.00 %\n"
        "  1          50.00 %\n"
        "  32         75.00 %\n"
        "  64         90.00 %\n"
        "  86         95.00 %\n"
        "  133        99.00 %\n"
        "\n"
        "Rounding to whole points changes the log-odds of a row by at most 0.0104, and by\n"
        "about 0.00512 (root mean square over the training rows)."
    )
    frame = card.to_frame()
    assert list(frame.columns) == ["term", "cell", "points"]
    assert frame["points"].tolist() == [29, -3, 0, 2, 10, 1]
    facts = json.loads(json.dumps(card.to_dict()))
    assert set(facts) == {"label", "points", "odds", "table", "largest_error", "rms_error"}


def test_other_odds_are_named_in_the_headline() -> None:
    card = small_model([0.0] * 6).scorecard(points=50, odds=10)
    assert card.headline == "Scorecard: every 50 points multiply the odds of c1 by 10."


def fit_words() -> Any:
    """Return a model of a number with a curve and a text."""
    n = 40
    rows = {
        "x": np.arange(n) / 3,
        "note": [f"good day number {k}" for k in range(n)],
        "y": ["a", "b"] * (n // 2),
    }
    return weigh.LogisticRegression(columns={"note": weigh.Text()}, curves="auto").fit(rows, "y").model_


def test_what_has_no_points_is_refused_with_a_sentence() -> None:
    with pytest.raises(errors.Unsupported) as raised:
        fit_additive(TABLE).scorecard()
    assert str(raised.value) == (
        "A scorecard has points for ranges, levels and flags, but value column 'size' has a weight per unit. "
        "Train with curves='auto', or leave it out."
    )
    with pytest.raises(errors.Unsupported) as raised:
        fit_words().scorecard()
    assert str(raised.value) == (
        "A scorecard has points for ranges, levels and flags, but text column 'note' has a weight per word. "
        "Train with columns={'note': 'category'}, or leave it out."
    )
    with pytest.raises(errors.Unsupported) as raised:
        fit_additive(make_table(100, classes=3)).scorecard()
    assert str(raised.value) == (
        "A scorecard is for two classes: its points add up to the odds of one of them. This model has 3."
    )
    with pytest.raises(errors.Unsupported) as raised:
        fit_additive(make_table(100, classes=0)).scorecard()
    assert str(raised.value) == (
        "A scorecard adds up points to the odds of a class, but a linear regression predicts numbers. Train "
        "LogisticRegression on two classes."
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"points": 0}, "scorecard: points must be a number above 0, got 0."),
        ({"points": "20"}, "scorecard: points must be a number above 0, got '20'."),
        ({"points": 1e308}, "scorecard: points must be at most 6.93e+08 for odds=2, got 1e+308."),
        (
            {"points": 500.0, "odds": 1 + 1e-8},
            "scorecard: points must be at most 10 for odds=1.00000001, got 500.0.",
        ),
        ({"odds": 1}, "scorecard: odds must be a number above 1, got 1."),
        ({"odds": math.nan}, "scorecard: odds must be a number above 1, got nan."),
        ({"odds": True}, "scorecard: odds must be a number above 1, got True."),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.ParameterError) as raised:
        small_model([0.0] * 6).scorecard(**parameters)
    assert str(raised.value) == message


def test_the_scorecard_of_a_trained_model_follows_its_probabilities() -> None:
    columns = {"size": "skip"}
    model = weigh.LogisticRegression(columns=columns, curves="auto").fit(TABLE, LABEL).model_
    card = model.scorecard(points=1000)
    assert card.probability(card.score(TABLE)) == pytest.approx(model.predict_proba(TABLE)[:, 1], abs=1e-3)
