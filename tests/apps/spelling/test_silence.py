"""Remarks that silence the speller, in every kind of text and wherever it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.spelling.proportion import is_in_proportion
from weigh.apps.spelling.prose import masked, masked_pieces

REMARKS = {"a.md": "<!-- {} -->", "a.tex": "% {}", "a.html": "<!-- {} -->", "a.rst": ".. {}", "a.txt": "{}"}


def shown(text: str, name: str) -> list[str]:
    """The words of a text that are looked at."""
    return masked(text.encode(), name).decode().translate({0x1A: " ", 0x1D: " "}).split()


@pytest.mark.parametrize("name", REMARKS)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "dos"])
def test_a_remark_silences_its_line_or_the_next_if_it_stands_alone(name: str, end: str) -> None:
    remark = REMARKS[name].format("weigh-spell: ignore")
    if name != "a.rst":  # where a remark begins its line
        assert shown(end.join(["one", f"two {remark}", "three", ""]), name) == ["one", "three"]
    text = end.join(["one", "", f"  {remark}", "two", "", "three"])
    assert shown(text, name) == ["one", "three"]


@pytest.mark.parametrize("name", REMARKS)
def test_nothing_is_looked_at_between_off_and_on(name: str) -> None:
    off, on, ignore = (REMARKS[name].format(f"weigh-spell: {word}") for word in ("off", "on", "ignore"))
    text = f"one\n\n{off}\n\ntwo\n\n{ignore}\n\n{off}\ntwo\n\n{on}\n\nthree\n\n{on}\n\nfour\n\n{off}\n\nfive"
    assert shown(text, name) == ["one", "three", "four"]


def test_other_words_are_no_remarks() -> None:
    text = "weigh-spell: ignored\nweigh-spell: one\nweigh-spell ignore\nweigh-spell:off\nx\n"
    assert shown(text, "a.txt") == ["weigh-spell:", "ignored", "weigh-spell:", "one", "weigh-spell", "ignore"]


LINES = st.lists(
    st.sampled_from(
        [
            "a",
            "b c",
            "",
            "weigh-spell: ignore",
            "d weigh-spell: ignore e",
            "weigh-spell: off",
            "weigh-spell: on",
        ]
    ),
    max_size=12,
)


def silent(lines: list[str]) -> list[bool]:
    """Which lines are silent, as the remarks say."""
    found, is_off, is_next = [], False, False
    for line in lines:
        found.append(is_off or is_next or "weigh-spell" in line)
        is_next = not is_off and line == "weigh-spell: ignore"
        is_off = line.endswith("off") or (is_off and not line.endswith(": on"))
    return found


@given(LINES, st.data())
def test_pieces_are_as_silent_as_the_whole(lines: list[str], data: st.DataObject) -> None:
    pieces, rest = [], [line + "\n" for line in lines]
    while rest:
        cut = data.draw(st.integers(1, len(rest)))
        pieces.append("".join(rest[:cut]).encode())
        rest = rest[cut:]
    found = b"".join(masked_pieces(pieces, "a.txt")).decode().splitlines()
    assert found == [
        "\x1a" * len(line) if is_silent else line
        for line, is_silent in zip(lines, silent(lines), strict=True)
    ]


def test_a_line_that_was_cut_stays_silent_to_its_end() -> None:
    pieces = [b"a weigh-spell: ignore b ", b"c ", b"d\ne\n", b"weigh-spell: ignore", b" \n", b"f\ng\n"]
    assert b"".join(masked_pieces(pieces, "a.txt")).replace(b"\x1a", b"").split() == [b"e", b"g"]


def test_many_remarks_in_one_line_take_linear_time() -> None:
    assert is_in_proportion(b"weigh-spell: ignore x ", "a.txt", 1 << 16)
