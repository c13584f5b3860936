"""The learners of the mail filter, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MailLearner:
    """A learner of the filter's ledger.

    `is_ordered` says whether it matters in which order messages are learned; if it does not, they can be
    unlearned as if they had never been there.
    """

    name: str
    description: str
    is_ordered: bool


NAIVE_BAYES = "naive-bayes"

LEARNERS = {
    each.name: each
    for each in (
        MailLearner(NAIVE_BAYES, "counts hams and spams with each feature; unlearns exactly", False),
        MailLearner("logistic", "online logistic regression; loses the least ham, learns in order", True),
        MailLearner("perceptron", "averaged perceptron; learns from its mistakes, in order", True),
    )
}
