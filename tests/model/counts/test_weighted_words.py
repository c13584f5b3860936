"""Naive Bayes of weighted words: exact sums without idf, values as in scikit-learn, clear refusals."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import ComplementNB, MultinomialNB

import weigh
from tests.resealing import reseal, take_apart
from weigh import errors
from weigh.source import rows as rows_of

TEXTS = [
    "free money free prize",
    "lunch at noon at the office",
    "money prize now",
    "the noon report, the report",
    "free lunch at noon",
    "win a free prize now now now",
]
LABELS = ["spam", "ham", "spam", "ham", "ham", "spam"]
NEW = ["free lunch now", "the money money report", "noon noon"]
TFIDF = weigh.Text(weighting="log-tfidf", norm="l2")


def fit(kind: Any, texts: Any = TEXTS, labels: Any = LABELS, **settings: Any) -> Any:
    return weigh.NaiveBayes(columns=kind, **settings).fit(texts, labels).model_


def test_the_sums_are_those_of_the_documented_values() -> None:
    words = fit(TFIDF).counts.parts[0]
    expected: Counter[tuple[str, str]] = Counter()
    documents: Counter[str] = Counter()
    for text, label in zip(TEXTS, LABELS, strict=True):
        counts = Counter(word for word in text.replace(",", "").split() if len(word) > 1)
        values = {word: 1 + math.log(n) for word, n in counts.items()}
        length = math.sqrt(sum(value**2 for value in values.values()))
        documents.update(counts.keys())
        for word, value in values.items():
            expected[label, word] += round(2**32 * value / length)
    names = list(words.names)
    assert words.documents.tolist() == [documents[name] for name in names]
    assert words.known.tolist() == [6]
    np.testing.assert_allclose(
        words.sums, [[expected[label, name] for name in names] for label in ("ham", "spam")], atol=2
    )
    idf = [1 + math.log(7 / (1 + documents[name])) for name in names]
    np.testing.assert_allclose(words.table, words.sums / 2**32 * idf, rtol=1e-14)


@pytest.mark.parametrize("is_complement", [False, True])
@pytest.mark.parametrize(
    ("kind", "peer"),
    [
        # Naive Bayes applies the idf after the norm, scikit-learn before, so compare one at a time.
        (weigh.Text(norm="l2"), TfidfVectorizer(use_idf=False)),
        (
            weigh.Text(weighting="log", norm="l1"),
            TfidfVectorizer(use_idf=False, sublinear_tf=True, norm="l1"),
        ),
        (weigh.Text(weighting="tfidf"), TfidfVectorizer(norm=None)),
        (weigh.Text(weighting="log-tfidf"), TfidfVectorizer(norm=None, sublinear_tf=True)),
    ],
)
def test_probabilities_equal_those_of_scikit_learn(kind: Any, peer: Any, is_complement: bool) -> None:
    model = fit(kind, complement=is_complement)
    classifier = (ComplementNB if is_complement else MultinomialNB)(alpha=1.0)
    classifier.fit(peer.fit_transform(TEXTS), LABELS)
    theirs = classifier.predict_log_proba(peer.transform(NEW))
    np.testing.assert_allclose(model.log_proba(NEW), theirs, rtol=1e-7, atol=1e-8)


def test_the_value_of_a_word_does_not_depend_on_which_other_words_are_known() -> None:
    kind = weigh.Text(weighting="log", norm="l2")
    entries = fit(kind).terms[0].entries(fit(kind).encode(next(fit(kind).chunks(["free unheard"]))).blocks[0])
    assert entries.values.tolist() == [round(2**32 / math.sqrt(2)) / 2**32]


def test_a_row_of_weight_two_is_the_same_as_two_rows() -> None:
    twice = weigh.NaiveBayes(columns=TFIDF).fit(TEXTS, LABELS, sample_weight=[2.0] * 6).model_
    assert twice.to_bytes() == fit(TFIDF, TEXTS * 2, LABELS * 2).to_bytes()


def test_forgetting_with_fractional_weights_leaves_no_words() -> None:
    weights = [0.1, 0.7, 1 / 3, 2.5, 0.9, 1.1]
    learner = weigh.NaiveBayes(columns=TFIDF).fit(TEXTS[:3], LABELS[:3], sample_weight=weights[:3])
    before = learner.model_.counts.parts[0]
    learner.partial_fit(TEXTS[3:], LABELS[3:], sample_weight=weights[3:])
    learner.forget(TEXTS[3:], LABELS[3:], sample_weight=weights[3:])
    after = learner.model_.counts.parts[0]
    assert list(after.names) == list(before.names)
    np.testing.assert_array_equal(after.sums, before.sums)
    np.testing.assert_allclose(after.documents, before.documents, rtol=1e-14)


def test_leaving_a_row_out_keeps_the_idf_of_all_rows() -> None:
    texts, labels = TEXTS * 2, LABELS * 2  # every word stays in the vocabulary
    model = fit(TFIDF, texts, labels)
    whole = model.counts.parts[0]
    scores = model.left_out_scores({"text": texts}, labels)
    for row, (text, label) in enumerate(zip(texts, labels, strict=True)):
        reduced = model.forget([text], [label])
        part = replace(reduced.counts.parts[0], documents=whole.documents, known=whole.known)
        reduced = reduced.with_counts(replace(reduced.counts, parts=[part]))
        np.testing.assert_allclose(scores[row], reduced.scores([text])[0], rtol=1e-12)


@pytest.mark.parametrize("prior", [1.0, None])
def test_leaving_out_equals_forgetting_with_fractional_weights(prior: float | None) -> None:
    kind, weights = weigh.Text(weighting="log", norm="l2"), [0.1, 0.7, 1 / 3, 2.5, 0.9, 1.1]
    learner = weigh.NaiveBayes(columns=kind, prior=prior).fit(TEXTS, LABELS, sample_weight=weights)
    scores = learner.model_.left_out_scores(rows_of(TEXTS, LABELS, weights))
    for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        reduced = learner.model_.forget(rows_of([text], [label], weights[i : i + 1]))
        expected = reduced.score_rows(reduced.encode(next(reduced.chunks([text]))))[0]
        np.testing.assert_allclose(scores[i], expected, rtol=1e-8)


def test_an_explanation_shows_the_arithmetic_and_sums_to_the_score() -> None:
    model = fit(weigh.Text(weighting="log", norm="l2"), ["free free", "noon", "free noon"], ["s", "h", "h"])
    evidence = model.explain(["free noon"])[0]
    assert [(row.feature, row.value) for row in evidence.table] == [
        ("class prior", ""),
        ("text: free", "tf 0.7071"),
        ("text: noon", "tf 0.7071"),
    ]
    assert sum(row.nats for row in evidence.table) == pytest.approx(np.ptp(model.scores(["free noon"])))
    lines = [re.split(" {2,}", line) for line in evidence.worked().splitlines()]
    assert lines == [
        ["", "h", "s"],
        ["P(class)", "2/3", "1/3"],
        [
            "P(text: free | class)^0.7071",
            "((0.707107 + 1) / (2.41421 + 2))^0.7071 = 0.510802",
            "((1 + 1) / (1 + 2))^0.7071 = 0.750732",
        ],
        [
            "P(text: noon | class)^0.7071",
            "((1.70711 + 1) / (2.41421 + 2))^0.7071 = 0.707697",
            "((0 + 1) / (1 + 2))^0.7071 = 0.459859",
        ],
        ["product", "0.240996", "0.115077"],
        ["posterior", "0.676816", "0.323184"],
        ["verdict: h"],
    ]


def test_removing_words_keeps_the_values_of_the_others() -> None:
    model = fit(TFIDF)
    text = "free prize now at noon"
    flip = weigh.flip(model, [text])
    removed = {row.feature for row in flip.removed}
    kept = [row.nats for row in model.explain([text])[0].table if row.feature not in removed]
    assert sum(kept) <= 0


REFUSALS = {
    "sample": (lambda model: model.sample(3), "no texts can be sampled from the model"),
    "posterior": (lambda model: model.posterior("body", "spam"), "their probabilities have no posterior"),
    "predictive": (
        lambda model: model.predictive_proba({"body": NEW}),
        "there is no posterior predictive distribution",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_needs_counts_is_refused(name: str) -> None:
    use, reason = REFUSALS[name]
    model = weigh.NaiveBayes(columns={"body": TFIDF}).fit({"body": TEXTS}, LABELS).model_
    with pytest.raises(errors.Unsupported) as caught:
        use(model)
    assert str(caught.value) == (
        f"The words of column 'body' have values (weighting or norm), not counts, so {reason}. Train with "
        "plain counts, columns={'body': 'text'}."
    )


def test_presence_has_no_values_in_naive_bayes() -> None:
    with pytest.raises(errors.Unsupported) as caught:
        fit(weigh.Text(counts=False, norm="l2"))
    assert str(caught.value) == (
        "Naive Bayes uses either values of words (weighting, norm) or only whether they occur "
        "(counts=False), not both. Leave out one of the two."
    )


def test_models_with_other_weightings_do_not_merge() -> None:
    first = weigh.NaiveBayes(columns={"body": TFIDF}).fit({"body": TEXTS}, LABELS).model_
    second = weigh.NaiveBayes(columns={"body": "text"}).fit({"body": TEXTS}, LABELS).model_
    with pytest.raises(errors.MergeError) as caught:
        first.merge(second)
    assert str(caught.value) == (
        "The models cannot merge: column 'body' is Text(weighting='log-tfidf', norm='l2') in the first and "
        "Text() in the second. Train the second with the columns of the first: columns=first.schema."
    )


def test_weighted_words_cannot_be_stated() -> None:
    with pytest.raises(errors.ParameterError, match=r"a column of kind Text\(weighting='tfidf'\) cannot be"):
        weigh.BayesModel.from_counts(
            columns={"b": {"x": {"w": 1}, "y": {"w": 2}}}, kinds={"b": weigh.Text(weighting="tfidf")}
        )


def test_values_are_no_joint_probabilities() -> None:
    assert not fit(TFIDF).is_generative
    assert fit(weigh.Text()).is_generative


def test_a_shift_of_words_is_measured_in_texts_that_contain_them() -> None:
    texts = [f"{a} {a} {b}" for a in ("free", "noon", "lunch") for b in ("money", "prize", "report")] * 10
    model = fit(TFIDF, texts, ["spam", "ham", "ham"] * 30)
    assert not weigh.unfamiliar(model, texts).shifted
    shifted = weigh.unfamiliar(model, ["free free free money"] * 90).shifted
    assert [(column.column, column.before, column.now) for column in shifted] == [
        ("text", "free 16.67 %", "free 50.00 %")
    ]


def test_sums_that_overflow_are_an_error() -> None:
    kind = weigh.Tokens(weighting="tfidf")
    with pytest.raises(errors.DataError, match="may add up to at most 2,147,483,647 in a class"):
        weigh.NaiveBayes(columns={"words": kind}).fit(
            {"words": [["a"], ["b"]]}, [0, 1], sample_weight=[1, 1e12]
        )


def test_impossible_sums_in_a_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.weigh"
    for name, value in (("part0.sums", -1), ("part0.documents", 7)):
        meta, arrays = take_apart(fit(TFIDF).to_bytes())
        arrays[name].reshape(-1)[0] = value
        path.write_bytes(reseal(meta, arrays))
        with pytest.raises(errors.ModelFileError, match="its table 'part0' holds impossible sums"):
            weigh.load(path)


def test_verifying_finds_a_changed_sum() -> None:
    model = fit(TFIDF)
    assert weigh.verify(model, TEXTS, LABELS).ok
    part = model.counts.parts[0]
    sums = part.sums.copy()
    sums[0, 0] += 1
    changed = model.with_counts(replace(model.counts, parts=[replace(part, sums=sums)]))
    differing = [check for check in weigh.verify(changed, TEXTS, LABELS).checks if not check.ok]
    assert [mismatch.what for mismatch in differing[0].differing] == ["sum of values of 'at' in class 'ham'"]
    fewer = model.with_counts(
        replace(model.counts, parts=[replace(part, documents=np.maximum(part.documents, 2))])
    )
    assert not weigh.verify(fewer, TEXTS, LABELS).ok
