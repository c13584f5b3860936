"""The mail filter: feature extraction, a ledger of learned features, and costs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from weigh._core import DamagedLedgerError, MailLedger
from weigh.apps.mail.features import VIEWS, FeatureExtractor, ParsedMail
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.verdict import HAM, SPAM, Costs, Explanation, FeatureContribution, Verdict
from weigh.errors import (
    DataError,
    LabelError,
    ModelFileError,
    ParameterError,
    Unsupported,
    did_you_mean,
    one_line_repr,
    parameter_error,
    quote_names,
)
from weigh.text import format_quantity

__all__ = ["LEARNERS", "Costs", "Explanation", "Filter", "Verdict", "new_ledger"]

_LABEL_CODES = {HAM: 0, SPAM: 1}


def new_ledger(learner: str) -> MailLedger:
    """Return an empty ledger of the learner with this name."""
    if learner not in LEARNERS:
        error = parameter_error("Filter", "learner", f"one of {quote_names(LEARNERS)}", learner)
        raise ParameterError(f"{error}{did_you_mean(str(learner), LEARNERS)}")
    return MailLedger(learner)


class Filter:
    r"""Judges raw messages, explains the verdicts, learns and unlearns.

    Threads may share a filter: calls that learn or unlearn take turns, and a verdict is based on the messages
    from before or after such a call.

    Parameters
    ----------
    features : the feature extractor
    ledger : what has been learned so far; by default an empty naive Bayes ledger
    costs : the costs of mistakes, which determine the verdicts
    folder : the store that the ledger comes from, which an error names if its file turns out to be damaged

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
        folder: str | None = None,
    ) -> None:
        self.features = features or FeatureExtractor()
        self.ledger = new_ledger("naive-bayes") if ledger is None else ledger
        self.costs = costs or Costs()
        self.folder = folder
        self._is_loaded = False

    def judge(self, contents: Sequence[bytes]) -> list[Verdict]:
        """Return the verdict on each message."""
        return self.judge_hashed(self.features.hashed_features(contents))

    def judge_hashed(self, hashed: list[bytes]) -> list[Verdict]:
        """Return the verdict on each message from its hashed features."""
        with self._translate_damage():
            return [self.costs.verdict(score) for score in self.ledger.judge(hashed)]

    def explain(self, content: bytes) -> Explanation:
        """Return the verdict on a message with the contribution of every known feature."""
        return self.explain_parsed(self.features.parse(content))

    def explain_parsed(self, mail: ParsedMail) -> Explanation:
        """Return the explanation of a message that has been parsed."""
        contributions = self._evidence(mail)
        names = mail.names({(view, key) for view, key, _ in contributions})
        reasons = [
            FeatureContribution(names[view, key], VIEWS[view], nats)
            for view, key, nats in contributions
            if (view, key) in names
        ]
        biases = {VIEWS[view]: nats for view, key, nats in contributions if (view, key) not in names}
        return Explanation(
            verdict=self.costs.verdict(sum(nats for _, _, nats in contributions)),
            costs=self.costs,
            learner=self.ledger.learner,
            hams=self.ledger.hams,
            spams=self.ledger.spams,
            features=len(mail.features),
            reasons=_sort_by_strength(reasons),
            biases=biases,
        )

    def brief(self, content: bytes, most: int) -> tuple[Verdict, tuple[FeatureContribution, ...]]:
        """Return the verdict and the `most` strongest reasons of `explain`, in a fraction of its time."""
        return self.brief_parsed(self.features.parse(content), most)

    def brief_parsed(self, mail: ParsedMail, most: int) -> tuple[Verdict, tuple[FeatureContribution, ...]]:
        """Return the verdict on a message that has been parsed, and its `most` strongest reasons."""
        contributions = self._evidence(mail)
        magnitudes = sorted((abs(nats) for _, key, nats in contributions if key), reverse=True)
        # Reasons as strong as the last one are all kept: ties are broken by name.
        threshold = magnitudes[most - 1] if 0 < most <= len(magnitudes) else 0.0
        strong = {(view, key): nats for view, key, nats in contributions if nats and abs(nats) >= threshold}
        reasons = [
            FeatureContribution(name, VIEWS[feature[0]], strong[feature])
            for feature, name in mail.names(strong).items()
        ]
        verdict = self.costs.verdict(sum(nats for _, _, nats in contributions))
        return verdict, _sort_by_strength(reasons)[: max(most, 0)]

    def learn(self, contents: Sequence[bytes], labels: Iterable[str]) -> None:
        """Learn messages in order; `labels` has "ham" or "spam" for each message, or is one label for all."""
        hashed, codes = self.features.hashed_features(contents), _encode_labels(labels, len(contents))
        self._load_ledger()
        self.ledger.learn(hashed, codes)

    def unlearn(self, contents: Sequence[bytes], labels: Iterable[str]) -> None:
        """Unlearn messages as if they had never been learned; on an error none is unlearned."""
        if LEARNERS[self.ledger.learner].is_ordered:
            raise Unsupported(
                f"{self.ledger.learner} depends on the order of messages and cannot unlearn one. Learn the "
                "other messages again from scratch, or use 'naive-bayes'."
            )
        hashed, codes = self.features.hashed_features(contents), _encode_labels(labels, len(contents))
        self._load_ledger()
        try:
            self.ledger.unlearn(hashed, codes)
        except ValueError as error:
            raise DataError(
                "One of these messages was not learned under the given label, so none was unlearned. "
                "Give exactly the messages and labels that were learned."
            ) from error

    def _evidence(self, mail: ParsedMail) -> list[tuple[int, int, float]]:
        with self._translate_damage():
            return self.ledger.evidence(mail.hashed_features)

    def _load_ledger(self) -> None:
        """Read and verify all blocks of the ledger's file, so that no change stops at a damaged one."""
        if not self._is_loaded:
            with self._translate_damage():
                # Counting the features reads all blocks, which then stay in memory.
                _ = self.ledger.features
            self._is_loaded = True

    @contextlib.contextmanager
    def _translate_damage(self) -> Iterator[None]:
        """Raise errors of the ledger's file as errors of its store."""
        try:
            yield
        except DamagedLedgerError as error:
            if self.folder is None:
                raise ModelFileError(f"The ledger cannot be used: {error}") from error
            from weigh.apps.mail.storage import unusable_ledger_error

            raise unusable_ledger_error(self.folder, error) from error


def _sort_by_strength(reasons: Iterable[FeatureContribution]) -> tuple[FeatureContribution, ...]:
    return tuple(sorted(reasons, key=lambda reason: (-abs(reason.contribution), reason.name)))


def _encode_labels(labels: Iterable[str], n_messages: int) -> bytes:
    """Return the labels as the ledger's codes, one byte each."""
    per_message = [labels] * n_messages if isinstance(labels, str) else list(labels)
    invalid = [label for label in per_message if label not in _LABEL_CODES]
    if invalid:
        raise LabelError(f"A message is learned as 'ham' or 'spam', got {one_line_repr(invalid[0])}.")
    if len(per_message) != n_messages:
        counts = f"{format_quantity(n_messages, 'message')} but {format_quantity(len(per_message), 'label')}"
        raise LabelError(f"There are {counts}. Give one label per message.")
    return bytes(_LABEL_CODES[label] for label in per_message)
