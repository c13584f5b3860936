"""Each occurrence taken once as it is and once as every other word of its set, direction by direction."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from weigh import errors
from weigh.apps.spelling.classifiers import LinearWordClassifier
from weigh.apps.spelling.contexts import Corpus, Occurrences
from weigh.apps.spelling.documents import Document
from weigh.apps.spelling.evaluation.compare import PAGE_WIDTH, format_fraction
from weigh.apps.spelling.speller import Speller
from weigh.text import format_quantity, html_table, text_table, to_json_value

MAX_DIRECTIONS_DRAWN = 200  # directions
TABLE_HEADINGS = ["written → meant", "errors", "found", "recall", "right", "alarms", "precision"]


@dataclass(frozen=True)
class DirectionResult:
    """What a speller says where `written` stands: wrongly in contexts of `meant`, and rightly in its own.

    Of `wrong` contexts `found` had `meant` suggested, and so had `alarms` of the `right` ones.
    """

    written: str
    meant: str
    wrong: int
    found: int
    right: int
    alarms: int

    @property
    def recall(self) -> float:
        """The share of errors found."""
        return self.found / self.wrong if self.wrong else math.nan

    @property
    def precision(self) -> float:
        """The share of suggestions that are right where as many words are wrong as right.

        It is r / (r + a) of the recall r and the share a of right words that have an alarm.
        """
        if not self.wrong or not self.right or not self.found + self.alarms:
            return math.nan
        return self.recall / (self.recall + self.alarms / self.right)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            **asdict(self),
            "recall": to_json_value(self.recall),
            "precision": to_json_value(self.precision),
        }


@dataclass(frozen=True, eq=False, repr=False)
class DirectionEvaluation:
    """The result of `directions`; prints within 80 columns."""

    pairs: tuple[DirectionResult, ...]
    words: int
    threshold: float

    def __getitem__(self, pair: tuple[str, str]) -> DirectionResult:
        for each in self.pairs:
            if (each.written, each.meant) == pair:
                return each
        raise errors.ParameterError(f"The speller has no set with {pair[0]!r} and {pair[1]!r}.")

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        pairs = [each.to_dict() for each in self.pairs]
        return {"words": self.words, "threshold": self.threshold, "pairs": pairs}

    def plot(self) -> Any:
        """Draw the recall of the directions that occur, the weakest first."""
        from weigh.pictures import bar_chart

        known = sorted((each for each in self.pairs if each.wrong), key=lambda each: each.recall)
        rows = [{"name": f"{each.written} → {each.meant}", "value": each.recall} for each in known]
        return bar_chart(
            rows,
            x="share of errors found",
            title="Errors found, by direction, the fewest first",
            what="directions",
            most=MAX_DIRECTIONS_DRAWN,
        )

    def __str__(self) -> str:
        notes = (
            "errors: contexts of the second word in which the first was put, each alone. right: contexts of "
            "the first word. precision: the share of right suggestions where there are as many errors as "
            "right words."
        )
        table = text_table(self._table_rows())
        return "\n\n".join([textwrap.fill(self._title, PAGE_WIDTH), table, textwrap.fill(notes, PAGE_WIDTH)])

    def __repr__(self) -> str:
        return self._title

    def _repr_html_(self) -> str:
        return html_table(self._title, self._table_rows())

    @property
    def _title(self) -> str:
        met = format_quantity(self.words, "word")
        return f"Each word of a set in {met} written once rightly and once wrongly; P > {self.threshold:.4f}"

    def _table_rows(self) -> list[list[str]]:
        return [
            TABLE_HEADINGS,
            *(
                [
                    f"{each.written} → {each.meant}",
                    f"{each.wrong:,}",
                    f"{each.found:,}",
                    format_fraction(each.recall),
                    f"{each.right:,}",
                    f"{each.alarms:,}",
                    format_fraction(each.precision),
                ]
                for each in self.pairs
                if each.wrong
            ),
        ]


def evaluate_directions(speller: Speller, documents: Iterable[Document]) -> DirectionEvaluation:
    """Put every other word of its set in the place of each occurrence, alone, and count what is suggested.

    A context does not hold its own word, so what is suggested in it does not hang on what is written there.
    """
    sets = [chooser.words for chooser in speller.sets]
    corpus = Corpus.read(documents, sets, speller.settings.window)
    if not any(map(len, corpus.occurrences)):
        raise errors.DataError(
            f"directions: no word of the speller's sets is in the {format_quantity(corpus.n_words, 'word')} of the "
            "texts. Give more text."
        )
    threshold = speller.promise.threshold
    pairs = [
        each
        for chooser, rows in zip(speller.sets, corpus.occurrences, strict=True)
        for each in _evaluate_set(chooser, rows, threshold)
    ]
    return DirectionEvaluation(tuple(pairs), corpus.n_words, threshold)


def _evaluate_set(
    chooser: LinearWordClassifier, rows: Occurrences, threshold: float
) -> Iterator[DirectionResult]:
    n = len(chooser.words)
    counts = np.bincount(rows.members, minlength=n)
    chances = chooser.predict_proba(rows)
    best = chances.argmax(axis=1)
    sure = chances.max(axis=1, initial=0.0) > threshold
    # How often the contexts of each word [n, n] surely ask for each.
    asked = np.bincount(n * rows.members[sure] + best[sure], minlength=n * n).reshape(n, n)
    for written, meant in permutations(range(n), 2):
        yield DirectionResult(
            chooser.words[written],
            chooser.words[meant],
            wrong=int(counts[meant]),
            found=int(asked[meant, meant]),
            right=int(counts[written]),
            alarms=int(asked[written, meant]),
        )
