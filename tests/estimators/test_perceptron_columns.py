"""The perceptron with columns of every kind, all text settings, many columns and many classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import weigh
from tests.texts import MULTILINGUAL, peer
from weigh.judge.verification.recount import hash_bucket

HYPOTHESES = ("last", "averaged", "lazy", "voted")


def make_numbers(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 1.0]
    return X, (((X - [0, 5e3, 1.0]) / [1.0, 1e3, 1e-3]) @ [1.0, -1.0, 1.0] + rng.normal(size=60) > 0).astype(
        int
    )


@pytest.mark.parametrize("keep", HYPOTHESES)
def test_unit_scale_standardises_numbers(keep: str) -> None:
    X, y = make_numbers()
    learner = weigh.Perceptron(keep, scale="unit").fit(X, y)
    reference = weigh.Perceptron(keep).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    assert learner.mistakes_ == reference.mistakes_
    np.testing.assert_allclose(
        learner.decision_function(X),
        reference.decision_function((X - X.mean(axis=0)) / X.std(axis=0)),
        rtol=1e-9,
        atol=1e-9,
    )
    if keep != "voted":
        np.testing.assert_allclose(learner.coef_ * X.std(axis=0), reference.coef_, rtol=1e-9)
        np.testing.assert_allclose(
            X @ learner.coef_[0] + learner.intercept_, learner.decision_function(X), rtol=1e-9
        )


@pytest.mark.parametrize("power", [-200, -100, 100, 200])
def test_unit_scale_makes_huge_and_tiny_numbers_equivalent(power: int) -> None:
    X, y = make_numbers()
    learner = weigh.Perceptron("last", scale="unit").fit(X * 10.0**power, y)
    reference = weigh.Perceptron("last", scale="unit").fit(X, y)
    assert learner.mistakes_ == reference.mistakes_
    np.testing.assert_allclose(
        learner.decision_function(X * 10.0**power), reference.decision_function(X), rtol=1e-6, atol=1e-6
    )


def test_unit_scale_can_be_set_by_column() -> None:
    X, y = make_numbers()
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}
    unit = weigh.Number(scale="unit")
    learner = weigh.Perceptron("last", columns={"a": "number", "b": unit, "c": unit}).fit(table, "y")
    scaled = table | {name: (table[name] - table[name].mean()) / table[name].std() for name in "bc"}
    reference = weigh.Perceptron("last", columns=weigh.Number()).fit(scaled, "y")
    np.testing.assert_allclose(
        learner.decision_function(table), reference.decision_function(scaled), atol=1e-9
    )


def test_a_constant_number_is_not_rescaled_and_a_missing_one_contributes_nothing() -> None:
    X = np.array([[5.0, 1.0], [5.0, -1.0], [5.0, np.nan], [5.0, 2.0]])
    learner = weigh.Perceptron("last", scale="unit", max_iter=50).fit(X, [1, 0, 1, 1])
    assert np.isfinite(learner.coef_).all()
    assert learner.coef_[0, 0] == 0
    mean = np.nanmean(X[:, 1])
    np.testing.assert_allclose(
        learner.decision_function([[5.0, np.nan]]), learner.decision_function([[5.0, mean]])
    )


def test_every_kind_of_column_has_named_features() -> None:
    table = {
        "flag": [0, 1, 1, 0, 1, 0],
        "count": [0, 3, 2, 1, 0, 5],
        "number": [1.5, -2.0, 0.25, 3.0, 1.0, 0.5],
        "binned": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "colour": ["red", "blue", "red", "green", "blue", "red"],
        "yes": ["no", "yes", "yes", "no", "no", "yes"],
        "tags": [["a", "b"], [], ["b", "b"], ["c"], ["a"], None],
        "left": [1, 2, 3, 4, 5, 6],
        "class": [0, 1, 1, 0, 1, 0],
    }
    kinds = {
        "flag": "flag",
        "count": "count",
        "number": "number",
        "binned": weigh.Number(bins=(1.5, 3.5)),
        "colour": weigh.Category(against="blue"),
        "tags": "tokens",
        "left": "skip",
    }
    learner = weigh.Perceptron("last", shuffle=False, max_iter=3, columns=kinds, scale=None)
    learner.fit(table, "class")
    dense = {
        "flag": table["flag"],
        "count": table["count"],
        "number": table["number"],
        "binned": np.digitize(table["binned"], [1.5, 3.5]),
    }
    features = learner.model_.features
    assert [name for name in features if name.startswith("colour")] == ["colour=green", "colour=red"]
    assert [name for name in features if name.startswith("yes")] == ["yes=yes"]
    assert [name for name in features if name.startswith("tags")] == ["tags: a", "tags: b", "tags: c"]
    assert not any(name.startswith("left") for name in features)
    columns = [
        *(np.array(dense[name], float) for name in ("flag", "count", "number")),
        *((dense["binned"] == k).astype(float) for k in range(3)),
        *(np.array([c == level for c in table["colour"]], float) for level in ("green", "red")),
        np.array([value == "yes" for value in table["yes"]], float),
        *(np.array([(tags or []).count(tag) for tags in table["tags"]], float) for tag in "abc"),
    ]
    reference = weigh.Perceptron("last", shuffle=False, max_iter=3).fit(
        np.column_stack(columns), table["class"]
    )
    by_name = dict(zip(features, learner.coef_[0].tolist(), strict=True))
    in_order = ["flag", "count", "number", *(f"binned={x}" for x in ("x ≤ 1.5", "1.5 < x ≤ 3.5", "x > 3.5"))]
    in_order += ["colour=green", "colour=red", "yes=yes", "tags: a", "tags: b", "tags: c"]
    assert [by_name[name] for name in in_order] == reference.coef_[0].tolist()
    assert len(features) == len(in_order)
    assert learner.intercept_ == reference.intercept_


def test_products_are_features_like_others() -> None:
    rng = np.random.default_rng(4)
    X = rng.integers(-3, 4, (40, 3)) * 1.0
    y = (X[:, 0] * X[:, 1] - X[:, 2] ** 2 > 0).astype(int)
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    learner = weigh.Perceptron("last", columns=weigh.Products(2)).fit(table, y)
    pairs = [(0,), (1,), (2,), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    reference = weigh.Perceptron("last").fit(np.column_stack([X[:, list(p)].prod(axis=1) for p in pairs]), y)
    assert learner.model_.features == ["a", "b", "c", "a²", "a·b", "a·c", "b²", "b·c", "c²"]
    np.testing.assert_array_equal(learner.coef_, reference.coef_)
    queries = {"a": [2.0, None], "b": [3.0, 1.0], "c": [1.0, 1.0]}
    expected = reference.decision_function([[2, 3, 1, 4, 6, 2, 9, 3, 1], [0, 1, 1, 0, 0, 0, 1, 1, 1]])
    np.testing.assert_array_equal(learner.decision_function(queries), expected)


TEXTS = [text for text in MULTILINGUAL if "\ud800" not in text] * 2
SETTINGS: dict[str, dict[str, Any]] = {
    "words": {},
    "presence": {"counts": False},
    "pairs": {"ngrams": (1, 2), "min_length": 1},
    "characters": {"chars": True, "ngrams": (1, 3)},
    "within words": {"chars": "words", "ngrams": (2, 4), "strip_accents": True},
}


@pytest.mark.parametrize("keep", HYPOTHESES)
@pytest.mark.parametrize("which", SETTINGS)
def test_text_is_the_matrix_of_its_words(keep: str, which: str) -> None:
    kind = weigh.Text(**SETTINGS[which])
    y = (np.arange(len(TEXTS)) * 7 % 5 % 2).astype(int)
    learner = weigh.Perceptron(keep, columns=kind, max_iter=4).fit(TEXTS, y)
    vectorizer: CountVectorizer = peer(kind)
    matrix = vectorizer.fit_transform(TEXTS).astype(float)
    reference = weigh.Perceptron(keep, max_iter=4).fit(matrix, y)
    assert learner.mistakes_ == reference.mistakes_
    assert len(learner.model_.features) == matrix.shape[1]
    np.testing.assert_array_equal(learner.decision_function(TEXTS), reference.decision_function(matrix))
    new = ["the quick unheard fox", "", "Привет unheard 世界", "unheard"]
    np.testing.assert_array_equal(
        learner.decision_function(new), reference.decision_function(vectorizer.transform(new).astype(float))
    )


@pytest.mark.parametrize("keep", HYPOTHESES)
@pytest.mark.parametrize("counts", [True, False])
def test_hashed_words_share_the_weight_of_their_bucket(keep: str, counts: bool) -> None:
    kind = weigh.Text(buckets=16, counts=counts)
    y = (np.arange(len(TEXTS)) % 3).astype(int)
    learner = weigh.Perceptron(keep, columns=kind, max_iter=4).fit(TEXTS, y)
    words = CountVectorizer()
    occurrences = words.fit_transform(TEXTS).toarray().astype(float)
    buckets = np.zeros((len(TEXTS), 16))
    for word, j in words.vocabulary_.items():
        buckets[:, hash_bucket(word, 16)] += occurrences[:, j]
    buckets = buckets if counts else (buckets > 0).astype(float)
    reference = weigh.Perceptron(keep, max_iter=4).fit(buckets, y)
    np.testing.assert_array_equal(learner.decision_function(TEXTS), reference.decision_function(buckets))


def test_words_below_min_count_or_beyond_max_words_have_no_weight() -> None:
    texts = ["aa bb bb", "bb cc", "aa dd", "bb ee", "aa bb"]
    y = [0, 1, 0, 1, 0]
    rare = weigh.Perceptron("last", columns=weigh.Text(min_count=2)).fit(texts, y)
    assert rare.model_.features == ["text: aa", "text: bb"]
    most = weigh.Perceptron("last", columns=weigh.Text(max_words=1)).fit(texts, y)
    assert most.model_.features == ["text: bb"]
    np.testing.assert_array_equal(rare.decision_function(["aa cc dd"]), rare.decision_function(["aa"]))
    rare.partial_fit(["cc cc cc ff", "bb"], [0, 1])
    assert rare.model_.features == ["text: aa", "text: bb"]


@pytest.mark.parametrize("keep", HYPOTHESES)
@pytest.mark.parametrize("kind", [weigh.Text(), weigh.Text(buckets=8), weigh.Text(min_count=9)])
def test_texts_without_words_leave_only_the_bias(keep: str, kind: Any) -> None:
    rare = "aa bb" if kind.min_count > 1 else ""
    learner = weigh.Perceptron(keep, columns=kind).fit(["", rare, "", rare], [0, 1, 1, 0])
    assert learner.model_.features == []
    assert len(set(learner.decision_function(["", "aa bb"]).tolist())) == 1


def test_half_a_million_sparse_columns_are_learned() -> None:
    rng = np.random.default_rng(1)
    indices = np.sort(rng.integers(0, 500_000, (2_000, 10)), axis=1).ravel()
    cells = (rng.normal(size=20_000), indices, np.arange(0, 20_001, 10))
    X = sparse.csr_matrix(cells, shape=(2_000, 500_000))
    y = np.arange(2_000) % 2
    learner = weigh.Perceptron("averaged", max_iter=3).fit(X, y)
    assert learner.coef_.shape == (1, 500_000)
    used = np.unique(X.indices)
    small = weigh.Perceptron("averaged", max_iter=3).fit(X[:, used], y)
    np.testing.assert_array_equal(learner.coef_[:, used], small.coef_)
    assert np.count_nonzero(learner.coef_) == np.count_nonzero(small.coef_)
    np.testing.assert_array_equal(learner.predict(X), small.predict(X[:, used]))


@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
def test_five_hundred_classes_are_learned(multiclass: str) -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(500, 60))
    y = np.arange(2_000) % 500
    X = centres[y] + 0.05 * rng.normal(size=(2_000, 60))
    learner = weigh.Perceptron(multiclass=multiclass, max_iter=30).fit(X, y)
    assert learner.coef_.shape == (500, 60)
    assert learner.classes_.tolist() == list(range(500))
    assert learner.score(X, y) > 0.95


def test_a_schema_can_be_passed_to_another_learner() -> None:
    table = {
        "n": [1.0, 2.0, 3.0, -1.0],
        "c": ["x", "y", "z", "x"],
        "t": ["aa bb", "bb", "cc", "aa"],
        "l": [0, 1, 0, 1],
    }
    first = weigh.Perceptron(columns={"t": "text"}).fit(table, "l")
    again = weigh.Perceptron(columns=first.schema_).fit(table, "l")
    assert again.model_.to_bytes() == first.model_.to_bytes()
