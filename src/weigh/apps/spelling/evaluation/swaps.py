"""Errors put into text held out, to see how many a speller finds and what else it complains of."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weigh import errors
from weigh.apps.spelling.contexts import ContextReader, Occurrences
from weigh.apps.spelling.evaluation.compare import (
    MAX_SETS_DRAWN,
    NAME_WIDTH,
    PAGE_WIDTH,
    WIDE_NAME_WIDTH,
    first_table_that_fits,
    format_fraction,
)
from weigh.apps.spelling.evaluation.held_out import proportion
from weigh.apps.spelling.false_alarms import RATE_WORDS, FalseAlarmBound
from weigh.apps.spelling.markup.prose import mask_text
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.suggestions import match_case
from weigh.features.validation import check_integer
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.text import format_float, format_quantity, html_paragraph, html_table, text_table, truncate

PARAMETER_OWNER = "swaps"
DEFAULT_ONE_IN = 200


@dataclass(frozen=True)
class SwapCounts:
    """What became of swapped words: found and put right, taken for a third word; and false alarms."""

    occurrences: int
    swapped: int
    right: int
    misnamed: int
    false: int

    @property
    def suggestions(self) -> int:
        """All suggestions."""
        return self.right + self.misnamed + self.false

    @property
    def precision(self) -> Measure:
        """The share of suggestions that put an error right, with its exact 95 % interval."""
        return proportion("precision", self.right, self.suggestions)

    @property
    def recall(self) -> Measure:
        """The share of errors that were put right, with its exact 95 % interval."""
        return proportion("recall", self.right, self.swapped)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "occurrences": self.occurrences,
            "swapped": self.swapped,
            "right": self.right,
            "misnamed": self.misnamed,
            "false": self.false,
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class SwapEvaluation:
    """The result of `swaps`; prints within 80 columns.

    `all` counts over all sets, `sets` are those of the speller in their order. `clean_alarms` are the
    suggestions in the texts as they were, all of which are taken for false.
    """

    texts: int
    words: int
    one_in: int
    seed: int
    total: SwapCounts
    sets: tuple[tuple[tuple[str, ...], SwapCounts], ...]
    clean_alarms: int
    promise: FalseAlarmBound

    @property
    def precision(self) -> Measure:
        """The share of suggestions that put an error right."""
        return self.total.precision

    @property
    def recall(self) -> Measure:
        """The share of errors that were put right."""
        return self.total.recall

    @property
    def alarms(self) -> Measure:
        """False alarms per 10,000 words of the texts as they were."""
        found = proportion("alarms", self.clean_alarms, self.words)
        return Measure("alarms", RATE_WORDS * found.value, RATE_WORDS * found.low, RATE_WORDS * found.high)

    @property
    def is_kept(self) -> bool:
        """Whether there may be as few alarms as are promised: not all of their interval lies above."""
        return self.alarms.low <= max(self.promise.rate, self.promise.promised)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "texts": self.texts,
            "words": self.words,
            "one_in": self.one_in,
            "seed": self.seed,
            **self.total.to_dict(),
            "clean_alarms": self.clean_alarms,
            "alarms_per_10000_words": self.alarms.to_dict(),
            "promised": self.promise.promised,
            "is_kept": self.is_kept,
            "threshold": self.promise.threshold,
            "sets": [{"words": list(words), **counts.to_dict()} for words, counts in self.sets],
        }

    def plot(self) -> Any:
        """Draw the share of errors found of every set, with its interval."""
        from weigh.pictures import interval_chart

        return interval_chart(
            swaps_plot_rows(self),
            x="share of swapped words put right",
            title="Errors found, by set, those with most errors first",
            what="sets",
            most=MAX_SETS_DRAWN,
        )

    def __str__(self) -> str:
        return format_swaps(self)

    def __repr__(self) -> str:
        return swaps_headline(self)

    def _repr_html_(self) -> str:
        return swaps_html(self)


def evaluate_swaps(
    speller: Speller,
    texts: Sequence[tuple[str, str]],
    *,
    one_in: int = DEFAULT_ONE_IN,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> SwapEvaluation:
    """Replace one word in `one_in` of texts by another of its set, let the speller check them, and count.

    Parameters
    ----------
    speller : a speller that has not learned these texts
    texts : pairs of a name, whose ending says what is code in it, and a text without errors
    one_in : the words of a text for each that is replaced; at most half of the words of the sets are
    seed : which words are replaced, and by which
    progress : called with the texts done and all texts
    """
    one_in, seed = (
        check_integer(PARAMETER_OWNER, "one_in", one_in, 2),
        check_integer(PARAMETER_OWNER, "seed", seed, 0),
    )
    rng = np.random.default_rng(seed)
    tally = _SwapTally([chooser.words for chooser in speller.sets])
    for number, (name, text) in enumerate(texts):
        tally.clean_alarms += len(speller.check(text, name=name))
        _swap_and_check(speller, tally, name, text, one_in, rng)
        if progress is not None:
            progress(number + 1, len(texts))
    if not tally.counts["swapped"]:
        raise errors.DataError(
            f"{PARAMETER_OWNER}: no word was replaced in {tally.words:,} words, of which {len(tally):,} belong to a "
            f"set of the speller. Give more text, or replace more than one word in {one_in:,}."
        )
    return SwapEvaluation(
        len(texts),
        tally.words,
        one_in,
        seed,
        tally.total(),
        tally.by_set(),
        tally.clean_alarms,
        speller.promise,
    )


class _SwapTally:
    """Counts by kind, and by kind and set."""

    def __init__(self, sets: Sequence[tuple[str, ...]]) -> None:
        self.sets = sets
        self.set_by_word = {normalise_word(word): at for at, words in enumerate(sets) for word in words}
        self.counts: Counter[Any] = Counter()
        self.words = self.clean_alarms = 0

    def __len__(self) -> int:
        return self.counts["occurrences"]

    def add(self, kind: str, at: int) -> None:
        self.counts[kind] += 1
        self.counts[kind, at] += 1

    def total(self) -> SwapCounts:
        return SwapCounts(*(self.counts[kind] for kind in COUNT_NAMES))

    def by_set(self) -> tuple[tuple[tuple[str, ...], SwapCounts], ...]:
        found = [SwapCounts(*(self.counts[kind, at] for kind in COUNT_NAMES)) for at in range(len(self.sets))]
        return tuple(zip(self.sets, found, strict=True))


COUNT_NAMES = tuple(SwapCounts.__dataclass_fields__)


def _swap_and_check(
    speller: Speller, tally: _SwapTally, name: str, text: str, one_in: int, rng: np.random.Generator
) -> None:
    content = text.encode("utf-8", "surrogatepass")
    words, found = find_set_words(content, name, tally.sets)
    tally.words += words
    due = min(tally.words // one_in - tally.counts["swapped"], len(found) // 2)
    chosen = [found[at] for at in rng.choice(len(found), due, replace=False)] if due > 0 else []
    changed, made = swap_words(content, chosen, tally.sets, rng)
    for place in found:
        tally.add("occurrences", place.set_index)
    for swap in made:
        tally.add("swapped", swap.set_index)
    originals = {swap.begin: swap.original for swap in made}
    for one in speller.check(changed, name=name):
        meant = originals.get(one.begin)
        is_right = meant is not None and normalise_word(one.suggested) == normalise_word(meant)
        kind = "false" if meant is None else "right" if is_right else "misnamed"
        tally.add(kind, tally.set_by_word[normalise_word(one.written)])


_TOO_MANY_ALARMS = "More alarms than promised: this text is not like the text that was learned."
TABLE_HEADINGS = ["", "in text", "swapped", "put right", "recall", "false", "precision"]


def format_swaps(found: SwapEvaluation) -> str:
    """The whole trial as text."""
    parts = [
        textwrap.fill(swaps_headline(found), PAGE_WIDTH),
        "\n".join(
            textwrap.fill(each, PAGE_WIDTH, subsequent_indent="  ") for each in _format_measures(found)
        ),
        first_table_that_fits(
            *(text_table(_table_rows(found, width)) for width in (WIDE_NAME_WIDTH, NAME_WIDTH))
        ),
        "\n".join(textwrap.fill(note, PAGE_WIDTH) for note in _table_notes(found)),
    ]
    return "\n\n".join(parts)


def swaps_html(found: SwapEvaluation) -> str:
    """The trial as an HTML table with its sentences."""
    notes = "".join(map(html_paragraph, [*_format_measures(found), *_table_notes(found)]))
    return f"<div>{html_table(swaps_headline(found), _table_rows(found, WIDE_NAME_WIDTH))}{notes}</div>"


def swaps_headline(found: SwapEvaluation) -> str:
    """What was done to how much text, in one sentence."""
    return (
        f"{format_quantity(found.total.swapped, 'word')} swapped inside their sets, one in {found.one_in:,}, in "
        f"{format_quantity(found.words, 'word')} of {format_quantity(found.texts, 'text')} (seed {found.seed})"
    )


def _format_measures(found: SwapEvaluation) -> list[str]:
    every = found.total
    wrong = every.misnamed + every.false
    lines = [
        f"precision  {_format_share(found.precision)}: {every.right:,} of "
        f"{format_quantity(every.suggestions, 'suggestion')} put an error right, {wrong:,} did not",
        f"recall     {_format_share(found.recall)}: {every.right:,} of "
        f"{format_quantity(every.swapped, 'error')} put right",
        f"alarms     {_format_rate(found.alarms)} per 10,000 words of the texts as they were "
        f"({found.clean_alarms:,} in all); promised: "
        f"{format_float(max(found.promise.rate, found.promise.promised))} by suggesting above P = "
        f"{found.promise.threshold:.4f}",
    ]
    return lines if found.is_kept else [*lines, _TOO_MANY_ALARMS]


def _table_rows(found: SwapEvaluation, width: int) -> list[list[str]]:
    rows = [
        _table_row(truncate("/".join(words), width), counts)
        for words, counts in found.sets
        if counts.occurrences
    ]
    return [TABLE_HEADINGS, *rows, _table_row("all sets", found.total)]


def _table_row(name: str, counts: SwapCounts) -> list[str]:
    return [
        name,
        f"{counts.occurrences:,}",
        f"{counts.swapped:,}",
        f"{counts.right:,}",
        format_fraction(counts.recall.value),
        f"{counts.misnamed + counts.false:,}",
        format_fraction(counts.precision.value),
    ]


def _table_notes(found: SwapEvaluation) -> list[str]:
    notes = [
        "false: suggestions at words that were not swapped, or of a third word. Intervals are exact, of 95 %."
    ]
    if left := ["/".join(words) for words, counts in found.sets if not counts.occurrences]:
        notes.append(f"Not in these texts: {', '.join(left)}.")
    return notes


def _format_share(measure: Measure) -> str:
    if math.isnan(measure.value):
        return "unknown"
    return f"{measure.value:.3f} ({measure.low:.3f} to {measure.high:.3f})"


def _format_rate(measure: Measure) -> str:
    return f"{measure.value:.2f} ({measure.low:.2f} to {measure.high:.2f})"


def swaps_plot_rows(found: SwapEvaluation) -> list[dict[str, Any]]:
    """A dot for every set of which something was swapped, those of which most was first: they tell most."""
    told = [("/".join(words), counts) for words, counts in found.sets if counts.swapped]
    return [
        {"name": name, "value": counts.recall.value, "low": counts.recall.low, "high": counts.recall.high}
        for name, counts in sorted(told, key=lambda one: -one[1].swapped)
    ]


class SetWordPosition(NamedTuple):
    """Where a text has a word of a set: bytes from and to, and which word of which set it is."""

    begin: int
    end: int
    set_index: int
    member: int


class SwappedWord(NamedTuple):
    """A word that was replaced: where the other begins in the new text, in characters, and both words."""

    begin: int
    original: str
    written: str
    set_index: int


def find_set_words(
    text: bytes, name: str, sets: Sequence[Sequence[str]]
) -> tuple[int, list[SetWordPosition]]:
    """Return how many words a text has, and where it has those of the sets, in their order."""
    reader = ContextReader(sets, 0)
    words = reader.read(mask_text(text, name), 0)
    found = [place for at, rows in enumerate(reader.occurrences()) for place in _set_word_positions(at, rows)]
    return words, sorted(found)


def _set_word_positions(at: int, rows: Occurrences) -> list[SetWordPosition]:
    ends = (rows.begins + rows.sizes).tolist()
    columns = zip(rows.begins.tolist(), ends, rows.members.tolist(), strict=True)
    return [SetWordPosition(begin, end, at, member) for begin, end, member in columns]


def swap_words(
    text: bytes,
    chosen: Sequence[SetWordPosition],
    sets: Sequence[Sequence[str]],
    rng: np.random.Generator,
) -> tuple[str, list[SwappedWord]]:
    """Put another word of its set, drawn at random, at each of these places, with the same capitals."""
    # Words without an apostrophe take that which the text uses.
    apostrophe = "’" if "’".encode() in text else "'"
    parts: list[str] = []
    swaps: list[SwappedWord] = []
    last = length = 0
    for place in sorted(chosen):
        before, original = _decode_utf8(text[last : place.begin]), _decode_utf8(text[place.begin : place.end])
        words = sets[place.set_index]
        other = (place.member + int(rng.integers(1, len(words)))) % len(words)
        written = match_case(original, words[other], apostrophe, words[place.member])
        swaps.append(SwappedWord(length + len(before), original, written, place.set_index))
        parts += [before, written]
        length += len(before) + len(written)
        last = place.end
    return "".join([*parts, _decode_utf8(text[last:])]), swaps


def _decode_utf8(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def normalise_word(word: str) -> str:
    """A word as it is compared with those of sets."""
    return word.lower().replace("’", "'")
