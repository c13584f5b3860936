"""The speller: choosers for all confusion sets, and a promise of how rarely it is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weigh.apps.spelling import storing
from weigh.apps.spelling.checking import suggestions
from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.facts import Facts, LeftOut
from weigh.apps.spelling.fixing import decoded, fixed, read_text, rewrite
from weigh.apps.spelling.promise import Promise
from weigh.apps.spelling.settings import Settings
from weigh.apps.spelling.speller_text import html_of, text_of
from weigh.apps.spelling.suggestion import Suggestion
from weigh.errors import DataError, told
from weigh.model import store

Path = str | os.PathLike[str]


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

    sets: tuple[LinearChooser, ...]
    promise: Promise
    settings: Settings
    facts: Facts

    @classmethod
    def learn(
        cls,
        paths: Any,
        sets: Any = "english",
        *,
        encoding: str = "utf-8",
        progress: Callable[..., object] | None = None,
        **settings: Any,
    ) -> Speller:
        """Learn from files, patterns or folders of text.

        Parameters
        ----------
        paths : a path or several; '-' is standard input
        sets : the name of a list, a file with a set on each line, or sets of words
        encoding : that of the files
        progress : told how far it is
        **settings : learner, alarms, window, features, at_least; see `Settings`
        """
        # Learners are imported where something is learned: checking starts without them.
        from weigh.apps.spelling.confusion import ConfusionSets
        from weigh.apps.spelling.documents import documents
        from weigh.apps.spelling.learning import learn

        asked = Settings(**settings)
        given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        read = documents(given, encoding=encoding)
        return learn(read, ConfusionSets.given(sets), asked, progress=progress)

    @classmethod
    def load(cls, path: Path) -> Speller:
        """Open the file of a speller; nothing in it is executed."""
        return cls(*storing.read(path))

    def save(self, path: Path) -> None:
        """Put the speller into a file, all at once; a failure leaves the old file as it was."""
        store.write(path, *storing.to_content(self._parts))

    def to_bytes(self) -> bytes:
        """The bytes that `save` puts into a file; equal spellers have equal ones."""
        return store.to_bytes(*storing.to_content(self._parts))

    @property
    def _parts(self) -> storing.Parts:
        return storing.Parts(self.sets, self.promise, self.settings, self.facts)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The words that occurred too rarely to be learned."""
        return self.facts.left_out

    def check(self, text: str | bytes, *, name: str = "text.txt") -> list[Suggestion]:
        """What is probably meant otherwise than it is written, in the order of the text.

        The ending of `name` says what is prose: in ``page.md`` code is left alone, in ``paper.tex`` commands
        are. Bytes are UTF-8; their mark of order, if there is one, counts for no character.
        """
        if isinstance(text, bytes | bytearray):
            text = decoded(bytes(text), "utf-8", name).text
        elif not isinstance(text, str):
            raise DataError(
                f"check takes a text (str, or bytes of UTF-8), got {told(text, 60)}. "
                "For a file there is check_file(path)."
            )
        data = text.encode("utf-8", "surrogatepass")
        return suggestions(self.sets, self.promise.threshold, self.settings.window, data, name)

    def check_file(self, path: Path, *, encoding: str = "utf-8") -> list[Suggestion]:
        """What is suggested for a file, which may be packed (gz, bz2, xz, zst, lz4)."""
        return self.check(read_text(path, encoding).text, name=os.fspath(path))

    def fixed(self, text: str, suggestions: Sequence[Suggestion]) -> str:
        """A text with what was suggested for it in the place of what was written."""
        return fixed(text, suggestions)

    def fix_file(self, path: Path, *, encoding: str = "utf-8") -> list[Suggestion]:
        """Write into a file what is suggested for it, and return that; all other bytes stay as they are."""
        file = read_text(path, encoding)
        found = self.check(file.text, name=file.path)
        rewrite(file, found)
        return found

    def to_dict(self) -> dict[str, Any]:
        """What the speller knows of itself, as plain values."""
        return {
            "sets": [list(one.words) for one in self.sets],
            "features": [one.size for one in self.sets],
            "promise": self.promise.to_dict(),
            "settings": self.settings.to_dict(),
            "facts": self.facts.to_dict(),
        }

    def __str__(self) -> str:
        return text_of(self._parts)

    def _repr_html_(self) -> str:
        return html_of(self._parts)
