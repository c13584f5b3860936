"""Words of texts, as scikit-learn's CountVectorizer finds them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import weigh
from tests.splitting import split
from weigh import errors

TEXTS = [
    "Free money, FREE!",
    "I'll see you at 10 o'clock",
    "naïve Bayes é a b",
    "",
    "日本語 テキスト x_1 a-b c.d",
]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
def test_words_are_those_of_count_vectorizer(ngrams):
    analyzer = CountVectorizer(ngram_range=ngrams).build_analyzer()
    for text in TEXTS:
        assert sorted(split(text, weigh.Text(ngrams=ngrams))) == sorted(analyzer(text))


def test_min_length_keeps_shorter_words():
    assert split("a bc", weigh.Text(min_length=1)) == ["a", "bc"]


def test_a_list_of_texts_trains_and_explains_by_word():
    nb = weigh.NaiveBayes().fit(
        ["free money now", "lunch at noon", "free free lunch"], ["spam", "ham", "spam"]
    )
    evidence = nb.explain(["free free unheard lunch"])[0]
    assert [(row.feature, row.value) for row in evidence.table] == [
        ("class prior", ""),
        ("text: free", "× 2"),
        ("text: lunch", "× 1"),
    ]


def test_rare_words_are_pruned_at_the_end_and_not_in_the_counts():
    texts, y = ["good good rare", "bad bad", "good bad"], [1, 0, 1]
    kind = weigh.Text(min_count=2)
    first = weigh.NaiveBayes(kind).partial_fit(texts[:2], y[:2]).partial_fit(texts[2:], y[2:])
    assert first.model_.distributions[0].words == ["bad", "good"]
    assert first.model_.counts.parts[0].names == ["bad", "good", "rare"]
    first.partial_fit(["rare once more"], [0])
    assert "rare" in first.model_.distributions[0].words


def test_tokens_are_counted_as_they_are():
    nb = weigh.NaiveBayes({"tags": weigh.Tokens(counts=False)})
    nb.fit({"tags": [["A b", "c"], ["c", "c"]], "y": [0, 1]}, "y")
    assert nb.model_.counts.parts[0].present.names == ["A b", "c"]
    assert nb.model_.counts.parts[0].present.table.tolist() == [[1, 1], [0, 1]]


def test_a_missing_text_is_neither_present_nor_absent():
    nb = weigh.NaiveBayes({"body": weigh.Text(counts=False)})
    nb.fit({"body": ["one two", None, "two three", "one"], "y": [0, 0, 1, 1]}, "y")
    assert nb.model_.counts.parts[0].known.tolist() == [[1], [2]]
    prior = np.log([0.5, 0.5])
    assert np.allclose(nb.model_.scores({"body": [None]}), prior)


def test_what_is_no_text_is_told():
    with pytest.raises(errors.ColumnError, match="Column 'body' holds text, but one value is 3"):
        weigh.NaiveBayes({"body": "text"}).fit({"body": ["a b", 3], "y": [0, 1]}, "y")
    with pytest.raises(errors.ColumnError, match="Column 'tags' holds lists of names"):
        weigh.NaiveBayes({"tags": "tokens"}).fit({"tags": [["a"], [1]], "y": [0, 1]}, "y")


def test_no_text_has_ngrams_longer_than_itself():
    runs = split("one two three", weigh.Text(ngrams=(2, 10**12)))
    assert sorted(runs) == ["one two", "one two three", "two three"]
