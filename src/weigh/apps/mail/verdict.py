"""What the filter says of a message, and the costs that decide it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from weigh.errors import parameter
from weigh.text import html_table, probable, signed

HAM, UNSURE, SPAM = VERDICTS = ("ham", "unsure", "spam")


@dataclass(frozen=True)
class Costs:
    """What mistakes cost, in any unit, from which the cutoffs follow.

    A message that is spam with probability P costs (1 − P) · `ham_lost` on average if it is called spam,
    P · `spam_let` if it is called ham, and `unsure` if the reader has to look. The cheapest of the three is
    the verdict: spam from P = 1 − unsure / ham_lost on, ham below unsure / spam_let. If a look costs so much
    that it is never the cheapest, both cutoffs are ham_lost / (ham_lost + spam_let).

    Examples
    --------
    >>> Costs().cutoffs
    (0.5, 0.999)
    """

    ham_lost: float = 500.0
    spam_let: float = 1.0
    unsure: float = 0.5

    def __post_init__(self) -> None:
        for name, cost in asdict(self).items():
            if not isinstance(cost, int | float) or not (math.isfinite(cost) and cost > 0):
                raise parameter("Costs", name, "a number above 0", cost)

    @cached_property
    def cutoffs(self) -> tuple[float, float]:
        """The probabilities from which a message is unsure, and from which it is spam."""
        unsure, spam = self.unsure / self.spam_let, 1.0 - self.unsure / self.ham_lost
        if unsure < spam:
            return unsure, spam
        between = self.ham_lost / (self.ham_lost + self.spam_let)
        return between, between

    def verdict(self, score: float) -> Verdict:
        """The verdict on a message with these log-odds of spam."""
        probability = logistic(score)
        unsure, spam = self.cutoffs
        return Verdict(VERDICTS[(probability >= unsure) + (probability >= spam)], probability, score)

    def to_dict(self) -> dict[str, float]:
        """The costs as plain values for JSON."""
        return asdict(self)


def logistic(score: float) -> float:
    """The probability that has these log-odds."""
    if score < 0:
        return math.exp(score) / (1.0 + math.exp(score))
    return 1.0 / (1.0 + math.exp(-score))


@dataclass(frozen=True)
class Verdict:
    """What the filter says of a message: "ham", "unsure" or "spam".

    `probability` is that of spam, `score` its log-odds.
    """

    label: str
    probability: float
    score: float

    def __str__(self) -> str:
        return f"{self.label}, probability of spam {self.told_probability}"

    @property
    def told_probability(self) -> str:
        """The probability as a percentage."""
        return probable(self.probability, is_rounded=True)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values for JSON."""
        return {"label": self.label, "probability": self.probability, "score": self.score}

    def _repr_html_(self) -> str:
        head = ["verdict", "probability of spam", "log-odds"]
        return html_table("", [head, [self.label, self.told_probability, signed(self.score)]])
