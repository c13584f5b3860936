"""Hypothesis strategies for tables with every kind of column and many edge cases."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import weigh

Row = dict[str, Any]
Table = dict[str, list[Any]]

# Derandomised, so that a failing law fails on every machine.
law = settings(max_examples=40, derandomize=True, deadline=None, database=None)

KINDS = {
    "colour": "category",
    "grade": weigh.Category(levels=(1, 2, 3)),
    "known": "flag",
    "urgent": "flag",
    "links": "count",
    "bangs": "count",
    "size": "number",
    "age": weigh.Number(spread="shared"),
    "height": weigh.Number(bins=(-1.0, 0.0, 2.5)),
    "body": "text",
    "title": weigh.Text(counts=False, min_count=2),
    "tags": "tokens",
}
LABEL = "class"

# From the smallest subnormal to beyond the square root of the largest number, with both zeros.
EXTREME = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, 1e300, -1e300, 1e154, 1.5, -3.0]),
    st.floats(-1e300, 1e300, allow_nan=False),
    st.floats(-100.0, 100.0),
)
MODERATE = st.floats(-1000.0, 1000.0).map(lambda x: round(x, 3))
WORDS = st.lists(st.sampled_from(["free", "money", "noon", "lunch", "été", "naïve", "x1"]), max_size=6)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for values of which about one in eight is None."""
    return st.integers(0, 7).flatmap(lambda die: values if die else st.none())


def a_row(numbers: st.SearchStrategy[float], labels: Sequence[Any]) -> st.SearchStrategy[Row]:
    """Return a strategy for rows with all columns of `KINDS` and a label."""
    return st.fixed_dictionaries(
        {
            "colour": maybe(st.sampled_from(["red", "blue", "green", "", "grün", 7, 7.5, True])),
            "grade": maybe(st.sampled_from([1, 2, 3, 2.0])),
            "known": maybe(st.booleans()),
            "urgent": maybe(st.sampled_from([0, 1, 2, -1, 0.5])),
            "links": maybe(st.integers(0, 5)),
            "bangs": maybe(st.integers(0, 3)),
            "size": maybe(numbers),
            "age": maybe(numbers),
            "height": maybe(numbers),
            "body": maybe(WORDS.map(" ".join)),
            "title": maybe(WORDS.map(" ".join)),
            "tags": maybe(WORDS),
            LABEL: st.sampled_from(list(labels)),
        }
    )


def some_rows(
    min_size: int = 1,
    max_size: int = 12,
    numbers: st.SearchStrategy[float] = EXTREME,
    labels: Sequence[Any] = ("ham", "spam", "unsure"),
) -> st.SearchStrategy[list[Row]]:
    """Return a strategy for lists of rows."""
    return st.lists(a_row(numbers, labels), min_size=min_size, max_size=max_size)


def table(rows: Sequence[Row]) -> Table:
    """Return rows as a dict of columns."""
    return {name: [row[name] for row in rows] for name in (*KINDS, LABEL)}


def fit_model(rows: Sequence[Row], columns: Any = None, **settings: Any) -> Any:
    """Fit naive Bayes to the rows and return the model."""
    learner = weigh.NaiveBayes(columns=KINDS if columns is None else columns, threads=1, **settings)
    return learner.fit(table(rows), LABEL).model_


def split_rows(rows: Sequence[Row], shares: Sequence[float]) -> list[list[Row]]:
    """Split the rows at shares of their length into non-empty parts."""
    ends = sorted({round(share * len(rows)) for share in shares} | {0, len(rows)})
    return [list(rows[a:b]) for a, b in itertools.pairwise(ends)]


def assert_close(first: Any, second: Any, tolerance: float = 1e-9) -> None:
    """Assert that two models have the same schema and classes, and the same numbers up to rounding."""
    (meta, arrays), (other_meta, others) = first.to_store(), second.to_store()
    assert first.classes == second.classes
    assert arrays.keys() == others.keys()
    assert meta["schema"] == other_meta["schema"]
    for name, array in arrays.items():
        if name.endswith((".first", ".second")):
            continue
        np.testing.assert_allclose(array, others[name], rtol=tolerance, atol=tolerance, err_msg=name)
    for part, other in zip(first.counts.parts, second.counts.parts, strict=True):
        for sums in ("first", "second"):
            if hasattr(part, sums):
                assert getattr(part, sums).to_integers() == getattr(other, sums).to_integers()
