"""What other decision thresholds would do, of two classes: counts and shares, worked out beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weigh.judge.measures.losses import UNSEEN, Floats
from weigh.report.answers import Answers
from weigh.report.facts import NOTHING
from weigh.report.wording import share
from weigh.text import amount, cut

Bools = npt.NDArray[np.bool_]

STEPS = 100
TIED = 1e-9  # how far from one half a tie may be written
LISTED = 5
NAME = 120


@dataclass(frozen=True)
class AtThreshold:
    """Rows found, false alarms, missed and rightly passed when the class is said from `threshold` on.

    Precision is None where the class is never said, recall where no row is of it. `counts` are the four
    counts as texts, `told` the shares in a sentence.
    """

    threshold: float
    found: float
    false_alarms: float
    missed: float
    passed: float
    precision: float | None
    recall: float | None
    accuracy: float
    name: str
    counts: tuple[str, str, str, str]
    told: str


@dataclass(frozen=True)
class ThresholdFacts:
    """All thresholds from 0 to 1 in steps of a hundredth, for the second of two classes.

    `sentence` tells how the model itself decides; at `start` its own verdicts are counted, if they follow
    from one half, so that a tie counts as it was decided.
    """

    sentence: str
    label: str
    other: str
    rows: tuple[AtThreshold, ...]
    start: int

    @property
    def listed(self) -> tuple[AtThreshold, ...]:
        """The rows of the table, in steps of 0.05."""
        return self.rows[::LISTED]


def threshold_facts(answers: Answers) -> ThresholdFacts | None:
    """Count what every threshold would say; None unless there are two classes with probabilities."""
    if answers.second is None:
        return None
    known = answers.true != UNSEEN
    truly, given, weight = answers.true[known] == 1, answers.second[known], answers.weights[known]
    said = [given >= step / STEPS for step in range(STEPS + 1)]
    verdicts = answers.predicted[known] == 1
    by_half = bool(np.all(((given > 0.5) == verdicts) | (np.abs(given - 0.5) < TIED)))
    start = STEPS // 2
    if by_half:
        said[start] = verdicts
    rows = tuple(_at(step / STEPS, each, truly, weight) for step, each in enumerate(said))
    first, second = (cut(label, NAME) for label in answers.classes)
    return ThresholdFacts(_sentence(second, by_half), second, first, rows, start)


def _sentence(label: str, by_half: bool) -> str:
    own = (
        f"The model says {label} when its probability is more than one half."
        if by_half
        else "The model decides otherwise than by these probabilities; here is what they would decide."
    )
    return f"{own} A lower threshold finds more such rows and raises more false alarms."


def _at(threshold: float, said: Bools, truly: Bools, weight: Floats) -> AtThreshold:
    found, false = float(weight[said & truly].sum()), float(weight[said & ~truly].sum())
    missed, passed = float(weight[~said & truly].sum()), float(weight[~said & ~truly].sum())
    counts = (found, false, missed, passed)
    precision = found / (found + false) if found + false else None
    recall = found / (found + missed) if found + missed else None
    accuracy = (found + passed) / sum(counts)
    told = f"Precision {_part(precision)}, recall {_part(recall)}, accuracy {share(accuracy)}."
    first, second, third, fourth = map(amount, counts)
    texts = f"{threshold:.2f}", (first, second, third, fourth), told
    return AtThreshold(threshold, *counts, precision, recall, accuracy, *texts)


def _part(number: float | None) -> str:
    return NOTHING if number is None else share(number)
