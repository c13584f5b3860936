"""Law 2: forgetting rows gives the model that never saw them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from tests.laws.tables import KINDS, LABEL, Row, assert_close, fit_model, law, some_rows, table
from weigh import errors

# Random tables have dependent columns; the warning about them is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
PLAIN: Row = dict.fromkeys(KINDS) | {LABEL: "ham"}


@law
@given(some_rows(), some_rows(labels=("spam", "late", "ham")))
def test_forget_undoes_partial_fit(kept: list[Row], forgotten: list[Row]) -> None:
    learner = weigh.NaiveBayes(columns=KINDS, threads=1).fit(table(kept), LABEL)
    before = learner.model_.to_bytes()
    learner.partial_fit(table(forgotten), LABEL).forget(table(forgotten), LABEL)
    assert learner.model_.to_bytes() == before


@law
@given(some_rows(), some_rows())
def test_forgetting_rows_gives_the_model_of_the_remaining_rows(kept: list[Row], forgotten: list[Row]) -> None:
    assert fit_model(kept + forgotten).forget(table(forgotten)).to_bytes() == fit_model(kept).to_bytes()


def test_classes_levels_and_words_disappear_with_their_last_row() -> None:
    kept = [PLAIN | {"colour": "red", "body": "free money", "tags": ["x"], "size": 1.0}]
    forgotten = [PLAIN | {"colour": "blue", "body": "noon", "tags": ["y"], "size": 1e300, LABEL: "late"}]
    model = fit_model(kept + forgotten).forget(table(forgotten))
    assert model.classes == ["ham"]
    assert b"blue" not in model.to_bytes()
    assert b"noon" not in model.to_bytes()
    assert b"late" not in model.to_bytes()
    assert model.to_bytes() == fit_model(kept).to_bytes()


NEVER_LEARNED: dict[str, Row] = {
    "a class": {LABEL: "late"},
    "a level": {"colour": "violet"},
    "a flag": {"known": True},
    "a count": {"links": 3},
    "a word": {"body": "unheard"},
    "a token": {"tags": ["unheard"]},
    "a number": {"size": 1e200},
    "a bin": {"height": 99.0},
}


@pytest.mark.parametrize("case", NEVER_LEARNED)
def test_forgetting_unlearned_rows_is_refused_and_leaves_the_model_unchanged(case: str) -> None:
    rows = [
        PLAIN | {"colour": "red", "known": False, "size": 1.0, "height": 1.0, "body": "free", "tags": ["x"]}
    ]
    learner = weigh.NaiveBayes(columns=KINDS).fit(table(rows), LABEL)
    before, model = learner.model_.to_bytes(), learner.model_
    with pytest.raises(errors.MergeError, match="not all learned"):
        learner.forget(table([PLAIN | NEVER_LEARNED[case]]), LABEL)
    assert learner.model_ is model
    assert learner.model_.to_bytes() == before


@law
@given(some_rows(1, 6))
def test_forgetting_more_rows_than_were_learned_is_refused(rows: list[Row]) -> None:
    learner = weigh.NaiveBayes(columns=KINDS).fit(table(rows), LABEL)
    before = learner.model_.to_bytes()
    with pytest.raises(errors.MergeError):
        learner.forget(table(rows + rows), LABEL)
    assert learner.model_.to_bytes() == before


@law
@given(st.data(), some_rows(1, 8), some_rows(1, 8))
def test_forgetting_fractional_weights_is_exact_up_to_rounding(
    data: st.DataObject, kept: list[Row], forgotten: list[Row]
) -> None:
    # Keeping every class and value avoids that rounding decides whether they disappear.
    kept, n = kept + forgotten, len(forgotten)
    weights = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(kept), max_size=len(kept)))
    before = fit_weighted(kept, weights).model_
    after = fit_weighted(kept, weights).partial_fit(table(forgotten), LABEL, sample_weight=weights[:n])
    after.forget(table(forgotten), LABEL, sample_weight=weights[:n])
    assert_close(after.model_, before)


def fit_weighted(rows: list[Row], weights: list[float]) -> Any:
    return weigh.NaiveBayes(columns=KINDS).fit(table(rows), LABEL, sample_weight=weights)


def test_declared_classes_remain_when_their_rows_are_forgotten() -> None:
    learner = weigh.NaiveBayes().partial_fit([[0.0], [1.0]], ["a", "b"], classes=["a", "b", "c"])
    learner.partial_fit([[5.0]], ["c"]).forget([[5.0]], ["c"])
    assert learner.classes_.tolist() == ["a", "b", "c"]
