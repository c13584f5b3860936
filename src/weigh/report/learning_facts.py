"""The learning curve: how the losses fall as rows grow, and what that means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CurvePoint:
    """The loss of one series at one size, with its band where one is known."""

    series: str
    rows: float
    loss: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class LearningFacts:
    """The points of the curve, the diagnosis in words, and what to do about it."""

    loss: str
    sentence: str
    advice: str
    points: tuple[CurvePoint, ...]
