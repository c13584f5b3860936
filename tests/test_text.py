"""Names, places and tables as they stand in a terminal."""

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
def test_signs_of_east_asia_take_two_columns(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "begun", "ended"),
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
def test_what_is_too_wide_is_cut_between_signs(text: str, width: int, begun: str, ended: str) -> None:
    assert (truncate(text, width), truncate_start(text, width)) == (begun, ended)


@given(TEXTS, st.integers(1, 12))
def test_what_is_cut_fits_and_wastes_a_column_at_most(text: str, width: int) -> None:
    whole = " ".join(text.split())
    for found in (truncate(text, width), truncate_start(text, width)):
        assert display_width(found) <= width
        assert found == whole or display_width(found) >= width - 1


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_columns_of_a_table_end_at_the_same_place(rows: list[tuple[str, str]]) -> None:
    ends = {display_width(line) for line in text_table([[*row, "|"] for row in rows]).split("\n")}
    assert len(ends) == 1


def test_an_explanation_in_any_script_fits_the_terminal() -> None:
    mail, spam = Filter(), ("\n" + "無料" * 14 + " " + "昼食" * 13).encode()
    mail.learn([b"\nlunch", spam], ["ham", "spam"])
    lines = str(mail.explain(spam)).split("\n")
    assert 70 < max(map(display_width, lines)) <= 80
