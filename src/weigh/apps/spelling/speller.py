"""The speller: choosers for all confusion sets, and a promise of how rarely it is wrong."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from weigh.apps.spelling.checking import TextChecker, TextPosition, split_into_blocks
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.confusion_sets import ConfusionSets
from weigh.apps.spelling.corrections import apply_suggestions, read_decoded_file, write_corrections
from weigh.apps.spelling.documents import check_is_prose, read_documents, read_text_blocks, skipped_summary
from weigh.apps.spelling.false_alarms import FalseAlarmBound
from weigh.apps.spelling.speller_data import (
    RareWord,
    SpellerParts,
    SpellerSettings,
    TrainingStatistics,
    read_speller,
    to_file_content,
)
from weigh.apps.spelling.suggestions import Suggestion
from weigh.errors import DataError, SkippedFiles, one_line_repr, parameter_error
from weigh.features.validation import check_finite
from weigh.model.file import store
from weigh.source.files.text_files import UTF8_BOM
from weigh.text import (
    format_count,
    format_percent,
    format_quantity,
    html_paragraph,
    html_table,
    text_table,
    truncate,
)

SpellerPath = str | os.PathLike[str]
THRESHOLD_CONSTRAINT = "a probability from 0.5 to 1"


@dataclass(frozen=True, eq=False)
class Speller:
    """A speller for words that are mixed up: weather and whether, their and there and they're.

    It is learned from any text, without labels, and suggests another word only where it is so sure that there
    are at most as many false alarms in 10,000 words as was promised.

    Examples
    --------
    >>> speller = weigh.Speller.learn(["letters/", "novels/*.txt"])  # doctest: +SKIP
    >>> print(*speller.check("I didn't know weather to laugh or cry."))  # doctest: +SKIP
    text.txt:1:15: weather → whether (p=0.98; because: 'know' before, 'to' after)
    """

    sets: tuple[LinearWordClassifier, ...]
    promise: FalseAlarmBound
    settings: SpellerSettings
    facts: TrainingStatistics

    @classmethod
    def learn(
        cls,
        paths: Any,
        sets: Any = "english",
        *,
        encoding: str = "utf-8",
        progress: Callable[[int], None] | None = None,
        **settings: Any,
    ) -> Speller:
        """Learn from files, patterns or folders of text.

        Parameters
        ----------
        paths : a path or several; '-' is standard input
        sets : the name of a list, a file with a set on each line, or sets of words
        encoding : that of the files
        progress : called with the bytes of each piece that was read, and with 0 for each set, twice learned
        **settings : learner, alarms, window, features, at_least; see `Settings`
        """
        # Learners are imported where something is learned: checking starts without them.
        from weigh.apps.spelling.training import train_speller

        asked, skipped = SpellerSettings(**settings), list[str]()
        found = read_documents(paths, encoding=encoding, skipped=skipped)
        made = train_speller(found, ConfusionSets.parse(sets), asked, progress=progress)
        if skipped:
            warnings.warn(skipped_summary(skipped), SkippedFiles, stacklevel=2)
        return made

    @classmethod
    def load(cls, path: SpellerPath) -> Speller:
        """Open the file of a speller; nothing in it is executed."""
        return cls(*read_speller(path))

    def save(self, path: SpellerPath) -> None:
        """Put the speller into a file, all at once; a failure leaves the old file as it was."""
        store.write(path, *to_file_content(self._parts))

    def to_bytes(self) -> bytes:
        """The bytes that `save` puts into a file; equal spellers have equal ones."""
        return store.to_bytes(*to_file_content(self._parts))

    @property
    def _parts(self) -> SpellerParts:
        return SpellerParts(self.sets, self.promise, self.settings, self.facts)

    def _text_checker(self, threshold: float | None) -> TextChecker:
        if threshold is None:
            return TextChecker(self.sets, self.promise.threshold, self.settings.window)
        if not 0.5 <= check_finite("check", "threshold", threshold, THRESHOLD_CONSTRAINT) <= 1:
            raise parameter_error("check", "threshold", THRESHOLD_CONSTRAINT, threshold)
        return TextChecker(self.sets, float(threshold), self.settings.window)

    @property
    def left_out(self) -> tuple[RareWord, ...]:
        """The words that occurred too rarely to be learned."""
        return self.facts.left_out

    def check(
        self, text: str | bytes, *, name: str = "text.txt", threshold: float | None = None
    ) -> list[Suggestion]:
        """What is probably meant otherwise than it is written, in the order of the text.

        The ending of `name` says what is prose: in ``page.md`` code is left alone, in ``paper.tex`` commands
        are. Bytes are UTF-8; a mark of their order counts for no character. What is more probable than
        `threshold`, from 0.5 to 1, is suggested; without one, what is so sure that the promise is kept.
        """
        judge = self._text_checker(threshold)
        data = _encode_utf8(text)
        # In a str the mark is a character; an editor does not show it, so that no column counts it.
        place = (
            TextPosition(1, 1, 1) if isinstance(text, str) and data.startswith(UTF8_BOM) else TextPosition()
        )
        return list(judge.check(split_into_blocks(data.removeprefix(UTF8_BOM)), name, place))

    def check_file(
        self, path: SpellerPath, *, encoding: str = "utf-8", threshold: float | None = None
    ) -> list[Suggestion]:
        """What is suggested for a file, which may be packed (gz, bz2, xz, zst, lz4), in bounded memory."""
        judge = self._text_checker(threshold)
        file = path if isinstance(path, pathlib.Path) else pathlib.Path(path)
        check_is_prose(file)
        return list(judge.check(read_text_blocks(file, encoding), os.fspath(path), TextPosition()))

    def fixed(self, text: str, suggestions: Sequence[Suggestion]) -> str:
        """A text with what was suggested for it in the place of what was written."""
        return apply_suggestions(text, suggestions)

    def fix_file(
        self, path: SpellerPath, *, encoding: str = "utf-8", threshold: float | None = None
    ) -> list[Suggestion]:
        """Write into a file what is suggested for it, and return that; all other bytes stay as they are."""
        file = read_decoded_file(path, encoding)
        found = self.check(file.text, name=os.fspath(path), threshold=threshold)
        write_corrections(file, found)
        return found

    def to_dict(self) -> dict[str, Any]:
        """What the speller knows of itself, as plain values."""
        return {
            "sets": [list(one.words) for one in self.sets],
            "features": [one.n_features for one in self.sets],
            "promise": self.promise.to_dict(),
            "found": self.facts.found,
            "settings": self.settings.to_dict(),
            "facts": self.facts.to_dict(),
        }

    def plot(self) -> Any:
        """Draw how often the speller is right and finds errors in held-out text, set by set."""
        from weigh.pictures import interval_chart

        return interval_chart(
            speller_plot_rows(self._parts),
            x="share of the words held out",
            title="What is right, and what would be found, by set",
            what="sets",
            most=MAX_SETS_SHOWN,
        )

    def __str__(self) -> str:
        return format_speller(self._parts)

    def __repr__(self) -> str:
        return speller_headline(self._parts)

    def _repr_html_(self) -> str:
        return speller_html(self._parts)


def _encode_utf8(text: str | bytes) -> bytes:
    """A text as bytes of UTF-8."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(text, bytes | bytearray):
        raise DataError(
            f"check takes a text (str, or bytes of UTF-8), got {one_line_repr(text, 60)}. "
            "For a file there is check_file(path)."
        )
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"The bytes are no UTF-8: {error.reason} at byte {error.start:,}. Decode them first; "
            "for a file there is check_file(path, encoding=...)."
        ) from None
    return bytes(text)


