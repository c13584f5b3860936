"""The text of an open document changes as the editor's does, in every encoding of places."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.apps.spelling.language_server.text_document import TextDocument

ENCODINGS = ("utf-8", "utf-16", "utf-32")
WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
# Line ends of the protocol, line ends of Python alone, and characters of one to four bytes.
ALPHABET = "ab\r\n\x0b\x0c\x85\u2028é’😀"
texts = st.text(ALPHABET, max_size=12)
places = st.tuples(st.integers(0, 6), st.integers(0, 9))


def twin_at(text, place, encoding):
    """The characters before a place, counted one by one."""
    lines = [*re.split(r"(\r\n|\r|\n)", text), ""]
    line, units = place
    if line >= len(lines) // 2:
        return len(text)
    at = sum(map(len, lines[: 2 * line]))
    for character in lines[2 * line]:
        units -= (
            len(character.encode(f"{encoding}-le" if encoding != "utf-8" else encoding)) // WIDTHS[encoding]
        )
        if units < 0:
            break
        at += 1
    return at


@given(texts, places, st.sampled_from(ENCODINGS))
def test_a_place_is_where_counting_one_by_one_finds_it(text, place, encoding):
    assert TextDocument(text, encoding).offset_at(place) == twin_at(text, place, encoding)


@given(texts, st.sampled_from(ENCODINGS))
def test_places_lead_back_to_the_characters_before_them(text, encoding):
    found = TextDocument(text, encoding)
    for at in range(len(text) + 1):
        place = found.position_index()(at)
        # There is no place between CR and LF.
        between = text[at - 1 : at + 1] == "\r\n" and at > 0
        assert found.offset_at(place) == at - between
        assert place[0] == len(re.findall(r"\r\n|\r|\n", text[:at])) - between


@given(texts, st.lists(st.integers(0, 12)), st.sampled_from(ENCODINGS))
def test_places_do_not_depend_on_what_was_asked_before(text, asked, encoding):
    found = TextDocument(text, encoding)
    places = found.position_index()
    for at in (min(each, len(text)) for each in asked):
        assert places(at) == found.position_index()(at)


@given(texts, st.lists(st.tuples(places, places, texts), max_size=5), st.sampled_from(ENCODINGS))
def test_changes_one_after_another_give_the_text_that_the_editor_has(text, changes, encoding):
    changed = TextDocument(text, encoding)
    for begin, end, put in changes:
        first, last = sorted((twin_at(text, begin, encoding), twin_at(text, end, encoding)))
        text = text[:first] + put + text[last:]
        changed.change(begin, end, put)
        assert changed.to_string() == text
        assert changed.offset_at((2, 1)) == twin_at(text, (2, 1), encoding)


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 8), ("utf-16", 5), ("utf-32", 4)])
def test_a_character_beyond_the_basic_plane_counts_as_agreed(encoding, units):
    text = TextDocument("a\n😀 é.weather", encoding)
    assert text.position_index()(len("a\n😀 é.")) == (1, units)
    text.change((1, units), (1, units + 7), "whether")
    assert text.to_string() == "a\n😀 é.whether"


def test_half_a_character_is_told_apart_from_text_that_can_be_encoded():
    assert TextDocument("a\ud83d b").to_string() == "a\ufffd b"


def test_a_line_end_of_python_alone_ends_no_line():
    assert TextDocument("a\x0cb\u2028c\x85d\ne").position_index()(8) == (1, 0)


def test_the_two_halves_of_a_line_end_become_one():
    text = TextDocument("a\rb\nc")
    text.change((1, 0), (1, 1), "")
    assert text.to_string() == "a\r\nc"
    assert text.offset_at((1, 0)) == 3


@pytest.mark.parametrize("end", ["\n", " "])
def test_a_long_document_is_changed_in_no_time_even_if_it_is_one_line(end):
    text = f"the weather’s fine{end}" * (5_000_000 // 19)
    begun = time.monotonic()
    long = TextDocument(text)
    for _ in range(10):
        long.change((0, 4), (0, 4), "bad ")
    places = long.position_index()
    assert sum(places(at)[0] == 0 for at in range(0, len(text), 100)) > 0
    assert time.monotonic() - begun < 5
