"""Numbers are counted on a fixed grid of the floats, exactly, and the counts add and subtract."""

import math
from collections import Counter

import numpy as np
import pytest

from weigh import _core
from weigh.features.blocks import NumberBlock
from weigh.model.counts.count_table import RowClasses
from weigh.model.counts.value_grid import GridCounts, cell_bounds, cell_centres, round_to_centres

LARGEST = float(np.finfo(np.float64).max)
SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1064, 2.0**-1022, 1.0, -1.0, 2047.0, 1e300, LARGEST, -LARGEST]


def reference_cell(value):
    """The cell of a number: its 22 highest bits, in the order of the numbers."""
    bits = int(np.array([abs(value)]).view(np.int64)[0])
    cell = 0 if value == 0 else (bits >> 42) + 1
    return -cell if value < 0 else cell


def random_rows(seed, n=300, n_classes=3):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n)
    values = np.concatenate([values, rng.integers(-3, 3, 50), SPECIAL, [math.nan, math.inf, -math.inf]])
    classes = rng.integers(-1, n_classes, len(values)).astype(np.int32)
    return values, classes


def similar_rows(seed, n=300):
    """Return numbers of one sign and zeros, whose cells are in a short range."""
    rng = np.random.default_rng(seed)
    values = (-1.0) ** seed * rng.integers(0, 90, n) * rng.choice([1.0, 1.5], n)
    return values, rng.integers(-1, 3, n).astype(np.int32)


@pytest.mark.parametrize("make_rows", [random_rows, similar_rows])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_native_counts_are_those_of_the_reference(make_rows, seed, weighted):
    values, classes = make_rows(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(values)) / 2 if weighted else None
    expected = Counter()
    for i, (value, c) in enumerate(zip(values.tolist(), classes.tolist(), strict=True)):
        if c >= 0 and math.isfinite(value):
            expected[c, reference_cell(value)] += 1 if weights is None else weights[i]
    cells, table = _core.count_cells(classes, 3, values, weights)
    counted = {(c, cell): table[c, k] for c in range(3) for k, cell in enumerate(cells.tolist())}
    assert {key: n for key, n in counted.items() if n} == {key: n for key, n in expected.items() if n}
    assert (np.diff(cells) > 0).all()


def test_rows_of_another_length_are_rejected():
    with pytest.raises(ValueError, match="classes and values differ in length"):
        _core.count_cells(np.zeros(2, dtype=np.int32), 1, np.zeros(3), None)


def test_every_number_is_within_the_bounds_of_its_cell():
    values, _ = random_rows(0)
    values = values[np.isfinite(values)]
    cells = np.array([reference_cell(value) for value in values.tolist()], dtype=np.int32)
    low, high = cell_bounds(cells)
    assert (low <= values).all()
    assert (values <= high).all()
    next_low, _ = cell_bounds(cells + 1)
    assert (next_low[cells < cells.max()] == np.nextafter(high[cells < cells.max()], np.inf)).all()


def test_whole_numbers_up_to_2047_have_cells_of_their_own():
    numbers = np.arange(-2047, 2048)
    assert len({reference_cell(float(number)) for number in numbers}) == len(numbers)


def test_a_positive_number_is_rounded_to_the_middle_of_its_cell():
    rounded = round_to_centres(np.array([40.0, 1e9, LARGEST, 0.0, -1.0, math.nan, math.inf]))
    cells = np.array([reference_cell(40.0), reference_cell(1e9), reference_cell(LARGEST)], dtype=np.int32)
    assert rounded[:3].tolist() == cell_centres(cells).tolist()
    assert abs(rounded[0] - 40.0) < 0.05
    assert np.isnan(rounded[3:]).all()


def test_the_counts_of_parts_add_up_in_any_order_and_subtract():
    values, classes = random_rows(7)
    whole = GridCounts.from_block(NumberBlock(values), RowClasses(classes, 3)).canonical()
    parts = [GridCounts.from_block(NumberBlock(values[i::3]), RowClasses(classes[i::3], 3)) for i in range(3)]
    forward, backward = parts[0].plus(parts[1]).plus(parts[2]), parts[2].plus(parts[0]).plus(parts[1])
    for total in (forward, backward):
        assert total.canonical().cells.tobytes() == whole.cells.tobytes()
        assert total.canonical().table.tobytes() == whole.table.tobytes()
    rest, expected = whole.plus(parts[1], -1).canonical(), parts[0].plus(parts[2]).canonical()
    assert rest.table.tobytes() == expected.table.tobytes()
    assert parts[0].plus(whole, -1).minimum() < 0
