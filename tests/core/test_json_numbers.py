"""Numbers as JSON equal those of Python's encoder."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh._core import to_json_fields


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_written_as_python_writes_them(numbers: list[float]) -> None:
    assert to_json_fields(np.array([numbers]), ['""'] * len(numbers)) == [
        ",".join(f'"":{json.dumps(number)}' for number in numbers)
    ]


def test_random_bits_and_the_ends_of_the_notations_are_written_as_python_writes_them() -> None:
    bits = np.random.default_rng(0).integers(0, 2**64, 20_000, dtype=np.uint64)
    ends = [0.0, -0.0, 1e-4, 9.999999999999999e-05, 1e16, 9999999999999998.0, 5e-324, 1.7976931348623157e308]
    numbers = np.append(bits.view(np.float64), ends)
    numbers = numbers[np.isfinite(numbers)]
    assert to_json_fields(numbers[:, None], ['"a"']) == [f'"a":{number!r}' for number in numbers.tolist()]


def test_json_has_no_other_numbers() -> None:
    odd = np.array([[np.nan, np.inf, -np.inf]])
    assert to_json_fields(odd, ['"a"', '"b"', '"c"']) == ['"a":null,"b":"inf","c":"-inf"']


def test_the_storage_of_the_matrix_does_not_matter() -> None:
    values = np.arange(12.0).reshape(3, 4)
    keys = ['"a"', '"b"', '"c"', '"d"']
    expected = to_json_fields(values, keys)
    assert expected[1] == '"a":4.0,"b":5.0,"c":6.0,"d":7.0'
    assert to_json_fields(np.asfortranarray(values), keys) == expected
    assert to_json_fields(values[::-1], keys) == expected[::-1]
    assert to_json_fields(np.broadcast_to(2.0, (2, 2)), keys[:2]) == ['"a":2.0,"b":2.0'] * 2
    assert to_json_fields(np.zeros((2, 0)), []) == ["", ""]


def test_every_column_needs_a_key() -> None:
    with pytest.raises(ValueError, match="one key per column"):
        to_json_fields(np.zeros((1, 2)), ['"a"'])
