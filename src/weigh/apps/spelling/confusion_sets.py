"""Confusion sets: words that people mix up, from the lists of the package, a file, or given."""

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
from weigh.source.files.text_files import UTF8_BOM, find_undecodable_line
from weigh.source.paths import PathLike, check_readable
from weigh.text import format_quantity, html_table, truncate

LIST_NAMES = ("english", "golding-schabes", "banko-brill")
MAX_SET_SIZE = 8  # words of a set
MAX_WORD_LENGTH = 40  # characters of a word
_MAX_LIST_BYTES = 1 << 22  # bytes of a list: what is longer is a text that was given in its place
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR = re.compile(r"[,/]")
_WORD = re.compile(r"[^\W_](?:\w|'(?=[^\W_]))*")
_SAVE_ADVICE = ", not a list. Save it to a file first."


@dataclass(frozen=True)
class ConfusionSets:
    """Sets of words that are mixed up.

    Words have ' for ’, and the capitals that their list gives them, which do not tell words apart; no word is
    in two sets, and a set has two to eight.
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
        """One of the lists that come with the package."""
        if name not in LIST_NAMES:
            raise _unknown_list_error(name)
        content = (files("weigh.apps.spelling") / "lists" / f"{name}.txt").read_text("utf-8")
        return cls(tuple(words for _, words in _parse_lines(content)), name)

    @classmethod
    def read(cls, path: PathLike) -> Self:
        """A list in a file: a set a line, words parted by blanks, commas or slashes; # begins a comment."""
        where = Path(path)
        check_readable(where, _SAVE_ADVICE)
        sets = []
        seen: set[str] = set()
        for number, words in _parse_lines(_read_list(where)):
            words = tuple(map(_normalise_word, words))
            fault = _describe_fault(words, seen)
            if fault:
                raise SourceError(f"{where}, line {number:,}: {fault}", where, number)
            seen.update(map(str.lower, words))
            sets.append(words)
        if not sets:
            raise SourceError(f"{where} holds no confusion set. {_EXAMPLE_ADVICE}", where)
        return cls(tuple(sets), os.fspath(where))

    @classmethod
    def parse(cls, what: Any) -> Self:
        """What a user gives: sets that are ready, the name of a list, a path, or sequences of words."""
        if isinstance(what, cls):
            return what
        if isinstance(what, os.PathLike):
            return cls.read(what)
        if isinstance(what, str):
            if what in LIST_NAMES or not os.path.lexists(what):
                return cls.by_name(what)
            return cls.read(what)
        try:
            return cls(tuple(_parse_words(words) for words in what))
        except TypeError as error:
            must = "the name of a list, the path of one, or sequences of words"
            raise parameter_error("ConfusionSets", "sets", must, what) from error

    @staticmethod
    def list_names() -> tuple[str, ...]:
        """The lists that come with the package."""
        return LIST_NAMES

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.sets)

    def __str__(self) -> str:
        head = f"{format_quantity(len(self.sets), 'confusion set')} ({truncate(self.name, 40)})"
        return "\n".join([head, *(f"  {truncate(' '.join(words), 78)}" for words in self.sets)])

    def to_dict(self) -> dict[str, Any]:
        """Return the sets as plain data."""
        return {"name": self.name, "sets": [list(words) for words in self.sets]}

    def _repr_html_(self) -> str:
        rows = [["words"], *([" ".join(words)] for words in self.sets)]
        return html_table(f"{format_quantity(len(self.sets), 'confusion set')} ({self.name})", rows)


_EXAMPLE_ADVICE = "Give a set of words a line, such as: their there they're"


def _normalise_word(word: object) -> str:
    return normalize("NFC", str(word)).replace("’", "'")


def _parse_words(given: str | Iterable[str]) -> tuple[str, ...]:
    """The words of a set: a sequence of them, or a line as in a file.

    Commas and slashes part words, or else blanks do: a phrase between commas is seen to be one.
    """
    if not isinstance(given, str):
        return tuple(given)
    parts = _SEPARATOR.split(given)
    return tuple(filter(None, map(str.strip, parts))) if len(parts) > 1 else tuple(given.split())


def _parse_lines(content: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The sets of a list, each with the number of its line."""
    for number, line in enumerate(_LINE_END.split(content), 1):
        words = _parse_words(line.partition("#")[0])
        if words:
            yield number, words


def _read_list(path: Path) -> str:
    """The text of a list."""
    with path.open("rb") as file:
        data = file.read(_MAX_LIST_BYTES + 1)
    if len(data) > _MAX_LIST_BYTES:
        raise SourceError(
            f"{path} is longer than {_MAX_LIST_BYTES:,} bytes: it is no list. {_EXAMPLE_ADVICE}", path
        )
    try:
        return data.removeprefix(UTF8_BOM).decode()
    except UnicodeDecodeError as error:
        line = find_undecodable_line(path, "utf-8")
        raise SourceError(
            f"{path}, line {line:,} is not UTF-8 text. Save the list as UTF-8.", path, line
        ) from error


def _describe_fault(words: Sequence[str], seen: set[str]) -> str:
    """What is wrong with a set, given the words of those before it; nothing if it is right."""
    known = [word.lower() for word in words]
    for at, (word, name) in enumerate(zip(words, known, strict=True)):
        if not _is_word(name):
            return f"{one_line_repr(word, 60)} is not one word. {_word_advice(word)}"
        if name in known[:at]:
            return f"{word!r} is in it twice. Name every word once{_capitals_advice(word, words[:at])}."
        if name in seen:
            return f"{word!r} is in another set already. A word may be in one set only; join the two."
    if len(words) < 2:
        return f"a set needs two words or more, got {quote_names(words)}. Add what it is mixed up with."
    if len(words) > MAX_SET_SIZE:
        return f"a set has at most {MAX_SET_SIZE} words, got {len(words)}. Part it into sets."
    return ""


def _is_word(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and len(word) <= MAX_WORD_LENGTH and not word.isdecimal()


def _word_advice(word: str) -> str:
    """What a word would have to be, in view of one that is none."""
    if len(word.split()) > 1:
        return (
            "A word of a set is a single word: phrases cannot be told apart. Part words by blanks or commas."
        )
    if any(category(sign).startswith("M") for sign in word):
        return (
            "It has letters with marks that are signs of their own (combining marks), which are not read yet."
        )
    return f"A word is at most {MAX_WORD_LENGTH} letters, digits and inner apostrophes, without blanks and hyphens."


def _capitals_advice(word: str, words: Sequence[str]) -> str:
    return "" if word in words else "; capitals do not tell words apart"


def _unknown_list_error(name: str) -> ParameterError:
    return ParameterError(
        f"There is no list {one_line_repr(name, 60)}; there are {quote_names(LIST_NAMES)}.{did_you_mean(name, LIST_NAMES)} "
        f"Another language is a file with a set a line: give its path."
    )
