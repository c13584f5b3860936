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
from weigh.text import format_count, format_float, format_quantity

RATE_WORDS = 10_000  # words that a rate of alarms is told for
HELD_OUT_BLOCK_WORDS = 1_000  # words that are held out together where documents cannot be
HELD_OUT_EVERY = 5  # one part of so many is held out
MAX_ADVISED_WORDS = 1e15  # words, more than there are to learn from
MIN_TRAINING_WORDS = HELD_OUT_BLOCK_WORDS * HELD_OUT_EVERY  # words without which nothing can be held out
MIN_HELD_OUT_SHARE, MAX_HELD_OUT_SHARE = 0.1, 0.4  # the share of the words that held-out documents may have
SIGNIFICANCE_LEVEL = 0.05  # the chance that a text held out shows fewer alarms than there are
MIN_THRESHOLD = 0.5  # a suggestion is likelier than not, whatever rate was asked for


@dataclass(frozen=True)
class FalseAlarmBound:
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
    def for_rate(cls, rate: float, doubts: Floats, words: int) -> FalseAlarmBound:
        """Return the promise with the smallest threshold, one half at least, that keeps a rate.

        `doubts` are the probabilities of the words that would be suggested in clean held-out text.
        """
        surest = np.sort(doubts[doubts > MIN_THRESHOLD])[::-1]
        allowed = (
            bisect_right(range(len(surest) + 1), rate, key=lambda alarms: alarm_rate_limit(alarms, words)) - 1
        )
        # Where not even one alarm is allowed the threshold is the same as where none is.
        first = max(0, allowed)
        threshold = float(surest[first]) if first < len(surest) else MIN_THRESHOLD
        alarms = int((surest > threshold).sum())
        return cls(rate, threshold, words, alarms, alarm_rate_limit(alarms, words))

    @property
    def has_enough_text(self) -> bool:
        """Whether the held-out text was long enough to show the rate that was asked for."""
        return self.promised <= self.rate

    @property
    def shortfall_warning(self) -> str:
        """What there is to say of a promise that is not shown; nothing of one that is."""
        if self.has_enough_text:
            return ""
        # A little more than is needed: log(1 - rate) is below -rate.
        held = -math.log(SIGNIFICANCE_LEVEL) * RATE_WORDS / self.rate
        needed = MIN_TRAINING_WORDS * math.ceil(min(held, MAX_ADVISED_WORDS) / HELD_OUT_BLOCK_WORDS)
        more = (
            f"Learn from {format_count(needed)} words or more, or allow"
            if held < MAX_ADVISED_WORDS
            else "Allow"
        )
        return (
            f"There is too little text to promise {_format_alarms(self.rate)} per {RATE_WORDS:,} words: "
            f"{format_quantity(self.words, 'held-out word')} can show no rate below {format_float(self.promised)}. "
            f"{more} more alarms."
        )

    def to_dict(self) -> dict[str, Any]:
        """The promise as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> FalseAlarmBound:
        """The promise that `to_dict` has made plain."""
        rate, threshold, promised = (float(plain[name]) for name in ("rate", "threshold", "promised"))
        return cls(rate, threshold, int(plain["words"]), int(plain["alarms"]), promised)

    def __str__(self) -> str:
        return (
            f"at most {_format_alarms(max(self.rate, self.promised))} per {RATE_WORDS:,} words (95 % sure): "
            f"suggests above P = {self.threshold:.4f} ({format_quantity(self.alarms, 'alarm')} in "
            f"{format_quantity(self.words, 'held-out word')})"
        )


def _format_alarms(rate: float) -> str:
    return f"{format_float(rate)} false alarm{'' if format_float(rate) == '1' else 's'}"


def alarm_rate_limit(alarms: int, words: int) -> float:
    """Return the exact upper limit of a rate of alarms per 10,000 words, which holds with 95 % confidence.

    Clopper and Pearson: the rate of which one text in twenty would show so few alarms in so many words.
    """
    if alarms >= words:
        return float(RATE_WORDS)
    return RATE_WORDS * beta_quantile(alarms + 1, words - alarms, SIGNIFICANCE_LEVEL, upper=True)


def held_out_mask(documents: Ints, at: Longs, words: Sequence[int]) -> Mask:
    """Return which occurrences are held out, by their document and the number of their word in it.

    `words` are those of each document. Held out is every fifth document, if these have a tenth to two
    fifths of all words; else every fifth block of 1,000 words of all documents, one after the other.
    """
    if _holds_out_documents(words):
        return np.asarray(documents % HELD_OUT_EVERY == HELD_OUT_EVERY - 1)
    before = np.concatenate([[0], np.cumsum(words)])
    return np.asarray((before[documents] + at) // HELD_OUT_BLOCK_WORDS % HELD_OUT_EVERY == HELD_OUT_EVERY - 1)


def count_held_out_words(words: Sequence[int]) -> int:
    """Return how many words are held out."""
    if _holds_out_documents(words):
        return sum(words[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY])
    rounds, rest = divmod(sum(words), HELD_OUT_BLOCK_WORDS * HELD_OUT_EVERY)
    return rounds * HELD_OUT_BLOCK_WORDS + max(0, rest - HELD_OUT_BLOCK_WORDS * (HELD_OUT_EVERY - 1))


def _holds_out_documents(words: Sequence[int]) -> bool:
    return (
        MIN_HELD_OUT_SHARE * sum(words)
        <= sum(words[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY])
        <= MAX_HELD_OUT_SHARE * sum(words)
        and len(words) >= HELD_OUT_EVERY
    )