MAX_SETS_SHOWN = 60
MAX_RARE_WORDS_SHOWN = 30  # sets, or words, that were left out
_PAGE_WIDTH = 80
_SET_NAME_WIDTH = 23
_TABLE_HEADINGS = ["set", "examples", "accuracy", "majority", "found", "features"]
_LOW_RECALL = 0.1  # of the errors, less than which is too little to be content with
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_NO_GAIN_MARK = "*"
_NO_GAIN_NOTE = "held-out text shows no gain over the commoner word alone"


def format_speller(parts: SpellerParts) -> str:
    """A speller in at most 80 columns."""
    lines = [
        speller_headline(parts),
        *(f"  {line}" for told in _summary_sentences(parts) for line in _wrap_sentence(told)),
    ]
    table = text_table([_TABLE_HEADINGS, *_table_rows(parts)[:MAX_SETS_SHOWN]], indent="  ")
    more = [f"  … and {len(parts.sets) - MAX_SETS_SHOWN} more"] if len(parts.sets) > MAX_SETS_SHOWN else []
    return "\n".join([*lines, table, *more, *(f"  {note}" for note in _table_notes(parts))])


def speller_html(parts: SpellerParts) -> str:
    """A speller for notebooks."""
    notes = "".join(map(html_paragraph, [*_table_notes(parts), *_summary_sentences(parts)]))
    return html_table(speller_headline(parts), [_TABLE_HEADINGS, *_table_rows(parts)]) + notes


