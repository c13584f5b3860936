"""The core of the perceptron against short Python twins: rows, numbers for names, passes, votes."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import weigh
from tests.perceptrons import Plain
from tests.splitting import documents, split
from weigh import _core
from weigh.features import NameArray

ROUNDS = range(60)
UNKNOWN = -2  # the number of a name that may not be taken up


def sparse(dense: Any, rng: np.random.Generator | None = None) -> tuple[Any, Any, Any]:
    """Return compressed rows without zeros; the entries of a row in any order."""
    indptr, indices = [0], []
    for row in dense:
        found = np.flatnonzero(row)
        indices.append(found if rng is None else rng.permutation(found))
        indptr.append(indptr[-1] + len(found))
    flat = np.concatenate([*indices, []]).astype(np.int32)
    rows = np.repeat(np.arange(len(dense)), np.diff(indptr))
    return np.array(indptr, np.int64), flat, np.asarray(dense[rows, flat], dtype=np.float64)


def whole(rng: np.random.Generator, rows: int, width: int) -> Any:
    return rng.integers(-3, 4, (rows, width)) * (rng.random((rows, width)) < 0.6) * 1.0


def some_names(rng: np.random.Generator) -> list[str]:
    return ["".join(rng.choice(list("abé"), rng.integers(0, 4))) for _ in range(rng.integers(0, 25))]


@pytest.mark.parametrize("seed", ROUNDS)
def test_assembly_puts_the_features_of_all_parts_side_by_side(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, first = int(rng.integers(0, 9)), 0
    assembly, expected = _core.CsrBuilder(n), [[] for _ in range(n)]  # type: ignore[var-annotated]
    for form in rng.choice(["codes", "column", "entries"], rng.integers(0, 4)):
        numbers = rng.permutation(np.arange(first, first + 5)).astype(np.int32)
        numbers[rng.integers(0, 5)] = -1
        first += 5
        if form == "codes":
            codes = rng.integers(-1, 5, n).astype(np.int32)
            assembly.add_codes(codes, numbers)
            found = [[(int(numbers[c]), 1.0)] if c >= 0 else [] for c in codes]
        elif form == "column":
            column = rng.choice([np.nan, 0.0, -0.0, 1.5, -2.0], (n, 2))[:, 0]
            assembly.add_column(column, int(numbers[0]))
            found = [[] if np.isnan(x) or x == 0 else [(int(numbers[0]), float(x))] for x in column]
        else:
            indptr, indices, values = sparse(whole(rng, n, 5), rng)
            given = values if rng.random() < 0.5 else None
            assembly.add_entries(indptr, indices, given, numbers)
            told = values if given is not None else np.ones(len(values))
            pairs = list(zip(numbers[indices].tolist(), told.tolist(), strict=True))
            found = [pairs[a:b] for a, b in pairwise(indptr)]
        for row, more in zip(expected, found, strict=True):
            row.extend((number, value) for number, value in more if number >= 0)
    indptr, indices, values = assembly.build()
    pairs = list(zip(indices.tolist(), values.tolist(), strict=True))
    assert [pairs[a:b] for a, b in pairwise(indptr)] == expected


@pytest.mark.parametrize("seed", ROUNDS)
def test_names_are_numbered_as_they_appear(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbering, place = _core.NameIndexer(0), dict[str, int]()
    for grow in rng.random(5) < 0.6:
        names = some_names(rng)
        packed = NameArray.from_strings(names)
        found = numbering.index(packed.text, packed.offsets, bool(grow))
        if grow:
            for name in names:
                place.setdefault(name, len(place))
        assert found.tolist() == [place.get(name, UNKNOWN) for name in names]
        assert len(numbering) == len(place)
    assert list(NameArray(*numbering.names())) == list(place)


@pytest.mark.parametrize("seed", ROUNDS)
def test_buckets_go_by_their_shortest_name_whoever_saw_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches = [[name for name in some_names(rng) if name] for _ in range(4)]
    parts = [_core.NameIndexer(4), _core.NameIndexer(4)]
    bucket: dict[str, int] = {}
    for at, names in enumerate(batches):
        packed = NameArray.from_strings(names)
        found = parts[at % 2].index(packed.text, packed.offsets, True)
        bucket |= dict(zip(names, found.tolist(), strict=True))
    parts[0].merge(parts[1])
    for number, told in enumerate(NameArray(*parts[0].names())):
        own = [name for name, k in bucket.items() if k == number]
        assert (
            (told in own and len(told.encode()) == min(len(name.encode()) for name in own))
            if own
            else not told
        )


@pytest.mark.parametrize("buckets", [0, 8])
def test_documents_are_learned_as_rows_in_the_order_of_their_words(buckets: int) -> None:
    kind = weigh.Text(ngrams=(1, 2))
    batches = [["free money, free lunch", None, ""], ["lunch at noon", "money money money free"]]
    numbering, words = _core.NameIndexer(buckets), dict[str, int]()
    for texts in batches:
        indptr, indices, counts = numbering.index_tokens(documents(texts), kind.token_settings)
        for row, text in enumerate(texts):
            tokens = split(text, kind) if text else []
            found = indices[indptr[row] : indptr[row + 1]].tolist()
            packed = NameArray.from_strings(tokens)
            expected = numbering.index(packed.text, packed.offsets, False).tolist()
            assert found == list(dict.fromkeys(expected))
            assert counts[indptr[row] : indptr[row + 1]].tolist() == [expected.count(k) for k in found]
            for token in tokens:
                words.setdefault(token, len(words))
    if not buckets:
        assert list(NameArray(*numbering.names())) == list(words)


@pytest.mark.parametrize("seed", ROUNDS)
def test_places_are_given_as_items_are_used(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places, expected = _core.IndexCompactor(np.full(6, -1, np.int32)), dict[int, int]()
    for grow in rng.random(5) < 0.6:
        items = rng.integers(0, 6, rng.integers(0, 9)).astype(np.int32)
        found = places.compact(items, bool(grow))
        for item in items.tolist() if grow else []:
            expected.setdefault(item, len(expected))
        assert found.tolist() == [expected.get(item, -1) for item in items.tolist()]
        assert len(places) == len(expected)
        assert places.mapping().tolist() == [expected.get(item, -1) for item in range(6)]
        places = _core.IndexCompactor(places.mapping())


def some_examples(rng: np.random.Generator, n: int, width: int, classes: int) -> tuple[Any, ...]:
    """Return examples in two pieces, and the same as dense rows, labels and weights."""
    X, codes = whole(rng, n, width), rng.integers(0, classes, n).astype(np.int32)
    weights = rng.integers(1, 4, n).astype(np.float64) if rng.random() < 0.5 else None
    examples, cut = _core.Examples(), n // 3
    for piece in (slice(0, cut), slice(cut, n)):
        part = None if weights is None else weights[piece].copy()
        examples.add(*sparse(X[piece]), codes[piece].copy(), part, width)
    return examples, X, codes, weights


def test_examples_are_taken_in_any_order() -> None:
    rng = np.random.default_rng(0)
    examples, X, _, _ = some_examples(rng, 9, 4, 2)
    assert len(examples) == 9
    for places in ([], [8, 0, 8], range(9)):
        at = np.array(list(places), dtype=np.int64)
        for found, expected in zip(examples.select(at), sparse(X[at]), strict=True):
            np.testing.assert_array_equal(found, expected)


MEANS = {"none": "last", "examples": "averaged", "updates": "lazy"}
FORMS = [(1, False), (2, False), (3, False), (3, True)]  # columns, whether they are separate
MARGINS = [(0.0, False), (2.0, False), (0.5, True)]


@pytest.mark.parametrize(("form", "mean", "margins"), list(product(FORMS, MEANS, MARGINS)))
def test_a_pass_is_that_of_the_definition(
    form: tuple[int, bool], mean: str, margins: tuple[float, bool]
) -> None:
    (columns, separate), (margin, relative) = form, margins
    rng = np.random.default_rng(columns)
    for n, width, bias in ((0, 3, True), (1, 0, True), (30, 4, True), (40, 9, False)):
        examples, X, codes, weights = some_examples(rng, n, width, max(2, columns))
        plain = Plain(columns, width, 2.0, margin, relative, separate, bias)
        settings = _core.PerceptronSettings(2.0, margin, relative, separate, bias, mean, columns)
        table = _core.zeros(width + 1, columns * (1 if mean == "none" else 2))
        updates, lengths2, seen, radius2 = np.zeros(columns, np.int64), np.zeros(columns), 0, 0.0
        for order in (None, rng.permutation(n), rng.permutation(n)):
            mistakes, made = plain.mistakes, len(plain.record)
            plain.fit(X, codes, 1, weights, None if order is None else [order])
            found = _core.perceptron_pass(
                examples, order, settings, table, updates, lengths2, seen, True, radius2, True
            )
            assert found[:3] == (plain.mistakes - mistakes, len(plain.record) - made, plain.least)
            told = zip(*(column.tolist() for column in found[4]), strict=True)
            assert [(at + seen, *rest) for at, *rest in told] == plain.record[made:]
            radius2, seen = found[3], seen + n
            assert not relative or lengths2.tolist() == (plain.W[:, 1:] ** 2).sum(axis=1).tolist()
            assert radius2 == max((X**2).sum(axis=1, initial=float(bias)), default=0.0)
        ticks = np.full(columns, seen) if mean == "examples" else updates
        rows = np.arange(width + 1)[::-1].copy()
        kept = _core.final_weights(table, settings, rows, ticks)
        if seen:
            kept = kept if mean == "none" else kept / np.maximum(1, ticks)
            np.testing.assert_allclose(kept[::-1].T, plain.weights(MEANS[mean]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("columns", "separate"), [(1, False), (3, False), (3, True)])
def test_votes_are_those_of_every_hypothesis(columns: int, separate: bool) -> None:
    rng = np.random.default_rng(1)
    for n, bias in ((0, True), (12, True), (25, False)):
        X, codes, asked = whole(rng, n, 5), rng.integers(0, max(2, columns), n), whole(rng, 7, 5)
        plain = Plain(columns, 5, separate=separate, bias=bias).fit(X, codes, 1)
        at, plus, minus, amounts = (list(part) for part in zip(*plain.record, strict=True)) if n else [[]] * 4
        lives = np.diff(at, prepend=0, append=n).astype(np.int64)
        changes = (np.array(plus, np.int32), np.array(minus, np.int32), np.array(amounts, np.float64))
        run = (*sparse(X[np.array(at, int)]), *changes, lives, bias, separate)
        for given in (sparse(asked), (*sparse(asked != 0)[:2], None)):
            votes = np.ones((7, columns))
            _core.add_perceptron_votes(*run, *given, 5, votes)
            rows = asked if given[2] is not None else (asked != 0) * 1.0
            np.testing.assert_array_equal(votes - 1, plain.votes(rows))


@pytest.mark.parametrize(
    "values",
    [[], [1.5, -2.0], [0.0, 3.0], [-0.0], [np.nan, 1.0], [np.inf], [-np.inf, 0.0], [1e300, -1e301], [5e-324]],
)
def test_one_look_tells_the_extent(values: list[float]) -> None:
    array = np.array(values, dtype=np.float64)
    largest, has_nan, has_zeros, has_negative = _core.scan_values(array)
    assert largest == np.abs(array[~np.isnan(array)]).max(initial=0.0)
    assert has_nan == np.isnan(array).any()
    assert has_zeros == (array == 0).any()
    assert has_negative == np.signbit(array).any()


def test_one_look_sees_every_place() -> None:
    for n in range(40):
        for at in range(n):
            for odd, place in ((np.nan, 1), (0.0, 2), (-1.0, 3)):
                array = np.full(n, 2.0)
                array[at] = odd
                assert _core.scan_values(array)[1:] == tuple(k == place for k in (1, 2, 3))
            array = np.full(n, 2.0)
            array[at] = 7.0
            assert _core.scan_values(array)[0] == 7.0
