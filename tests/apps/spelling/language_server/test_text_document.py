"""The text of an open document changes as the editor's does, in every position encoding."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.apps.spelling.language_server.text_document import TextDocument

ENCODINGS = ("utf-8", "utf-16", "utf-32")
WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
# Line ends of the protocol, line ends of Python only, and characters of one to four bytes.
ALPHABET = "ab\r\n\x0b\x0c\x85\u2028é’😀"
texts = st.text(ALPHABET, max_size=12)
positions = st.tuples(st.integers(0, 6), st.integers(0, 9))


def reference_offset(text, position, encoding):
    """Count the characters before a position one by one."""
    lines = [*re.split(r"(\r\n|\r|\n)", text), ""]
    line, units = position
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


@given(texts, positions, st.sampled_from(ENCODINGS))
def test_offset_equals_counting_code_units_one_by_one(text, position, encoding):
    assert TextDocument(text, encoding).offset_at(position) == reference_offset(text, position, encoding)


@given(texts, st.sampled_from(ENCODINGS))
def test_positions_round_trip_to_offsets(text, encoding):
    found = TextDocument(text, encoding)
    for at in range(len(text) + 1):
        position = found.position_index()(at)
        # There is no position between CR and LF.
        between = text[at - 1 : at + 1] == "\r\n" and at > 0
        assert found.offset_at(position) == at - between
        assert position[0] == len(re.findall(r"\r\n|\r|\n", text[:at])) - between


@given(texts, st.lists(st.integers(0, 12)), st.sampled_from(ENCODINGS))
def test_positions_do_not_depend_on_earlier_queries(text, offsets, encoding):
    found = TextDocument(text, encoding)
    index = found.position_index()
    for at in (min(each, len(text)) for each in offsets):
        assert index(at) == found.position_index()(at)


@given(texts, st.lists(st.tuples(positions, positions, texts), max_size=5), st.sampled_from(ENCODINGS))
def test_consecutive_changes_give_the_editor_s_text(text, changes, encoding):
    changed = TextDocument(text, encoding)
    for begin, end, replacement in changes:
        first, last = sorted((reference_offset(text, begin, encoding), reference_offset(text, end, encoding)))
        text = text[:first] + replacement + text[last:]
        changed.change(begin, end, replacement)
        assert changed.to_string() == text
        assert changed.offset_at((2, 1)) == reference_offset(text, (2, 1), encoding)


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 8), ("utf-16", 5), ("utf-32", 4)])
def test_astral_characters_are_counted_in_the_negotiated_encoding(encoding, units):
    text = TextDocument("a\n😀 é.weather", encoding)
    assert text.position_index()(len("a\n😀 é.")) == (1, units)
    text.change((1, units), (1, units + 7), "whether")
    assert text.to_string() == "a\n😀 é.whether"


def test_lone_surrogates_are_replaced():
    assert TextDocument("a\ud83d b").to_string() == "a\ufffd b"


def test_line_ends_of_python_only_do_not_end_lines():
    assert TextDocument("a\x0cb\u2028c\x85d\ne").position_index()(8) == (1, 0)


def test_adjacent_cr_and_lf_become_one_line_end():
    text = TextDocument("a\rb\nc")
    text.change((1, 0), (1, 1), "")
    assert text.to_string() == "a\r\nc"
    assert text.offset_at((1, 0)) == 3


@pytest.mark.parametrize("end", ["\n", " "])
def test_changes_of_long_documents_are_fast(end):
    text = f"the weather’s fine{end}" * (5_000_000 // 19)
    start = time.monotonic()
    long = TextDocument(text)
    for _ in range(10):
        long.change((0, 4), (0, 4), "bad ")
    index = long.position_index()
    assert sum(index(at)[0] == 0 for at in range(0, len(text), 100)) > 0
    assert time.monotonic() - start < 5
