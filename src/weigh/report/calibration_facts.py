"""Whether probabilities mean what they say."""

from __future__ import annotations

from dataclasses import dataclass

from weigh.judge import Evaluation
from weigh.report.wording import share

VERDICT = "verdict"
NOTABLE = 0.01  # a difference of stated and observed shares that is worth a word
UNEVEN = 0.03
FEWEST = 50  # rows below which nothing is said


@dataclass(frozen=True)
class StatedBin:
    """Rows of about the same stated probability: what was stated on average, and what was observed."""

    predicted: float
    observed: float
    low: float
    high: float
    rows: float


@dataclass(frozen=True)
class CalibrationFacts:
    """How sure the model is of its verdicts and how often they are right, bin by bin and in words."""

    verdict: str
    stated: float
    observed: float
    sentence: str
    advice: str
    bins: tuple[StatedBin, ...]


def calibration_facts(found: Evaluation) -> CalibrationFacts | None:
    """Compare how sure verdicts are with how often they are right; None without probabilities."""
    bins = tuple(
        StatedBin(each.predicted, each.observed, each.low, each.high, float(each.rows))
        for each in found.reliability
        if each.series == VERDICT
    )
    if not bins:
        return None
    rows = sum(each.rows for each in bins)
    stated = sum(each.rows * each.predicted for each in bins) / rows
    observed = sum(each.rows * each.observed for each in bins) / rows
    accuracy = found.measure("accuracy")
    if rows < FEWEST:
        verdict = "unknown"
    elif stated > accuracy.high + NOTABLE:
        verdict = "over-sure"
    elif stated < accuracy.low - NOTABLE:
        verdict = "under-sure"
    else:
        verdict = "uneven" if found.measure("calibration_error").low > UNEVEN else "fine"
    told = f"On average it is {share(stated)} sure of its verdicts and right on {share(observed)} of them"
    return CalibrationFacts(verdict, stated, observed, f"{told}: {_MEANS[verdict]}", _ADVICE[verdict], bins)


_MEANS = {
    "unknown": "too few rows to tell whether its probabilities mean what they say.",
    "over-sure": "it is over-sure, and its probabilities promise too much.",
    "under-sure": "it is under-sure, and right more often than it says.",
    "uneven": "about right on the whole, but not at every probability, as the picture shows.",
    "fine": "its probabilities mean what they say.",
}
_CALIBRATE = "calibrate them on rows it has not learned from (weigh calibrate)."
_ADVICE = {
    "unknown": "",
    "over-sure": f"Do not take its probabilities at their word: {_CALIBRATE}",
    "under-sure": f"Its probabilities are too modest: {_CALIBRATE}",
    "uneven": f"Where probabilities matter, {_CALIBRATE}",
    "fine": "",
}
