"""Laws 3 and 8: contributions sum to the score; missing and unseen values are not errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.laws.tables import KINDS, LABEL, MODERATE, Row, fit_model, law, some_rows, table

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")

PRIORS = st.sampled_from([1.0, 0.5, weigh.Dirichlet(2.0), {"colour": 3.0}])


@law
@given(some_rows(), some_rows(labels=("ham",)), PRIORS)
def test_contributions_sum_to_the_score(rows: list[Row], new_rows: list[Row], prior: Any) -> None:
    model = fit_model(rows, prior=prior)
    for evidence, scores in zip(model.explain(table(new_rows)), model.scores(table(new_rows)), strict=True):
        first = model.classes.index(evidence.verdict)
        against = 0.0 if evidence.runner_up is None else scores[model.classes.index(evidence.runner_up)]
        size = max(1.0, float(np.abs(scores).max()))
        assert evidence.total == pytest.approx(scores[first] - against, abs=1e-9 * size)
        assert math.fsum(row.nats for row in evidence.table) == pytest.approx(evidence.total, rel=1e-12)


@law
@given(some_rows(), some_rows(labels=("ham",)))
def test_the_posterior_sums_to_one_and_nothing_underflows(rows: list[Row], new_rows: list[Row]) -> None:
    model = fit_model(rows)
    scores, probabilities, logs = (
        ask(table(new_rows)) for ask in (model.scores, model.predict_proba, model.log_proba)
    )
    np.testing.assert_allclose(model.predictive_proba(table(new_rows)).sum(axis=1), 1.0, rtol=1e-9)
    assert np.isfinite(scores).all()
    assert not np.isnan(logs).any()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-9)
    for evidence, row in zip(model.explain(table(new_rows)), probabilities, strict=True):
        np.testing.assert_allclose(list(evidence.probabilities.values()), row, rtol=1e-9, atol=1e-12)


@law
@given(some_rows(), some_rows(labels=("ham",)))
def test_the_explained_verdict_equals_the_prediction(rows: list[Row], new_rows: list[Row]) -> None:
    model = fit_model(rows)
    assert [evidence.verdict for evidence in model.explain(table(new_rows))] == model.predict(
        table(new_rows)
    ).tolist()


def test_ten_thousand_words_do_not_underflow() -> None:
    texts = {"body": ["good " * 5_000 + "bad", "bad " * 5_000 + "good"], LABEL: ["+", "-"]}
    model = weigh.NaiveBayes(columns={"body": "text"}).fit(texts, LABEL).model_
    probabilities = model.predict_proba({"body": ["good bad " * 10_000, "good " * 10_000]})
    np.testing.assert_allclose(probabilities, [[0.5, 0.5], [1.0, 0.0]], atol=1e-9)
    assert model.log_proba({"body": ["bad " * 10_000]})[0, 0] > -math.inf


def scores_without(column: str, scores: Any, model: Any, row: Row) -> Any:
    """Return the scores minus the contributions of a column."""
    blocks = model.schema.encode(next(model.chunks(table([row]))))
    for term, part, block in zip(
        (d.weights for d in model.distributions), model.schema.column_groups, blocks, strict=True
    ):
        if column in part.names:
            logs = [c.logs for c in term.contributions(block, 0) if _belongs_to(c.feature, column)]
            return scores - np.sum(logs, axis=0) if logs else scores
    raise AssertionError(column)


def _belongs_to(feature: str, column: str) -> bool:
    return feature.split(":")[0] == column


@law
@given(some_rows(1, 8, MODERATE), some_rows(1, 1, MODERATE), st.sampled_from(sorted(KINDS)))
def test_a_missing_value_contributes_nothing(rows: list[Row], new_rows: list[Row], column: str) -> None:
    model = fit_model(rows)
    row = new_rows[0]
    scores = model.scores(table([row]))[0]
    without = model.scores(table([row | {column: None}]))[0]
    np.testing.assert_allclose(without, scores_without(column, scores, model, row), rtol=1e-9, atol=1e-9)


@law
@given(some_rows(1, 8))
def test_a_row_of_missing_values_scores_the_class_prior(rows: list[Row]) -> None:
    model = fit_model(rows)
    empty = dict.fromkeys(KINDS) | {LABEL: None}
    np.testing.assert_allclose(model.scores(table([empty]))[0], model.log_prior, rtol=1e-12, atol=1e-12)


@law
@given(some_rows(1, 12), st.sampled_from([1.0, 0.25, 2.0]))
def test_an_unseen_category_contributes_the_smoothed_probability(rows: list[Row], a: float) -> None:
    model = fit_model(rows, prior=a)
    empty = dict.fromkeys(KINDS)
    scores = model.scores([empty | {"colour": "never seen"}])[0]
    levels = {row["colour"] for row in rows} - {None}
    counts = [sum(r[LABEL] == c and r["colour"] is not None for r in rows) for c in model.classes]
    # A column with one level is constant and left out.
    probabilities = [1.0 if len(levels) == 1 else a / (n + a * (len(levels) + 1)) for n in counts]
    np.testing.assert_allclose(scores - model.log_prior, np.log(probabilities), rtol=1e-9, atol=1e-12)


@law
@given(some_rows(1, 12))
def test_an_unseen_category_contributes_nothing_without_a_prior(rows: list[Row]) -> None:
    model = fit_model(rows, prior=None)
    empty = dict.fromkeys(KINDS)
    scores = model.scores([empty | {"colour": "never seen"}])[0]
    np.testing.assert_allclose(scores, model.log_prior, rtol=1e-12, atol=1e-12)


@law
@given(some_rows(1, 12))
def test_unseen_words_and_tokens_are_ignored(rows: list[Row]) -> None:
    model = fit_model(rows)
    empty = dict.fromkeys(KINDS)
    unseen = [empty | {"body": "unheard unseen", "tags": ["unheard"]}]
    no_words = [empty | {"body": "", "tags": []}]
    np.testing.assert_array_equal(model.scores(unseen), model.scores(no_words))