def speller_headline(parts: SpellerParts) -> str:
    """A speller in one line."""
    words = sum(len(one.words) for one in parts.sets)
    return f"Speller for {format_quantity(len(parts.sets), 'set')} of {format_quantity(words, 'word')} that are mixed up"


def speller_plot_rows(parts: SpellerParts) -> list[dict[str, Any]]:
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


def _summary_sentences(parts: SpellerParts) -> list[str]:
    facts, promise = parts.facts, parts.promise
    read = f"{format_quantity(facts.words, 'word')} in {format_quantity(facts.documents, 'document')}"
    lines = [
        f"learned by {parts.settings.learner} from {read}",
        str(promise),
    ]
    if promise.shortfall_warning:
        lines.append(promise.shortfall_warning)
    if facts.accuracy is not None:
        lines.append(f"mean accuracy on held-out text: {format_percent(facts.accuracy)}")
    if facts.found is not None:
        lines.append(_format_recall(facts.found))
    return [*lines, *_format_dropped_sets(facts.dropped_sets), *_format_dropped_words(facts.dropped_words)]


def _wrap_sentence(sentence: str) -> list[str]:
    """The lines of a sentence; a number stays with what it is told of."""
    joined = sentence.replace(" = ", _NO_BREAK_SPACE + "=" + _NO_BREAK_SPACE).replace(
        " (", _NO_BREAK_SPACE + "("
    )
    return [
        line.replace(_NO_BREAK_SPACE, " ") for line in wrap(joined, _PAGE_WIDTH - 2, break_on_hyphens=False)
    ]


def _format_recall(found: float) -> str:
    """What the threshold leaves of the errors, and what to do where that is little."""
    told = f"would find {format_percent(found)} of such errors in the held-out text"
    return told if found >= _LOW_RECALL else f"{told}: learn from more text, or allow more alarms"


def _format_dropped_sets(sets: tuple[tuple[RareWord, ...], ...]) -> list[str]:
    told = ", ".join(_format_set_with_counts(rare) for rare in sets[:MAX_RARE_WORDS_SHOWN])
    why = f"left out: {format_quantity(len(sets), 'set')}, as a word of each is too rare: "
    return [f"{why}{told}{_format_remainder(len(sets))}"] if sets else []


def _format_set_with_counts(rare: tuple[RareWord, ...]) -> str:
    """A set whose rare words tell how often they occur: brake (3)/break."""
    counts = {one.word: f" ({format_count(one.examples)})" for one in rare}
    return "/".join(f"{word}{counts.get(word, '')}" for word in rare[0].words)


def _format_dropped_words(words: tuple[RareWord, ...]) -> list[str]:
    told = ", ".join(f"{one.word} ({format_count(one.examples)})" for one in words[:MAX_RARE_WORDS_SHOWN])
    return [f"left out of their sets, too rare: {told}{_format_remainder(len(words))}"] if words else []


def _format_remainder(number: int) -> str:
    return f" and {format_count(number - MAX_RARE_WORDS_SHOWN)} more" if number > MAX_RARE_WORDS_SHOWN else ""


def _table_notes(parts: SpellerParts) -> list[str]:
    return [] if all(one.is_better for one in parts.facts.sets) else [f"{_NO_GAIN_MARK} {_NO_GAIN_NOTE}"]


def _table_rows(parts: SpellerParts) -> list[list[str]]:
    return [
        [
            truncate(", ".join(one.words), _SET_NAME_WIDTH - 2)
            + ("" if facts.is_better else f" {_NO_GAIN_MARK}"),
            format_count(sum(facts.examples)),
            _format_share(facts.accuracy),
            _format_share(facts.majority),
            _format_share(facts.found),
            format_count(one.n_features),
        ]
        for one, facts in zip(parts.sets, parts.facts.sets, strict=True)
    ]


def _format_share(share: float | None) -> str:
    return "–" if share is None else format_percent(share)
