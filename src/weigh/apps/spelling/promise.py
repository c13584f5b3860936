"""The promise of a speller: how often it may be wrong about clean text, and the threshold that keeps it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.priors.quantiles import beta_quantile
from weigh.text import amount, counted, short

PER = 10_000  # words that a rate of alarms is told for
BLOCK = 1_000  # words that are held out together where documents cannot be
EVERY = 5  # one part of so many is held out
ALL = 1e15  # words, more than there are to learn from
LEAST = BLOCK * EVERY  # words without which nothing can be held out
FEWEST, MOST = 0.1, 0.4  # the share of the words that held-out documents may have
DOUBT = 0.05  # the chance that a text held out shows fewer alarms than there are
LIKELY = 0.5  # a suggestion is likelier than not, whatever rate was asked for


@dataclass(frozen=True)
class Promise:
    """At most `rate` false alarms per 10,000 words, kept by suggesting only what has P > `threshold`.

    An alarm is a word of clean text for which another one is suggested. Of `words` held-out words `alarms`
    were so; `promised` is the upper limit of their rate, which holds with 95 % confidence. Text that is too
    short to show the rate that was asked for has a `promised` above it, and a threshold that had no alarm.
    """

    rate: float
    threshold: float
    words: int
    alarms: int
    promised: float

    @classmethod
    def kept(cls, rate: float, doubts: Floats, words: int) -> Promise:
        """Return the promise with the smallest threshold, one half at least, that keeps a rate.

        `doubts` are the probabilities of the words that would be suggested in clean held-out text.
        """
        surest = np.sort(doubts[doubts > LIKELY])[::-1]
        allowed = bisect_right(range(len(surest) + 1), rate, key=lambda alarms: limit(alarms, words)) - 1
        # Where not even one alarm is allowed the threshold is the same as where none is.
        first = max(0, allowed)
        threshold = float(surest[first]) if first < len(surest) else LIKELY
        alarms = int((surest > threshold).sum())
        return cls(rate, threshold, words, alarms, limit(alarms, words))

    @property
    def is_shown(self) -> bool:
        """Whether the held-out text was long enough to show the rate that was asked for."""
        return self.promised <= self.rate

    @property
    def doubt(self) -> str:
        """What there is to say of a promise that is not shown; nothing of one that is."""
        if self.is_shown:
            return ""
        # A little more than is needed: log(1 - rate) is below -rate.
        held = -math.log(DOUBT) * PER / self.rate
        needed = LEAST * math.ceil(min(held, ALL) / BLOCK)
        more = f"Learn from {amount(needed)} words or more, or allow" if held < ALL else "Allow"
        return (
            f"There is too little text to promise {_alarms(self.rate)} per {PER:,} words: "
            f"{counted(self.words, 'held-out word')} can show no rate below {short(self.promised)}. "
            f"{more} more alarms."
        )

    def to_dict(self) -> dict[str, Any]:
        """The promise as plain values."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Promise:
        """The promise that `to_dict` has made plain."""
        rate, threshold, promised = (float(plain[name]) for name in ("rate", "threshold", "promised"))
        return cls(rate, threshold, int(plain["words"]), int(plain["alarms"]), promised)

    def __str__(self) -> str:
        return (
            f"at most {_alarms(max(self.rate, self.promised))} per {PER:,} words (95 % sure): "
            f"suggests above P = {self.threshold:.4f} ({counted(self.alarms, 'alarm')} in "
            f"{counted(self.words, 'held-out word')})"
        )


def _alarms(rate: float) -> str:
    return f"{short(rate)} false alarm{'' if short(rate) == '1' else 's'}"


def limit(alarms: int, words: int) -> float:
    """Return the exact upper limit of a rate of alarms per 10,000 words, which holds with 95 % confidence.

    Clopper and Pearson: the rate of which one text in twenty would show so few alarms in so many words.
    """
    if alarms >= words:
        return float(PER)
    return PER * beta_quantile(alarms + 1, words - alarms, DOUBT, upper=True)


def held_out(documents: Ints, at: Longs, words: Sequence[int]) -> Mask:
    """Return which occurrences are held out, by their document and the number of their word in it.

    `words` are those of each document. Held out is every fifth document, if these have a tenth to two
    fifths of all words; else every fifth block of 1,000 words of all documents, one after the other.
    """
    if _by_document(words):
        return np.asarray(documents % EVERY == EVERY - 1)
    before = np.concatenate([[0], np.cumsum(words)])
    return np.asarray((before[documents] + at) // BLOCK % EVERY == EVERY - 1)


def held_words(words: Sequence[int]) -> int:
    """Return how many words are held out."""
    if _by_document(words):
        return sum(words[EVERY - 1 :: EVERY])
    rounds, rest = divmod(sum(words), BLOCK * EVERY)
    return rounds * BLOCK + max(0, rest - BLOCK * (EVERY - 1))


def _by_document(words: Sequence[int]) -> bool:
    return FEWEST * sum(words) <= sum(words[EVERY - 1 :: EVERY]) <= MOST * sum(words) and len(words) >= EVERY
