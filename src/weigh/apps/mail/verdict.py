"""What the filter says of a message, and the costs that decide it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from weigh.errors import parameter_error
from weigh.text import format_probability, format_signed, html_table

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
                raise parameter_error("Costs", name, "a number above 0", cost)

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
        return f"{self.label}, probability of spam {self.probability_text}"

    @property
    def probability_text(self) -> str:
        """The probability as a percentage."""
        return format_probability(self.probability, is_rounded=True)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values for JSON."""
        return {"label": self.label, "probability": self.probability, "score": self.score}

    def _repr_html_(self) -> str:
        head = ["verdict", "probability of spam", "log-odds"]
        return html_table("", [head, [self.label, self.probability_text, format_signed(self.score)]])


@dataclass(frozen=True)
class FeatureContribution:
    """A feature of a message that the filter knows.

    `view` is "headers" or "body", `contribution` what it adds to the log-odds of spam.
    """

    name: str
    view: str
    contribution: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """A verdict with its reasons, the strongest first.

    The contributions of all reasons and the `biases` of the views add up to the verdict's score. `features`
    are those of the message, known or not; `hams` and `spams` are the messages that were learned.
    """

    verdict: Verdict
    costs: Costs
    learner: str
    hams: int
    spams: int
    features: int
    reasons: tuple[FeatureContribution, ...]
    biases: Mapping[str, float]

    def strongest(self, k: int) -> tuple[FeatureContribution, ...]:
        """The k reasons that say most, for spam or for ham; only those that say anything."""
        return tuple(reason for reason in self.reasons[: max(k, 0)] if reason.contribution != 0)

    def view_total(self, view: str) -> float:
        """What the headers or the body add, their bias included."""
        parts = sum(reason.contribution for reason in self.reasons if reason.view == view)
        return parts + self.biases.get(view, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values for JSON, with every reason."""
        unsure, spam = self.costs.cutoffs
        return {
            **self.verdict.to_dict(),
            "cutoffs": {"unsure": unsure, "spam": spam},
            "learner": self.learner,
            "learned": {"ham": self.hams, "spam": self.spams},
            "features": self.features,
            "known": len(self.reasons),
            "views": {view: self.view_total(view) for view in ("headers", "body")},
            "biases": dict(self.biases),
            "reasons": [vars(reason).copy() for reason in self.reasons],
        }

    def __str__(self) -> str:
        from weigh.apps.mail import explanation_format

        return explanation_format.format_explanation(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from weigh.apps.mail import explanation_format

        return explanation_format.explanation_html(self)

    def plot(self, most: int = 20) -> Any:
        """Draw what the strongest reasons add to the log-odds of spam."""
        from weigh.apps.mail import explanation_format

        return explanation_format.plot_explanation(self, most)
