"""Counting, encoding, exact sums and scoring against short Python references, on many shapes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from weigh import _core

SHAPES = [(0, 1, 1), (1, 1, 1), (7, 1, 3), (50, 3, 1), (200, 4, 9), (1000, 2, 300)]  # rows, classes, width
SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, 1e300, -1e300, 1.7976931348623157e308, np.nan, 0.1]


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, int, int]:
    return request.param  # type: ignore[no-any-return]  # pytest's request carries no types


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def codes(rng: np.random.Generator, n: int, below: int) -> Any:
    """Return random codes from -1 (missing) to below - 1."""
    return rng.integers(-1, below, n).astype(np.int32)


def strided(values: Any) -> Any:
    """Return the same values as a column of a wider matrix."""
    return np.repeat(values[:, None], 3, axis=1)[:, 1]


def numbers(rng: np.random.Generator, n: int) -> Any:
    values = rng.normal(size=n) * 10.0 ** rng.integers(-290, 290, n)
    values[::5] = rng.choice(SPECIAL, len(values[::5]))
    return values


def sparse(rng: np.random.Generator, n: int, width: int) -> tuple[Any, Any, Any]:
    """Return sparse rows, many of them empty."""
    filled = (rng.random((n, width)) < 0.3) & (rng.random(n) < 0.6)[:, None]
    rows, indices = np.nonzero(filled)
    indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int64)
    return indptr, indices.astype(np.int32), rng.integers(0, 4, len(rows)).astype(np.float64)


def test_count_codes_adds_one_per_row(shape: tuple[int, int, int], rng: np.random.Generator) -> None:
    n, n_classes, width = shape
    classes, values = codes(rng, n, n_classes), codes(rng, n, width)
    table = rng.integers(0, 5, (n_classes, width))
    expected = table.copy()
    for c, k in zip(classes, values, strict=True):
        if c >= 0 and k >= 0:
            expected[c, k] += 1
    _core.count_codes(classes, values, table)
    np.testing.assert_array_equal(table, expected)


def test_count_weighted_codes_adds_the_weights(shape: tuple[int, int, int], rng: np.random.Generator) -> None:
    n, n_classes, width = shape
    classes, values = codes(rng, n, n_classes), codes(rng, n, width)
    weights = rng.random(n) * (rng.random(n) < 0.7)
    table, expected = np.zeros((n_classes, width)), np.zeros((n_classes, width))
    for c, k, w in zip(classes, values, weights, strict=True):
        if c >= 0 and k >= 0:
            expected[c, k] += w
    _core.count_weighted_codes(classes, values, weights, table)
    np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("with_values", [True, False])
@pytest.mark.parametrize("with_weights", [True, False])
def test_count_sparse_adds_weight_times_value(
    shape: tuple[int, int, int], rng: np.random.Generator, with_values: bool, with_weights: bool
) -> None:
    n, n_classes, width = shape
    classes = codes(rng, n, n_classes)
    indptr, indices, values = sparse(rng, n, width)
    weights = rng.integers(0, 3, n).astype(np.float64)
    table, expected = np.zeros((n_classes, width)), np.zeros((n_classes, width))
    for i, c in enumerate(classes):
        for e in range(indptr[i], indptr[i + 1]):
            if c >= 0:
                weight = weights[i] if with_weights else 1.0
                expected[c, indices[e]] += weight * (values[e] if with_values else 1.0)
    given = (values if with_values else None, weights if with_weights else None)
    _core.count_sparse(classes, indptr, indices, *given, table)
    np.testing.assert_array_equal(table, expected)


def encode_reference(values: list[Any]) -> tuple[list[int], list[Any]]:
    code: dict[Any, int] = {}
    found = [-1 if v is None or v != v else code.setdefault(v, len(code)) for v in values]
    return found, list(code)


@pytest.mark.parametrize("distinct", [1, 3, 500, 2**62])
def test_keys_are_encoded_in_order_of_first_appearance(
    shape: tuple[int, int, int], rng: np.random.Generator, distinct: int
) -> None:
    keys = rng.integers(-distinct, distinct, shape[0])
    for column in (keys, strided(keys), np.sort(keys), keys[::-1]):
        found, values = _core.encode_keys(column)
        expected, expected_values = encode_reference(column.tolist())
        assert found.tolist() == expected
        assert values.tolist() == expected_values


def test_keys_at_the_ends_of_the_range_are_distinct() -> None:
    keys = np.array([2**63 - 1, -(2**63), 0, -1, 2**63 - 1], dtype=np.int64)
    found, values = _core.encode_keys(keys)
    assert found.tolist() == [0, 1, 2, 3, 0]
    assert values.tolist() == keys[:4].tolist()


def test_objects_are_encoded_by_equality_and_missing_ones_get_no_code(rng: np.random.Generator) -> None:
    pool = [
        "red",
        "".join(["r", "ed"]),
        "été",
        "",
        None,
        np.nan,
        float("nan"),
        1,
        1.0,
        True,
        2.5,
        10**30,
        ("a", 1),
    ]
    for n in (0, 1, 5000):
        values = np.empty(n, dtype=object)
        values[:] = [pool[i] for i in rng.integers(0, len(pool), n)]
        for column in (values, values[::-1], np.repeat(values, 2)[::2]):
            found, distinct = _core.encode_objects(column)
            expected, expected_values = encode_reference(column.tolist())
            assert found.tolist() == expected
            assert distinct == expected_values


def test_equal_strings_at_different_addresses_share_a_code() -> None:
    values = np.array([f"word{i % 300}" for i in range(20_000)], dtype=object)
    found, distinct = _core.encode_objects(values)
    assert found.tolist() == [i % 300 for i in range(20_000)]
    assert distinct == [f"word{i}" for i in range(300)]


@pytest.mark.parametrize("offset", [np.int32, np.int64])
def test_strings_are_encoded_in_order_of_first_appearance(rng: np.random.Generator, offset: type) -> None:
    words = ["", "a", "ab", "été", "x" * 200]
    for n, bit in ((0, 0), (1, 3), (500, 0), (500, 7)):
        chosen = [words[i] for i in rng.integers(0, len(words), n)]
        valid = rng.random(n) < 0.8
        offsets: Any = np.cumsum([0, *(len(word.encode()) for word in chosen)]).astype(offset)
        bitmap = np.packbits(np.concatenate([np.zeros(bit, bool), valid]), bitorder="little")
        text = np.frombuffer("".join(chosen).encode() + b"?", dtype=np.uint8)
        found, distinct = _core.encode_strings(offsets, text, bitmap, bit)
        expected, expected_values = encode_reference(
            [w if v else None for w, v in zip(chosen, valid, strict=True)]
        )
        assert found.tolist() == expected
        assert distinct == expected_values


def test_exact_types_exclude_subclasses() -> None:
    values = np.array(["a", 1, None, 2.5], dtype=object)
    assert _core.have_exact_types(values, (str, int, float, type(None)))
    assert not _core.have_exact_types(values, (str, int, float))
    assert not _core.have_exact_types(np.array([True], dtype=object), (int,))
    assert _core.have_exact_types(np.array([], dtype=object), ())


def exact_values(limbs: Any, base: int) -> list[Fraction]:
    return [
        sum((int(x) * Fraction(2) ** (32 * (k + base)) for k, x in enumerate(row)), Fraction(0))
        for row in limbs
    ]


@pytest.mark.parametrize("with_weights", [True, False])
def test_class_sums_are_exact(
    shape: tuple[int, int, int], rng: np.random.Generator, with_weights: bool
) -> None:
    n, n_classes, _ = shape
    classes, values = codes(rng, n, n_classes), numbers(rng, n)
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.random(n) * 10.0 ** rng.integers(-9, 9, n))
    given = weights if with_weights else None
    total_weights, first, second = _core.class_sums(classes, n_classes, strided(values), given)
    sums = [[Fraction(0)] * 3 for _ in range(n_classes)]
    for c, x, w in zip(classes.tolist(), values.tolist(), weights.tolist(), strict=True):
        if c >= 0 and not math.isnan(x):
            w = Fraction(w) if with_weights else Fraction(1)
            sums[c] = [
                a + b for a, b in zip(sums[c], (w, w * Fraction(x), w * Fraction(x) ** 2), strict=True)
            ]
    assert exact_values(*first) == [s[1] for s in sums]
    assert exact_values(*second) == [s[2] for s in sums]
    np.testing.assert_allclose(total_weights, [float(s[0]) for s in sums], rtol=1e-12)


def test_class_sums_skip_nan_and_infinity() -> None:
    values = np.array([1.0, np.inf, np.nan, -np.inf, 2.0])
    total_weights, first, second = _core.class_sums(np.zeros(5, dtype=np.int32), 1, values, None)
    assert total_weights.tolist() == [2.0]
    assert exact_values(*first) == [3]
    assert exact_values(*second) == [5]


@pytest.mark.parametrize("sign", [1, -1])
def test_class_sums_of_many_rows_carry_exactly(sign: int) -> None:
    # Limbs are carried after every 2^20 rows. All significant bits are set, so that every limb grows.
    n, x, w = 2**21 + 3, sign * math.nextafter(2.0, 0.0), math.nextafter(1e50, 0.0)
    classes = np.zeros(n, dtype=np.int32)
    _, first, second = _core.class_sums(classes, 1, np.full(n, x), np.full(n, w))
    assert exact_values(*first) == [n * Fraction(w) * Fraction(x)]
    assert exact_values(*second) == [n * Fraction(w) * Fraction(x) ** 2]


def is_normal_form(limbs: list[list[int]]) -> bool:
    """Return whether limbs are in normal form: carries propagated, and no superfluous limbs at either end."""
    inner = all(0 <= limb < 2**32 for row in limbs for limb in row[:-1])
    ends = (
        not limbs or not limbs[0] or (any(r[0] for r in limbs) and any(r[-1] not in (0, -1) for r in limbs))
    )
    return inner and (ends or all(len(row) == 1 for row in limbs))


def test_propagating_carries_keeps_the_value_and_gives_a_normal_form(rng: np.random.Generator) -> None:
    for _ in range(300):
        shape = (int(rng.integers(0, 4)), int(rng.integers(0, 6)))
        limbs = rng.integers(-(2**40), 2**40, shape)
        limbs[rng.random(shape) < 0.4] = rng.choice([0, -1, 2**32, -(2**32)])
        found, base = _core.propagate_carries(limbs, 3)
        assert [x for x in exact_values(found, base) if x] == [x for x in exact_values(limbs, 3) if x]
        assert is_normal_form(found.tolist())
        padded = np.zeros((shape[0], shape[1] + 3), dtype=np.int64)
        padded[:, 2:-1] = limbs
        padded_limbs, below = _core.propagate_carries(padded, 1)
        assert (padded_limbs.tolist(), below) == (found.tolist(), base)


def test_score_codes_adds_the_weights_of_the_level(
    shape: tuple[int, int, int], rng: np.random.Generator
) -> None:
    n, n_classes, width = shape
    values, table = codes(rng, n, width), rng.normal(size=(width, n_classes))
    table[0, 0] = -np.inf
    scores = rng.normal(size=(n, n_classes))
    expected = np.array([s + (table[k] if k >= 0 else 0.0) for s, k in zip(scores, values, strict=True)])
    _core.score_codes(values, table, scores)
    np.testing.assert_array_equal(scores, expected.reshape(n, n_classes))


def test_score_linear_adds_value_times_weights(shape: tuple[int, int, int], rng: np.random.Generator) -> None:
    n, n_classes, _ = shape
    values, weights = rng.normal(size=n), rng.normal(size=n_classes)
    values[::4] = np.nan
    scores = rng.normal(size=(n, n_classes))
    expected = scores + np.nan_to_num(values)[:, None] * weights
    _core.score_linear(strided(values), weights, scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("with_values", [True, False])
def test_score_sparse_adds_value_times_weights(
    shape: tuple[int, int, int], rng: np.random.Generator, with_values: bool
) -> None:
    n, n_classes, width = shape
    indptr, indices, values = sparse(rng, n, width)
    table, scores = rng.normal(size=(width, n_classes)), np.zeros((n, n_classes))
    expected = np.zeros((n, n_classes))
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            expected[i] += (values[e] if with_values else 1.0) * table[indices[e]]
    _core.score_sparse(indptr, indices, values if with_values else None, table, scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-13, atol=1e-13)


def test_score_gaussian_adds_the_log_density(shape: tuple[int, int, int], rng: np.random.Generator) -> None:
    n, n_classes, _ = shape
    values = rng.normal(size=n) * 10.0 ** rng.integers(-3, 200, n)
    values[::6] = np.nan
    mean, residual, inverse_std, constant = (
        rng.normal(size=n_classes),
        rng.normal(size=n_classes),
        rng.random(n_classes) + 0.1,
        rng.normal(size=n_classes),
    )
    scores = np.zeros((n, n_classes))
    limit = 1e150
    z = np.abs(((values[:, None] - mean) - residual) * inverse_std)
    beyond = 0.5 * limit**2 * (1 + np.log(np.maximum(z, limit) / limit))
    penalty = np.where(z <= limit, 0.5 * np.minimum(z, limit) ** 2, beyond)
    expected = np.where(np.isnan(values)[:, None], 0.0, constant - penalty)
    _core.score_gaussian(strided(values), mean, residual, inverse_std, constant, scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-13, atol=1e-13)
