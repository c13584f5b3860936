"""Why a message is judged as it is: what every feature adds to the log-odds of spam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weigh.apps.mail.verdict import Costs, Verdict


@dataclass(frozen=True)
class Reason:
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
    reasons: tuple[Reason, ...]
    biases: Mapping[str, float]

    def strongest(self, k: int) -> tuple[Reason, ...]:
        """The k reasons that say most, for spam or for ham; only those that say anything."""
        return tuple(reason for reason in self.reasons[: max(k, 0)] if reason.contribution != 0)

    def of_view(self, view: str) -> float:
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
            "views": {view: self.of_view(view) for view in ("headers", "body")},
            "biases": dict(self.biases),
            "reasons": [vars(reason).copy() for reason in self.reasons],
        }

    def __str__(self) -> str:
        from weigh.apps.mail import explanation_text

        return explanation_text.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from weigh.apps.mail import explanation_text

        return explanation_text.markup(self)

    def plot(self, most: int = 20) -> Any:
        """Draw what the strongest reasons add to the log-odds of spam."""
        from weigh.apps.mail import explanation_text

        return explanation_text.drawn(self, most)
