"""The speller: train, load, save, check and fix; and how it prints."""

from __future__ import annotations

import os
import pathlib
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
from weigh.deduplicated_warnings import warn
from weigh.errors import DataError, SkippedFiles, one_line_repr, parameter_error
from weigh.model.file import store
from weigh.parameters import check_finite
from weigh.result import LINE_WIDTH, Lines, Result, Section, Table
from weigh.source.files.text_files import UTF8_BOM
from weigh.text import format_count, format_percent, format_quantity, truncate

SpellerPath = str | os.PathLike[str]
THRESHOLD_CONSTRAINT = "a probability from 0.5 to 1"


@dataclass(frozen=True, eq=False)
class Speller(Result):
    """A context-sensitive speller for confused words: weather and whether, their and there and they're.

    It is trained on any correct text, without labels, and suggests another word only above a probability that
    bounds the number of false alarms per 10,000 words.

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
        """Train a speller on text files.

        Parameters
        ----------
        paths : one or more files, folders or glob patterns; '-' is standard input
        sets : the name of a built-in list, a file with one set per line, or sequences of words
        encoding : of the files
        progress : called with the size in bytes of each piece read, and twice per set with 0
        **settings : learner, alarms, window, features, at_least; see `SpellerSettings`
        """
        # Checking must not import the learners.
        from weigh.apps.spelling.training import train_speller

        speller_settings, skipped = SpellerSettings(**settings), list[str]()
        documents = read_documents(paths, encoding=encoding, skipped=skipped)
        speller = train_speller(documents, ConfusionSets.parse(sets), speller_settings, progress=progress)
        if skipped:
            warn(SkippedFiles(skipped_summary(skipped)))
        return speller

    @classmethod
    def load(cls, path: SpellerPath) -> Speller:
        """Load a speller from a file; nothing in it is executed."""
        return cls(*read_speller(path))

    def save(self, path: SpellerPath) -> None:
        """Write the speller to a file atomically; on failure the old file is unchanged."""
        store.write(path, *to_file_content(self._parts))

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes; equal spellers have equal bytes."""
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
        """The words with too few occurrences to be learned."""
        return self.facts.left_out

    def check(
        self, text: str | bytes, *, name: str = "text.txt", threshold: float | None = None
    ) -> list[Suggestion]:
        """Return the suggestions for a text, in text order.

        The suffix of `name` determines the markup: code is ignored in ``page.md``, commands in ``paper.tex``.
        Bytes must be UTF-8; their byte order mark is not counted as a character. Words with a probability
        above `threshold` (0.5 to 1) are suggested; the default is the threshold that bounds the false alarms.
        """
        checker = self._text_checker(threshold)
        data = _encode_utf8(text)
        # In a str the byte order mark is a character, but editors do not count it as a column.
        has_mark = isinstance(text, str) and data.startswith(UTF8_BOM)
        start = TextPosition(1, 1, 1) if has_mark else TextPosition()
        return list(checker.check(split_into_blocks(data.removeprefix(UTF8_BOM)), name, start))

    def check_file(
        self, path: SpellerPath, *, encoding: str = "utf-8", threshold: float | None = None
    ) -> list[Suggestion]:
        """Return the suggestions for a file, compressed (gz, bz2, xz, zst, lz4) or not, in bounded memory."""
        checker = self._text_checker(threshold)
        file = path if isinstance(path, pathlib.Path) else pathlib.Path(path)
        check_is_prose(file)
        return list(checker.check(read_text_blocks(file, encoding), os.fspath(path)))

    def fixed(self, text: str, suggestions: Sequence[Suggestion]) -> str:
        """Return the text with the suggested words in place of the written ones."""
        return apply_suggestions(text, suggestions)

    def fix_file(
        self, path: SpellerPath, *, encoding: str = "utf-8", threshold: float | None = None
    ) -> list[Suggestion]:
        """Apply all suggestions to a file and return them; all other bytes stay unchanged."""
        file = read_decoded_file(path, encoding)
        suggestions = self.check(file.text, name=os.fspath(path), threshold=threshold)
        write_corrections(file, suggestions)
        return suggestions

    def to_dict(self) -> dict[str, Any]:
        """Return sets, bound, settings and statistics as plain values."""
        return {
            "sets": [list(one.words) for one in self.sets],
            "features": [one.n_features for one in self.sets],
            "promise": self.promise.to_dict(),
            "found": self.facts.found,
            "settings": self.settings.to_dict(),
            "facts": self.facts.to_dict(),
        }

    def plot(self) -> Any:
        """Plot accuracy and recall on held-out text by set."""
        from weigh.pictures import interval_chart

        return interval_chart(
            speller_plot_rows(self._parts),
            x="share of held-out words",
            title="Accuracy and recall by set",
            what="sets",
            most=MAX_SETS_SHOWN,
        )

    def _title(self) -> str:
        n_words = sum(len(one.words) for one in self.sets)
        sets = format_quantity(len(self.sets), "confusion set")
        return f"Speller for {sets} ({format_quantity(n_words, 'word')})"

    def sections(self) -> list[Section]:
        """Return how the speller was trained, and the results of every set on held-out text."""
        lines = [line for sentence in _summary_sentences(self._parts) for line in _wrap_sentence(sentence)]
        rows = [_TABLE_HEADINGS, *_table_rows(self._parts)]
        table = Table(rows, indent="  ", most=MAX_SETS_SHOWN, caption="Sets")
        notes = map(Lines, _table_notes(self._parts))
        return [Section("speller", [Lines("\n".join(lines)), table, *notes], self._title())]

    def __repr__(self) -> str:
        return self._title()


