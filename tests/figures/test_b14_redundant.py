"""B14: redundant features make naive Bayes overconfident and cause a warning."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.errors import DependentColumns

F = Fraction


def test_investment_twice_turns_15_of_31_into_225_of_353(spam_table: Any, new_mail: Any, worked: Any) -> None:
    once = weigh.NaiveBayes().fit(spam_table, "spam").model_
    table = {"again": spam_table["investment"], **spam_table}
    twice = weigh.NaiveBayes().fit(table, "spam").model_
    assert worked(once, new_mail)["posterior"]["spam"] == F(15, 31)
    assert worked(twice, new_mail | {"again": 1})["posterior"]["spam"] == F(225, 353)
    assert twice.predict(new_mail | {"again": 1}).tolist() == ["spam"]


def independent_table(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    columns = {name: rng.integers(0, 2, rows).astype(bool) for name in ("a", "b")}
    return columns | {"size": rng.normal(size=rows), "kind": rng.choice(["x", "y", "z"], rows), "y": y}


@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("a", lambda column: column.copy()),
        ("a", lambda column: ~column),
        ("size", lambda column: -3 * column + 1),
        ("kind", lambda column: np.char.upper(column)),
    ],
)
def test_a_duplicate_column_causes_a_warning(name: str, copy: Any) -> None:
    table = independent_table(200)
    with pytest.warns(DependentColumns, match=f"'again' repeats '{name}'"):
        weigh.NaiveBayes().fit(table | {"again": copy(table[name])}, "y")


def test_independent_columns_cause_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.NaiveBayes().fit(independent_table(200), "y")


def test_five_rows_are_too_few_for_a_warning(spam_table: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.NaiveBayes().fit({"again": spam_table["investment"], **spam_table}, "spam")


def test_a_duplicate_column_counts_twice_in_the_evidence() -> None:
    table = independent_table(60)
    with pytest.warns(DependentColumns):
        twice = weigh.NaiveBayes().fit(table | {"again": table["a"]}, "y").model_
    row = {"a": True, "again": True, "b": None, "size": None, "kind": None}
    nats = {each.feature: each.nats for each in twice.explain(row)[0].table}
    assert nats["a"] == nats["again"] != 0
