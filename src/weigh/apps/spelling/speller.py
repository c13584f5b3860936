"""The speller: choosers for all confusion sets, and a promise of how rarely it is wrong."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weigh.apps.spelling import storing
from weigh.apps.spelling.checking import Judge, Place, in_blocks
from weigh.apps.spelling.chooser import LinearChooser
from weigh.apps.spelling.confusion import ConfusionSets
from weigh.apps.spelling.documents import documents, left_out, require_prose, text_of
from weigh.apps.spelling.facts import Facts, LeftOut
from weigh.apps.spelling.fixing import fixed, read_text, rewrite
from weigh.apps.spelling.promise import Promise
from weigh.apps.spelling.settings import Settings
from weigh.apps.spelling.speller_text import SHOWN, drawn, headline, in_html, in_words
from weigh.apps.spelling.suggestion import Suggestion
from weigh.errors import DataError, SkippedFiles, parameter, told
from weigh.features.settings import finite
from weigh.model import store
from weigh.source.bytes import MARK

Path = str | os.PathLike[str]
THRESHOLD = "a probability from 0.5 to 1"


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
        from weigh.apps.spelling.learning import learn

        asked, skipped = Settings(**settings), list[str]()
        found = documents(paths, encoding=encoding, skipped=skipped)
        made = learn(found, ConfusionSets.given(sets), asked, progress=progress)
        if skipped:
            warnings.warn(left_out(skipped), SkippedFiles, stacklevel=2)
        return made

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

    def _judge(self, threshold: float | None) -> Judge:
        if threshold is None:
            return Judge(self.sets, self.promise.threshold, self.settings.window)
        if not 0.5 <= finite("check", "threshold", threshold, THRESHOLD) <= 1:
            raise parameter("check", "threshold", THRESHOLD, threshold)
        return Judge(self.sets, float(threshold), self.settings.window)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
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
        judge = self._judge(threshold)
        data = _utf8(text)
        # In a str the mark is a character; an editor does not show it, so that no column counts it.
        place = Place(1, 1, 1) if isinstance(text, str) and data.startswith(MARK) else Place()
        return list(judge.suggestions(in_blocks(data.removeprefix(MARK)), name, place))

    def check_file(
        self, path: Path, *, encoding: str = "utf-8", threshold: float | None = None
    ) -> list[Suggestion]:
        """What is suggested for a file, which may be packed (gz, bz2, xz, zst, lz4), in bounded memory."""
        judge = self._judge(threshold)
        file = path if isinstance(path, pathlib.Path) else pathlib.Path(path)
        require_prose(file)
        return list(judge.suggestions(text_of(file, encoding), os.fspath(path), Place()))

    def fixed(self, text: str, suggestions: Sequence[Suggestion]) -> str:
        """A text with what was suggested for it in the place of what was written."""
        return fixed(text, suggestions)

    def fix_file(
        self, path: Path, *, encoding: str = "utf-8", threshold: float | None = None
    ) -> list[Suggestion]:
        """Write into a file what is suggested for it, and return that; all other bytes stay as they are."""
        file = read_text(path, encoding)
        found = self.check(file.text, name=os.fspath(path), threshold=threshold)
        rewrite(file, found)
        return found

    def to_dict(self) -> dict[str, Any]:
        """What the speller knows of itself, as plain values."""
        return {
            "sets": [list(one.words) for one in self.sets],
            "features": [one.size for one in self.sets],
            "promise": self.promise.to_dict(),
            "found": self.facts.found,
            "settings": self.settings.to_dict(),
            "facts": self.facts.to_dict(),
        }

    def plot(self) -> Any:
        """Draw how often the speller is right and finds errors in held-out text, set by set."""
        from weigh.pictures import intervals

        return intervals(
            drawn(self._parts),
            x="share of the words held out",
            title="What is right, and what would be found, by set",
            what="sets",
            most=SHOWN,
        )

    def __str__(self) -> str:
        return in_words(self._parts)

    def __repr__(self) -> str:
        return headline(self._parts)

    def _repr_html_(self) -> str:
        return in_html(self._parts)


def _utf8(text: str | bytes) -> bytes:
    """A text as bytes of UTF-8."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(text, bytes | bytearray):
        raise DataError(
            f"check takes a text (str, or bytes of UTF-8), got {told(text, 60)}. "
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
