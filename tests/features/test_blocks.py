"""Sequences that store one item or none: kinds and names of the columns of a bare matrix."""

from __future__ import annotations

import pytest

from weigh.features.blocks import ConstantSequence, NumberedNames


@pytest.mark.parametrize("start", [0, 1])
def test_numbered_names_behave_like_the_list_of_them(start: int) -> None:
    names = NumberedNames(12, start)
    listed = [f"x{j}" for j in range(start, start + 12)]
    assert list(names) == listed
    assert [names[j] for j in range(12)] == listed
    for j, name in enumerate(listed):
        assert name in names
        assert names.index(name) == j
    for absent in ("x12" if start == 0 else "x0", "x01", "x", "y1", "x-1", "x1 ", "x١", 1, None):
        assert absent not in names
        with pytest.raises(ValueError, match="is not one of the names"):
            names.index(absent)
    assert names.index(listed[3], 3) == 3
    with pytest.raises(ValueError, match="is not one of the names"):
        names.index(listed[3], 4)
    with pytest.raises(ValueError, match="is not one of the names"):
        names.index(listed[3], 0, 3)


def test_a_name_is_found_among_the_most_columns_without_a_search() -> None:
    names = NumberedNames(2**31 - 1, 1)
    assert names.index("x2147483647") == 2**31 - 2
    assert "x2147483648" not in names


def test_a_constant_sequence_repeats_its_item() -> None:
    item = object()
    assert list(ConstantSequence(item, 3)) == [item] * 3
    assert list(ConstantSequence(item, 0)) == []
