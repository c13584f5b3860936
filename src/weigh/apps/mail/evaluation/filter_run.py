"""One filter's run over a mail stream: each mail is judged before its label is given."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.apps.mail.evaluation.mail_stream import (
    HAM,
    SPAM,
    VERDICTS,
    Feedback,
    FilterUnderTest,
    Judgement,
    Mail,
)
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.ranking import Ranking, rank_rows
from weigh.text import truncate

Flags = npt.NDArray[np.bool_]
StepCallback = Callable[[], None]


@dataclass(frozen=True, eq=False)
class FilterRun:
    """A filter's judgements of n mails, in order, after `n_warmup` mails were learned without being judged.

    `is_spam` has the true labels; `predicted_spam` and `is_unsure` are the verdicts; `probabilities` are nan
    where the filter gave none. All arrays have shape [n].
    """

    name: str
    n_warmup: int
    is_spam: Flags
    scores: Floats
    predicted_spam: Flags
    is_unsure: Flags
    probabilities: Floats
    places: tuple[str, ...]
    judge_seconds: float
    learn_seconds: float
    n_learned: int

    @property
    def is_wrong(self) -> Flags:
        """Whether each mail was misclassified; every mail not called spam is delivered."""
        return np.not_equal(self.predicted_spam, self.is_spam)

    @cached_property
    def ranking(self) -> Ranking:
        """The mails by decreasing score, with spam as the positives."""
        return rank_rows(self.scores, self.is_spam)


def run_filter(
    filter_: FilterUnderTest,
    mails: Sequence[Mail],
    order: Sequence[int],
    n_warmup: int,
    feedback: Feedback,
    step: StepCallback,
) -> FilterRun:
    """Let a filter learn the first `n_warmup` mails, then judge each other mail and learn from feedback."""
    timed = _TimedFilter(filter_)
    for index in order[:n_warmup]:
        timed.learn(mails[index])
        step()
    judgements: list[Judgement] = []
    # Mails are not kept: a lazy sequence may read each one on access.
    labels_and_places: list[tuple[str, str]] = []
    pending: deque[tuple[int, int]] = deque()
    for turn, index in enumerate(order[n_warmup:]):
        while pending and pending[0][0] <= turn:
            timed.learn(mails[pending.popleft()[1]])
        mail = mails[index]
        judgements.append(timed.judge(mail))
        labels_and_places.append((mail.label, mail.place))
        if feedback.gives_label(mail, judgements[-1].verdict):
            pending.append((turn + 1 + feedback.delay, index))
        step()
    return _build_run(timed, labels_and_places, judgements, n_warmup)


class _TimedFilter:
    """A filter under test whose calls are timed and whose judgements are checked."""

    def __init__(self, filter_: FilterUnderTest) -> None:
        self.name = filter_.name
        self.judge_seconds = self.learn_seconds = 0.0
        self.n_learned = 0
        self._filter = filter_
        self._reading_seconds: float = getattr(filter_, "reading_seconds", 0.0)

    def judge(self, mail: Mail) -> Judgement:
        start = time.perf_counter()
        judgement = self._filter.judge(mail)
        self.judge_seconds += time.perf_counter() - start + self._reading_seconds
        if judgement.verdict not in VERDICTS or math.isnan(judgement.score):
            raise errors.DataError(
                f"{self.name} returned verdict {judgement.verdict!r} and score {judgement.score!r} for "
                f"{truncate(mail.place, 60)}; the verdict must be one of {errors.quote_names(VERDICTS)}, "
                "the score a number."
            )
        return judgement

    def learn(self, mail: Mail) -> None:
        start = time.perf_counter()
        self._filter.learn(mail, mail.label)
        self.learn_seconds += time.perf_counter() - start + self._reading_seconds
        self.n_learned += 1


def _build_run(
    timed: _TimedFilter,
    labels_and_places: Sequence[tuple[str, str]],
    judgements: Sequence[Judgement],
    n_warmup: int,
) -> FilterRun:
    verdicts = np.array([judgement.verdict for judgement in judgements])
    probabilities = [math.nan if each.probability is None else each.probability for each in judgements]
    return FilterRun(
        timed.name,
        n_warmup,
        np.array([label for label, _ in labels_and_places]) == SPAM,
        np.array([judgement.score for judgement in judgements], dtype=np.float64),
        verdicts == SPAM,
        (verdicts != SPAM) & (verdicts != HAM),
        np.array(probabilities, dtype=np.float64),
        tuple(place for _, place in labels_and_places),
        timed.judge_seconds,
        timed.learn_seconds,
        timed.n_learned,
    )
