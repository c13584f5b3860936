"""Whether probabilities mean what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.judge import Evaluation
from weigh.model import Model
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
    """How sure the model is of its verdicts and how often they are right, bin by bin and in words.

    `remedy` tells how probabilities of such a model are set right, whether they need it or not.
    """

    verdict: str
    stated: float
    observed: float
    sentence: str
    advice: str
    remedy: str
    bins: tuple[StatedBin, ...]


def calibration_facts(found: Evaluation, model: Any) -> CalibrationFacts | None:
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
    told = f"On average it is {share(stated)} sure of its verdicts and right on {share(observed)} of them"
    verdict = _verdict(found, rows, stated)
    remedy = _remedy(model)
    advice = f"{_ADVICE[verdict]}{remedy}" if _ADVICE[verdict] else ""
    return CalibrationFacts(verdict, stated, observed, f"{told}: {_MEANS[verdict]}", advice, remedy, bins)


def _verdict(found: Evaluation, rows: float, stated: float) -> str:
    accuracy = found.measure("accuracy")
    if sum(each for _, each in found.unseen) > NOTABLE * found.n:
        return "strangers"
    if rows < FEWEST or len(found.classes) == 1:
        return "unknown"
    if stated > accuracy.high + NOTABLE:
        return "over-sure"
    if stated < accuracy.low - NOTABLE:
        return "under-sure"
    return "uneven" if found.measure("calibration_error").low > UNEVEN else "fine"


def _remedy(model: Any) -> str:
    """How probabilities of such a model are set right."""
    ours = getattr(model, "model_", model)
    if not isinstance(ours, Model):
        return "calibrate them on rows it has not learned from (CalibratedClassifierCV of scikit-learn)."
    if hasattr(ours, "calibration"):
        return (
            "it was calibrated on other rows, so check the labels of these, or calibrate it again on rows "
            "like these (weigh calibrate)."
        )
    return "calibrate them on rows it has not learned from (weigh calibrate)."


_MEANS = {
    "strangers": "but rows whose labels it does not know count as errors, so this says little.",
    "unknown": "too few rows or classes to tell whether its probabilities mean what they say.",
    "over-sure": "it is over-sure, and its probabilities promise too much.",
    "under-sure": "it is under-sure, and right more often than it says.",
    "uneven": "about right on the whole, but not at every probability, as the picture shows.",
    "fine": "its probabilities mean what they say.",
}
_ADVICE = {
    "strangers": "",
    "unknown": "",
    "over-sure": "Do not take its probabilities at their word: ",
    "under-sure": "Its probabilities are too modest: ",
    "uneven": "Where probabilities matter, ",
    "fine": "",
}
