"""Warnings about numbers that are constant within a class."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from weigh import errors
from weigh.learn.diagnostics import _first_zero_variance_class
from weigh.model.counts.sufficient_statistics import NumberCounts, class_sums

N = 25
RNG = np.random.default_rng(0)
TABLE = {
    "even": RNG.normal(size=2 * N),
    "flat": np.concatenate([np.full(N, 0.1), RNG.normal(size=N)]),
    "same": np.full(2 * N, 7.5),
    "y": ["a"] * N + ["b"] * N,
}


def test_zero_variance_in_a_class_causes_one_warning_with_advice() -> None:
    with pytest.warns(errors.FlatColumns) as caught:
        weigh.NaiveBayes().fit(TABLE, "y")
    assert [str(warning.message) for warning in caught] == [
        "Some numbers do not vary within a class, so any other value gets an enormous weight and decides "
        "alone: 'flat' is always 0.1 in 'a'. Let the classes share one spread, for example "
        "columns={'flat': weigh.Number(spread='shared')}, or give the column a floor of 0.1 or "
        "more, bins, or the kind 'skip'."
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
def test_the_advised_settings_cause_no_warning(kind) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.FlatColumns)
        weigh.NaiveBayes(columns={"flat": kind}).fit(TABLE, "y")


def test_few_rows_of_a_class_and_later_batches_cause_no_warning() -> None:
    nb = weigh.NaiveBayes()
    few = {name: np.concatenate([column[:19], column[N:]]) for name, column in TABLE.items()}
    nb.partial_fit({name: column.tolist() for name, column in few.items()}, "y")
    nb.partial_fit(TABLE, "y")


numbers = st.floats(-1e150, 1e150)


@given(st.lists(st.one_of(st.just(0.1), numbers), min_size=19, max_size=22))
def test_a_class_has_zero_variance_if_all_its_numbers_are_equal(values) -> None:
    for column in (values, values[:1] * len(values)):
        counts = NumberCounts(*class_sums(np.array(column), np.zeros(len(column), dtype=np.int32), 1, None))
        assert (_first_zero_variance_class(counts) == 0) is (len(set(column)) == 1 and len(column) >= 20)


def test_zero_variance_is_found_with_sample_weights() -> None:
    with pytest.warns(errors.FlatColumns, match="'x0' is always 0.1 in 'a'"):
        weigh.NaiveBayes().fit(TABLE["flat"][:, None], TABLE["y"], sample_weight=np.full(2 * N, 1.0 + 2**-30))
