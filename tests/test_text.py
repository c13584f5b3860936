"""Tests of terminal widths, truncation, text tables and escapes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile import HOSTILE_NAMES, LONE_SURROGATE, find_control_characters
from weigh.apps.mail.filter import Filter
from weigh.text import (
    display_width,
    escape_control_characters,
    escape_html,
    escape_latex,
    escape_lines,
    text_table,
    truncate,
    truncate_start,
)

TEXTS = st.text(st.sampled_from("ab é漢字カナｱＡ한…−"), max_size=12)


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("é−…", 3), ("漢字", 4), ("ｱ", 1), ("Ａb", 3), ("한글", 4)]
)
def test_wide_east_asian_characters_take_two_columns(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "start", "end"),
    [
        ("abcdef", 4, "abc…", "…def"),
        ("abcd", 4, "abcd", "abcd"),
        ("漢字漢字", 8, "漢字漢字", "漢字漢字"),
        ("漢字漢字", 7, "漢字漢…", "…字漢字"),
        ("漢字漢字", 6, "漢字…", "…漢字"),
        ("a漢b字", 4, "a漢…", "…b字"),
        ("漢", 1, "…", "…"),
        ("a", 0, "…", "…"),
    ],
)
def test_wide_text_is_truncated_between_characters(text: str, width: int, start: str, end: str) -> None:
    assert (truncate(text, width), truncate_start(text, width)) == (start, end)


@given(TEXTS, st.integers(1, 12))
def test_truncated_text_fits_and_wastes_at_most_one_column(text: str, width: int) -> None:
    full = " ".join(text.split())
    for short in (truncate(text, width), truncate_start(text, width)):
        assert display_width(short) <= width
        assert short == full or display_width(short) >= width - 1


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_table_columns_are_aligned(rows: list[tuple[str, str]]) -> None:
    ends = {display_width(line) for line in text_table([[*row, "|"] for row in rows]).split("\n")}
    assert len(ends) == 1


def test_an_explanation_in_any_script_fits_the_terminal() -> None:
    mail, spam = Filter(), ("\n" + "無料" * 14 + " " + "昼食" * 13).encode()
    mail.learn([b"\nlunch", spam], ["ham", "spam"])
    lines = str(mail.explain(spam)).split("\n")
    assert 70 < max(map(display_width, lines)) <= 80


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("\x1b[31m\x07\x7f", r"\x1b[31m\x07\x7f"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x85\x9b2J", r"\x85\x9b2J"),
        ("\u202egnp\u2066\u200b\ufeff", r"\u202egnp\u2066\u200b\ufeff"),
        ("\u2028\u2029\ud800\uffff", r"\u2028\u2029\ud800\uffff"),
        ("\U000e0041", r"\U000e0041"),
        # Spaces, letters and characters of a later Unicode version are shown.
        ("é漢\xa0\u3000 \\x1b\U0001faea", "é漢\xa0\u3000 \\x1b\U0001faea"),
    ],
)
def test_control_and_invisible_characters_become_escapes(name: str, escaped: str) -> None:
    assert escape_control_characters(name) == escaped
    assert escape_lines(f"{name}\n{name}") == escape_lines(name) + "\n" + escape_lines(name)


@given(st.text())
def test_escaped_text_has_no_control_characters_and_stays_as_it_is(text: str) -> None:
    escaped = escape_control_characters(text)
    assert not find_control_characters(escaped, allowed="")
    assert escape_control_characters(escaped) == escaped


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, LONE_SURROGATE], ids=ascii)
def test_a_name_in_a_table_stays_one_cell(name: str) -> None:
    first, second = text_table([[name, "1"], ["x", "2"]]).split("\n")
    assert first.endswith("  1")
    assert display_width(first) == display_width(second)
    assert not find_control_characters(first)


LATEX_SYMBOLS = re.compile(r"\\text(?:backslash|asciitilde|asciicircum)\{\}|\\[&%$#_{}]")


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, LONE_SURROGATE], ids=ascii)
def test_a_name_in_latex_is_one_line_of_text(name: str) -> None:
    latex = escape_latex(name)
    assert not set(LATEX_SYMBOLS.sub("", latex)) & set("\\{}%$&#_^~\n")
    assert not find_control_characters(latex)


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, LONE_SURROGATE], ids=ascii)
def test_a_name_in_html_is_text(name: str) -> None:
    markup = escape_html(name)
    assert not set(markup) & set("<>\"'")
    assert not find_control_characters(markup)
    assert markup.encode()


def test_joiners_of_words_and_emoji_are_not_escaped() -> None:
    name = "می\u200cخواهم 👩\u200d💻"
    assert escape_control_characters(name) == name
