"""A speller in words: what it was learned from, what it promises, and how well it knows each set."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from weigh.apps.spelling.facts import LeftOut
from weigh.apps.spelling.storing import Parts
from weigh.text import aligned, amount, counted, cut, html_note, html_table, percent

SHOWN = 60
_NAMED = 100  # words that were left out
_WIDTH = 80
_HEAD = ["set", "examples", "accuracy", "majority", "features"]


def in_words(parts: Parts) -> str:
    """A speller in at most 80 columns."""
    lines = [headline(parts), *(f"  {line}" for line in _sentences(parts))]
    table = aligned([_HEAD, *_rows(parts)[:SHOWN]], indent="  ")
    more = [f"  … and {len(parts.sets) - SHOWN} more"] if len(parts.sets) > SHOWN else []
    return "\n".join([*lines, table, *more])


def in_html(parts: Parts) -> str:
    """A speller for notebooks."""
    return html_table(headline(parts), [_HEAD, *_rows(parts)]) + "".join(map(html_note, _sentences(parts)))


def headline(parts: Parts) -> str:
    """A speller in one line."""
    words = sum(len(one.words) for one in parts.sets)
    return f"Speller for {counted(len(parts.sets), 'set')} of {counted(words, 'word')} that are mixed up"


def drawn(parts: Parts) -> list[dict[str, Any]]:
    """The rows of a picture: of every set that was judged, the accuracy with and without its contexts."""
    pairs = zip(parts.sets, parts.facts.sets, strict=True)
    return [
        {"name": " ".join(one.words), "series": series, "value": value}
        for one, facts in pairs
        for series, value in (("speller", facts.accuracy), ("commoner word", facts.majority))
        if value is not None
    ]


def _sentences(parts: Parts) -> list[str]:
    facts, promise = parts.facts, parts.promise
    read = f"{counted(facts.words, 'word')} in {counted(facts.documents, 'document')}"
    lines = [
        f"learned by {parts.settings.learner} from {read}",
        *wrap(str(promise), _WIDTH - 2),
        *wrap(promise.doubt, _WIDTH - 2),
    ]
    if facts.accuracy is not None:
        lines.append(f"mean accuracy on held-out text: {percent(facts.accuracy)}")
    return [*lines, *_left_out(facts.left_out)]


def _left_out(words: tuple[LeftOut, ...]) -> list[str]:
    if not words:
        return []
    told = ", ".join(f"{one.word} ({amount(one.examples)})" for one in words[:_NAMED])
    more = f" and {amount(len(words) - _NAMED)} more" if len(words) > _NAMED else ""
    return wrap(f"left out, too rare: {told}{more}", _WIDTH - 2)


def _rows(parts: Parts) -> list[list[str]]:
    return [
        [
            cut(", ".join(one.words), 30),
            amount(sum(facts.examples)),
            _share(facts.accuracy),
            _share(facts.majority),
            amount(one.size),
        ]
        for one, facts in zip(parts.sets, parts.facts.sets, strict=True)
    ]


def _share(share: float | None) -> str:
    return "–" if share is None else percent(share)
