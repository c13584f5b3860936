"""Numbers that do not vary within a class are told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from weigh import errors
from weigh.learn.flatness import _flat_class
from weigh.model.counts import NumberCounts
from weigh.model.sums import sums_of

N = 25
RNG = np.random.default_rng(0)
TABLE = {
    "even": RNG.normal(size=2 * N),
    "flat": np.concatenate([np.full(N, 0.1), RNG.normal(size=N)]),
    "same": np.full(2 * N, 7.5),
    "y": ["a"] * N + ["b"] * N,
}


def test_a_column_without_spread_in_a_class_is_told_once_with_what_helps() -> None:
    with pytest.warns(errors.FlatColumns) as told:
        weigh.NaiveBayes().fit(TABLE, "y")
    assert [str(each.message) for each in told] == [
        "Some numbers do not vary within a class, so that any other number there has an enormous weight and "
        "decides alone: 'flat' is always 0.1 in 'a'. Let the classes share one spread, for example "
        "columns={'flat': weigh.Number(spread='shared')}, or give floor= of 0.1 or more, bins=, or 'skip'."
    ]


@pytest.mark.parametrize(
    "kind",
    [
        weigh.Number(spread="shared"),
        weigh.Number(spread=1.0),
        weigh.Number(floor=0.1),
        weigh.Number(bins=3),
        "skip",
    ],
    ids=repr,
)
def test_what_helps_is_not_told_again(kind) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.FlatColumns)
        weigh.NaiveBayes(columns={"flat": kind}).fit(TABLE, "y")


def test_few_rows_of_a_class_and_later_batches_are_not_told() -> None:
    nb = weigh.NaiveBayes()
    few = {name: np.concatenate([column[:19], column[N:]]) for name, column in TABLE.items()}
    nb.partial_fit({name: column.tolist() for name, column in few.items()}, "y")
    nb.partial_fit(TABLE, "y")


numbers = st.floats(-1e150, 1e150)


@given(st.lists(st.one_of(st.just(0.1), numbers), min_size=19, max_size=22))
def test_a_class_is_flat_if_all_its_numbers_are_equal(values) -> None:
    for column in (values, values[:1] * len(values)):
        counts = NumberCounts(*sums_of(np.array(column), np.zeros(len(column), dtype=np.int32), 1, None))
        assert (_flat_class(counts) == 0) is (len(set(column)) == 1 and len(column) >= 20)


def test_weights_are_exact_too() -> None:
    with pytest.warns(errors.FlatColumns, match="'x0' is always 0.1 in 'a'"):
        weigh.NaiveBayes().fit(TABLE["flat"][:, None], TABLE["y"], sample_weight=np.full(2 * N, 1.0 + 2**-30))
