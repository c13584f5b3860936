"""Verdicts on messages, the costs that decide them, and their explanations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from weigh.errors import parameter_error
from weigh.result import Facts, Lines, Result, Section, Table, TabularResult, to_json
from weigh.text import format_probability, format_signed

HAM, UNSURE, SPAM = VERDICTS = ("ham", "unsure", "spam")


@dataclass(frozen=True)
class Costs(Facts):
    """The costs of mistakes, in any unit, which determine the cutoffs.

    A message that is spam with probability P has the expected cost (1 − P) · `ham_lost` if it is called spam,
    P · `spam_let` if it is called ham, and `unsure` if the reader has to decide. The verdict has the lowest
    expected cost: spam for P ≥ 1 − unsure / ham_lost, ham for P < unsure / spam_let. If `unsure` is never the
    cheapest, both cutoffs are ham_lost / (ham_lost + spam_let).

    Examples
    --------
    >>> Costs().cutoffs
    (0.5, 0.999)
    """

    ham_lost: float = 500.0
    spam_let: float = 1.0
    unsure: float = 0.5

    def __post_init__(self) -> None:
        for name, cost in vars(self).items():
            if not isinstance(cost, int | float) or not (math.isfinite(cost) and cost > 0):
                raise parameter_error("Costs", name, "a number above 0", cost)

    @cached_property
    def cutoffs(self) -> tuple[float, float]:
        """The lowest probabilities of the verdicts unsure and spam."""
        unsure, spam = self.unsure / self.spam_let, 1.0 - self.unsure / self.ham_lost
        if unsure < spam:
            return unsure, spam
        cutoff = self.ham_lost / (self.ham_lost + self.spam_let)
        return cutoff, cutoff

    def verdict(self, score: float) -> Verdict:
        """Return the verdict on a message with these log-odds of spam."""
        probability = logistic(score)
        unsure, spam = self.cutoffs
        return Verdict(VERDICTS[(probability >= unsure) + (probability >= spam)], probability, score)


def logistic(score: float) -> float:
    """Return the probability with these log-odds."""
    if score < 0:
        return math.exp(score) / (1.0 + math.exp(score))
    return 1.0 / (1.0 + math.exp(-score))


@dataclass(frozen=True)
class Verdict(Result):
    """The filter's decision on a message: `label` is "ham", "unsure" or "spam".

    `probability` is the probability of spam, `score` its log-odds.
    """

    label: str
    probability: float
    score: float

    def sections(self) -> list[Section]:
        """Return the verdict as one sentence, or in HTML as a table with the log-odds."""
        header = ["verdict", "probability of spam", "log-odds"]
        table = Table([header, [self.label, self.probability_text, format_signed(self.score)]])
        sentence = f"{self.label}, probability of spam {self.probability_text}"
        return [Section("verdict", [Lines(sentence, table)])]

    @property
    def probability_text(self) -> str:
        """The probability as a percentage."""
        return format_probability(self.probability, is_rounded=True)


@dataclass(frozen=True)
class FeatureContribution:
    """A feature of a message that the filter has learned.

    `view` is "headers" or "body"; `contribution` is the term it adds to the log-odds of spam.
    """

    name: str
    view: str
    contribution: float


@dataclass(frozen=True, repr=False)
class Explanation(TabularResult):
    """A verdict with its reasons, strongest first.

    The contributions of all reasons and the `biases` of the views sum to the verdict's score. `features` is
    the number of features of the message, learned or not; `hams` and `spams` count the messages learned.
    """

    verdict: Verdict
    costs: Costs
    learner: str
    hams: int
    spams: int
    features: int
    reasons: tuple[FeatureContribution, ...]
    biases: Mapping[str, float]
    _frames = ("reasons",)

    def strongest(self, k: int) -> tuple[FeatureContribution, ...]:
        """Return the k strongest reasons, for spam or for ham, without those that contribute zero."""
        return tuple(reason for reason in self.reasons[: max(k, 0)] if reason.contribution != 0)

    def view_total(self, view: str) -> float:
        """Return the contribution of the headers or of the body, including its bias."""
        total = sum(reason.contribution for reason in self.reasons if reason.view == view)
        return total + self.biases.get(view, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation, with every reason, as plain values for JSON."""
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
            "reasons": to_json(self.reasons),
        }

    def sections(self) -> list[Section]:
        """Return the verdict and the sum of its reasons."""
        from weigh.apps.mail import explanation_format

        return explanation_format.explanation_sections(self)

    def plot(self, most: int = 20) -> Any:
        """Plot the contributions of the `most` strongest reasons to the log-odds of spam."""
        from weigh.apps.mail import explanation_format

        return explanation_format.plot_explanation(self, most)
