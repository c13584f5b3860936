"""Confusion sets: words that people confuse, from a built-in list, a file or the caller."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Self
from unicodedata import category, normalize

from weigh.errors import (
    ParameterError,
    SourceError,
    did_you_mean,
    one_line_repr,
    parameter_error,
    quote_names,
)
from weigh.result import Result, Section, Table
from weigh.source.files.text_files import UTF8_BOM, find_undecodable_line
from weigh.source.paths import PathLike, check_readable
from weigh.text import format_quantity, truncate

LIST_NAMES = ("english", "golding-schabes", "banko-brill")
MAX_SET_SIZE = 8  # words
MAX_WORD_LENGTH = 40  # characters
_MAX_LIST_BYTES = 1 << 22  # a longer file is a corpus, passed by mistake
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR = re.compile(r"[,/]")
_WORD = re.compile(r"[^\W_](?:\w|'(?=[^\W_]))*")
_SAVE_ADVICE = ", not a list. Save it to a file first."


@dataclass(frozen=True, repr=False)
class ConfusionSets(Result):
    """Sets of two to eight words that people confuse.

    Words are in NFC, with ' as apostrophe and the capitalisation of their list. Ignoring case, no word occurs
    twice.
    """

    sets: tuple[tuple[str, ...], ...]
    name: str = "given"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sets", tuple(tuple(map(_normalise_word, words)) for words in self.sets))
        seen: set[str] = set()
        for number, words in enumerate(self.sets, 1):
            fault = _describe_fault(words, seen)
            if fault:
                raise ParameterError(f"Set {number} of the confusion sets: {fault}")
            seen.update(map(str.lower, words))
        if not self.sets:
            raise ParameterError(f"There is no confusion set. {_EXAMPLE_ADVICE}")

    @classmethod
    def by_name(cls, name: str) -> Self:
        """Return a built-in list."""
        if name not in LIST_NAMES:
            raise _unknown_list_error(name)
        content = (files("weigh.apps.spelling") / "lists" / f"{name}.txt").read_text("utf-8")
        return cls(tuple(words for _, words in _parse_lines(content)), name)

    @classmethod
    def read(cls, path: PathLike) -> Self:
        """Read a file with one set per line; spaces, commas or slashes separate words, # starts a comment."""
        file = Path(path)
        check_readable(file, _SAVE_ADVICE)
        sets = []
        seen: set[str] = set()
        for number, words in _parse_lines(_read_list(file)):
            words = tuple(map(_normalise_word, words))
            fault = _describe_fault(words, seen)
            if fault:
                raise SourceError(f"{file}, line {number:,}: {fault}", file, number)
            seen.update(map(str.lower, words))
            sets.append(words)
        if not sets:
            raise SourceError(f"{file} has no confusion set. {_EXAMPLE_ADVICE}", file)
        return cls(tuple(sets), os.fspath(file))

    @classmethod
    def parse(cls, sets: Any) -> Self:
        """Convert an argument: confusion sets, the name of a built-in list, a path, or sequences of words."""
        if isinstance(sets, cls):
            return sets
        if isinstance(sets, os.PathLike):
            return cls.read(sets)
        if isinstance(sets, str):
            if sets in LIST_NAMES or not os.path.lexists(sets):
                return cls.by_name(sets)
            return cls.read(sets)
        try:
            return cls(tuple(_parse_words(words) for words in sets))
        except TypeError as error:
            must = "the name of a list, the path of one, or sequences of words"
            raise parameter_error("ConfusionSets", "sets", must, sets) from error

    @staticmethod
    def list_names() -> tuple[str, ...]:
        """Return the names of the built-in lists."""
        return LIST_NAMES

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.sets)

    def sections(self) -> list[Section]:
        """Return the words of every set."""
        title = f"{format_quantity(len(self.sets), 'confusion set')} ({truncate(self.name, 40)})"
        rows = [[" ".join(words)] for words in self.sets]
        return [Section("sets", [Table(rows, indent="  ", widths=(78,), has_header=False)], title)]


_EXAMPLE_ADVICE = "Give one set of words per line, such as: their there they're"


def _normalise_word(word: object) -> str:
    return normalize("NFC", str(word)).replace("’", "'")


def _parse_words(words: str | Iterable[str]) -> tuple[str, ...]:
    """Return the words of a set, given as a sequence or as a line of a file.

    Spaces separate words only in a line without commas and slashes, so that phrases can be reported.
    """
    if not isinstance(words, str):
        return tuple(words)
    parts = _SEPARATOR.split(words)
    return tuple(filter(None, map(str.strip, parts))) if len(parts) > 1 else tuple(words.split())


def _parse_lines(content: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the sets of a list with their line numbers."""
    for number, line in enumerate(_LINE_END.split(content), 1):
        words = _parse_words(line.partition("#")[0])
        if words:
            yield number, words


def _read_list(path: Path) -> str:
    """Read and decode a list."""
    with path.open("rb") as file:
        data = file.read(_MAX_LIST_BYTES + 1)
    if len(data) > _MAX_LIST_BYTES:
        raise SourceError(
            f"{path} is longer than {_MAX_LIST_BYTES:,} bytes, too long for a list. {_EXAMPLE_ADVICE}", path
        )
    try:
        return data.removeprefix(UTF8_BOM).decode()
    except UnicodeDecodeError as error:
        line = find_undecodable_line(path, "utf-8")
        raise SourceError(
            f"{path}, line {line:,} is not UTF-8 text. Save the list as UTF-8.", path, line
        ) from error


def _describe_fault(words: Sequence[str], seen: set[str]) -> str:
    """Return what is wrong with a set, or ""; `seen` are the lower-case words of the sets before it."""
    lower = [word.lower() for word in words]
    for i, (word, name) in enumerate(zip(words, lower, strict=True)):
        if not _is_word(name):
            return f"{one_line_repr(word, 60)} is not a single word. {_word_advice(word)}"
        if name in lower[:i]:
            return f"{word!r} occurs twice. List every word once{_capitals_advice(word, words[:i])}."
        if name in seen:
            return f"{word!r} is already in another set. A word may be in one set only; merge the two sets."
    if len(words) < 2:
        return f"a set needs at least two words, got {quote_names(words)}. Add the word it is confused with."
    if len(words) > MAX_SET_SIZE:
        return f"a set has at most {MAX_SET_SIZE} words, got {len(words)}. Split it into several sets."
    return ""


def _is_word(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and len(word) <= MAX_WORD_LENGTH and not word.isdecimal()


def _word_advice(word: str) -> str:
    """Return what a word must look like, given one that is invalid."""
    if len(word.split()) > 1:
        return "Phrases are not supported. Separate words with spaces or commas."
    if any(category(character).startswith("M") for character in word):
        return "Letters with combining marks are not supported."
    return (
        f"A word has at most {MAX_WORD_LENGTH} letters, digits and inner apostrophes, no spaces or hyphens."
    )


def _capitals_advice(word: str, words: Sequence[str]) -> str:
    return "" if word in words else "; case is ignored"


def _unknown_list_error(name: str) -> ParameterError:
    return ParameterError(
        f"There is no list {one_line_repr(name, 60)}; there are {quote_names(LIST_NAMES)}."
        f"{did_you_mean(name, LIST_NAMES)} For other sets, give the path of a file with one set per line."
    )
