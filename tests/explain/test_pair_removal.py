"""Flips of models with curves and pairs: the smallest set by trying all, and the nearest cells that flip."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weigh
from tests.additive_models import LABEL, fit_additive, make_table
from weigh.explain import minimal_removal
from weigh.explain.additive_row import AdditiveRow

COLUMNS = ("age", "income", "colour", "size")
PAIRS = (("age", "income"), ("income", "colour"), ("age", "colour"))


def random_model(seed: int, classes: int) -> Any:
    """Return a model with random heights of curves, levels and surfaces."""
    rng = np.random.default_rng(seed)
    model = fit_additive(make_table(60, classes=classes), pairs=PAIRS)

    def heights(term: Any) -> Any:
        table = rng.normal(size=term.trained_weights().shape)
        return term.with_weights(table * ([0.0, 1.0] if classes == 2 else 1.0))

    return replace(model, terms=[heights(term) for term in model.terms], base=model.base * 0)


def rows_of(seed: int, n: int = 4) -> list[dict[str, Any]]:
    table = make_table(n, seed + 1000)
    return [{name: table[name][i] for name in COLUMNS} for i in range(n)]


def verdicts_without(model: Any, row: dict[str, Any]) -> list[tuple[int, Any]]:
    """Return the size of each set of values and the verdict if they are missing."""
    known = [name for name in COLUMNS if row[name] is not None]
    sets = [gone for k in range(len(known) + 1) for gone in itertools.combinations(known, k)]
    # A number that counts as zero is not removed but missing, which adds nothing either.
    predicted = [model.predict([row | dict.fromkeys(gone)])[0] for gone in sets]
    return [(len(gone), label) for gone, label in zip(sets, predicted, strict=True)]


@pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_no_smaller_set_of_values_flips_a_model_with_pairs(seed: int, classes: int) -> None:
    model = random_model(seed, classes)
    for row in rows_of(seed):
        tried = verdicts_without(model, row)
        verdict = tried[0][1]
        for goal in (None, *(label for label in model.classes if label != verdict)):
            sizes = [k for k, label in tried if (label != verdict if goal is None else label == goal)]
            result = weigh.flip(model, row, goal)
            assert result.verdict == verdict
            assert result.is_smallest
            assert (len(result.removed) if result.flips else None) == min(sizes, default=None)
            if result.flips:
                gone = dict.fromkeys(feature.feature for feature in result.removed)
                assert model.predict([row | gone])[0] == result.becomes
                touched = {feature.feature for feature in result.removed_pairs}
                assert touched == {
                    f"{a} × {b}" for a, b in PAIRS if {a, b} & set(gone) and None not in (row[a], row[b])
                }


@pytest.mark.parametrize("classes", [2, 3])
def test_features_and_pairs_sum_to_the_lead(classes: int) -> None:
    model = random_model(1, classes)
    for row in rows_of(1, 8):
        result = weigh.flip(model, row)
        scores = dict(zip(model.classes, model.scores([row])[0].tolist(), strict=True))
        assert result.lead == pytest.approx(scores[result.verdict] - scores[result.against], rel=1e-9)


def test_a_search_that_stops_early_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimal_removal, "MAX_SEARCH_STEPS", 2)
    model = random_model(2, 2)
    results = [weigh.flip(model, row) for row in rows_of(2, 8)]
    stopped = [result for result in results if not result.is_smallest]
    assert stopped
    for result in stopped:
        text = " ".join(str(result).split())
        assert "A smaller set may do it too." in text or "there may be one." in text


def test_the_text_lists_pairs_with_the_values_they_go_with() -> None:
    model = two_curves()
    result = weigh.flip(model, {"age": 25.0, "income": 1.0})
    assert str(result) == (
        "c1 (probability 73.11 %). Without this one of its 2 features it would be c0\n"
        "(probability 73.11 %).\n\n"
        "  age = 25              +0.5000\n"
        "  age × income = 25, 1  +1.5000\n\n"
        "Together they speak for c1 against c0 by +2.0000 nats, of a lead of +1.0000. No\n"
        "smaller set does it.\n\n"
        "2 single other values flip it:\n"
        "  age = 25    → at most 20  c0\n"
        "  income = 1  → above 2     c0"
    )
    assert result.to_dict()["removed_pairs"] == [{"feature": "age × income", "value": "25, 1", "weight": 1.5}]


def two_curves() -> Any:
    """Return a model of two curves with one cut each and the surface of both."""
    table = make_table(60)
    model = fit_additive(
        table, cuts={"age": [20.0], "income": [2.0]}, categories=(), numbers=(), pairs=(("age", "income"),)
    )
    age, income, pair = model.terms
    heights = {0: [0.0, 0.5, 0.0], 1: [-1.0, -1.0, 0.0], 2: [0.0, -1.5, 1.5, -1.5]}
    terms = [
        t.with_weights(np.array([[0.0, h] for h in heights[i]])) for i, t in enumerate((age, income, pair))
    ]
    return replace(model, terms=terms, base=np.zeros(2))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_changes_are_the_nearest_values_that_flip(seed: int, classes: int) -> None:
    model = random_model(seed, classes)
    for row in rows_of(seed):
        verdict = model.predict([row])[0]
        for goal in (None, *(label for label in model.classes if label != verdict)):
            found = weigh.flip(model, row, goal).changes
            for name, values in (("age", np.arange(0, 60, 0.1)), ("income", np.arange(-1, 7, 0.01))):
                if row[name] is not None:
                    expected = nearest_flips(model, row, name, values, verdict, goal)
                    changes = {c.to.split()[0]: c.threshold for c in found if c.feature == name}
                    assert changes == pytest.approx(expected, abs=0.11)
            levels = {c.to: c.becomes for c in found if c.feature == "colour"}
            other = {level: model.predict([row | {"colour": level}])[0] for level in ("red", "green", "blue")}
            assert levels == {k: v for k, v in other.items() if v != verdict and goal in (None, v)}


def nearest_flips(
    model: Any, row: dict[str, Any], name: str, values: Any, verdict: Any, goal: Any
) -> dict[str, float]:
    """Try many values and return the nearest ones on either side that flip the verdict."""
    table = {column: [row[column]] * len(values) for column in COLUMNS} | {name: values}
    labels = model.predict(table)
    flips = labels == goal if goal is not None else labels != verdict
    above, below = values[flips & (values > row[name])], values[flips & (values < row[name])]
    return {
        **({"above": float(above.min())} if len(above) else {}),
        **({"at": float(below.max())} if len(below) else {}),
    }


def test_a_missing_number_of_a_curve_cannot_be_removed() -> None:
    model = random_model(3, 2)
    row = rows_of(3, 1)[0] | {"age": None}
    additive = AdditiveRow.from_chunk(model, next(model.chunks([row])))
    assert "age" not in [feature.feature for _, feature in additive.removable_features]
    assert LABEL not in row
    assert not [c for c in weigh.flip(model, row).changes if c.feature == "age"]
