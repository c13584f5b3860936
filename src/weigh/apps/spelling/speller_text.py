"""A speller in words: what it was learned from, what it promises, and how well it knows each set."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from weigh.apps.spelling.facts import LeftOut
from weigh.apps.spelling.storing import Parts
from weigh.text import aligned, amount, counted, cut, html_note, html_table, percent

SHOWN = 60
NAMED = 30  # sets, or words, that were left out
_WIDTH = 80
_NAME = 23
_HEAD = ["set", "examples", "accuracy", "majority", "found", "features"]
_FEW = 0.1  # of the errors, less than which is too little to be content with
_FIRM = "\N{NO-BREAK SPACE}"
_MARK = "*"
_USELESS = "held-out text shows no gain over the commoner word alone"


def in_words(parts: Parts) -> str:
    """A speller in at most 80 columns."""
    lines = [headline(parts), *(f"  {line}" for told in _sentences(parts) for line in _wrapped(told))]
    table = aligned([_HEAD, *_rows(parts)[:SHOWN]], indent="  ")
    more = [f"  … and {len(parts.sets) - SHOWN} more"] if len(parts.sets) > SHOWN else []
    return "\n".join([*lines, table, *more, *(f"  {note}" for note in _notes(parts))])


def in_html(parts: Parts) -> str:
    """A speller for notebooks."""
    notes = "".join(map(html_note, [*_notes(parts), *_sentences(parts)]))
    return html_table(headline(parts), [_HEAD, *_rows(parts)]) + notes


def headline(parts: Parts) -> str:
    """A speller in one line."""
    words = sum(len(one.words) for one in parts.sets)
    return f"Speller for {counted(len(parts.sets), 'set')} of {counted(words, 'word')} that are mixed up"


def drawn(parts: Parts) -> list[dict[str, Any]]:
    """The rows of a picture: of every set what was right, with contexts and without, and what was found."""
    pairs = zip(parts.sets, parts.facts.sets, strict=True)
    return [
        {"name": " ".join(one.words), "series": series, "value": value}
        for one, facts in pairs
        for series, value in (
            ("right: speller", facts.accuracy),
            ("right: commoner word", facts.majority),
            ("errors found", facts.found),
        )
        if value is not None
    ]


def _sentences(parts: Parts) -> list[str]:
    facts, promise = parts.facts, parts.promise
    read = f"{counted(facts.words, 'word')} in {counted(facts.documents, 'document')}"
    lines = [
        f"learned by {parts.settings.learner} from {read}",
        str(promise),
    ]
    if promise.doubt:
        lines.append(promise.doubt)
    if facts.accuracy is not None:
        lines.append(f"mean accuracy on held-out text: {percent(facts.accuracy)}")
    if facts.found is not None:
        lines.append(_cost(facts.found))
    return [*lines, *_lost(facts.lost), *_shortened(facts.shortened)]


def _wrapped(sentence: str) -> list[str]:
    """The lines of a sentence; a number stays with what it is told of."""
    joined = sentence.replace(" = ", _FIRM + "=" + _FIRM).replace(" (", _FIRM + "(")
    return [line.replace(_FIRM, " ") for line in wrap(joined, _WIDTH - 2, break_on_hyphens=False)]


def _cost(found: float) -> str:
    """What the threshold leaves of the errors, and what to do where that is little."""
    told = f"would find {percent(found)} of such errors in the held-out text"
    return told if found >= _FEW else f"{told}: learn from more text, or allow more alarms"


def _lost(sets: tuple[tuple[LeftOut, ...], ...]) -> list[str]:
    told = ", ".join(_with_counts(rare) for rare in sets[:NAMED])
    why = f"left out: {counted(len(sets), 'set')}, as a word of each is too rare: "
    return [f"{why}{told}{_more(len(sets))}"] if sets else []


def _with_counts(rare: tuple[LeftOut, ...]) -> str:
    """A set whose rare words tell how often they occur: brake (3)/break."""
    counts = {one.word: f" ({amount(one.examples)})" for one in rare}
    return "/".join(f"{word}{counts.get(word, '')}" for word in rare[0].words)


def _shortened(words: tuple[LeftOut, ...]) -> list[str]:
    told = ", ".join(f"{one.word} ({amount(one.examples)})" for one in words[:NAMED])
    return [f"left out of their sets, too rare: {told}{_more(len(words))}"] if words else []


def _more(number: int) -> str:
    return f" and {amount(number - NAMED)} more" if number > NAMED else ""


def _notes(parts: Parts) -> list[str]:
    return [] if all(one.is_better for one in parts.facts.sets) else [f"{_MARK} {_USELESS}"]


def _rows(parts: Parts) -> list[list[str]]:
    return [
        [
            cut(", ".join(one.words), _NAME - 2) + ("" if facts.is_better else f" {_MARK}"),
            amount(sum(facts.examples)),
            _share(facts.accuracy),
            _share(facts.majority),
            _share(facts.found),
            amount(one.size),
        ]
        for one, facts in zip(parts.sets, parts.facts.sets, strict=True)
    ]


def _share(share: float | None) -> str:
    return "–" if share is None else percent(share)
