"""Two filters on the same mails: whether their errors and their rankings differ beyond chance.

Of the mails that one filter alone misjudged, each is as likely to be the first's as the second's if they
err equally often: McNemar's exact test sums that binomial's tails. The areas under two ROC curves of the same
mails differ with the variance of the sum of each mail's difference of parts (DeLong, DeLong and
Clarke-Pearson).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weigh.apps.mail.trial.course import Course
from weigh.judge.measures.ranking import Area, ranked, roc_area
from weigh.priors.quantiles import student_quantile, student_tails
from weigh.text import plain


@dataclass(frozen=True)
class FilterPair:
    """Two filters side by side.

    `first_alone` and `second_alone` count the mails that only one of them misjudged, and `error_p` is the
    exact p of that many under equal error rates. `difference` is 1-ROCA % of the first less that of the
    second, with its limits and the p of none.
    """

    first: str
    second: str
    first_alone: int
    second_alone: int
    error_p: float
    difference: float
    low: float
    high: float
    area_p: float

    def to_dict(self) -> dict[str, Any]:
        """The pair for JSON."""
        return {name: plain(value) for name, value in asdict(self).items()}


def filter_pair(first: Course, second: Course, level: float) -> FilterPair:
    """Compare two filters that judged the same mails in the same order."""
    alone = first.is_wrong & ~second.is_wrong, second.is_wrong & ~first.is_wrong
    counts = int(alone[0].sum()), int(alone[1].sum())
    difference, low, high, p = _areas_apart(first, second, level)
    return FilterPair(first.name, second.name, *counts, mcnemar(*counts), difference, low, high, p)


def mcnemar(first: int, second: int) -> float:
    """The exact two-sided p of counts that were as likely to be the one as the other."""
    n, fewer = first + second, min(first, second)
    ways = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(fewer + 1)]
    return min(1.0, 2.0 * math.fsum(math.exp(way - n * math.log(2.0)) for way in ways))


def _areas_apart(first: Course, second: Course, level: float) -> tuple[float, float, float, float]:
    areas = _area(first), _area(second)
    if areas[0] is None or areas[1] is None:
        return (math.nan,) * 4
    difference = areas[1].value - areas[0].value
    scale = math.sqrt(float(np.square(areas[0].parts - areas[1].parts).sum()))
    if scale <= 1e-12:
        # Rankings without a single fault or without a single hit show no variance to judge by.
        return 100.0 * difference, math.nan, math.nan, 1.0 if difference == 0 else math.nan
    reach = student_quantile(math.inf, (1.0 + level) / 2.0) * scale
    p = student_tails(math.inf, abs(difference) / scale)
    return 100.0 * difference, 100.0 * (difference - reach), 100.0 * (difference + reach), p


def _area(course: Course) -> Area | None:
    order = ranked(course.scores, course.is_spam, np.ones(len(course.scores)))
    return roc_area(order) if order.is_defined else None
