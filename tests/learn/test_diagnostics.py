"""Warnings about dependent columns and about numbers that are constant within a class."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from weigh import errors
from weigh.features import infer_schema
from weigh.learn import find_dependent_columns
from weigh.learn.diagnostics import _first_zero_variance_class
from weigh.model.counts.sufficient_statistics import NumberCounts, class_sums
from weigh.source import rows

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


def table(n: int = 300) -> dict[str, object]:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n)
    return {
        "colour": colour,
        "size": size,
        "other": rng.choice(["a", "b"], n),
        "length": rng.normal(size=n),
        "y": rng.choice(["no", "yes"], n),
    }


def pairs(data: dict[str, object], columns: object = "auto") -> list[tuple[str, str]]:
    source = rows(data, "y")
    schema = infer_schema(source, columns)
    return [(p.first, p.second) for p in find_dependent_columns(schema, next(schema.chunks(source)))]


def test_independent_columns_are_not_reported():
    assert pairs(table()) == []


def test_a_renamed_category_and_a_rescaled_number_are_found():
    data = table()
    data["farbe"] = np.char.upper(np.asarray(data["colour"], dtype=str))
    data["inches"] = np.asarray(data["size"]) / 2.54 + 1
    assert sorted(pairs(data)) == [("colour", "farbe"), ("size", "inches")]


def test_a_repeated_flag_is_found():
    data = table()
    data["f"] = np.asarray(data["other"]) == "a"
    data["g"] = ~np.asarray(data["f"])
    assert ("f", "g") in pairs(data)


def test_columns_that_depend_only_through_the_class_are_not_reported():
    rng = np.random.default_rng(1)
    y = rng.choice([0, 1], 500)
    data = {"a": y * 10 + rng.normal(size=500), "b": y * 10 + rng.normal(size=500), "y": y}
    assert pairs(data) == []


def test_fitting_warns_and_names_the_column_to_skip():
    data = table()
    data["inches"] = np.asarray(data["size"]) / 2.54
    with pytest.warns(errors.DependentColumns, match="'inches' repeats 'size'.*columns={'inches': 'skip'}"):
        weigh.NaiveBayes().fit(data, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weigh.NaiveBayes({"inches": "skip"}).fit(data, "y")
