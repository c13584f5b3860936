"""Checking: positions of suggestions, and their spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.apps.spelling.example_speller import speller, text
from weigh.apps.spelling import checking
from weigh.apps.spelling.checking import TextPosition
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.contexts import ContextReader
from weigh.apps.spelling.suggestions import Suggestion, match_case
from weigh.errors import ParameterError

WRONG = "I didn't know weather to laugh or cry."


def only_suggestion(checked: str | bytes, name: str = "text.txt") -> Suggestion:
    (found,) = speller().check(checked, name=name)
    return found


def test_example_of_the_guide_is_corrected_with_reasons() -> None:
    found = only_suggestion("I didn't know weather to laugh or cry", "letter.txt")
    because = "p=0.98; because: 'know' before, 'didn't' two before"
    assert str(found) == f"letter.txt:1:15: weather → whether ({because})"
    assert (found.begin, found.end) == (14, 21)
    assert "'to' after" in map(str, found.reasons)
    plain = found.to_dict()
    assert plain["log_odds"] == found.log_odds == sum(one.weight for one in found.reasons)
    assert plain["reasons"][0] == {
        "feature": "before:know",
        "weight": found.reasons[0].weight,
        "told": "'know' before",
    }


def test_correct_text_has_no_suggestions() -> None:
    assert speller().check(text(2_000, seed=2)) == []
    assert speller().check("") == speller().check(b"") == []


def test_only_words_above_the_threshold_are_suggested() -> None:
    found = only_suggestion(WRONG)
    for threshold, suggested in ((found.probability, []), (found.probability - 1e-9, [found])):
        made = replace(speller(), promise=replace(speller().promise, threshold=threshold))
        assert made.check(WRONG) == suggested


def test_threshold_can_be_overridden(tmp_path: Path) -> None:
    found = only_suggestion(WRONG)
    file = tmp_path / "letter.txt"
    file.write_text(WRONG)
    above, below = found.probability, found.probability - 1e-9
    for threshold, suggested in ((above, []), (below, [found]), (1, []), (np.float64(0.5), [found])):
        assert speller().check(WRONG, threshold=threshold) == suggested
        assert len(speller().check_file(file, threshold=threshold)) == len(suggested)
    assert speller().fix_file(file, threshold=above) == []
    assert file.read_text() == WRONG
    assert len(speller().fix_file(file, threshold=below)) == 1
    assert file.read_text() == WRONG.replace("weather", "whether")


@pytest.mark.parametrize("threshold", [0.49, 1.01, float("nan"), "often", -1])
def test_invalid_threshold_raises(threshold: Any, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text(WRONG)
    for check in (speller().check, speller().check_file, speller().fix_file):
        with pytest.raises(
            ParameterError, match=r"check: threshold must be a probability from 0\.5 to 1, got"
        ):
            check(str(tmp_path / "letter.txt"), threshold=threshold)


def test_words_that_are_equal_in_capitals_are_not_suggested() -> None:
    german = replace(speller(), sets=(LinearWordClassifier.constant(("masse", "maße"), 1),))
    suggestions = [(one.written, one.suggested) for one in german.check("MASSE, Masse und masse.")]
    assert suggestions == [("Masse", "Maße"), ("masse", "maße")]


@pytest.mark.parametrize(
    ("before", "line", "column"),
    [
        ("", 1, 15),
        ("A line.\n", 2, 15),
        ("A line.\r\n", 2, 15),
        ("A line.\r", 2, 15),
        ("One.\r\n\r\nTwo.\n\n", 5, 15),
        ("\t", 1, 16),
        ("𝔘𝔫𝔦 é ", 1, 21),
        ("𝔘\n¡é ", 2, 18),
        ("\u2028", 1, 16),
    ],
)
def test_lines_and_columns_count_from_one_in_characters(before: str, line: int, column: int) -> None:
    checked = before + WRONG
    for found in (only_suggestion(checked), only_suggestion(checked.encode())):
        assert (found.line, found.column) == (line, column)
        assert checked[found.begin : found.end] == found.written == "weather"


@given(st.text("a\n\ré𝔘 ", max_size=40), st.integers(0, 40))
@example("a\r\nb", 2)
def test_position_follows_universal_newlines_for_any_split(text_before: str, at: int) -> None:
    position = TextPosition().advance(text_before[:at].encode()).advance(text_before[at:].encode())
    lines = text_before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert (position.character, position.line) == (len(text_before), len(lines))
    assert position.character - position.line_start == len(lines[-1])


def test_byte_order_mark_of_bytes_is_not_counted() -> None:
    found = only_suggestion(b"\xef\xbb\xbf" + WRONG.encode())
    assert (found.line, found.column, found.begin) == (1, 15, 14)


def test_byte_order_mark_of_str_counts_in_offsets_only() -> None:
    found = only_suggestion("\ufeff" + WRONG)
    assert (found.line, found.column, found.begin) == (1, 15, 15)
    assert found.probability == only_suggestion(WRONG).probability
    assert only_suggestion("\ufeff\n" + WRONG).column == 15


@pytest.mark.parametrize(
    ("wrong", "suggested"),
    [
        (WRONG, "whether"),
        (WRONG.replace("weather", "Weather"), "Whether"),
        (WRONG.replace("weather", "WEATHER"), "WHETHER"),
        ("I think there not ready to cry.", "they're"),
        ("I think their not ready to go. It’s so.", "they’re"),
        ("I think Their not ready to go. It’s so, don't.", "They're"),
        ("Nobody saw they’re house.", "their"),
    ],
)
def test_a_suggestion_keeps_capitals_and_apostrophes(wrong: str, suggested: str) -> None:
    assert only_suggestion(wrong).suggested == suggested


def test_apostrophe_is_that_of_the_prose() -> None:
    checked = "I think their not ready to go. It’s so.\n\n    a = 'b' + 'c'\n"
    assert only_suggestion(checked, "page.md").suggested == "they’re"
    assert only_suggestion(checked, "page.txt").suggested == "they're"


def test_single_capital_letter_is_not_all_capitals() -> None:
    assert match_case("A", "an", "'") == "An"
    assert match_case("I'M", "i'll", "’") == "I'LL"
    assert match_case("i’m", "i'll", "'") == "i’ll"


def test_suggestions_are_in_text_order() -> None:
    checked = f"{WRONG} She went their to sing. The whether was fine, and I went to cry. {WRONG}"
    found = speller().check(checked)
    assert [one.written for one in found] == ["weather", "their", "whether", "weather"]
    assert [one.begin for one in found] == sorted(one.begin for one in found)


def test_code_and_addresses_are_not_checked() -> None:
    assert speller().check("I didn't know `weather` to laugh. See http://know.weather.to/laugh") == []


def test_surrogates_and_control_characters_are_accepted() -> None:
    checked = "\ud800\x00\x1a\u0000 \uffff" + WRONG
    found = only_suggestion(checked)
    assert checked[found.begin : found.end] == "weather"


def test_suggestions_do_not_depend_on_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = "\r\n\r\n".join([WRONG, "Ünd 𝔘𝔫𝔡.", text(500, seed=3), f"The weather was fine. {WRONG}"] * 30)
    whole = speller().check(checked)
    assert len(whole) == 60
    monkeypatch.setattr(checking, "MAX_PIECE_BYTES", 700)
    monkeypatch.setattr(checking, "BLOCK_BYTES", 97)
    assert speller().check(checked) == whole


def test_long_line_is_checked_in_bounded_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MAX_PIECE_BYTES", 1_000)
    checked = " ".join(["𝔘𝔫𝔡", WRONG] * 200)
    found = speller().check(checked)
    assert 180 <= len(found) <= 200
    assert {one.line for one in found} == {1}
    assert all(checked[one.begin : one.end] == "weather" for one in found)
    assert all(one.column == one.begin + 1 for one in found)
    assert speller().check("ü" * 5_000) == []


def test_no_occurrence_is_dropped_while_checking(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []

    class RecordingReader(ContextReader):
        def __init__(self, sets: Sequence[Sequence[str]], window: int, *, max_occurrences: int) -> None:
            limits.append(max_occurrences)
            super().__init__(sets, window, max_occurrences=max_occurrences)

    monkeypatch.setattr("weigh.apps.spelling.checking.ContextReader", RecordingReader)
    wrong = "know weather to laugh. " * 300
    assert len(speller().check(wrong)) == 300
    assert limits == [len(wrong)]
