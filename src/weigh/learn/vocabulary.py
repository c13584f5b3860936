"""Finding a vocabulary: the words of a column of texts, counted and pruned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weigh import errors
from weigh.features import Names, Schema, Wordy, find_schema
from weigh.model.counters import WordCounter
from weigh.model.counts import FlagCounts
from weigh.model.pruning import kept_words, taken_names
from weigh.model.tally import Counting
from weigh.model.word_tally import WordTally
from weigh.source import Chunk, Source
from weigh.source.base import Piece


class VocabularyCounter:
    """Gathers the words of many chunks, whatever their labels."""

    def __init__(self, schema: Schema, kind: Wordy) -> None:
        self._schema = schema
        self._words = WordCounter(kind)

    def add(self, chunk: Chunk) -> None:
        """Count the words of one chunk."""
        everything = Counting(np.zeros(chunk.n_rows, dtype=np.int32), 1)
        self._words.add(self._schema.encode(chunk)[0], everything)

    def join(self, other: VocabularyCounter) -> None:
        """Take over the words of another."""
        self._words.join(other._words, np.zeros(1, dtype=np.int64), 1)

    def counts(self) -> WordTally:
        """Return how often each word occurs."""
        counts = self._words.counts(np.zeros(1, dtype=np.int64))
        found = counts.present if isinstance(counts, FlagCounts) else counts
        assert isinstance(found, WordTally)
        return found


@dataclass(frozen=True)
class VocabularyTask:
    """The words of the one column of a source, as its kind keeps them."""

    schema: Schema
    kind: Wordy

    @classmethod
    def over(cls, source: Source, kind: Wordy) -> VocabularyTask:
        """Return the task for a source of one column of texts, or of lists of names."""
        if source.width != 1:
            raise errors.DataError(
                f"A vocabulary is made of one column of texts, but there are {source.width:,}: "
                f"{errors.listing(source.names)}. Give that column alone."
            )
        return cls(find_schema(source, kind), kind)

    def chunks(self, source: Source) -> Iterator[Chunk]:
        """Read the source in the schema's names."""
        return self.schema.chunks(source)

    def pieces(self, source: Source) -> Iterator[Piece]:
        """Read the source in the schema's names, leaving the work to whoever calls a piece."""
        return self.schema.pieces(source)

    def counter(self) -> VocabularyCounter:
        """Return what gathers the words of many chunks."""
        return VocabularyCounter(self.schema, self.kind)

    def merge(self, first: WordTally, second: WordTally) -> WordTally:
        """Return the counts of both together."""
        return first.plus(second)

    def finish(self, counts: WordTally) -> Names:
        """Return the names that are kept, in order; of buckets, those of their shortest words."""
        counts = counts.canonical()
        if counts.hashed:
            return counts.names
        names = taken_names(counts.names, kept_words(self.kind, counts.table))
        return names if isinstance(names, Names) else Names.of(names)
