"""The bound on the false alarms of a speller: held-out text, threshold and confidence limit."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.priors.quantiles import binomial_limit
from weigh.result import Facts
from weigh.text import format_count, format_float, format_quantity

RATE_WORDS = 10_000  # the rate of alarms is per this many words
HELD_OUT_EVERY = 5  # one document, or one block, in five is held out
HELD_OUT_BLOCK_WORDS = 1_000  # size of a block, where whole documents cannot be held out
MIN_HELD_OUT_SHARE, MAX_HELD_OUT_SHARE = 0.1, 0.4  # bounds on the share of words in held-out documents
MIN_TRAINING_WORDS = HELD_OUT_BLOCK_WORDS * HELD_OUT_EVERY  # with fewer words, no block is held out
MAX_ADVISED_WORDS = 1e15  # more text than this is never advised
SIGNIFICANCE_LEVEL = 0.05  # of the upper confidence limit
MIN_THRESHOLD = 0.5  # a suggestion must be more likely than not


@dataclass(frozen=True)
class FalseAlarmBound(Facts):
    """At most `rate` false alarms per 10,000 words if only words with P > `threshold` are suggested.

    A false alarm is a suggestion for a word of correct text. There were `alarms` of them in `words` held-out
    words; `promised` is the upper 95 % confidence limit of their rate. If the held-out text is too short to
    show the requested rate, `promised` exceeds `rate` and the threshold is one without any alarm.
    """

    rate: float
    threshold: float
    words: int
    alarms: int
    promised: float

    @classmethod
    def for_rate(cls, rate: float, alarm_probabilities: Floats, words: int) -> FalseAlarmBound:
        """Return the bound with the smallest threshold, but at least one half, that keeps a rate.

        `alarm_probabilities` are those of all wrong suggestions in `words` held-out words.
        """
        descending = np.sort(alarm_probabilities[alarm_probabilities > MIN_THRESHOLD])[::-1]
        counts = range(len(descending) + 1)
        n_allowed = bisect_right(counts, rate, key=lambda alarms: alarm_rate_limit(alarms, words)) - 1
        # -1 means that even no alarm does not show the rate; the threshold is then as for no alarm.
        first = max(0, n_allowed)
        threshold = float(descending[first]) if first < len(descending) else MIN_THRESHOLD
        alarms = int((descending > threshold).sum())
        return cls(rate, threshold, words, alarms, alarm_rate_limit(alarms, words))

    @property
    def has_enough_text(self) -> bool:
        """Whether the held-out text was long enough to show the requested rate."""
        return self.promised <= self.rate

    @property
    def shortfall_warning(self) -> str:
        """A warning if the held-out text is too short to show the requested rate, else ""."""
        if self.has_enough_text:
            return ""
        # Slightly more than necessary, because log(1 - rate) < -rate.
        held_out_words = -math.log(SIGNIFICANCE_LEVEL) * RATE_WORDS / self.rate
        blocks = math.ceil(min(held_out_words, MAX_ADVISED_WORDS) / HELD_OUT_BLOCK_WORDS)
        needed = format_count(MIN_TRAINING_WORDS * blocks)
        more = (
            f"Learn from {needed} words or more, or allow" if held_out_words < MAX_ADVISED_WORDS else "Allow"
        )
        return (
            f"There is too little text to promise {_format_alarms(self.rate)} per {RATE_WORDS:,} words: "
            f"{format_quantity(self.words, 'held-out word')} can show no rate below "
            f"{format_float(self.promised)}. "
            f"{more} more alarms."
        )

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> FalseAlarmBound:
        """Restore a bound from the values of `to_dict`."""
        rate, threshold, promised = (float(plain[name]) for name in ("rate", "threshold", "promised"))
        return cls(rate, threshold, int(plain["words"]), int(plain["alarms"]), promised)

    def __str__(self) -> str:
        return (
            f"at most {_format_alarms(max(self.rate, self.promised))} per {RATE_WORDS:,} words (95 % "
            "confidence): "
            f"suggests above P = {self.threshold:.4f} ({format_quantity(self.alarms, 'alarm')} in "
            f"{format_quantity(self.words, 'held-out word')})"
        )


def _format_alarms(rate: float) -> str:
    return f"{format_float(rate)} false alarm{'' if format_float(rate) == '1' else 's'}"


def alarm_rate_limit(alarms: int, words: int) -> float:
    """Return the exact (Clopper–Pearson) upper 95 % confidence limit of the alarms per 10,000 words."""
    return RATE_WORDS * binomial_limit(alarms, words, SIGNIFICANCE_LEVEL, upper=True)


def held_out_mask(documents: Ints, positions: Longs, document_words: Sequence[int]) -> Mask:
    """Return which occurrences are held out, given their document and their word position in it.

    `document_words` has the number of words of each document. Every fifth document is held out if these have
    10 % to 40 % of all words; otherwise every fifth block of 1,000 words of the concatenated documents.
    """
    if _holds_out_documents(document_words):
        return np.asarray(documents % HELD_OUT_EVERY == HELD_OUT_EVERY - 1)
    starts = np.concatenate([[0], np.cumsum(document_words)])
    blocks = (starts[documents] + positions) // HELD_OUT_BLOCK_WORDS
    return np.asarray(blocks % HELD_OUT_EVERY == HELD_OUT_EVERY - 1)


def count_held_out_words(document_words: Sequence[int]) -> int:
    """Return the number of held-out words."""
    if _holds_out_documents(document_words):
        return sum(document_words[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY])
    cycles, remainder = divmod(sum(document_words), HELD_OUT_BLOCK_WORDS * HELD_OUT_EVERY)
    return cycles * HELD_OUT_BLOCK_WORDS + max(0, remainder - HELD_OUT_BLOCK_WORDS * (HELD_OUT_EVERY - 1))


def _holds_out_documents(document_words: Sequence[int]) -> bool:
    held_out, total = sum(document_words[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]), sum(document_words)
    is_fair = MIN_HELD_OUT_SHARE * total <= held_out <= MAX_HELD_OUT_SHARE * total
    return is_fair and len(document_words) >= HELD_OUT_EVERY
