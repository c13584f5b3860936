"""Errors put into text held out, to see how many a speller finds and what else it complains of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.apps.spelling.promise import PER, Promise
from weigh.apps.spelling.speller import Speller
from weigh.apps.spelling.trial import swaps_text
from weigh.apps.spelling.trial.compare_text import DRAWN
from weigh.apps.spelling.trial.rewriting import as_in_sets, places, rewritten
from weigh.apps.spelling.trial.scoring import share_of
from weigh.features.settings import whole
from weigh.judge.measures.measure import Measure

OWNER = "swaps"
ONE_IN = 200


@dataclass(frozen=True)
class Counts:
    """What became of swapped words: found and put right, taken for a third word; and false alarms."""

    occurrences: int
    swapped: int
    right: int
    misnamed: int
    false: int

    @property
    def suggestions(self) -> int:
        """All suggestions."""
        return self.right + self.misnamed + self.false

    @property
    def precision(self) -> Measure:
        """The share of suggestions that put an error right, with its exact 95 % interval."""
        return share_of("precision", self.right, self.suggestions)

    @property
    def recall(self) -> Measure:
        """The share of errors that were put right, with its exact 95 % interval."""
        return share_of("recall", self.right, self.swapped)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "occurrences": self.occurrences,
            "swapped": self.swapped,
            "right": self.right,
            "misnamed": self.misnamed,
            "false": self.false,
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Swaps:
    """The result of `swaps`; prints within 80 columns.

    `all` counts over all sets, `sets` are those of the speller in their order. `clean_alarms` are the
    suggestions in the texts as they were, all of which are taken for false.
    """

    texts: int
    words: int
    one_in: int
    seed: int
    all: Counts
    sets: tuple[tuple[tuple[str, ...], Counts], ...]
    clean_alarms: int
    promise: Promise

    @property
    def precision(self) -> Measure:
        """The share of suggestions that put an error right."""
        return self.all.precision

    @property
    def recall(self) -> Measure:
        """The share of errors that were put right."""
        return self.all.recall

    @property
    def alarms(self) -> Measure:
        """False alarms per 10,000 words of the texts as they were."""
        found = share_of("alarms", self.clean_alarms, self.words)
        return Measure("alarms", PER * found.value, PER * found.low, PER * found.high)

    @property
    def is_kept(self) -> bool:
        """Whether there may be as few alarms as are promised: not all of their interval lies above."""
        return self.alarms.low <= max(self.promise.rate, self.promise.promised)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "texts": self.texts,
            "words": self.words,
            "one_in": self.one_in,
            "seed": self.seed,
            **self.all.to_dict(),
            "clean_alarms": self.clean_alarms,
            "alarms_per_10000_words": self.alarms.to_dict(),
            "promised": self.promise.promised,
            "is_kept": self.is_kept,
            "threshold": self.promise.threshold,
            "sets": [{"words": list(words), **counts.to_dict()} for words, counts in self.sets],
        }

    def plot(self) -> Any:
        """Draw the share of errors found of every set, with its interval."""
        from weigh.pictures import intervals

        return intervals(
            swaps_text.drawn(self),
            x="share of swapped words put right",
            title="Errors found, by set, those with most errors first",
            what="sets",
            most=DRAWN,
        )

    def __str__(self) -> str:
        return swaps_text.text(self)

    def __repr__(self) -> str:
        return swaps_text.headline(self)

    def _repr_html_(self) -> str:
        return swaps_text.markup(self)


def swaps(
    speller: Speller,
    texts: Sequence[tuple[str, str]],
    *,
    one_in: int = ONE_IN,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Swaps:
    """Replace one word in `one_in` of texts by another of its set, let the speller check them, and count.

    Parameters
    ----------
    speller : a speller that has not learned these texts
    texts : pairs of a name, whose ending says what is code in it, and a text without errors
    one_in : the words of a text for each that is replaced; at most half of the words of the sets are
    seed : which words are replaced, and by which
    progress : called with the texts done and all texts
    """
    one_in, seed = whole(OWNER, "one_in", one_in, 2), whole(OWNER, "seed", seed, 0)
    rng = np.random.default_rng(seed)
    tally = _Tally([chooser.words for chooser in speller.sets])
    for number, (name, text) in enumerate(texts):
        tally.clean += len(speller.check(text, name=name))
        _swap_and_check(speller, tally, name, text, one_in, rng)
        if progress is not None:
            progress(number + 1, len(texts))
    if not tally.counts["swapped"]:
        raise errors.DataError(
            f"{OWNER}: no word was replaced in {tally.words:,} words, of which {len(tally):,} belong to a "
            f"set of the speller. Give more text, or replace more than one word in {one_in:,}."
        )
    return Swaps(
        len(texts), tally.words, one_in, seed, tally.of_all(), tally.of_sets(), tally.clean, speller.promise
    )


class _Tally:
    """Counts by kind, and by kind and set."""

    def __init__(self, sets: Sequence[tuple[str, ...]]) -> None:
        self.sets = sets
        self.of_word = {as_in_sets(word): at for at, words in enumerate(sets) for word in words}
        self.counts: Counter[Any] = Counter()
        self.words = self.clean = 0

    def __len__(self) -> int:
        return self.counts["occurrences"]

    def add(self, kind: str, at: int) -> None:
        self.counts[kind] += 1
        self.counts[kind, at] += 1

    def of_all(self) -> Counts:
        return Counts(*(self.counts[kind] for kind in KINDS))

    def of_sets(self) -> tuple[tuple[tuple[str, ...], Counts], ...]:
        found = [Counts(*(self.counts[kind, at] for kind in KINDS)) for at in range(len(self.sets))]
        return tuple(zip(self.sets, found, strict=True))


KINDS = tuple(Counts.__dataclass_fields__)


def _swap_and_check(
    speller: Speller, tally: _Tally, name: str, text: str, one_in: int, rng: np.random.Generator
) -> None:
    content = text.encode("utf-8", "surrogatepass")
    words, found = places(content, name, tally.sets)
    tally.words += words
    due = min(tally.words // one_in - tally.counts["swapped"], len(found) // 2)
    chosen = [found[at] for at in rng.choice(len(found), due, replace=False)] if due > 0 else []
    changed, made = rewritten(content, chosen, tally.sets, rng)
    for place in found:
        tally.add("occurrences", place.set)
    for swap in made:
        tally.add("swapped", swap.set)
    originals = {swap.begin: swap.original for swap in made}
    for one in speller.check(changed, name=name):
        meant = originals.get(one.begin)
        is_right = meant is not None and as_in_sets(one.suggested) == as_in_sets(meant)
        kind = "false" if meant is None else "right" if is_right else "misnamed"
        tally.add(kind, tally.of_word[as_in_sets(one.written)])
