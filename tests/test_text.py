"""Tests of terminal widths, truncation and text tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.apps.mail.filter import Filter
from weigh.text import display_width, text_table, truncate, truncate_start

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
