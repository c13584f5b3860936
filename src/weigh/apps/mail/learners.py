"""The learners of the mail filter by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MailLearner:
    """A learner of the filter's ledger.

    `is_ordered` says whether the order of the messages matters. If it does not, messages can be unlearned
    exactly.
    """

    name: str
    description: str
    is_ordered: bool


NAIVE_BAYES = "naive-bayes"

LEARNERS = {
    learner.name: learner
    for learner in (
        MailLearner(NAIVE_BAYES, "counts hams and spams with each feature; unlearns exactly", False),
        MailLearner("logistic", "online logistic regression; loses the least ham, order matters", True),
        MailLearner("perceptron", "averaged perceptron; learns from its mistakes, order matters", True),
    )
}
