"""Law 1: learning the parts and adding them up is learning the whole, to the last byte."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.laws.tables import EXTREME, KINDS, LABEL, Row, assert_close, cut, law, learned, some_rows, table
from weigh.learn import BayesTask

# Random tables repeat themselves; that the learner says so is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
PLACES = st.lists(st.floats(0.0, 1.0), max_size=4)


@law
@given(some_rows(), some_rows(labels=("spam", "late", "ham")))
def test_merge_equals_fit_on_the_whole(first: list[Row], second: list[Row]) -> None:
    a = learned(first)
    b = learned(second, columns=a.schema)
    whole = learned(first + second, columns=a.schema)
    assert a.merge(b).to_bytes() == whole.to_bytes()
    assert b.merge(a).to_bytes() == whole.to_bytes()


@law
@given(some_rows(2), PLACES, st.randoms(use_true_random=False))
def test_parts_may_be_merged_in_any_order_and_grouping(
    rows: list[Row], places: list[float], chance: random.Random
) -> None:
    models = [learned(part) for part in cut(rows, places)]
    while len(models) > 1:
        chance.shuffle(models)
        models.append(models.pop().merge(models.pop()))
    assert models[0].to_bytes() == learned(rows).to_bytes()


@law
@given(some_rows(2), st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(rows: list[Row], chance: random.Random) -> None:
    shuffled = chance.sample(rows, len(rows))
    assert learned(shuffled).to_bytes() == learned(rows).to_bytes()


@law
@given(some_rows(2), PLACES)
def test_partial_fit_ends_where_fit_does(rows: list[Row], places: list[float]) -> None:
    learner = weigh.NaiveBayes(columns=KINDS, threads=1)
    for part in cut(rows, places):
        learner.partial_fit(table(part), LABEL)
    assert learner.model_.to_bytes() == learned(rows).to_bytes()


@law
@given(some_rows(1, 20), st.integers(1, 20))
def test_chunks_of_any_size_count_the_same(rows: list[Row], size: int) -> None:
    source = weigh.rows(table(rows), LABEL)
    whole = learned(rows)
    task = BayesTask(whole.schema)
    counts = [task.count(chunk) for chunk in source.chunks(whole.schema.storage(), size=size)]
    assert task.finish(functools.reduce(task.merge, counts)).to_bytes() == whole.to_bytes()


@law
@given(some_rows(1, 8), some_rows(1, 8))
def test_the_learned_model_is_that_of_repeated_rows_under_whole_weights(
    first: list[Row], second: list[Row]
) -> None:
    weights = [3] * len(first) + [1] * len(second)
    weighted = weigh.NaiveBayes(columns=KINDS).fit(table(first + second), LABEL, sample_weight=weights)
    assert weighted.model_.to_bytes() == learned(first * 3 + second).to_bytes()


def weighed(rows: list[Row], weights: list[float]) -> Any:
    return weigh.NaiveBayes(columns=KINDS).fit(table(rows), LABEL, sample_weight=weights).model_


FRACTIONS = st.floats(1e-3, 1e3)


@law
@given(st.data(), some_rows(2, 10), PLACES)
def test_merge_under_fractional_weights_differs_by_rounding_only(
    data: st.DataObject, rows: list[Row], places: list[float]
) -> None:
    weights = data.draw(st.lists(FRACTIONS, min_size=len(rows), max_size=len(rows)))
    whole = weighed(rows, weights)
    parts, start = [], 0
    for part in cut(rows, places):
        parts.append(weighed(part, weights[start : start + len(part)]))
        start += len(part)
    assert_close(functools.reduce(lambda a, b: b.merge(a), parts), whole)


@law
@given(st.lists(st.tuples(EXTREME, st.sampled_from("ab")), min_size=2, max_size=30), st.integers(1, 29))
def test_sums_of_numbers_are_exact_however_far_apart(pairs: list[tuple[float, str]], at: int) -> None:
    values, labels = np.array([[x] for x, _ in pairs]), [label for _, label in pairs]
    whole = weigh.NaiveBayes(columns="number").fit(values, labels).model_
    parts = [
        weigh.NaiveBayes(columns="number").fit(values[part], labels[part]).model_
        for part in (slice(None, at), slice(at, None))
        if labels[part]
    ]
    assert functools.reduce(lambda a, b: a.merge(b), parts).to_bytes() == whole.to_bytes()
