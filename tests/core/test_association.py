"""The native association of columns equals sums over contingency tables, and its arguments are checked."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh import _core


def random_rows(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(1, 60)), int(rng.integers(1, 4))
    levels = rng.integers(1, 5, 4).astype(np.int32)
    codes = np.array([rng.integers(-1, n, n_rows) for n in levels], dtype=np.int32)
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    return codes, levels, classes, n_classes, rng.integers(1, 4, n_rows).astype(float)


def n_log_n(counts):
    return sum(n * math.log(n) for n in np.ravel(counts).tolist() if n > 1)


@given(st.integers(0, 2**32))
def test_information_equals_that_of_contingency_tables(seed):
    codes, levels, classes, n_classes, weights = rows = random_rows(seed)
    information, entropy, freedom, known = _core.measure_association(*rows)
    for a in range(len(levels)):
        for b in range(len(levels)):
            sums = np.zeros(4)
            for c in range(n_classes):
                table = np.zeros((levels[a], levels[b]))
                inside = (classes == c) & (codes[a] >= 0) & (codes[b] >= 0)
                np.add.at(table, (codes[a][inside], codes[b][inside]), weights[inside])
                first, second, total = table.sum(axis=1), table.sum(axis=0), n_log_n(table.sum())
                free = [max((margin > 0).sum() - 1, 0) for margin in (first, second)]
                sums += (
                    total - n_log_n(first) - n_log_n(second) + n_log_n(table),
                    total - n_log_n(first),
                    free[0] * free[1],
                    table.sum(),
                )
            measured = [matrix[a, b] for matrix in (information, entropy, freedom, known)]
            assert measured == pytest.approx(sums.tolist(), abs=1e-9)


@given(st.integers(0, 2**32))
def test_arrangements_are_multinomial_coefficients(seed):
    codes, levels, classes, n_classes, weights = rows = random_rows(seed)
    for column, n_levels, found in zip(codes, levels, _core.log_arrangements(*rows), strict=True):
        ways = 1
        for c in range(n_classes):
            inside = (classes == c) & (column >= 0)
            counts = np.bincount(column[inside], weights[inside], minlength=n_levels).astype(int).tolist()
            ways *= math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))
        assert found == pytest.approx(math.log(ways), abs=1e-9)


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.5, -3.0, math.nan]), st.integers(0, 2)), max_size=40))
def test_ranks_are_the_mean_places_of_equal_numbers_in_their_class(pairs):
    values = np.array([value for value, _ in pairs])
    classes = np.array([c for _, c in pairs], dtype=np.int32)
    bins, ranks = _core.rank_within_classes(values, classes, 3, 4, 2)
    for i, (value, c) in enumerate(pairs):
        others = values[(classes == c) & ~np.isnan(values)]
        if math.isnan(value) or len(others) < 2:
            assert math.isnan(ranks[i])
            assert bins[i] == -1
            continue
        middle = (others < value).sum() + ((others == value).sum() - 1) / 2
        share = (middle + 0.5) / len(others)
        n_bins = min(max(len(others) // 2, 1), 4)
        assert ranks[i] == pytest.approx(share - 0.5)
        assert bins[i] == min(int((ranks[i] + 0.5) * n_bins), n_bins - 1)


def test_rows_that_do_not_match_are_refused():
    codes, levels = np.zeros((1, 2), dtype=np.int32), np.ones(1, dtype=np.int32)
    classes, weights = np.zeros(2, dtype=np.int32), np.ones(2)
    refused = [
        ((codes, np.ones(2, dtype=np.int32), classes, 1, weights), "codes and levels differ in columns"),
        ((codes, levels, classes[:1], 1, weights), "codes, classes and weights differ in rows"),
        ((codes, levels, classes - 1, 1, weights), "a class is negative"),
        ((codes, levels, classes, 0, weights), "a class is out of range"),
        ((codes + 1, levels, classes, 1, weights), "a code is out of range"),
        ((codes, -levels, classes, 1, weights), "a number of levels is negative"),
    ]
    for rows, message in refused:
        with pytest.raises(ValueError, match=message):
            _core.measure_association(*rows)
    with pytest.raises(ValueError, match="values and classes differ in length"):
        _core.rank_within_classes(np.ones(3), classes, 1, 2, 2)
    with pytest.raises(ValueError, match="bins must have rows"):
        _core.rank_within_classes(np.ones(2), classes, 1, 0, 2)
