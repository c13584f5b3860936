"""CSR building, name indexing, perceptron passes and votes against Python references."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import weigh
from tests.perceptrons import ReferencePerceptron
from tests.splitting import documents, split
from weigh import _core
from weigh.features import NameArray

ROUNDS = range(60)
UNKNOWN = -2  # the index of a name that is not added


def sparse(dense: Any, rng: np.random.Generator | None = None) -> tuple[Any, Any, Any]:
    """Return sparse rows without zeros, with the entries of a row in random order if `rng` is given."""
    indptr, indices = [0], []
    for row in dense:
        found = np.flatnonzero(row)
        indices.append(found if rng is None else rng.permutation(found))
        indptr.append(indptr[-1] + len(found))
    flat = np.concatenate([*indices, []]).astype(np.int32)
    rows = np.repeat(np.arange(len(dense)), np.diff(indptr))
    return np.array(indptr, np.int64), flat, np.asarray(dense[rows, flat], dtype=np.float64)


def random_integers(rng: np.random.Generator, rows: int, width: int) -> Any:
    return rng.integers(-3, 4, (rows, width)) * (rng.random((rows, width)) < 0.6) * 1.0


def random_names(rng: np.random.Generator) -> list[str]:
    return ["".join(rng.choice(list("abé"), rng.integers(0, 4))) for _ in range(rng.integers(0, 25))]


@pytest.mark.parametrize("seed", ROUNDS)
def test_rows_are_the_concatenation_of_all_blocks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, first = int(rng.integers(0, 9)), 0
    builder, expected = _core.CsrBuilder(n), [[] for _ in range(n)]  # type: ignore[var-annotated]
    for form in rng.choice(["codes", "column", "entries"], rng.integers(0, 4)):
        numbers = rng.permutation(np.arange(first, first + 5)).astype(np.int32)
        numbers[rng.integers(0, 5)] = -1
        first += 5
        if form == "codes":
            codes = rng.integers(-1, 5, n).astype(np.int32)
            builder.add_codes(codes, numbers)
            found = [[(int(numbers[c]), 1.0)] if c >= 0 else [] for c in codes]
        elif form == "column":
            column = rng.choice([np.nan, 0.0, -0.0, 1.5, -2.0], (n, 2))[:, 0]
            builder.add_column(column, int(numbers[0]))
            found = [[] if np.isnan(x) or x == 0 else [(int(numbers[0]), float(x))] for x in column]
        else:
            indptr, indices, values = sparse(random_integers(rng, n, 5), rng)
            given = values if rng.random() < 0.5 else None
            builder.add_entries(indptr, indices, given, numbers)
            reported = values if given is not None else np.ones(len(values))
            pairs = list(zip(numbers[indices].tolist(), reported.tolist(), strict=True))
            found = [pairs[a:b] for a, b in pairwise(indptr)]
        for row, more in zip(expected, found, strict=True):
            row.extend((number, value) for number, value in more if number >= 0)
    indptr, indices, values = builder.build()
    pairs = list(zip(indices.tolist(), values.tolist(), strict=True))
    assert [pairs[a:b] for a, b in pairwise(indptr)] == expected


@pytest.mark.parametrize("seed", ROUNDS)
def test_names_are_indexed_in_order_of_first_appearance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    indexer, index_of = _core.NameIndexer(0), dict[str, int]()
    for grow in rng.random(5) < 0.6:
        names = random_names(rng)
        packed = NameArray.from_strings(names)
        found = indexer.index(packed.text, packed.offsets, bool(grow))
        if grow:
            for name in names:
                index_of.setdefault(name, len(index_of))
        assert found.tolist() == [index_of.get(name, UNKNOWN) for name in names]
        assert len(indexer) == len(index_of)
    assert list(NameArray(*indexer.names())) == list(index_of)


@pytest.mark.parametrize("seed", ROUNDS)
def test_merged_buckets_are_named_after_their_shortest_name(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches = [[name for name in random_names(rng) if name] for _ in range(4)]
    parts = [_core.NameIndexer(4), _core.NameIndexer(4)]
    bucket: dict[str, int] = {}
    for at, names in enumerate(batches):
        packed = NameArray.from_strings(names)
        found = parts[at % 2].index(packed.text, packed.offsets, True)
        bucket |= dict(zip(names, found.tolist(), strict=True))
    parts[0].merge(parts[1])
    for number, reported in enumerate(NameArray(*parts[0].names())):
        own = [name for name, k in bucket.items() if k == number]
        assert (
            (reported in own and len(reported.encode()) == min(len(name.encode()) for name in own))
            if own
            else not reported
        )


@pytest.mark.parametrize("buckets", [0, 8])
def test_documents_become_rows_in_order_of_first_appearance(buckets: int) -> None:
    kind = weigh.Text(ngrams=(1, 2))
    batches = [["free money, free lunch", None, ""], ["lunch at noon", "money money money free"]]
    indexer, words = _core.NameIndexer(buckets), dict[str, int]()
    for texts in batches:
        indptr, indices, counts = indexer.index_tokens(documents(texts), kind.token_settings)
        for row, text in enumerate(texts):
            tokens = split(text, kind) if text else []
            found = indices[indptr[row] : indptr[row + 1]].tolist()
            packed = NameArray.from_strings(tokens)
            expected = indexer.index(packed.text, packed.offsets, False).tolist()
            assert found == list(dict.fromkeys(expected))
            assert counts[indptr[row] : indptr[row + 1]].tolist() == [expected.count(k) for k in found]
            for token in tokens:
                words.setdefault(token, len(words))
    if not buckets:
        assert list(NameArray(*indexer.names())) == list(words)


@pytest.mark.parametrize("seed", ROUNDS)
def test_items_are_compacted_in_order_of_first_use(seed: int) -> None:
    rng = np.random.default_rng(seed)
    compactor, expected = _core.IndexCompactor(np.full(6, -1, np.int32)), dict[int, int]()
    for grow in rng.random(5) < 0.6:
        items = rng.integers(0, 6, rng.integers(0, 9)).astype(np.int32)
        found = compactor.compact(items, bool(grow))
        for item in items.tolist() if grow else []:
            expected.setdefault(item, len(expected))
        assert found.tolist() == [expected.get(item, -1) for item in items.tolist()]
        assert len(compactor) == len(expected)
        assert compactor.mapping().tolist() == [expected.get(item, -1) for item in range(6)]
        compactor = _core.IndexCompactor(compactor.mapping())


def random_examples(rng: np.random.Generator, n: int, width: int, classes: int) -> tuple[Any, ...]:
    """Return examples added in two batches, and the same as dense rows, labels and weights."""
    X, codes = random_integers(rng, n, width), rng.integers(0, classes, n).astype(np.int32)
    weights = rng.integers(1, 4, n).astype(np.float64) if rng.random() < 0.5 else None
    examples, split_at = _core.Examples(), n // 3
    for piece in (slice(0, split_at), slice(split_at, n)):
        part = None if weights is None else weights[piece].copy()
        examples.add(*sparse(X[piece]), codes[piece].copy(), part, width)
    return examples, X, codes, weights


def test_examples_are_selected_in_any_order() -> None:
    rng = np.random.default_rng(0)
    examples, X, _, _ = random_examples(rng, 9, 4, 2)
    assert len(examples) == 9
    for positions in ([], [8, 0, 8], range(9)):
        at = np.array(list(positions), dtype=np.int64)
        for found, expected in zip(examples.select(at), sparse(X[at]), strict=True):
            np.testing.assert_array_equal(found, expected)


AVERAGES = {"none": "last", "examples": "averaged", "updates": "lazy"}
FORMS = [(1, False), (2, False), (3, False), (3, True)]  # columns, one_vs_rest
MARGINS = [(0.0, False), (2.0, False), (0.5, True)]


@pytest.mark.parametrize(("form", "average", "margins"), list(product(FORMS, AVERAGES, MARGINS)))
def test_a_pass_equals_the_reference(
    form: tuple[int, bool], average: str, margins: tuple[float, bool]
) -> None:
    (columns, one_vs_rest), (margin, relative_margin) = form, margins
    rng = np.random.default_rng(columns)
    for n, width, bias in ((0, 3, True), (1, 0, True), (30, 4, True), (40, 9, False)):
        examples, X, codes, weights = random_examples(rng, n, width, max(2, columns))
        reference = ReferencePerceptron(columns, width, 2.0, margin, relative_margin, one_vs_rest, bias)
        settings = _core.PerceptronSettings(2.0, margin, relative_margin, one_vs_rest, bias, average, columns)
        table = _core.zeros(width + 1, columns * (1 if average == "none" else 2))
        updates, squared_norms, examples_seen, radius2 = (
            np.zeros(columns, np.int64),
            np.zeros(columns),
            0,
            0.0,
        )
        for order in (None, rng.permutation(n), rng.permutation(n)):
            mistakes, made = reference.mistakes, len(reference.record)
            reference.fit(X, codes, 1, weights, None if order is None else [order])
            found = _core.perceptron_pass(
                examples, order, settings, table, updates, squared_norms, examples_seen, True, radius2, True
            )
            n_mistakes, n_updates = reference.mistakes - mistakes, len(reference.record) - made
            assert found[:3] == (n_mistakes, n_updates, reference.min_margin)
            reported = zip(*(column.tolist() for column in found[4]), strict=True)
            assert [(at + examples_seen, *rest) for at, *rest in reported] == reference.record[made:]
            radius2, examples_seen = found[3], examples_seen + n
            assert (
                not relative_margin
                or squared_norms.tolist() == (reference.W[:, 1:] ** 2).sum(axis=1).tolist()
            )
            assert radius2 == max((X**2).sum(axis=1, initial=float(bias)), default=0.0)
        steps = np.full(columns, examples_seen) if average == "examples" else updates
        rows = np.arange(width + 1)[::-1].copy()
        found_weights = _core.final_weights(table, settings, rows, steps)
        if examples_seen:
            found_weights = found_weights if average == "none" else found_weights / np.maximum(1, steps)
            np.testing.assert_allclose(
                found_weights[::-1].T, reference.weights(AVERAGES[average]), rtol=1e-12, atol=1e-12
            )


@pytest.mark.parametrize(("columns", "one_vs_rest"), [(1, False), (3, False), (3, True)])
def test_votes_equal_those_of_all_hypotheses(columns: int, one_vs_rest: bool) -> None:
    rng = np.random.default_rng(1)
    for n, bias in ((0, True), (12, True), (25, False)):
        X, codes, queries = (
            random_integers(rng, n, 5),
            rng.integers(0, max(2, columns), n),
            random_integers(rng, 7, 5),
        )
        reference = ReferencePerceptron(columns, 5, separate=one_vs_rest, bias=bias).fit(X, codes, 1)
        at, plus, minus, amounts = (
            (list(part) for part in zip(*reference.record, strict=True)) if n else [[]] * 4
        )
        survival_counts = np.diff(at, prepend=0, append=n).astype(np.int64)
        changes = (np.array(plus, np.int32), np.array(minus, np.int32), np.array(amounts, np.float64))
        history = (*sparse(X[np.array(at, int)]), *changes, survival_counts, bias, one_vs_rest)
        for given in (sparse(queries), (*sparse(queries != 0)[:2], None)):
            votes = np.ones((7, columns))
            _core.add_perceptron_votes(*history, *given, 5, votes)
            rows = queries if given[2] is not None else (queries != 0) * 1.0
            np.testing.assert_array_equal(votes - 1, reference.votes(rows))


@pytest.mark.parametrize(
    "values",
    [[], [1.5, -2.0], [0.0, 3.0], [-0.0], [np.nan, 1.0], [np.inf], [-np.inf, 0.0], [1e300, -1e301], [5e-324]],
)
def test_a_scan_reports_magnitude_and_special_values(values: list[float]) -> None:
    array = np.array(values, dtype=np.float64)
    largest, has_nan, has_zeros, has_negative = _core.scan_values(array)
    assert largest == np.abs(array[~np.isnan(array)]).max(initial=0.0)
    assert has_nan == np.isnan(array).any()
    assert has_zeros == (array == 0).any()
    assert has_negative == np.signbit(array).any()


def test_a_scan_covers_every_position() -> None:
    for n in range(40):
        for at in range(n):
            for special, position in ((np.nan, 1), (0.0, 2), (-1.0, 3)):
                array = np.full(n, 2.0)
                array[at] = special
                assert _core.scan_values(array)[1:] == tuple(k == position for k in (1, 2, 3))
            array = np.full(n, 2.0)
            array[at] = 7.0
            assert _core.scan_values(array)[0] == 7.0
