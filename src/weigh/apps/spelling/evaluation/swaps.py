"""Precision, recall and false alarms of a speller on held-out text with injected errors."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weigh import errors
from weigh.advice import Step
from weigh.apps.spelling.contexts import ContextReader, Occurrences
from weigh.apps.spelling.evaluation.compare import (
    MAX_SETS_DRAWN,
    NAME_WIDTH,
    WIDE_NAME_WIDTH,
    first_tables_that_fit,
    format_fraction,
)
from weigh.apps.spelling.false_alarms import RATE_WORDS, FalseAlarmBound
from weigh.apps.spelling.markup.prose import mask_text
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.suggestions import match_case
from weigh.judge.metrics.confidence_intervals import Measure, format_interval, proportion
from weigh.parameters import check_integer
from weigh.result import LINE_WIDTH, Facts, Lines, Section, Table, TabularResult
from weigh.text import format_float, format_quantity

PARAMETER_OWNER = "evaluate_swaps"
DEFAULT_ONE_IN = 200
TABLE_HEADINGS = ["", "in text", "swapped", "corrected", "recall", "false", "precision"]
_TOO_MANY_ALARMS = "More false alarms than promised: this text differs from the training text."


@dataclass(frozen=True)
class SwapCounts(Facts):
    """Counts of set words, swapped words, and right, wrong (`misnamed`) and false suggestions."""

    occurrences: int
    swapped: int
    right: int
    misnamed: int
    false: int
    _json = ("occurrences", "swapped", "right", "misnamed", "false", "precision", "recall")

    @property
    def suggestions(self) -> int:
        """The number of suggestions."""
        return self.right + self.misnamed + self.false

    @property
    def precision(self) -> Measure:
        """The share of suggestions that correct an error, with its exact 95 % interval."""
        return proportion("precision", self.right, self.suggestions)

    @property
    def recall(self) -> Measure:
        """The share of errors that are corrected, with its exact 95 % interval."""
        return proportion("recall", self.right, self.swapped)


@dataclass(frozen=True, eq=False, repr=False)
class SwapEvaluation(TabularResult):
    """The result of `evaluate_swaps`; prints in 80 columns.

    `sets` has the counts of each set of the speller, `total` their sums. `clean_alarms` counts the
    suggestions for the original texts, all of which are taken to be false.
    """

    texts: int
    words: int
    one_in: int
    seed: int
    total: SwapCounts
    sets: tuple[tuple[tuple[str, ...], SwapCounts], ...]
    clean_alarms: int
    promise: FalseAlarmBound
    _frames = ("sets",)

    @property
    def precision(self) -> Measure:
        """The share of suggestions that correct an error."""
        return self.total.precision

    @property
    def recall(self) -> Measure:
        """The share of errors that are corrected."""
        return self.total.recall

    @property
    def alarms(self) -> Measure:
        """False alarms per 10,000 words of the original texts."""
        return proportion("alarms", self.clean_alarms, self.words, unit=RATE_WORDS)

    @property
    def is_kept(self) -> bool:
        """Whether the rate of alarms is compatible with the promise: its interval is not all above it."""
        return self.alarms.low <= max(self.promise.rate, self.promise.promised)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
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
        """Plot the recall of every set with its interval."""
        from weigh.pictures import interval_chart

        return interval_chart(
            swaps_plot_rows(self),
            x="recall: share of swapped words corrected",
            title="Recall by set, most swapped words first",
            what="sets",
            most=MAX_SETS_DRAWN,
        )

    @property
    def headline(self) -> str:
        """The number of swapped words and the size of the texts."""
        words, texts = format_quantity(self.words, "word"), format_quantity(self.texts, "text")
        return (
            f"{format_quantity(self.total.swapped, 'word')} swapped within their sets, one in "
            f"{self.one_in:,}, in {words} of {texts} (seed {self.seed})"
        )

    def sections(self) -> list[Section]:
        """Return precision, recall and alarms, and the counts of every set."""
        layouts = ([Table(_table_rows(self), widths=(width,))] for width in (WIDE_NAME_WIDTH, NAME_WIDTH))
        return [
            Section("measures", [_measure_lines(self)]),
            Section("sets", first_tables_that_fit(layouts)),
            Section("notes", _table_notes(self)),
        ]

    def __repr__(self) -> str:
        return self.headline


def evaluate_swaps(
    speller: Speller,
    texts: Sequence[tuple[str, str]],
    *,
    one_in: int = DEFAULT_ONE_IN,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> SwapEvaluation:
    """Swap one word in `one_in` with another word of its set, check the texts, and count the suggestions.

    Parameters
    ----------
    speller : a speller that was not trained on these texts
    texts : pairs of a name, whose suffix determines the markup, and a text without errors
    one_in : one word in so many is swapped, but at most half of the set words of a text
    seed : of the random choice of words
    progress : called with the number of completed texts and of all texts
    """
    one_in = check_integer(PARAMETER_OWNER, "one_in", one_in, 2)
    seed = check_integer(PARAMETER_OWNER, "seed", seed, 0)
    rng = np.random.default_rng(seed)
    tally = _SwapTally([classifier.words for classifier in speller.sets])
    for number, (name, text) in enumerate(texts):
        tally.clean_alarms += len(speller.check(text, name=name))
        _swap_and_check(speller, tally, name, text, one_in, rng)
        if progress is not None:
            progress(number + 1, len(texts))
    if not tally.counts["swapped"]:
        raise errors.DataError(
            f"No word was swapped: {len(tally):,} of {tally.words:,} words belong to a set of the speller, "
            f"and one word in {one_in:,} is swapped.",
            hint=("Give more text, or a smaller ", Step("share of swaps", "one_in"), "."),
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
    """Counts by field of `SwapCounts`, and by field and set."""

    def __init__(self, sets: Sequence[tuple[str, ...]]) -> None:
        self.sets = sets
        self.set_by_word = {normalise_word(word): i for i, words in enumerate(sets) for word in words}
        self.counts: Counter[Any] = Counter()
        self.words = self.clean_alarms = 0

    def __len__(self) -> int:
        return self.counts["occurrences"]

    def add(self, name: str, set_index: int) -> None:
        self.counts[name] += 1
        self.counts[name, set_index] += 1

    def total(self) -> SwapCounts:
        return SwapCounts(*(self.counts[name] for name in COUNT_NAMES))

    def by_set(self) -> tuple[tuple[tuple[str, ...], SwapCounts], ...]:
        return tuple(
            (words, SwapCounts(*(self.counts[name, i] for name in COUNT_NAMES)))
            for i, words in enumerate(self.sets)
        )


COUNT_NAMES = tuple(SwapCounts.__dataclass_fields__)


def _swap_and_check(
    speller: Speller, tally: _SwapTally, name: str, text: str, one_in: int, rng: np.random.Generator
) -> None:
    content = text.encode("utf-8", "surrogatepass")
    n_words, positions = find_set_words(content, name, tally.sets)
    tally.words += n_words
    n_due = min(tally.words // one_in - tally.counts["swapped"], len(positions) // 2)
    chosen = [positions[i] for i in rng.choice(len(positions), n_due, replace=False)] if n_due > 0 else []
    changed, swaps = swap_words(content, chosen, tally.sets, rng)
    for position in positions:
        tally.add("occurrences", position.set_index)
    for swap in swaps:
        tally.add("swapped", swap.set_index)
    originals = {swap.begin: swap.original for swap in swaps}
    for suggestion in speller.check(changed, name=name):
        original = originals.get(suggestion.begin)
        if original is None:
            outcome = "false"
        else:
            is_right = normalise_word(suggestion.suggested) == normalise_word(original)
            outcome = "right" if is_right else "misnamed"
        tally.add(outcome, tally.set_by_word[normalise_word(suggestion.written)])


def _measure_lines(result: SwapEvaluation) -> Lines:
    total = result.total
    wrong = total.misnamed + total.false
    lines = [
        f"precision  {_format_share(result.precision)}: {total.right:,} of "
        f"{format_quantity(total.suggestions, 'suggestion')} correct, {wrong:,} wrong",
        f"recall     {_format_share(result.recall)}: {total.right:,} of "
        f"{format_quantity(total.swapped, 'error')} corrected",
        f"alarms     {format_interval(result.alarms, '{:.2f}'.format)} per 10,000 words of the original "
        f"texts ({result.clean_alarms:,} in total); promised: at most "
        f"{format_float(max(result.promise.rate, result.promise.promised))} with the threshold P = "
        f"{result.promise.threshold:.4f}",
    ]
    lines += [] if result.is_kept else [_TOO_MANY_ALARMS]
    return Lines("\n".join(textwrap.fill(line, LINE_WIDTH, subsequent_indent="  ") for line in lines))


def _table_rows(result: SwapEvaluation) -> list[list[str]]:
    rows = [_table_row("/".join(words), counts) for words, counts in result.sets if counts.occurrences]
    return [TABLE_HEADINGS, *rows, _table_row("all sets", result.total)]


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


def _table_notes(result: SwapEvaluation) -> list[str]:
    notes = [
        "false: suggestions for words that were not swapped, or of the wrong word. Intervals are exact 95 % "
        "intervals."
    ]
    if missing := ["/".join(words) for words, counts in result.sets if not counts.occurrences]:
        notes.append(f"Not in these texts: {', '.join(missing)}.")
    return notes


def _format_share(measure: Measure) -> str:
    return "unknown" if math.isnan(measure.value) else format_interval(measure, "{:.3f}".format)


def swaps_plot_rows(result: SwapEvaluation) -> list[dict[str, Any]]:
    """Return one row for every set with swapped words, those with most swapped words first."""
    named = [("/".join(words), counts) for words, counts in result.sets if counts.swapped]
    return [
        counts.recall.chart_row(name=name)
        for name, counts in sorted(named, key=lambda item: -item[1].swapped)
    ]


class SetWordPosition(NamedTuple):
    """The bytes of a set word in a text, and the indices of its set and of the word in the set."""

    begin: int
    end: int
    set_index: int
    member: int


class SwappedWord(NamedTuple):
    """A swapped word: its character offset in the new text, the original and the new word, and the set."""

    begin: int
    original: str
    written: str
    set_index: int


def find_set_words(
    text: bytes, name: str, sets: Sequence[Sequence[str]]
) -> tuple[int, list[SetWordPosition]]:
    """Return the number of words of a text, and the positions of the set words in text order."""
    reader = ContextReader(sets, 0)
    n_words = reader.read(mask_text(text, name), 0)
    positions = [p for i, rows in enumerate(reader.occurrences()) for p in _set_word_positions(i, rows)]
    return n_words, sorted(positions)


def _set_word_positions(set_index: int, rows: Occurrences) -> list[SetWordPosition]:
    ends = (rows.byte_offsets + rows.byte_lengths).tolist()
    columns = zip(rows.byte_offsets.tolist(), ends, rows.members.tolist(), strict=True)
    return [SetWordPosition(begin, end, set_index, member) for begin, end, member in columns]


def swap_words(
    text: bytes,
    chosen: Sequence[SetWordPosition],
    sets: Sequence[Sequence[str]],
    rng: np.random.Generator,
) -> tuple[str, list[SwappedWord]]:
    """Replace the words at these positions with random other words of their sets, matching capitalisation."""
    apostrophe = "’" if "’".encode() in text else "'"
    parts: list[str] = []
    swaps: list[SwappedWord] = []
    last = length = 0
    for begin, end, set_index, member in sorted(chosen):
        before, original = _decode_utf8(text[last:begin]), _decode_utf8(text[begin:end])
        words = sets[set_index]
        other = (member + int(rng.integers(1, len(words)))) % len(words)
        written = match_case(original, words[other], apostrophe, words[member])
        swaps.append(SwappedWord(length + len(before), original, written, set_index))
        parts += [before, written]
        length += len(before) + len(written)
        last = end
    return "".join([*parts, _decode_utf8(text[last:])]), swaps


def _decode_utf8(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def normalise_word(word: str) -> str:
    """Return a word in lower case with ' as apostrophe."""
    return word.lower().replace("’", "'")
