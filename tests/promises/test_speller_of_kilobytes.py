"""A speller for words that are mixed up takes a few kilobytes and learns from the user's own text."""

from __future__ import annotations

from pathlib import Path

import pytest

import weigh

SETS = [["weather", "whether"], ["their", "there"]]


@pytest.fixture(scope="module")
def speller(tmp_path_factory: pytest.TempPathFactory) -> weigh.Speller:
    """A speller of the user's own text, promised at most 20 false alarms per 10,000 words."""
    lines = [
        f"{who} did not know whether the {thing} was there. "
        f"In {month} the weather was fine for their {thing}.\n"
        for who in ["Anna", "Peter", "The captain", "My sister", "Nobody", "The old man", "Your friend"]
        for thing in ["boat", "dog", "coat", "book", "letter", "house", "horse", "clock", "hat", "ship"]
        for month in ["January", "March", "May", "June", "July", "August", "October", "December"]
    ]
    path = tmp_path_factory.mktemp("text") / "lines.txt"
    path.write_text("".join(lines))
    return weigh.Speller.learn(str(path), SETS, alarms=20)


def test_it_takes_a_few_kilobytes(speller: weigh.Speller, tmp_path: Path) -> None:
    speller.save(tmp_path / "s.weigh")
    assert (tmp_path / "s.weigh").stat().st_size < 10_000
    loaded = weigh.Speller.load(tmp_path / "s.weigh")
    assert loaded.to_bytes() == speller.to_bytes()


def test_it_finds_the_famous_error_and_leaves_right_text_alone(speller: weigh.Speller) -> None:
    wrong = "I did not know weather to laugh or cry."
    right = "I did not know whether to laugh or cry."
    suggestions = speller.check(wrong)
    assert [(found.written, found.suggested) for found in suggestions] == [("weather", "whether")]
    assert speller.fixed(wrong, suggestions) == right
    assert speller.check(right) == []


def test_every_suggestion_sums_its_reasons(speller: weigh.Speller) -> None:
    (found,) = speller.check("I did not know weather it was true.")
    assert sum(reason.weight for reason in found.reasons) == pytest.approx(found.log_odds, abs=1e-9)


def test_false_alarms_are_bounded_on_held_out_text(speller: weigh.Speller) -> None:
    assert speller.promise.words > 0
    assert speller.promise.promised <= speller.promise.rate == 20
    assert "at most 20 false alarms per 10,000 words (95 % confidence)" in str(speller.promise)


def test_it_abstains_where_the_context_says_nothing(speller: weigh.Speller) -> None:
    assert speller.check("Weather?", threshold=0.99) == []
