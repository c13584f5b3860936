"""Warnings of columns that repeat each other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.features import find_schema
from weigh.learn import dependent_columns
from weigh.source import rows


def table(n: int = 300) -> dict[str, object]:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n)
    return {
        "colour": colour,
        "size": size,
        "other": rng.choice(["a", "b"], n),
        "length": rng.normal(size=n),
        "y": rng.choice(["no", "yes"], n),
    }


def pairs(data: dict[str, object], columns: object = "auto") -> list[tuple[str, str]]:
    source = rows(data, "y")
    schema = find_schema(source, columns)
    return [(p.first, p.second) for p in dependent_columns(schema, next(schema.chunks(source)))]


def test_independent_columns_are_not_told():
    assert pairs(table()) == []


def test_a_renamed_category_and_a_rescaled_number_are_told():
    data = table()
    data["farbe"] = np.char.upper(np.asarray(data["colour"], dtype=str))
    data["inches"] = np.asarray(data["size"]) / 2.54 + 1
    assert sorted(pairs(data)) == [("colour", "farbe"), ("size", "inches")]


def test_a_repeated_flag_is_told():
    data = table()
    data["f"] = np.asarray(data["other"]) == "a"
    data["g"] = ~np.asarray(data["f"])
    assert ("f", "g") in pairs(data)


def test_columns_that_depend_only_through_the_class_are_not_told():
    rng = np.random.default_rng(1)
    y = rng.choice([0, 1], 500)
    data = {"a": y * 10 + rng.normal(size=500), "b": y * 10 + rng.normal(size=500), "y": y}
    assert pairs(data) == []


def test_fitting_warns_and_names_what_to_leave_out():
    data = table()
    data["inches"] = np.asarray(data["size"]) / 2.54
    with pytest.warns(errors.DependentColumns, match="'inches' repeats 'size'.*columns={'inches': 'skip'}"):
        weigh.NaiveBayes().fit(data, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.NaiveBayes({"inches": "skip"}).fit(data, "y")
