"""TextVectorizer gives the same matrix as CountVectorizer."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import weigh
from tests.texts import MULTILINGUAL, edges, peer
from weigh import errors
from weigh.judge.verification.recount import hash_bucket, tokenise_text

TEXTS = MULTILINGUAL + edges()
NEW = ["the quick unheard FOX", "", "Привет 世界 unheard", MULTILINGUAL[22], "unheard"]
SETTINGS: dict[str, dict[str, Any]] = {
    "words": {},
    "pairs": {"ngrams": (1, 2)},
    "runs": {"ngrams": (2, 3), "min_length": 1},
    "characters": {"chars": True, "ngrams": (1, 3)},
    "within words": {"chars": "words", "ngrams": (3, 5)},
    "presence": {"counts": False, "ngrams": (1, 2)},
    "presence of characters": {"counts": False, "chars": True},
    "capitals": {"lowercase": False},
    "accents": {"strip_accents": True},
    "stop words": {"stop_words": ["the", "fox"], "ngrams": (1, 2)},
    "long words": {"min_length": 5},
}


def assert_same_matrix(first: Any, second: Any) -> None:
    assert type(first) is type(second)
    assert first.shape == second.shape
    assert first.dtype == second.dtype
    for part in ("indptr", "indices", "data"):
        ours, theirs = getattr(first, part), getattr(second, part)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def assert_same(first: Any, second: Any, texts: Any = TEXTS) -> None:
    """Assert the same matrix and names after fitting, and the same matrix of new texts."""
    ours, theirs = first.fit_transform(texts), second.fit_transform(texts)
    theirs.sort_indices()
    assert_same_matrix(ours, theirs)
    assert first.get_feature_names_out().tolist() == second.get_feature_names_out().tolist()
    assert first.vocabulary_ == second.vocabulary_
    assert_same_matrix(first.transform(NEW), second.transform(NEW))


@pytest.mark.parametrize("name", SETTINGS)
def test_the_matrix_is_that_of_count_vectorizer(name: str) -> None:
    options = SETTINGS[name]
    assert_same(weigh.TextVectorizer(**options), peer(weigh.Text(**options)))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float64, np.float32, np.uint8])
def test_the_counts_have_the_requested_dtype(dtype: Any) -> None:
    assert_same(weigh.TextVectorizer(dtype=dtype), CountVectorizer(dtype=dtype))


# Each line has one word more, so no two words are equally frequent.
STAIRS = [" ".join(f"word{k}" for k in range(n)) for n in range(1, 30)]


@pytest.mark.parametrize("max_words", [1, 7, 28, 100])
def test_the_most_frequent_words_are_kept(max_words: int) -> None:
    assert_same(weigh.TextVectorizer(max_words=max_words), CountVectorizer(max_features=max_words), STAIRS)


@pytest.mark.parametrize("min_count", [1, 2, 3, 12])
def test_words_in_few_texts_are_left_out(min_count: int) -> None:
    ours = weigh.TextVectorizer(counts=False, min_count=min_count)
    assert_same(ours, CountVectorizer(binary=True, min_df=min_count), [*STAIRS, *TEXTS])


def test_words_that_occur_rarely_are_left_out() -> None:
    words = weigh.TextVectorizer(min_count=2).fit(["one one", "two", "three two"])
    assert words.get_feature_names_out().tolist() == ["one", "two"]


STORAGES: dict[str, Any] = {
    "array": lambda texts: np.array(texts, dtype=object),
    "Series": pd.Series,
    "Arrow": pa.array,
    "column of a frame": lambda texts: pd.DataFrame({"body": texts}),
    "source": weigh.rows,
}


@pytest.mark.parametrize("storage", STORAGES)
def test_texts_of_any_storage_give_the_same_matrix(storage: str) -> None:
    texts = [text for text in TEXTS if "\\ud" not in ascii(text)]
    convert = STORAGES[storage]
    expected = weigh.TextVectorizer().fit(texts)
    found = weigh.TextVectorizer().fit(convert(texts))
    assert found.names_ == expected.names_
    assert_same_matrix(found.transform(convert(texts)), expected.transform(texts))


def test_a_file_gives_the_same_matrix(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    pd.DataFrame({"body": STAIRS}).to_csv(path, index=False)
    found = weigh.TextVectorizer().fit(weigh.open(path))
    assert_same_matrix(found.transform(weigh.open(path)), weigh.TextVectorizer().fit_transform(STAIRS))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_finds_the_same_words(threads: int) -> None:
    texts = [f"w{i % 977} w{i % 1009} w{i * i % 65536}" for i in range(150_000)]
    found = weigh.TextVectorizer(threads=threads, min_count=2).fit(texts)
    counts = {word: 0 for text in texts for word in text.split()}
    for text in texts:
        for word in text.split():
            counts[word] += 1
    assert list(found.names_) == sorted(word for word, n in counts.items() if n >= 2 and len(word) > 1)


def test_a_named_series_and_a_list_are_the_same_texts() -> None:
    named = pd.Series(["one two", "three"], name="body")
    expected = weigh.TextVectorizer().fit_transform(list(named))
    assert_same_matrix(weigh.TextVectorizer().fit(named).transform(list(named)), expected)
    assert_same_matrix(weigh.TextVectorizer().fit(list(named)).transform(named), expected)


def test_a_missing_text_is_an_empty_row() -> None:
    words = weigh.TextVectorizer().fit(["one two", None])
    assert words.transform([None, "two", ""]).toarray().tolist() == [[0, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize("buckets", [2, 64, 2**12])
@pytest.mark.parametrize("counts", [True, False])
def test_buckets_are_those_of_the_words_hashes(buckets: int, counts: bool) -> None:
    kind = weigh.Text(counts, ngrams=(1, 2))
    found = weigh.TextVectorizer(counts, ngrams=(1, 2), buckets=buckets).fit_transform(TEXTS)
    expected = np.zeros((len(TEXTS), buckets), dtype=np.int64)
    for row, text in enumerate(TEXTS):
        for word in tokenise_text(text, kind):
            expected[row, hash_bucket(word, buckets)] += 1
    np.testing.assert_array_equal(found.toarray(), expected if counts else expected > 0)
    if counts:
        whole = peer(kind).fit_transform(TEXTS)
        np.testing.assert_array_equal(found.sum(axis=1), whole.sum(axis=1))


def test_buckets_have_no_vocabulary() -> None:
    words = weigh.TextVectorizer(buckets=4).fit(["one two"])
    with pytest.raises(errors.Unsupported) as excinfo:
        _ = words.vocabulary_
    assert str(excinfo.value) == "Words that are hashed into buckets have no columns of their own."


@pytest.mark.parametrize("options", [{}, {"buckets": 64}, {"counts": False, "stop_words": ["two"]}])
def test_it_can_be_pickled_and_cloned(options: dict[str, Any]) -> None:
    words = weigh.TextVectorizer(**options).fit(["one two two", "three"])
    rows = words.transform(["two one", "two"])
    copy = pickle.loads(pickle.dumps(words))
    assert_same_matrix(copy.transform(["two one", "two"]), rows)
    again = clone(words)
    assert again.get_params() == words.get_params()
    with pytest.raises(NotFittedError):
        again.transform(["one"])


def test_it_works_in_pipelines_and_grid_search() -> None:
    texts, y = ["good fine", "bad poor", "fine good good", "poor bad bad"] * 6, [1, 0, 1, 0] * 6
    chain = make_pipeline(weigh.TextVectorizer(), Perceptron())
    assert chain.fit(texts, y).score(texts, y) == 1.0
    grid = {"textvectorizer__ngrams": [(1, 1), (1, 2)], "textvectorizer__buckets": [None, 256]}
    search = GridSearchCV(chain, grid, cv=3, n_jobs=2).fit(texts, y)
    assert search.best_score_ == 1.0
    assert chain[:-1].get_feature_names_out().tolist() == ["bad", "fine", "good", "poor"]


def test_invalid_texts_are_errors() -> None:
    with pytest.raises(errors.DataError) as excinfo:
        weigh.TextVectorizer().fit("one text")
    assert str(excinfo.value) == "One string was given where a list of texts is expected. Give [text]."
    with pytest.raises(errors.DataError) as excinfo:
        weigh.TextVectorizer().fit([["one", "two"]])
    assert str(excinfo.value) == (
        "A vocabulary is built from one column of texts, but there are 2 columns: 'x0', 'x1'. Give the text "
        "column alone."
    )


def test_invalid_settings_are_errors_in_fit() -> None:
    words = weigh.TextVectorizer(buckets=3)
    with pytest.raises(errors.ParameterError, match=r"^Text: buckets must be a power of two from 2 to"):
        words.fit(["one"])


def test_the_name_of_the_column_may_differ_in_transform() -> None:
    frame = pd.DataFrame({"body": ["free money", "lunch"]})
    words = weigh.TextVectorizer().fit(frame)
    assert words.transform(["free lunch"]).toarray().tolist() == [[1, 1, 0]]


def test_an_empty_list_gives_an_empty_matrix() -> None:
    words = weigh.TextVectorizer().fit(["free money"])
    assert words.transform([]).shape == (0, 2)


def test_bytes_are_an_error() -> None:
    with pytest.raises(errors.DataError) as excinfo:
        weigh.TextVectorizer().fit([b"free money"])
    assert str(excinfo.value) == "Texts must be strings, got bytes. Decode them first: text.decode()."


def test_a_dtype_that_cannot_hold_the_counts_is_an_error() -> None:
    words = weigh.TextVectorizer(dtype=np.uint8).fit(["ab"])
    assert words.transform(["ab " * 255]).toarray().tolist() == [[255]]
    with pytest.raises(errors.ParameterError, match="dtype must be a type that holds counts up to 300"):
        words.transform(["ab " * 300])


ITERABLES: dict[str, Any] = {
    "generator": lambda texts: (text for text in texts),
    "map": lambda texts: map(str, texts),
    "keys": lambda texts: dict.fromkeys(texts).keys(),
    "values": lambda texts: dict(enumerate(texts)).values(),
}


@pytest.mark.parametrize("name", ITERABLES)
def test_texts_that_can_be_read_once_give_the_same_matrix(name: str) -> None:
    texts, iterate = ["the cat sat", "a dog ran", "the dog"], ITERABLES[name]
    expected = CountVectorizer().fit_transform(texts)
    ours = weigh.TextVectorizer()
    for matrix in (ours.fit_transform(iterate(texts)), ours.fit(iterate(texts)).transform(iterate(texts))):
        np.testing.assert_array_equal(matrix.toarray(), expected.toarray())
    assert ours.transform(iterate([])).shape == (0, 5)
    with pytest.raises(errors.DataError, match=r"^The list is empty"):
        ours.fit(iterate([]))


@pytest.mark.parametrize(
    ("options", "texts", "message"),
    [
        ({}, ["", ""], "the texts have no words of at least 2 characters that are not stop words."),
        (
            {"stop_words": "english"},
            ["the and", "of"],
            "the texts have no words of at least 2 characters that are not stop words.",
        ),
        ({"min_count": 3}, ["cat dog", "dog"], "no word occurs at least 3 times. Try min_count=1."),
        (
            {"chars": True, "ngrams": (2, 2), "min_count": 3},
            ["ab"],
            "no n-gram occurs at least 3 times. Try min_count=1.",
        ),
        ({"chars": True, "ngrams": (9, 9)}, ["ab"], "the texts are too short for the n-grams."),
    ],
)
def test_an_empty_vocabulary_is_an_error_as_in_count_vectorizer(
    options: dict[str, Any], texts: list[str], message: str
) -> None:
    words = weigh.TextVectorizer(**options)
    with pytest.raises(ValueError, match=r"empty|prun") as excinfo:
        words.fit(texts)
    assert str(excinfo.value) == f"The vocabulary is empty: {message}"
    with pytest.raises(NotFittedError):
        words.transform(texts)


def test_hashed_words_have_no_vocabulary_that_could_be_empty() -> None:
    assert weigh.TextVectorizer(buckets=8).fit_transform(["", ""]).toarray().sum() == 0


@pytest.mark.parametrize("chars", [True, "words"])
def test_stop_words_without_words_cause_a_warning_as_in_count_vectorizer(chars: bool | str) -> None:
    peer_settings: dict[str, Any] = {
        "analyzer": "char" if chars is True else "char_wb",
        "stop_words": ["the"],
    }
    with pytest.warns(UserWarning, match="stop_words' will not be used"):
        expected = CountVectorizer(**peer_settings).fit_transform(["the cat"])
    with pytest.warns(errors.UnusedParameter) as caught:
        ours = weigh.TextVectorizer(stop_words=["the"], chars=chars).fit_transform(["the cat"])
    assert str(caught[0].message) == (
        "stop_words has no effect: characters are counted, not words. Leave it out, or use chars=False."
    )
    np.testing.assert_array_equal(ours.toarray(), expected.toarray())


def test_words_are_found_back_in_a_matrix() -> None:
    texts = ["the cat sat", "", "a dog ran, the dog"]
    ours, theirs = weigh.TextVectorizer(), CountVectorizer()
    matrix = ours.fit_transform(texts)
    expected = theirs.fit(texts).inverse_transform(theirs.transform(texts))
    for given in (matrix, matrix.toarray()):
        found = ours.inverse_transform(given)
        assert [sorted(words) for words in found] == [sorted(words) for words in expected]
    assert ours.inverse_transform(matrix[:0]) == []
    with pytest.raises(errors.Unsupported):
        weigh.TextVectorizer(buckets=8).fit(texts).inverse_transform(matrix)


@pytest.mark.parametrize(
    "texts", [[b"ab cd"], (b"ab cd",), np.array([b"ab cd"]), np.array([b"ab"], dtype=object)]
)
def test_bytes_in_any_container_are_named(texts: Any) -> None:
    with pytest.raises(errors.DataError, match=r"^Texts must be strings, got bytes\. Decode them first"):
        weigh.TextVectorizer().fit(texts)


@pytest.mark.parametrize(("texts", "found"), [([1, 2], "int"), ([1.5], "float"), (np.arange(2), "int64")])
def test_numbers_instead_of_texts_are_named(texts: Any, found: str) -> None:
    with pytest.raises(errors.DataError, match=rf"^Texts must be strings, got {found}\.$"):
        weigh.TextVectorizer().fit(texts)


@pytest.mark.parametrize("missing", [[None], [float("nan")], [None, float("nan")]])
def test_a_batch_of_missing_texts_has_no_words(missing: list[Any]) -> None:
    vectorizer = weigh.TextVectorizer().fit(["some words", "other words"])
    assert vectorizer.transform(missing).toarray().tolist() == [[0, 0, 0]] * len(missing)


def test_inverse_transform_leaves_its_input_unchanged() -> None:
    vectorizer = weigh.TextVectorizer().fit(["some words", "other words"])
    matrix = vectorizer.transform(["words some"])
    matrix.data[0] = 0
    vectorizer.inverse_transform(matrix)
    assert matrix.nnz == 2
