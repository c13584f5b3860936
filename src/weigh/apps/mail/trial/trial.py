"""A trial of mail filters: the same mails, in the same order, each judged before its label is given."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from weigh import errors
from weigh.apps.mail.trial import trial_text
from weigh.apps.mail.trial.contestant import LABELS, Contestant, Mail
from weigh.apps.mail.trial.course import run
from weigh.apps.mail.trial.feedback import Feedback
from weigh.apps.mail.trial.figures import ROCA
from weigh.apps.mail.trial.order import ordered, undated
from weigh.apps.mail.trial.pairs import FilterPair, filter_pair
from weigh.apps.mail.trial.result import FilterResult, filter_result
from weigh.text import cut

OWNER = "hold_trial"


@dataclass(frozen=True, eq=False, repr=False)
class Trial:
    """The result of `hold_trial`; prints as text of at most 80 columns.

    `hams` and `spams` count the mails judged, `warm` those learned before without being judged, `undated`
    those that do not say when they came and have a place in the order of time by their neighbours. `results`
    are in the order of the contestants, `pairs` are all pairs of them.
    """

    hams: int
    spams: int
    warm: int
    order: str
    seed: int
    feedback: Feedback
    level: float
    results: tuple[FilterResult, ...]
    pairs: tuple[FilterPair, ...]
    undated: int = 0

    @property
    def best(self) -> FilterResult:
        """The filter with the smallest 1-ROCA %, or, with one kind of mail alone, the fewest errors."""
        return min(self.results, key=_rank)

    def result(self, name: str) -> FilterResult:
        """The result of the filter of that name."""
        for each in self.results:
            if each.name == name:
                return each
        known = [each.name for each in self.results]
        raise errors.Unsupported(f"No filter {name!r} was tried; there are {errors.listing(known)}.")

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "hams": self.hams,
            "spams": self.spams,
            "warm": self.warm,
            "order": self.order,
            "undated": self.undated,
            "seed": self.seed,
            "feedback": self.feedback.to_dict(),
            "level": self.level,
            "best": self.best.name,
            "filters": [each.to_dict() for each in self.results],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def __str__(self) -> str:
        return trial_text.text(self)

    def __repr__(self) -> str:
        return trial_text.headline(self)

    def _repr_html_(self) -> str:
        return trial_text.markup(self)

    def plot(self, what: str = "learning") -> Any:
        """Draw 1-ROCA %, hm % or sm % over mails ("learning", "ham", "spam"), "roc" or "figures"."""
        from weigh.apps.mail.trial.drawing import picture

        return picture(self, what)


def hold_trial(
    contestants: Sequence[Contestant],
    mails: Sequence[Mail],
    *,
    order: str = "time",
    seed: int = 0,
    feedback: Feedback | None = None,
    warm: float = 0,
    level: float = 0.95,
    most: int = 5,
    progress: Callable[[int, int], None] | None = None,
) -> Trial:
    """Try filters on labelled mails as they would have come, and return their figures side by side.

    Parameters
    ----------
    contestants : filters that have learned nothing yet, of different names
    mails : labelled mails; each is asked for by its place, so that it can be read only then
    order : "time", "shuffled" by the seed, or "given"
    feedback : which labels are given and how late; by default all of them, at once
    warm : the first mails are learned and not judged: a number of them, or a share if it is below 1
    level : confidence level of the intervals
    most : how many mistakes of either kind to keep of each filter
    progress : called with the steps done and all steps, one for each mail and filter
    """
    _check(contestants, mails, level)
    places = ordered(mails, order, seed)
    first = _warm(warm, len(places))
    rule = feedback or Feedback()
    count = _Steps(len(places) * len(contestants), progress)
    courses = [run(each, mails, places, first, rule, count.step) for each in contestants]
    spams = int(courses[0].is_spam.sum())
    return Trial(
        len(courses[0].is_spam) - spams,
        spams,
        first,
        order,
        seed,
        rule,
        float(level),
        tuple(filter_result(course, level, most) for course in courses),
        tuple(filter_pair(*pair, level) for pair in combinations(courses, 2)),
        undated(mails, order),
    )


class _Steps:
    """How far a trial has come."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def step(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _rank(result: FilterResult) -> tuple[float, int]:
    area = result.measure(ROCA).value
    return (math.inf if math.isnan(area) else area, result.ham_errors + result.spam_errors)


def _check(contestants: Sequence[Contestant], mails: Sequence[Mail], level: float) -> None:
    names = [each.name for each in contestants]
    if not names or len(set(names)) < len(names):
        raise errors.parameter(OWNER, "contestants", "one filter or more, of different names", names)
    if not 0.0 < level < 1.0:
        raise errors.parameter(OWNER, "level", "a number between 0 and 1", level)
    if not len(mails):
        raise errors.DataError("There are no mails to try a filter on; give at least one.")
    for mail in mails:
        if mail.label not in LABELS:
            raise errors.LabelError(
                f"{cut(mail.place, 60)} has the label {errors.told(mail.label)}; "
                f"a mail is one of {errors.listing(LABELS)}."
            )


def _warm(warm: float, n: int) -> int:
    first = math.floor(n * warm) if 0.0 <= warm < 1.0 else warm
    if not (0 <= first < n and first == int(first)):
        must = f"a share below 1, or a whole number below that of the mails, {n:,}"
        raise errors.parameter(OWNER, "warm", must, warm)
    return int(first)
