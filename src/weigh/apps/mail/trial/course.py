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
from weigh.apps.mail.trial.contestant import HAM, SPAM, VERDICTS, Contestant, Mail, Opinion
from weigh.apps.mail.trial.feedback import Feedback
from weigh.judge.measures.losses import Floats
from weigh.text import cut

Flags = npt.NDArray[np.bool_]
Step = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Course:
    """What one filter said of the mails judged, in their order; `seen` mails were learned unjudged before.

    `is_unsure` and `said_spam` are its verdicts, `probabilities` are nan where it gave none.
    """

    name: str
    seen: int
    is_spam: Flags
    scores: Floats
    said_spam: Flags
    is_unsure: Flags
    probabilities: Floats
    places: tuple[str, ...]
    judge_seconds: float
    learn_seconds: float
    learned: int

    @property
    def is_wrong(self) -> Flags:
        """Whether each mail went where it does not belong: everything not called spam is delivered."""
        return np.not_equal(self.said_spam, self.is_spam)


def run(
    contestant: Contestant,
    mails: Sequence[Mail],
    order: Sequence[int],
    warm: int,
    feedback: Feedback,
    step: Step,
) -> Course:
    """Let a filter learn the first `warm` mails, then judge each of the others and learn what it is told."""
    clock = _Clock(contestant)
    for at in order[:warm]:
        clock.learn(mails[at])
        step()
    judged = order[warm:]
    opinions: list[Opinion] = []
    truth: list[tuple[str, str]] = []
    waiting: deque[tuple[int, int]] = deque()
    for turn, at in enumerate(judged):
        while waiting and waiting[0][0] <= turn:
            clock.learn(mails[waiting.popleft()[1]])
        mail = mails[at]
        opinions.append(clock.judge(mail))
        truth.append((mail.label, mail.place))
        if feedback.is_given(mail, opinions[-1].verdict):
            waiting.append((turn + 1 + feedback.delay, at))
        step()
    return _course(clock, truth, opinions, warm)


class _Clock:
    """A contestant whose time is taken, and whose words are checked."""

    def __init__(self, contestant: Contestant) -> None:
        self.name = contestant.name
        self.judging = self.learning = 0.0
        self.learned = 0
        self._contestant = contestant
        self._reading: float = getattr(contestant, "reading_seconds", 0.0)

    def judge(self, mail: Mail) -> Opinion:
        start = time.perf_counter()
        opinion = self._contestant.judge(mail)
        self.judging += time.perf_counter() - start + self._reading
        if opinion.verdict not in VERDICTS or math.isnan(opinion.score):
            raise errors.DataError(
                f"{self.name} said {opinion.verdict!r} with score {opinion.score!r} of "
                f"{cut(mail.place, 60)}; a verdict is one of {errors.listing(VERDICTS)}, a score a number."
            )
        return opinion

    def learn(self, mail: Mail) -> None:
        start = time.perf_counter()
        self._contestant.learn(mail, mail.label)
        self.learning += time.perf_counter() - start + self._reading
        self.learned += 1


def _course(
    clock: _Clock, truth: Sequence[tuple[str, str]], opinions: Sequence[Opinion], warm: int
) -> Course:
    verdicts = np.array([opinion.verdict for opinion in opinions])
    shares = [math.nan if each.probability is None else each.probability for each in opinions]
    return Course(
        clock.name,
        warm,
        np.array([label for label, _ in truth]) == SPAM,
        np.array([opinion.score for opinion in opinions], dtype=np.float64),
        verdicts == SPAM,
        (verdicts != SPAM) & (verdicts != HAM),
        np.array(shares, dtype=np.float64),
        tuple(place for _, place in truth),
        clock.judging,
        clock.learning,
        clock.learned,
    )
