"""Tests of objects that never change."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from weigh.immutable import MAX_MIXED, Immutable, make_read_only, read_only


@dataclass(frozen=True, eq=False)
class Vector(Immutable):
    """A vector."""

    values: Any

    @cached_property
    @read_only
    def squares(self) -> Any:
        """The squares."""
        return np.square(self.values)


def test_arrays_of_fields_and_of_cached_properties_are_read_only() -> None:
    vector = Vector(np.arange(3.0))
    for array in (vector.values, vector.squares):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    assert vector.squares is vector.squares
    assert vector.squares.tolist() == [0, 1, 4]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_arrays_of_copies_are_read_only_and_cached_values_are_left_out(again: Any) -> None:
    vector = Vector(np.arange(3.0))
    assert vector.squares.tolist() == [0, 1, 4]
    twin = again(vector)
    assert "squares" in vars(vector)
    assert "squares" not in vars(twin)
    assert not twin.values.flags.writeable
    assert not twin.squares.flags.writeable


@pytest.mark.parametrize(
    "wrap",
    [
        lambda array: [array],
        lambda array: (1.0, "name", array),
        lambda array: {"a": 1.0, "b": {"c": (array,)}},
        lambda array: [("name", array)] * (MAX_MIXED + 1),
    ],
)
def test_arrays_in_collections_become_read_only(wrap: Any) -> None:
    array = np.zeros(2)
    assert make_read_only(wrap(array)) is not None
    assert not array.flags.writeable


@pytest.mark.parametrize("names", [["name"], ("name",) * MAX_MIXED])
def test_lists_and_long_tuples_of_names_are_not_searched(names: Any) -> None:
    array = np.zeros(2)
    make_read_only(names + type(names)([array]))
    assert array.flags.writeable


def test_the_docstring_says_that_threads_may_share_the_object() -> None:
    assert Vector.__doc__ == "A vector.\n\n    It never changes, so threads may share it.\n    "
