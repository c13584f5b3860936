"""Law 1: merging models of parts gives exactly the model of all rows."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.laws.tables import (
    EXTREME,
    KINDS,
    LABEL,
    Row,
    assert_close,
    fit_model,
    law,
    some_rows,
    split_rows,
    table,
)
from weigh.learn import BayesTask

# Random tables have dependent columns; the warning about them is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
SHARES = st.lists(st.floats(0.0, 1.0), max_size=4)


@law
@given(some_rows(), some_rows(labels=("spam", "late", "ham")))
def test_merging_equals_fitting_all_rows(first: list[Row], second: list[Row]) -> None:
    a = fit_model(first)
    b = fit_model(second, columns=a.schema)
    whole = fit_model(first + second, columns=a.schema)
    assert a.merge(b).to_bytes() == whole.to_bytes()
    assert b.merge(a).to_bytes() == whole.to_bytes()


@law
@given(some_rows(2), SHARES, st.randoms(use_true_random=False))
def test_parts_may_be_merged_in_any_order_and_grouping(
    rows: list[Row], shares: list[float], rng: random.Random
) -> None:
    models = [fit_model(part) for part in split_rows(rows, shares)]
    while len(models) > 1:
        rng.shuffle(models)
        models.append(models.pop().merge(models.pop()))
    assert models[0].to_bytes() == fit_model(rows).to_bytes()


@law
@given(some_rows(2), st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(rows: list[Row], rng: random.Random) -> None:
    shuffled = rng.sample(rows, len(rows))
    assert fit_model(shuffled).to_bytes() == fit_model(rows).to_bytes()


@law
@given(some_rows(2), SHARES)
def test_partial_fit_equals_fit(rows: list[Row], shares: list[float]) -> None:
    learner = weigh.NaiveBayes(columns=KINDS, threads=1)
    for part in split_rows(rows, shares):
        learner.partial_fit(table(part), LABEL)
    assert learner.model_.to_bytes() == fit_model(rows).to_bytes()


@law
@given(some_rows(1, 20), st.integers(1, 20))
def test_chunks_of_any_size_give_the_same_counts(rows: list[Row], size: int) -> None:
    source = weigh.rows(table(rows), LABEL)
    whole = fit_model(rows)
    task = BayesTask(whole.schema)
    counts = [task.count(chunk) for chunk in source.chunks(whole.schema.kinds_by_column, size=size)]
    assert task.finish(functools.reduce(task.merge, counts)).to_bytes() == whole.to_bytes()


@law
@given(some_rows(1, 8), some_rows(1, 8))
def test_integer_weights_equal_repeated_rows(first: list[Row], second: list[Row]) -> None:
    weights = [3] * len(first) + [1] * len(second)
    weighted = weigh.NaiveBayes(columns=KINDS).fit(table(first + second), LABEL, sample_weight=weights)
    assert weighted.model_.to_bytes() == fit_model(first * 3 + second).to_bytes()


def fit_weighted(rows: list[Row], weights: list[float]) -> Any:
    return weigh.NaiveBayes(columns=KINDS).fit(table(rows), LABEL, sample_weight=weights).model_


FRACTIONS = st.floats(1e-3, 1e3)


@law
@given(st.data(), some_rows(2, 10), SHARES)
def test_merging_under_fractional_weights_is_exact_up_to_rounding(
    data: st.DataObject, rows: list[Row], shares: list[float]
) -> None:
    weights = data.draw(st.lists(FRACTIONS, min_size=len(rows), max_size=len(rows)))
    whole = fit_weighted(rows, weights)
    parts, start = [], 0
    for part in split_rows(rows, shares):
        parts.append(fit_weighted(part, weights[start : start + len(part)]))
        start += len(part)
    assert_close(functools.reduce(lambda a, b: b.merge(a), parts), whole)


@law
@given(st.lists(st.tuples(EXTREME, st.sampled_from("ab")), min_size=2, max_size=30), st.integers(1, 29))
def test_sums_of_numbers_of_any_magnitude_are_exact(pairs: list[tuple[float, str]], at: int) -> None:
    values, labels = np.array([[x] for x, _ in pairs]), [label for _, label in pairs]
    whole = weigh.NaiveBayes(columns="number").fit(values, labels).model_
    parts = [
        weigh.NaiveBayes(columns="number").fit(values[part], labels[part]).model_
        for part in (slice(None, at), slice(at, None))
        if labels[part]
    ]
    assert functools.reduce(lambda a, b: a.merge(b), parts).to_bytes() == whole.to_bytes()
