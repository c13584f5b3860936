"""The surprise of words, at the rate of false alarms that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import weigh
from weigh.explain.word_surprise import MAX_DEVIATIONS, TEXT_CORRELATION, WordSurprise, deviations_for

WORDS = [f"w{k}" for k in range(3000)]


def write_texts(rng: np.random.Generator, n: int, first: int = 0) -> list[str]:
    lengths = rng.integers(3, 40, n)
    return [" ".join(WORDS[first + k % 1500] for k in rng.zipf(1.3, length)) for length in lengths]


def fit(kind: Any, texts: list[str]) -> Any:
    labels = ["p", "q"] * (len(texts) // 2)
    return weigh.NaiveBayes(columns={"t": kind}).fit({"t": texts, "y": labels}, "y").model_


def test_the_limit_is_a_normal_quantile_scaled_to_the_measured_rate() -> None:
    assert deviations_for(0.01) == MAX_DEVIATIONS
    ratio = stats.norm.isf(0.0025) / stats.norm.isf(0.01)
    assert deviations_for(0.0025) == pytest.approx(MAX_DEVIATIONS * ratio)


def test_a_text_is_found_if_its_mean_surprise_is_above_the_limit() -> None:
    model = fit("text", ["aa aa aa bb", "aa aa bb cc"] * 50)
    words = WordSurprise(model.distributions[0], 100)
    counts = np.array([250.0, 100.0, 50.0])  # five of eight words are aa, two bb and one cc
    surprise = np.log(400) - np.log(counts - 1 + 0.5)
    share = counts / 400
    mean = share @ surprise
    variance = share @ surprise**2 - mean**2
    (block,) = model.schema.encode(next(iter(model.chunks({"t": ["cc", "cc cc cc cc", "dd"]}))))
    for rate in (0.3, 0.1, 0.01, 1e-6):
        excess = np.log(400) - np.log([50.5, 50.5, 0.5]) - mean
        limit = deviations_for(rate) * np.sqrt(variance * (1 / np.array([1, 4, 1]) + TEXT_CORRELATION))
        expected = np.flatnonzero(excess > limit).tolist()
        assert [row for row, _, _ in words.find(block, rate)] == expected


def test_several_text_columns_share_the_rate() -> None:
    rng = np.random.default_rng(0)
    texts, later = write_texts(rng, 600), write_texts(rng, 300, first=40)
    alone = weigh.NaiveBayes(columns={"a": "text"}).fit({"a": texts, "y": ["p", "q"] * 300}, "y")
    columns = dict.fromkeys("abcd", "text")
    many = weigh.NaiveBayes(columns=columns).fit(dict.fromkeys("abcd", texts) | {"y": ["p", "q"] * 300}, "y")
    one = weigh.unfamiliar(alone, {"a": later})
    four = weigh.unfamiliar(many, dict.fromkeys("abcd", later))
    assert one.false_alarm_rate == four.false_alarm_rate == pytest.approx(0.01)
    assert 0 < len(four.rows) < len(one.rows)


@pytest.mark.parametrize(
    "kind",
    [
        weigh.Text(buckets=4096),
        weigh.Text(buckets=4096, counts=False),
        weigh.Text(buckets=4096, weighting="tfidf"),
    ],
    ids=["counts", "occurrence", "tfidf"],
)
def test_texts_in_buckets_are_examined(kind: Any) -> None:
    rng = np.random.default_rng(0)
    model = fit(kind, write_texts(rng, 1000))
    same = weigh.unfamiliar(model, {"t": write_texts(rng, 1000)})
    assert len(same.rows) <= 15
    assert same.headline.endswith("(false alarms: about 1 %).")
    others = weigh.unfamiliar(model, {"t": write_texts(rng, 500, first=1500)})
    assert len(others.rows) > 400
    assert others.kinds == {"unusual words": len(others.rows)}


def test_a_column_without_training_words_is_not_examined() -> None:
    rows = {"t": ["", " "] * 50, "a": ["x", "z"] * 50, "y": ["p", "q"] * 50}
    model = weigh.NaiveBayes(columns={"t": "text"}).fit(rows, "y")
    found = weigh.unfamiliar(model, {"t": ["some words"], "a": ["x"]})
    assert (found.rows, found.not_examined) == ((), ("t",))
