"""Whether probabilities mean what they say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bin:
    """Rows of about the same stated probability: what was stated on average, and what was observed."""

    predicted: float
    observed: float
    low: float
    high: float
    rows: float


@dataclass(frozen=True)
class CalibrationFacts:
    """The bins, the verdict (over-sure, under-sure, fine) in words, and what to do about it."""

    verdict: str
    sentence: str
    advice: str
    bins: tuple[Bin, ...]
