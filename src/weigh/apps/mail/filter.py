"""The filter: features, a ledger that has learned them, and costs, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weigh._core import MailLedger
from weigh.apps.mail.features import VIEWS, FeatureExtractor
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.verdict import HAM, SPAM, Costs, Explanation, FeatureContribution, Verdict
from weigh.errors import (
    DataError,
    LabelError,
    ParameterError,
    Unsupported,
    did_you_mean,
    one_line_repr,
    parameter_error,
    quote_names,
)

__all__ = ["LEARNERS", "Costs", "Explanation", "Filter", "Verdict", "new_ledger"]

_LABEL_CODES = {HAM: 0, SPAM: 1}


def new_ledger(learner: str) -> MailLedger:
    """A ledger that has learned nothing, by the name of its learner."""
    if learner not in LEARNERS:
        refusal = parameter_error("Filter", "learner", f"one of {quote_names(LEARNERS)}", learner)
        raise ParameterError(f"{refusal}{did_you_mean(str(learner), LEARNERS)}")
    return MailLedger(learner)


class Filter:
    r"""Judges raw messages, says why, and learns.

    Parameters
    ----------
    features : what is looked at in a message
    ledger : what was learned until now; by default nothing, by naive Bayes
    costs : what mistakes cost, from which verdicts follow

    Examples
    --------
    >>> mail = Filter()
    >>> mail.learn([b"Subject: hello\n\nlunch?", b"Subject: hello\n\nfree money"], ["ham", "spam"])
    >>> print(mail.judge([b"Subject: hi\n\nfree money"])[0])
    spam, probability of spam > 99.99 %
    """

    def __init__(
        self,
        features: FeatureExtractor | None = None,
        ledger: MailLedger | None = None,
        costs: Costs | None = None,
    ) -> None:
        self.features = features or FeatureExtractor()
        self.ledger = new_ledger("naive-bayes") if ledger is None else ledger
        self.costs = costs or Costs()

    def judge(self, contents: Sequence[bytes]) -> list[Verdict]:
        """Say what each message is."""
        return [
            self.costs.verdict(score) for score in self.ledger.judge(self.features.hashed_features(contents))
        ]

    def explain(self, content: bytes) -> Explanation:
        """Say what every feature of a message adds to its verdict."""
        (print_,) = self.features.hashed_features([content])
        names = {(each.view, each.key): each.name for each in self.features.named_features(content)}
        parts = self.ledger.evidence(print_)
        reasons = [
            FeatureContribution(names[view, key], VIEWS[view], nats)
            for view, key, nats in parts
            if (view, key) in names
        ]
        biases = {VIEWS[view]: nats for view, key, nats in parts if (view, key) not in names}
        return Explanation(
            verdict=self.costs.verdict(sum(nats for _, _, nats in parts)),
            costs=self.costs,
            learner=self.ledger.learner,
            hams=self.ledger.hams,
            spams=self.ledger.spams,
            features=len(names),
            reasons=_sort_by_strength(reasons),
            biases=biases,
        )

    def brief(self, content: bytes, most: int) -> tuple[Verdict, tuple[FeatureContribution, ...]]:
        """The verdict and the strongest reasons of `explain`, in a fraction of its time."""
        (print_,) = self.features.hashed_features([content])
        parts = self.ledger.evidence(print_)
        sizes = sorted((abs(nats) for _, key, nats in parts if key), reverse=True)
        # Names decide between reasons that are as strong as the last one.
        least = sizes[most - 1] if 0 < most <= len(sizes) else 0.0
        strong = {(view, key): nats for view, key, nats in parts if nats and abs(nats) >= least}
        names = self.features.feature_names(content, strong)
        reasons = [FeatureContribution(name, VIEWS[at[0]], strong[at]) for at, name in names.items()]
        return self.costs.verdict(sum(nats for _, _, nats in parts)), _sort_by_strength(reasons)[
            : max(most, 0)
        ]

    def learn(self, contents: Sequence[bytes], labels: Iterable[str]) -> None:
        """Learn messages in their order; "ham" or "spam" for each of them, or one label for all."""
        self.ledger.learn(self.features.hashed_features(contents), _encode_labels(labels, len(contents)))

    def unlearn(self, contents: Sequence[bytes], labels: Iterable[str]) -> None:
        """Take back messages as if they had never been learned; either all of them or, refused, none."""
        if LEARNERS[self.ledger.learner].is_ordered:
            raise Unsupported(
                f"{self.ledger.learner} learns messages in their order, and cannot take one back. Learn the "
                "others anew, or use 'naive-bayes'."
            )
        prints, marks = self.features.hashed_features(contents), _encode_labels(labels, len(contents))
        try:
            self.ledger.unlearn(prints, marks)
        except ValueError as error:
            raise DataError(
                "A message among these was never learned under its label, so that none is unlearned. "
                "Give the very messages and labels that were learned."
            ) from error


def _sort_by_strength(reasons: Iterable[FeatureContribution]) -> tuple[FeatureContribution, ...]:
    return tuple(sorted(reasons, key=lambda reason: (-abs(reason.contribution), reason.name)))


def _encode_labels(labels: Iterable[str], messages: int) -> bytes:
    """The labels as the ledger takes them."""
    given = [labels] * messages if isinstance(labels, str) else list(labels)
    odd = [label for label in given if label not in _LABEL_CODES]
    if odd:
        raise LabelError(f"A message is learned as 'ham' or 'spam', got {one_line_repr(odd[0])}.")
    if len(given) != messages:
        given_for = f"There are {messages:,} messages, and labels for {len(given):,}."
        raise LabelError(f"{given_for} Give one label per message.")
    return bytes(_LABEL_CODES[label] for label in given)
