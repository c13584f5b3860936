"""`verify` finds any altered label, weight or cell, unless a refit gives the same model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import weigh
from tests.small_learners import CASES, N_ROWS, TWO_CLASSES, make_table
from weigh.judge.verification.verify import Verification

WEIGHTS = np.random.default_rng(7).choice([0.5, 1.0, 2.0], N_ROWS).tolist()


def alterations(table: dict[str, list[Any]]) -> Iterator[tuple[str, dict[str, list[Any]], list[float]]]:
    """Yield what is altered, and the rows with their weights after it."""
    others = {
        "x": lambda x: round(x + 1.3, 2),
        "z": lambda z: round(z - 0.9, 2),
        "colour": lambda colour: "blue" if colour == "red" else "red",
        "f": lambda f: 1 - f,
        "y": lambda y: y + 1.5 if isinstance(y, float) else ("c1" if y == "c0" else "c0"),
    }
    for column, alter in others.items():
        for row in (3, 20, 39, 42):
            values = list(table[column])
            values[row] = alter(values[row])
            yield f"{column} of row {row}", table | {column: values}, WEIGHTS
    for row in (3, 20, 39, 42):
        weights = list(WEIGHTS)
        weights[row] *= 3
        yield f"weight of row {row}", table, weights


def fit(learner: Any, table: Any, weights: list[float]) -> Any:
    return type(learner)(**learner.get_params(deep=False)).fit(table, "y", weights).model_


def check(model: Any, table: Any, weights: list[float]) -> Verification:
    return weigh.verify(model, weigh.rows(table, "y", weights))


def content(model: Any) -> Any:
    """Return the content of a model's file; the biases of several classes share an arbitrary constant."""
    meta, arrays = model.to_store()
    if "base" in arrays and len(arrays["base"]) > 2:
        arrays["base"] = arrays["base"] - arrays["base"].mean()
    return meta, arrays


def is_same(a: Any, b: Any) -> bool:
    """Whether contents are equal up to rounding, apart from what describes rows and work."""
    if isinstance(a, dict) and isinstance(b, dict):
        ignored = ("training_rows", "inputs", "iterations", "gap")
        names = [name for name in {*a, *b} if not any(part in name for part in ignored)]
        return all(name in a and name in b and is_same(a[name], b[name]) for name in names)
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, np.ndarray):
        if a.shape != np.shape(b) or a.dtype.kind not in "fi":
            return a.shape == np.shape(b) and bool((a == b).all())
        return bool(np.allclose(a, b, rtol=1e-7, atol=1e-7 * np.abs(a).max(initial=0)))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
    return bool(a == b)


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_an_alteration_is_found_unless_a_refit_gives_the_same_model(learner: Any, n_classes: int) -> None:
    table = make_table(n_classes)
    model = fit(learner, table, WEIGHTS)
    intact = check(model, table, WEIGHTS)
    assert intact.ok, str(intact)
    missed, n_found = [], 0
    for what, altered, weights in alterations(table):
        if not check(model, altered, weights).ok:
            n_found += 1
        elif not is_same(content(model), content(fit(learner, altered, weights))):
            missed.append(what)
    assert not missed
    assert n_found >= 6


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_a_changed_model_is_found(learner: Any, n_classes: int) -> None:
    table = make_table(n_classes)
    model = fit(learner, table, WEIGHTS)
    changed = change(model)
    assert not is_same(content(model), content(changed))
    assert not check(changed, table, WEIGHTS).ok


def change(model: Any) -> Any:
    """Return the model with one number changed: a count, a cut or a weight."""
    if hasattr(model, "cut"):
        return replace(model, cut=model.cut + 0.1)
    if hasattr(model, "counts"):
        part = model.counts.parts[0]
        name = "table" if hasattr(part, "table") else "known"
        table = np.array(getattr(part, name))
        table.flat[0] += 1
        return replace(
            model,
            counts=replace(model.counts, parts=[replace(part, **{name: table}), *model.counts.parts[1:]]),
        )
    base = np.array(model.base)
    base[-1] += 0.01 * (1 + abs(base[-1]))
    return replace(model, base=base)


@pytest.mark.parametrize("learner", [*TWO_CLASSES.values()], ids=[*TWO_CLASSES])
def test_inverted_labels_are_found(learner: Any) -> None:
    table = make_table(2)
    model = fit(learner, table, WEIGHTS)
    inverted = table | {"y": ["c1" if label == "c0" else "c0" for label in table["y"]]}
    assert not check(model, inverted, WEIGHTS).ok
