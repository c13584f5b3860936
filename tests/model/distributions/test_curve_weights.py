"""Curves and surfaces of a model: cells, contributions, files."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from tests.additive_models import LABEL, fit_additive, make_table
from tests.resealing import mutate, reseal, take_apart, use_file
from weigh.errors import ModelFileError
from weigh.features.blocks import CategoryBlock, NumberBlock
from weigh.features.curves import PairBlock
from weigh.model.distributions.curve_weights import (
    CurveWeights,
    PairAxis,
    PairWeights,
    find_cells,
    name_cells,
)

CUTS = np.array([1.0, 2.5])
CURVE = CurveWeights(
    "x",
    CUTS,
    np.array([[0.0, 0.1], [0.0, 0.2], [0.0, 0.3], [0.0, -0.4]]),
    np.array([3.0, 2.0, 1.0, 1.0]),
    np.array([0.5, 2.0, 3.0]),
    np.array([0.0, 4.0]),
    np.ones(3),
)


def test_a_cell_holds_the_values_above_its_lower_cut_and_up_to_its_upper_cut() -> None:
    values = np.array([-1e308, 1.0, np.nextafter(1.0, 2), 2.5, 2.6, np.inf, np.nan])
    assert find_cells(values, CUTS).tolist() == [0, 0, 1, 1, 2, 2, 3]


def test_cells_are_named_by_their_bounds() -> None:
    assert name_cells(CUTS, "a") == ["≤ 1", "1 to 2.5", "> 2.5"]
    assert name_cells(np.zeros(0), "a") == ["any"]


def test_different_cuts_have_different_texts() -> None:
    assert name_cells(np.array([1234567.5, 1234568.5]), "a") == [
        "≤ 1234567.5",
        "1234567.5 to 1234568.5",
        "> 1234568.5",
    ]


def test_days_of_dates_are_named_by_their_dates() -> None:
    column = "since: days since 1970"
    assert name_cells(np.array([18459.5, 18667.0]), column) == [
        "≤ 2020-07-16",
        "2020-07-16 to 2021-02-09",
        "> 2021-02-09",
    ]
    # Cuts within one day would have the same date.
    assert name_cells(np.array([18459.25, 18459.5]), column)[0] == "≤ 18459.2"
    (contribution,) = replace(CURVE, name=column).contributions(NumberBlock(np.array([18717.0])), 0)
    assert contribution.value == "2021-03-31"


def test_the_score_of_a_row_is_the_height_of_its_cell() -> None:
    scores = np.zeros((4, 2))
    CURVE.add(NumberBlock(np.array([0.0, 2.0, 9.0, np.nan])), scores)
    np.testing.assert_array_equal(scores[:, 1], [0.1, 0.2, 0.3, -0.4])


def test_missing_values_contribute_their_own_height() -> None:
    (contribution,) = CURVE.contributions(NumberBlock(np.array([np.nan])), 0)
    assert (contribution.feature, contribution.value) == ("x", "missing")
    assert contribution.logs[1] == -0.4


def test_the_features_of_a_curve_are_its_cells() -> None:
    features = CURVE.features()
    assert list(features.names) == ["x ≤ 1", "x 1 to 2.5", "x > 2.5", "x missing"]
    np.testing.assert_array_equal(features.coef, CURVE.table)


def surface() -> PairWeights:
    groups = np.array([0, 1, 1], dtype=np.int32)
    right = PairAxis("c", None, ["u", "v", "w"], groups)
    table = np.column_stack([np.zeros(6), np.arange(6) / 10 + 0.1])
    return PairWeights(PairAxis("x", CUTS), right, table, np.ones(6), np.ones(1))


def test_a_surface_has_the_cells_of_both_columns_and_none_for_missing_and_unseen_values() -> None:
    term = surface()
    codes = CategoryBlock(np.array([0, 1, 2, -1, 3, 0], dtype=np.int32), ["u", "v", "w", "new"])
    block = PairBlock(NumberBlock(np.array([0.0, 2.0, 9.0, 0.0, 0.0, np.nan])), codes)
    assert term.cells(block).tolist() == [0, 3, 5, -1, -1, -1]
    scores = np.zeros((6, 2))
    term.add(block, scores)
    np.testing.assert_allclose(scores[:, 1], [0.1, 0.4, 0.6, 0, 0, 0])
    assert [len(list(term.contributions(block, row))) for row in range(6)] == [1, 1, 1, 0, 0, 0]


def test_the_features_of_a_surface_are_its_cells() -> None:
    assert surface().right.cell_names() == ["u", "v and 1 more"]
    assert list(surface().features().names)[:3] == ["x ≤ 1, c u", "x ≤ 1, c v and 1 more", "x 1 to 2.5, c u"]


@pytest.fixture(scope="module", params=[0, 2, 3])
def model(request: pytest.FixtureRequest) -> Any:
    return fit_additive(make_table(classes=request.param))


def check_same_terms(one: Any, two: Any) -> None:
    for a, b in zip(one.terms, two.terms, strict=True):
        assert type(a) is type(b)
        assert getattr(a, "name", None) == getattr(b, "name", None)
        np.testing.assert_array_equal(a.trained_weights(), b.trained_weights())
        for field in ("cuts", "counts", "positions", "limits", "strengths", "errors"):
            if getattr(a, field, None) is not None:
                np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


def test_a_saved_model_is_loaded_unchanged(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.weigh"
    model.save(path)
    loaded = weigh.load(path)
    check_same_terms(model, loaded)
    assert loaded.to_bytes() == model.to_bytes()
    table = {name: values for name, values in make_table(seed=3).items() if name != LABEL}
    np.testing.assert_array_equal(np.asarray(loaded.predict(table)), np.asarray(model.predict(table)))


Change = Any
CHANGES: dict[str, Change] = {
    "cuts that do not increase": lambda m, a: a["part0.cuts"].__setitem__(1, a["part0.cuts"][0]),
    "cuts that are not finite": lambda m, a: a["part0.cuts"].__setitem__(0, -np.inf),
    "one cut fewer": lambda m, a: a.update({"part0.cuts": a["part0.cuts"][:-1]}),
    "one height fewer": lambda m, a: a.update({"part0.table": a["part0.table"][:-1]}),
    "a height that is not finite": lambda m, a: a["part0.table"].__setitem__((0, -1), np.nan),
    "negative counts": lambda m, a: a["part0.counts"].__setitem__(0, -1.0),
    "counts that are not numbers": lambda m, a: a["part0.counts"].__setitem__(0, np.nan),
    "negative strengths": lambda m, a: a["part0.strengths"].__setitem__(0, -1.0),
    "infinite positions": lambda m, a: a["part0.positions"].__setitem__(0, np.inf),
    "no limits": lambda m, a: a.pop("part0.limits"),
    "a curve of another type": lambda m, a: m.update({"part0.type": "LevelWeights"}),
    "a surface of another type": lambda m, a: m.update({"part4.type": "CurveWeights"}),
    "a surface with fewer cells": lambda m, a: a.update({"part4.table": a["part4.table"][:-1]}),
    "groups with a gap": lambda m, a: a["part5.right.groups"].__setitem__(slice(None), [0, 2, 2]),
    "negative groups": lambda m, a: a["part5.right.groups"].__setitem__(0, -1),
    "an unknown column of a pair": lambda m, a: m["schema"]["pairs"][0].__setitem__(0, "nothing"),
    "a pair of one column": lambda m, a: m["schema"]["pairs"].__setitem__(0, ["age", "age"]),
    "a repeated pair": lambda m, a: m["schema"]["pairs"].__setitem__(0, m["schema"]["pairs"][1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_refused(change: str, tmp_path: Path) -> None:
    meta, arrays = take_apart(fit_additive(make_table()).to_bytes())
    CHANGES[change](meta, arrays)
    path = tmp_path / "changed.weigh"
    path.write_bytes(reseal(meta, arrays))
    with pytest.raises(ModelFileError):
        weigh.load(path)


@pytest.mark.parametrize("position", [0.3, 0.6, 0.9, 0.99])
def test_a_changed_byte_is_detected(position: float, tmp_path: Path) -> None:
    content = bytearray(fit_additive(make_table()).to_bytes())
    content[int(position * len(content))] ^= 1
    path = tmp_path / "changed.weigh"
    path.write_bytes(bytes(content))
    with pytest.raises(ModelFileError):
        weigh.load(path)


@pytest.mark.parametrize("classes", [0, 2])
def test_mutated_files_are_refused_or_give_models_that_work(classes: int, tmp_path: Path) -> None:
    content, outcomes = fit_additive(make_table(classes=classes)).to_bytes(), []
    for seed in range(60):
        meta, arrays = take_apart(content)
        mutate(meta, arrays, random.Random(f"{classes} {seed}"))
        try:
            resealed = reseal(meta, arrays)
        except ModelFileError:
            continue
        path = tmp_path / "changed.weigh"
        path.write_bytes(resealed)
        outcomes.append(use_file(path))
    assert outcomes.count("refused") > len(outcomes) / 3
