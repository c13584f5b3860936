"""Text models agree with scikit-learn's on the matrix of CountVectorizer, to 1e-10."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import weigh
from tests.texts import mixed, peer
from weigh.judge.verification.recount import hash_bucket, tokenise_text

TOLERANCE = 1e-10
ALPHAS = [1.0, 0.5, 1e-3, 7.0]
WEIGHTS = ["none", "whole", "fractional"]
KINDS: dict[str, dict[str, Any]] = {
    "words": {},
    "pairs": {"ngrams": (1, 2), "strip_accents": True},
    "characters": {"chars": "words", "ngrams": (2, 3)},
}
rng = random.Random(8)
TRAIN = [mixed(rng, 15) for _ in range(120)]
NEW = [mixed(rng, 15) for _ in range(40)] + ["", "unheard of"]
# Every class occurs early, so none is without words.
Y = np.array([f"class {i if i < 3 else rng.randint(0, 2)}" for i in range(len(TRAIN))])


def make_weights(name: str) -> Any:
    generator = np.random.default_rng(1)
    sample_weight = {
        "whole": generator.integers(1, 5, len(Y)).astype(float),
        "fractional": generator.uniform(0.1, 3, len(Y)),
    }
    return sample_weight.get(name)


def check_agreement(first: Any, second: Any, texts: list[str], rows: Any) -> None:
    """Assert equal classes, joint log-likelihoods, posteriors and predictions."""
    assert first.classes_.tolist() == second.classes_.tolist()
    joint = second.predict_joint_log_proba(rows)
    tolerance = TOLERANCE * max(1.0, np.abs(joint).max())
    assert np.abs(first.predict_joint_log_proba(texts) - joint).max() < tolerance
    assert np.abs(first.predict_log_proba(texts) - second.predict_log_proba(rows)).max() < tolerance
    assert (first.predict(texts) == second.predict(rows)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    ("model", "counts", "settings"),
    [(MultinomialNB, True, {}), (BernoulliNB, False, {}), (ComplementNB, True, {"complement": True})],
    ids=["multinomial", "bernoulli", "complement"],
)
def test_models_of_text_agree(
    model: Any, counts: bool, settings: dict[str, Any], alpha: float, weights: str, kind: str
) -> None:
    text = weigh.Text(counts, **KINDS[kind])
    vectorizer = peer(text).fit(TRAIN)
    sample_weight = make_weights(weights)
    theirs = model(alpha=alpha).fit(vectorizer.transform(TRAIN), Y, sample_weight)
    ours = weigh.NaiveBayes(text, prior=alpha, **settings).fit(TRAIN, Y, sample_weight)
    check_agreement(ours, theirs, NEW, vectorizer.transform(NEW))


def hash_texts(texts: list[str], kind: weigh.Text, buckets: int) -> csr_matrix:
    table = np.zeros((len(texts), buckets))
    for row, text in enumerate(texts):
        for word in tokenise_text(text, kind):
            table[row, hash_bucket(word, buckets)] += 1
    return csr_matrix(table if kind.counts else (table > 0).astype(float))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("buckets", [2, 128, 2**14])
@pytest.mark.parametrize(
    ("model", "counts", "settings"),
    [(MultinomialNB, True, {}), (BernoulliNB, False, {}), (ComplementNB, True, {"complement": True})],
    ids=["multinomial", "bernoulli", "complement"],
)
def test_models_of_hashed_text_agree(
    model: Any, counts: bool, settings: dict[str, Any], buckets: int, weights: str, kind: str
) -> None:
    text = weigh.Text(counts, buckets=buckets, **KINDS[kind])
    sample_weight = make_weights(weights)
    train = hash_texts(TRAIN, text, buckets)
    # Buckets without any weighted text are not features.
    used = np.flatnonzero(train[sample_weight > 0 if sample_weight is not None else slice(None)].sum(axis=0))
    theirs = model(alpha=0.5).fit(train[:, used], Y, sample_weight)
    ours = weigh.NaiveBayes(text, prior=0.5, **settings).fit(TRAIN, Y, sample_weight)
    check_agreement(ours, theirs, NEW, hash_texts(NEW, text, buckets)[:, used])


@pytest.mark.parametrize(("model", "counts"), [(MultinomialNB, True), (BernoulliNB, False)])
def test_models_of_the_most_frequent_words_agree(model: Any, counts: bool) -> None:
    # All frequencies differ, because scikit-learn breaks ties differently.
    texts = [" ".join(f"word{k}" for k in range(n)) for n in range(1, 40)]
    y = [n % 3 for n in range(39)]
    vectorizer = peer(weigh.Text(counts), max_features=9).fit(texts)
    ours = weigh.NaiveBayes(weigh.Text(counts, max_words=9)).fit(texts, y)
    check_agreement(ours, model().fit(vectorizer.transform(texts), y), texts, vectorizer.transform(texts))


def test_token_lists_agree_with_their_counts() -> None:
    lists = [tokenise_text(text, weigh.Text()) for text in TRAIN]
    vectorizer = peer(weigh.Text()).fit(TRAIN)
    theirs = MultinomialNB().fit(vectorizer.transform(TRAIN), Y)
    ours = weigh.NaiveBayes({"tags": "tokens"}).fit({"tags": lists}, Y)
    joint = theirs.predict_joint_log_proba(vectorizer.transform(NEW))
    rows = {"tags": [tokenise_text(text, weigh.Text()) for text in NEW]}
    np.testing.assert_allclose(ours.predict_joint_log_proba(rows), joint, rtol=TOLERANCE)


def test_partial_fit_on_text_agrees() -> None:
    vectorizer = peer(weigh.Text()).fit(TRAIN)
    first, second = weigh.NaiveBayes(weigh.Text()), MultinomialNB()
    classes = np.unique(Y)
    for rows in np.array_split(np.arange(len(TRAIN)), 4):
        texts = [TRAIN[i] for i in rows]
        first.partial_fit(texts, Y[rows], classes=classes)
        second.partial_fit(vectorizer.transform(texts), Y[rows], classes=classes)
    check_agreement(first, second, NEW, vectorizer.transform(NEW))
