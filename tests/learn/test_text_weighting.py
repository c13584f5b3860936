"""The values of words in texts whose kind linear learners infer."""

from __future__ import annotations

from typing import Any

import pytest

import weigh

WORDS = ("offer money now please", "lunch at noon please", "win money today please", "see you at noon")
WEIGHTED = weigh.Text(weighting="log-tfidf", norm="l2")


def make_texts(n: int) -> tuple[dict[str, Any], list[str]]:
    texts = [f"{WORDS[i % 4]} {'number word' * (i % 3)} {i % 7}x" for i in range(n)]
    return {"text": texts}, ["spam" if i % 2 == 0 else "ham" for i in range(n)]


@pytest.mark.parametrize("learner", [weigh.Perceptron, weigh.LogisticRegression])
def test_words_of_inferred_texts_have_log_tf_idf_values(learner: Any) -> None:
    X, y = make_texts(60)
    model = learner().fit(X, y)
    assert list(model.schema_.kinds) == [WEIGHTED]
    stated = learner(columns={"text": WEIGHTED}).fit(X, y)
    assert model.model_.to_bytes() == stated.model_.to_bytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: weigh.Perceptron(columns={"text": weigh.Text()}).fit(X, y),
        lambda X, y: weigh.Perceptron(scale=None).fit(X, y),
        lambda X, y: weigh.Perceptron().partial_fit(X, y),
        lambda X, y: weigh.LogisticRegression(scale=None).fit(X, y),
        lambda X, y: weigh.LogisticRegression(weigh.Normal(1)).fit(X, y),
        lambda X, y: weigh.LogisticRegression(method="online").fit(X, y),
        lambda X, y: weigh.LogisticRegression().fit({"text": X["text"][:49]}, y[:49]),
        lambda X, y: weigh.NaiveBayes().fit(X, y),
    ],
)
def test_words_are_counted_where_the_units_are_stated_or_few_rows_or_batches_are_given(make: Any) -> None:
    assert list(make(*make_texts(60)).schema_.kinds) == [weigh.Text()]


def test_partial_fit_learns_the_words_of_later_batches() -> None:
    X, y = make_texts(60)
    model = weigh.Perceptron().partial_fit(X, y)
    model.partial_fit({"text": ["invoice overdue"] * 5}, ["spam"] * 5)
    assert any("invoice" in name for name in model.model_.features)
