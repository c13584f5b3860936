"""Explanations say where the words are that contribute."""

from __future__ import annotations

from typing import Any

import pytest

import weigh
from tests.serve.client import Client

LABELS = {"y": ["a", "b"] * 3}
WORDS = ["Cheap pills, cheap!", "lunch at noon"] * 3


def find_spans(kind: Any, text: str) -> list[tuple[str, str]]:
    """Return the marked parts of a text, cut as JavaScript would, and the features that they belong to."""
    model = weigh.NaiveBayes(columns={"body": kind}).fit({"body": WORDS, **LABELS}, "y").model_
    units = text.encode("utf-16-le")
    spans = Client({"m": model}).explain("m", [{"body": text}])[0]["spans"]
    return [(units[2 * s["start"] : 2 * s["end"]].decode("utf-16-le"), s["feature"]) for s in spans]


def test_every_occurrence_is_marked_as_it_is_written() -> None:
    assert find_spans("text", "CHEAP noon? I said cheap") == [
        ("CHEAP", "body: cheap"),
        ("noon", "body: noon"),
        ("cheap", "body: cheap"),
    ]


def test_offsets_count_utf16_code_units() -> None:
    assert find_spans("text", "😀😀 cheap 😀 noon") == [("cheap", "body: cheap"), ("noon", "body: noon")]


def test_ngrams_are_marked_from_their_first_to_their_last_word() -> None:
    kind = weigh.Text(ngrams=(2, 2), stop_words=("at",))
    assert find_spans(kind, "Lunch -- at NOON") == [("Lunch -- at NOON", "body: lunch noon")]


def test_characters_are_marked() -> None:
    assert ("noo", "body: noo") in find_spans(weigh.Text(chars=True, ngrams=(3, 3)), "noon")


def test_words_in_the_same_bucket_are_marked() -> None:
    spans = find_spans(weigh.Text(buckets=2), "cheap noon")
    assert [written for written, _ in spans] == ["cheap", "noon"]


@pytest.mark.parametrize("text", [None, ""])
def test_a_missing_text_has_no_spans(text: str | None) -> None:
    model = weigh.NaiveBayes(columns={"body": "text"}).fit({"body": WORDS, **LABELS}, "y").model_
    assert Client({"m": model}).explain("m", [{"body": text}])[0]["spans"] == []
