"""Weighted words equal scikit-learn's TfidfVectorizer in every linear learner and in TextVectorizer."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import weigh
from tests.texts import MULTILINGUAL, edges
from weigh import errors
from weigh.learn.design_matrix import build_design_matrix
from weigh.source import rows as rows_of

TEXTS = MULTILINGUAL + edges()
NEW = ["the quick unheard FOX fox fox", "", "Привет 世界 unheard", MULTILINGUAL[22], "unheard"]
LABELS = [("no", "yes")[i % 2] for i in range(len(TEXTS))]
TOKENISERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "words": ({}, {}),
    "pairs": ({"ngrams": (1, 2)}, {"ngram_range": (1, 2)}),
    "characters": ({"chars": True, "ngrams": (1, 3)}, {"analyzer": "char", "ngram_range": (1, 3)}),
    "within words": ({"chars": "words", "ngrams": (3, 5)}, {"analyzer": "char_wb", "ngram_range": (3, 5)}),
    "in two texts": ({"min_count": 2}, {"min_df": 2}),
    "presence": ({"counts": False}, {"binary": True}),
}
WEIGHTINGS: dict[str, dict[str, Any]] = {
    "counts": {"use_idf": False},
    "log": {"use_idf": False, "sublinear_tf": True},
    "tfidf": {},
    "log-tfidf": {"sublinear_tf": True},
}
TFIDF = weigh.Text(weighting="tfidf", norm="l2")


# Without weighting and norm, min_count counts occurrences, unlike min_df.
CASES = [
    case
    for case in itertools.product(TOKENISERS, WEIGHTINGS, (None, "l1", "l2"))
    if case != ("in two texts", "counts", None)
]


@pytest.mark.parametrize(("tokeniser", "weighting", "norm"), CASES)
def test_values_equal_those_of_scikit_learn(tokeniser: str, weighting: str, norm: str | None) -> None:
    ours, theirs = TOKENISERS[tokeniser]
    words = weigh.TextVectorizer(**ours, weighting=weighting, norm=norm)
    peer = TfidfVectorizer(**theirs, **WEIGHTINGS[weighting], norm=norm)
    first, second = words.fit_transform(TEXTS), peer.fit_transform(TEXTS)
    assert words.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    np.testing.assert_allclose(first.toarray(), second.toarray(), rtol=1e-12, atol=0)
    np.testing.assert_allclose(
        words.transform(NEW).toarray(), peer.transform(NEW).toarray(), rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("storage", ["list", "file"])
def test_the_design_matrix_equals_that_of_scikit_learn(storage: str, tmp_path: Path) -> None:
    texts = ["free money free", "lunch at noon", "free lunch", "noon noon noon money"] * 50
    labels = ["spam", "ham"] * 100
    source: Any = rows_of({"body": texts, "class": labels}, "class")
    if storage == "file":
        lines = [f"{text},{label}" for text, label in zip(texts, labels, strict=True)]
        (tmp_path / "mails.csv").write_text("body,class\n" + "\n".join(lines))
        source = weigh.open(tmp_path / "mails.csv", label="class")
    matrix = build_design_matrix(source, columns={"body": TFIDF})
    peer = TfidfVectorizer()
    np.testing.assert_allclose(matrix.X.to_dense(), peer.fit_transform(texts).toarray(), rtol=1e-12, atol=0)
    assert list(matrix.names) == [f"body: {word}" for word in peer.get_feature_names_out()]


def test_weighted_words_stand_beside_other_columns() -> None:
    table = {"body": ["free money", "noon free", "money"], "n": [1.5, 0.0, 2.5], "sky": ["a", "b", "a"]}
    columns = {"body": TFIDF, "n": "number", "sky": "category"}
    matrix = build_design_matrix(table | {"class": ["x", "y", "x"]}, "class", columns)
    dense = dict(zip(matrix.names, matrix.X.to_dense().T.tolist(), strict=True))
    peer = TfidfVectorizer().fit(table["body"])
    values = peer.transform(table["body"]).toarray().T
    for word, expected in zip(peer.get_feature_names_out(), values, strict=True):
        np.testing.assert_allclose(dense[f"body: {word}"], expected, rtol=1e-12)
    assert dense["sky=a"] == [1.0, 0.0, 1.0]


LEARNERS: dict[str, Any] = {
    "perceptron": weigh.Perceptron(columns=TFIDF),
    "logistic": weigh.LogisticRegression(columns=TFIDF),
    "online": weigh.LogisticRegression(columns=TFIDF, method="online"),
    "logistic of tokens in buckets": weigh.LogisticRegression(
        columns=weigh.Tokens(weighting="log-tfidf", norm="l1", buckets=64)
    ),
    "regression": weigh.LinearRegression(columns=TFIDF, prior=weigh.Normal(1.0), noise=weigh.Normal(1.0)),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_of_a_saved_model_use_the_idf_of_training(name: str, tmp_path: Path) -> None:
    learner = LEARNERS[name]
    split = (lambda text: text.split()) if "tokens" in name else (lambda text: text)
    X, new = [split(text) for text in TEXTS if text.strip()], [split(text) for text in NEW if text]
    y: Any = [i % 2 if name == "regression" else LABELS[i] for i in range(len(X))]
    model = learner.fit({"body": X}, y).model_
    model.save(tmp_path / "model.weigh")
    loaded = weigh.load(tmp_path / "model.weigh")
    rows = {"body": new}
    if name == "regression":
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    else:
        np.testing.assert_array_equal(loaded.scores(rows), model.scores(rows))
    assert loaded.to_bytes() == model.to_bytes()


def test_scores_are_weights_times_the_values_of_scikit_learn() -> None:
    model = weigh.LogisticRegression(columns=TFIDF).fit(TEXTS, LABELS).model_
    peer = TfidfVectorizer().fit(TEXTS)
    expected = peer.transform(NEW) @ model.coef + model.intercept
    scores = model.scores(NEW)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], expected, rtol=1e-10, atol=1e-12)


def test_an_explanation_names_the_values_and_sums_to_the_score() -> None:
    texts = ["free money free", "lunch at noon", "free lunch", "noon money"]
    model = weigh.LogisticRegression(columns=TFIDF).fit(texts, ["spam", "ham", "spam", "ham"]).model_
    evidence = model.explain(["free free noon unheard"])[0]
    peer = TfidfVectorizer().fit(texts)
    values = dict(
        zip(peer.get_feature_names_out(), peer.transform(["free free noon"]).toarray()[0], strict=True)
    )
    assert [(row.feature, row.value) for row in evidence.table] == [
        ("bias", ""),
        ("text: free", f"tf-idf {values['free']:.4g}"),
        ("text: noon", f"tf-idf {values['noon']:.4g}"),
    ]
    scores = model.scores(["free free noon unheard"])[0]
    assert sum(row.nats for row in evidence.table) == pytest.approx(np.ptp(scores), rel=1e-12)


@pytest.mark.parametrize("method", ["online", "perceptron"])
def test_later_batches_keep_the_words_and_the_idf_of_the_first(method: str) -> None:
    learner: Any = weigh.Perceptron(columns=TFIDF)
    if method == "online":
        learner = weigh.LogisticRegression(columns=TFIDF, method="online")
    learner.partial_fit(["free money", "lunch noon", "free"], ["spam", "ham", "spam"])
    before = learner.model_.terms[0].weighting
    learner.partial_fit(["late words", "late noon"], ["spam", "ham"])
    term = learner.model_.terms[0]
    assert list(term.names) == ["free", "lunch", "money", "noon"]
    assert term.weighting.documents.tolist() == before.documents.tolist() == [2, 1, 1, 1]
    assert term.weighting.n_documents == 3


def test_rows_of_weight_zero_and_missing_texts_are_no_documents() -> None:
    texts, labels = ["free money", None, "noon free", "late"], ["spam", "spam", "ham", "ham"]
    learner = weigh.LogisticRegression(columns={"body": TFIDF})
    model = learner.fit({"body": texts}, labels, sample_weight=[1, 1, 2.5, 0]).model_
    weighting = model.terms[0].weighting
    assert list(model.terms[0].names) == ["free", "money", "noon"]
    assert (weighting.documents.tolist(), weighting.n_documents) == ([2, 1, 1], 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"weighting": "idf"},
            "Text: weighting must be 'counts', 'log', 'tfidf' or 'log-tfidf', got 'idf'. "
            "Did you mean 'tfidf'?",
        ),
        ({"norm": "max"}, "Text: norm must be None, 'l1' or 'l2', got 'max'."),
    ],
)
def test_unknown_weightings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        weigh.Text(**settings)
    assert str(caught.value) == message


def test_a_vectorizer_of_buckets_ignores_words_in_unused_buckets() -> None:
    words = weigh.TextVectorizer(buckets=1024, weighting="tfidf", norm="l2").fit(["free money free"])
    matrix = words.transform(["free unheard", "unheard"])
    assert matrix.shape == (2, 1024)
    np.testing.assert_allclose(matrix.sum(axis=1).ravel(), [[1.0, 0.0]])


def test_integer_values_of_a_weighting_are_an_error() -> None:
    words = weigh.TextVectorizer(dtype=np.int64, norm="l2").fit(TEXTS)
    with pytest.raises(errors.ParameterError, match="dtype must be a floating-point type with a weighting"):
        words.transform(TEXTS)
    assert weigh.TextVectorizer(dtype=np.float32, norm="l2").fit_transform(TEXTS).dtype == np.float32
