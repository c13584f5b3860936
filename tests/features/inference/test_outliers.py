"""Gross outliers of number columns, and the skewed columns that have none."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets

import weigh
from weigh import errors
from weigh.features.inference.outliers import find_markers, find_outliers
from weigh.features.inference.schema import infer_schema


@pytest.mark.parametrize("value", [1e300, 1e18, 999_999.0, 9_999.0, -1e6])
def test_a_value_far_beyond_all_others_is_an_outlier(value: float) -> None:
    numbers = np.random.default_rng(0).uniform(0, 100, 1_000)
    largest = numbers.max()
    numbers[500] = value
    outliers, next_largest = find_outliers(numbers)
    assert (outliers.tolist(), next_largest) == ([value], largest)


def test_several_outliers_and_repeated_markers_are_found() -> None:
    numbers = np.random.default_rng(0).uniform(0, 100, 1_000)
    numbers[::50], numbers[7] = 999_999, -1e300
    assert find_outliers(numbers)[0].tolist() == [-1e300, 999_999]


SKEWED: dict[str, Callable[[Any], Any]] = {
    "lognormal": lambda rng: rng.lognormal(0, 3, 3_000),
    "Pareto 0.5": lambda rng: rng.pareto(0.5, 3_000),
    "Pareto 1": lambda rng: rng.pareto(1, 60),
    "Cauchy": lambda rng: rng.standard_cauchy(3_000),
    "Zipf": lambda rng: rng.zipf(1.5, 3_000).astype(float),
    "mostly zero": lambda rng: np.where(rng.random(3_000) < 0.95, 0, rng.exponential(1_000, 3_000)),
    "constant": lambda rng: np.full(100, 3.0),
    "empty": lambda rng: np.full(100, np.nan),
}


@pytest.mark.parametrize("name", SKEWED)
def test_skewed_columns_have_none(name: str) -> None:
    rng = np.random.default_rng(1)
    assert not any(len(find_outliers(SKEWED[name](rng))[0]) for _ in range(200))


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits"])
def test_real_columns_have_none(name: str) -> None:
    table = getattr(datasets, f"load_{name}")().data
    assert not any(len(find_outliers(column)[0]) for column in table.T)


def test_an_outlier_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = [f"{k % 100 + 0.5},{k % 2}\n" for k in range(1_000)]
    rows[40] = "1e300,0\n"
    path.write_text("x,y\n" + "".join(rows))
    message = (
        "Column 'x' contains 1e+300 (line 42), far beyond its other values (at most 99.5 in magnitude). If "
        "it means missing, use missing=[1e+300]; otherwise correct it."
    )
    with pytest.warns(errors.Outliers, match=re.escape(message)):
        infer_schema(weigh.open(path, "y"))
    infer_schema(weigh.open(path, "y", missing=[1e300]))
    with pytest.warns(errors.Outliers, match=re.escape("999999 (row 3)")):
        infer_schema(weigh.rows({"x": [*np.arange(3.0), 999_999.0, *np.arange(99.0)]}))


@pytest.mark.parametrize("marker", [-999.0, 99.0, 9999.0, 998.0])
def test_markers_of_missing_values_are_found_beside_numbers_of_a_similar_size(marker: float) -> None:
    numbers = np.append(np.linspace(10.0, 40.0, 50), [marker, marker, np.nan])
    assert [each.tolist() for each in find_markers(numbers)[:1]] == [[marker]]


@pytest.mark.parametrize("marker", [-999.0, 99.0])
def test_one_marker_and_markers_within_the_range_are_numbers(marker: float) -> None:
    assert not len(find_markers(np.append(np.linspace(10.0, 40.0, 50), marker))[0])
    assert not len(find_markers(np.append(np.linspace(-800.0, 60.0, 50), [marker, marker]))[0])


@pytest.mark.parametrize("words", [["true", "false"], ["a", "b"], ["", ""]])
def test_words_of_a_stated_number_are_no_outliers(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{words[k % 2]},{k % 2}\n" for k in range(100)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert infer_schema(weigh.open(path, "y"), {"x": "number"}).kinds == [weigh.Number()]
