"""A corpus: the occurrences of all confusion sets in some documents, read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weigh.apps.spelling.contexts import Occurrences, Reader
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.promise import held_out, held_words
from weigh.features.blocks import Mask

Progress = Callable[[int], object]


@dataclass(frozen=True, eq=False)
class Corpus:
    """What was found in documents: the words of each, and the occurrences of each set."""

    words: tuple[int, ...]
    sets: tuple[Occurrences, ...]

    @classmethod
    def read(
        cls,
        documents: Iterable[Document],
        sets: Sequence[Sequence[str]],
        window: int,
        progress: Progress | None = None,
    ) -> Corpus:
        """Read documents, piece by piece; `progress` is called with the bytes of each piece."""
        reader, words = Reader(sets, window), []
        for number, document in enumerate(documents):
            seen = begin = 0
            for piece in document.pieces:
                seen += reader.read(piece, number, seen, begin)
                begin += len(piece)
                if progress is not None:
                    progress(len(piece))
            words.append(seen)
        return cls(tuple(words), tuple(reader.occurrences()))

    @property
    def n_words(self) -> int:
        """The words of all documents."""
        return sum(self.words)

    @property
    def n_held(self) -> int:
        """The words that are held out."""
        return held_words(self.words)

    def held(self, rows: Occurrences) -> Mask:
        """Return which of some occurrences are held out."""
        return held_out(rows.documents, rows.at, self.words)
