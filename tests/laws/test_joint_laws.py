"""Laws 1, 2, 3 and 8 for the joint model."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.laws.tables import law, maybe, split_rows
from weigh.learn import JointTask

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.UnfilledTable")

Row = dict[str, Any]
NAMES = ("colour", "known", "height")
COLUMNS = {"colour": "category", "known": "flag", "height": weigh.Number(bins=(0.0, 2.5))}
BINS = ["x ≤ 0", "0 < x ≤ 2.5", "x > 2.5"]


def some_rows(labels: Sequence[str] = ("ham", "spam", "unsure"), min_size: int = 1) -> Any:
    row = st.fixed_dictionaries(
        {
            "colour": maybe(st.sampled_from(["red", "blue", "", 7, 7.5, True])),
            "known": maybe(st.booleans()),
            "height": maybe(st.sampled_from([-1.0, 0.0, 1.0, 2.5, 3.0])),
            "class": st.sampled_from(list(labels)),
        }
    )
    return st.lists(row, min_size=min_size, max_size=12)


def table(rows: Sequence[Row], *more: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (*NAMES, *more)}


def fit_model(rows: Sequence[Row], **settings: Any) -> Any:
    learner = weigh.JointBayes(columns=COLUMNS, threads=1, **settings)
    return learner.fit(table(rows, "class"), "class").model_


@law
@given(some_rows(), some_rows(("spam", "late")))
def test_merging_equals_fitting_all_rows(first: list[Row], second: list[Row]) -> None:
    a, b, whole = fit_model(first), fit_model(second), fit_model(first + second)
    assert a.merge(b).to_bytes() == whole.to_bytes()
    assert b.merge(a).to_bytes() == whole.to_bytes()


@law
@given(some_rows(min_size=2), st.lists(st.floats(0, 1), max_size=4), st.randoms(use_true_random=False))
def test_parts_may_be_learned_and_merged_in_any_order(
    rows: list[Row], shares: list[float], rng: random.Random
) -> None:
    whole = fit_model(rows).to_bytes()
    models = [fit_model(part) for part in split_rows(rng.sample(rows, len(rows)), shares)]
    rng.shuffle(models)
    assert functools.reduce(lambda a, b: a.merge(b), models).to_bytes() == whole
    learner = weigh.JointBayes(columns=COLUMNS)
    for part in split_rows(rows, shares):
        learner.partial_fit(table(part, "class"), "class")
    assert learner.model_.to_bytes() == whole


@law
@given(some_rows(), st.integers(1, 12))
def test_chunks_of_any_size_give_the_same_counts(rows: list[Row], size: int) -> None:
    whole = fit_model(rows)
    task = JointTask(whole.schema)
    source = weigh.rows(table(rows, "class"), "class")
    counts = [task.count(chunk) for chunk in source.chunks(whole.schema.kinds_by_column, size=size)]
    assert task.finish(functools.reduce(task.merge, counts)).to_bytes() == whole.to_bytes()


@law
@given(some_rows(), st.data())
def test_integer_weights_equal_repeated_rows(rows: list[Row], data: Any) -> None:
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)).filter(any))
    repeated = [row for row, n in zip(rows, weights, strict=True) for _ in range(n)]
    learner = weigh.JointBayes(columns=COLUMNS).fit(table(rows, "class"), "class", sample_weight=weights)
    assert learner.model_.to_bytes() == fit_model(repeated).to_bytes()


@law
@given(some_rows(), some_rows(("spam", "late")))
def test_forgetting_undoes_learning_exactly(kept: list[Row], forgotten: list[Row]) -> None:
    model = fit_model(kept)
    more = model.learn(table(forgotten, "class"), "class")
    assert more.to_bytes() == fit_model(kept + forgotten).to_bytes()
    assert more.forget(table(forgotten, "class"), "class").to_bytes() == model.to_bytes()


@law
@given(some_rows(), some_rows(), st.sampled_from([1.0, 0.25, None, weigh.Dirichlet(3), weigh.Dirichlet(0.5)]))
def test_contributions_sum_to_the_score_and_posteriors_to_one(
    rows: list[Row], new_rows: list[Row], prior: Any
) -> None:
    model = fit_model(rows, prior=prior)
    scores = model.score_rows(model.encode(next(model.chunks(table(new_rows)))))
    possible = [row for row, score in zip(new_rows, scores, strict=True) if not np.isneginf(score).all()]
    if not possible:
        return
    scores = model.scores(table(possible))
    assert model.predict_proba(table(possible)).sum(axis=1) == pytest.approx(np.ones(len(possible)))
    for evidence, score in zip(model.explain(table(possible)), scores, strict=True):
        named = dict(zip(model.classes, score, strict=True))
        expected = named[evidence.verdict]
        if evidence.runner_up is not None:
            expected -= named[evidence.runner_up]
        assert evidence.total == pytest.approx(expected, abs=1e-12)
        worked = [math.exp(work.log) for work in evidence._class_products()]
        assert worked == pytest.approx(np.exp(score).tolist(), rel=1e-12)


@law
@given(some_rows(), some_rows(), st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(5)]))
def test_missing_values_are_marginalised_and_unseen_levels_smoothed(
    rows: list[Row], new_rows: list[Row], prior: Fraction
) -> None:
    model = fit_model(rows, prior=prior)
    new_rows = [*new_rows, {"colour": "never", "known": None, "height": 1.0}]
    for row, score in zip(new_rows, model.scores(table(new_rows)), strict=True):
        for label, probability in zip(model.classes, np.exp(score), strict=True):
            assert probability == pytest.approx(float(_reference(rows, row, label, prior)), rel=1e-11)


def _reference(rows: list[Row], new_row: Row, label: str, prior: Fraction) -> Fraction:
    """Return P(class) P(row | class) from the full table, counting rows with all observed columns."""
    levels = [dict.fromkeys(_cell(row)[0] for row in rows if row["colour"] is not None), (0, 1), BINS]
    query = _cell(new_row)
    spaces = [
        [*known, *([value] if value is not None and value not in known else [])]
        for known, value in zip(levels, query, strict=True)
    ]
    # A column without levels contributes nothing.
    spaces = [space or [None] for space in spaces]
    cells = list(itertools.product(*spaces))
    class_rows = [_cell(row) for row in rows if row["class"] == label]
    observed = [j for j, value in enumerate(query) if value is not None]
    complete = [row for row in class_rows if all(row[j] is not None for j in observed)]

    def weight(candidates: Sequence[tuple[Any, ...]]) -> int:
        return sum(all(row[j] == query[j] for j in observed) for row in candidates)

    probability = (weight(complete) + prior * weight(cells)) / (len(complete) + prior * len(cells))
    return Fraction(len(class_rows), len(rows)) * probability


def _cell(row: Row) -> tuple[Any, ...]:
    height = row["height"]
    bin_name = None if height is None else BINS[0] if height <= 0 else BINS[1] if height <= 2.5 else BINS[2]
    known = row["known"]
    return row["colour"], None if known is None else int(known), bin_name