def _encode_utf8(text: str | bytes) -> bytes:
    """Return a text as UTF-8, or raise `DataError`."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(text, bytes | bytearray):
        raise DataError(
            f"check takes a text (str, or bytes in UTF-8), got {one_line_repr(text, 60)}. "
            "For a file, use check_file(path)."
        )
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"The bytes are not UTF-8: {error.reason} at byte {error.start:,}. Decode them first; "
            "for a file, use check_file(path, encoding=...)."
        ) from None
    return bytes(text)


MAX_SETS_SHOWN = 60
MAX_RARE_WORDS_SHOWN = 30  # dropped sets, and dropped words
_SET_NAME_WIDTH = 23
_TABLE_HEADINGS = ["set", "examples", "accuracy", "majority", "recall", "features"]
_LOW_RECALL = 0.1  # advice is given below this
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_NO_GAIN_MARK = "*"
_NO_GAIN_NOTE = "no better on held-out text than always choosing the more frequent word"


def speller_plot_rows(parts: SpellerParts) -> list[dict[str, Any]]:
    """Return the rows of the plot: accuracy, majority baseline and recall of every set."""
    return [
        {"name": " ".join(classifier.words), "series": series, "value": value}
        for classifier, statistics in zip(parts.sets, parts.facts.sets, strict=True)
        for series, value in (
            ("accuracy", statistics.accuracy),
            ("accuracy of the majority", statistics.majority),
            ("recall", statistics.found),
        )
        if value is not None
    ]


def _summary_sentences(parts: SpellerParts) -> list[str]:
    statistics, bound = parts.facts, parts.promise
    words = format_quantity(statistics.words, "word")
    documents = format_quantity(statistics.documents, "document")
    sentences = [f"trained on {words} in {documents} (learner: {parts.settings.learner})", str(bound)]
    if bound.shortfall_warning:
        sentences.append(bound.shortfall_warning)
    if statistics.accuracy is not None:
        sentences.append(f"mean accuracy on held-out text: {format_percent(statistics.accuracy)}")
    if statistics.found is not None:
        sentences.append(_format_recall(statistics.found))
    sentences += _format_dropped_sets(statistics.dropped_sets)
    return sentences + _format_dropped_words(statistics.dropped_words)


def _wrap_sentence(sentence: str) -> list[str]:
    """Wrap a sentence without separating equations and parentheses from the word before them."""
    joined = sentence.replace(" = ", _NO_BREAK_SPACE + "=" + _NO_BREAK_SPACE)
    joined = joined.replace(" (", _NO_BREAK_SPACE + "(")
    lines = wrap(joined, LINE_WIDTH - 2, break_on_hyphens=False)
    return ["  " + line.replace(_NO_BREAK_SPACE, " ") for line in lines]


def _format_recall(recall: float) -> str:
    sentence = f"recall on held-out text: {format_percent(recall)}"
    return sentence if recall >= _LOW_RECALL else f"{sentence}; learn from more text, or allow more alarms"


def _format_dropped_sets(sets: tuple[tuple[RareWord, ...], ...]) -> list[str]:
    listed = ", ".join(_format_set_with_counts(rare) for rare in sets[:MAX_RARE_WORDS_SHOWN])
    head = f"{format_quantity(len(sets), 'set')} left out because of rare words: "
    return [f"{head}{listed}{_format_remainder(len(sets))}"] if sets else []


def _format_set_with_counts(rare: tuple[RareWord, ...]) -> str:
    """Format a set with the counts of its rare words: brake (3)/break."""
    counts = {one.word: f" ({format_count(one.examples)})" for one in rare}
    return "/".join(f"{word}{counts.get(word, '')}" for word in rare[0].words)


def _format_dropped_words(words: tuple[RareWord, ...]) -> list[str]:
    listed = ", ".join(f"{one.word} ({format_count(one.examples)})" for one in words[:MAX_RARE_WORDS_SHOWN])
    return [f"rare words left out of their sets: {listed}{_format_remainder(len(words))}"] if words else []


def _format_remainder(n: int) -> str:
    return f" and {format_count(n - MAX_RARE_WORDS_SHOWN)} more" if n > MAX_RARE_WORDS_SHOWN else ""


def _table_notes(parts: SpellerParts) -> list[str]:
    return [] if all(one.is_better for one in parts.facts.sets) else [f"  {_NO_GAIN_MARK} {_NO_GAIN_NOTE}"]


def _table_rows(parts: SpellerParts) -> list[list[str]]:
    return [
        [
            truncate(", ".join(classifier.words), _SET_NAME_WIDTH - 2)
            + ("" if statistics.is_better else f" {_NO_GAIN_MARK}"),
            format_count(sum(statistics.examples)),
            _format_share(statistics.accuracy),
            _format_share(statistics.majority),
            _format_share(statistics.found),
            format_count(classifier.n_features),
        ]
        for classifier, statistics in zip(parts.sets, parts.facts.sets, strict=True)
    ]


def _format_share(share: float | None) -> str:
    return "–" if share is None else format_percent(share)
