"""One filter's way through a trial: each mail is judged before its label is given."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
from weigh.text import truncate

Flags = npt.NDArray[np.bool_]
StepCallback = Callable[[], None]


@dataclass(frozen=True, eq=False)
class FilterRun:
    """What one filter said of the mails judged, in their order; `seen` mails were learned unjudged before.

    `is_unsure` and `said_spam` are its verdicts, `probabilities` are nan where it gave none.
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
        """Whether each mail went where it does not belong: everything not called spam is delivered."""
        return np.not_equal(self.predicted_spam, self.is_spam)


def run_filter(
    contestant: FilterUnderTest,
    mails: Sequence[Mail],
    order: Sequence[int],
    warm: int,
    feedback: Feedback,
    step: StepCallback,
) -> FilterRun:
    """Let a filter learn the first `warm` mails, then judge each of the others and learn what it is told."""
    clock = _TimedFilter(contestant)
    for at in order[:warm]:
        clock.learn(mails[at])
        step()
    judged = order[warm:]
    opinions: list[Judgement] = []
    truth: list[tuple[str, str]] = []
    waiting: deque[tuple[int, int]] = deque()
    for turn, at in enumerate(judged):
        while waiting and waiting[0][0] <= turn:
            clock.learn(mails[waiting.popleft()[1]])
        mail = mails[at]
        opinions.append(clock.judge(mail))
        truth.append((mail.label, mail.place))
        if feedback.gives_label(mail, opinions[-1].verdict):
            waiting.append((turn + 1 + feedback.delay, at))
        step()
    return _build_run(clock, truth, opinions, warm)


class _TimedFilter:
    """A contestant whose time is taken, and whose words are checked."""

    def __init__(self, contestant: FilterUnderTest) -> None:
        self.name = contestant.name
        self.judge_seconds = self.learn_seconds = 0.0
        self.n_learned = 0
        self._filter = contestant
        self._reading_seconds: float = getattr(contestant, "reading_seconds", 0.0)

    def judge(self, mail: Mail) -> Judgement:
        start = time.perf_counter()
        opinion = self._filter.judge(mail)
        self.judge_seconds += time.perf_counter() - start + self._reading_seconds
        if opinion.verdict not in VERDICTS or math.isnan(opinion.score):
            raise errors.DataError(
                f"{self.name} said {opinion.verdict!r} with score {opinion.score!r} of "
                f"{truncate(mail.place, 60)}; a verdict is one of {errors.quote_names(VERDICTS)}, a score a number."
            )
        return opinion

    def learn(self, mail: Mail) -> None:
        start = time.perf_counter()
        self._filter.learn(mail, mail.label)
        self.learn_seconds += time.perf_counter() - start + self._reading_seconds
        self.n_learned += 1


def _build_run(
    clock: _TimedFilter, truth: Sequence[tuple[str, str]], opinions: Sequence[Judgement], warm: int
) -> FilterRun:
    verdicts = np.array([opinion.verdict for opinion in opinions])
    shares = [math.nan if each.probability is None else each.probability for each in opinions]
    return FilterRun(
        clock.name,
        warm,
        np.array([label for label, _ in truth]) == SPAM,
        np.array([opinion.score for opinion in opinions], dtype=np.float64),
        verdicts == SPAM,
        (verdicts != SPAM) & (verdicts != HAM),
        np.array(shares, dtype=np.float64),
        tuple(place for _, place in truth),
        clock.judge_seconds,
        clock.learn_seconds,
        clock.n_learned,
    )
