"""The figures of the spam field, with their uncertainty.

With e of n mails of a kind misjudged, all in percent:

    hm %         ham lost: ham called spam, of all ham
    sm %         spam let through: spam not called spam, of all spam; an unsure mail is delivered
    lam %        the logistic average of both, logit^-1((logit hm + logit sm) / 2)
    1-ROCA %     the chance that a ham has a higher score than a spam, a tie counting half
    sm % at hm   spam let through at the threshold that loses at most 0.1 % of the ham

lam is that of the published tables, of plain shares; only where none (or all) of a kind is misjudged,
half a mail is taken for misjudged (or not), (e + 1/2) / (n + 1/2) as at CEAS 2007, for else a filter without
a single error on one side would have a lam of zero whatever it does on the other.

Shares have exact (Clopper-Pearson) intervals, 1-ROCA DeLong's on the logit scale. Those of lam and of sm at
hm are quantiles of seeded draws: of the error shares from Beta(e + 1/2, n - e + 1/2), their posterior under
Jeffreys' prior, which is not a point where there are no errors as the plain bootstrap's would be; of the
threshold from the bootstrap over the ham.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weigh.apps.mail.evaluation.filter_run import FilterRun
from weigh.judge.metrics.confidence_intervals import Measure, clopper_pearson
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.ranking import AreaEstimate, rank_rows, roc_area
from weigh.priors.quantiles import student_quantile, student_two_sided_p
from weigh.text import to_json_value

HM, SM, LAM, ROCA, SM_AT_HM, UNSURE, ACCURACY = MEASURE_NAMES = (
    "hm",
    "sm",
    "lam",
    "1-roca",
    "sm_at_hm",
    "unsure",
    "accuracy",
)
MAX_HAM_LOSS = 0.001  # the share of ham that sm at hm allows to lose
N_DRAWS = 10_000
SEED = 0


def filter_measures(course: FilterRun, level: float) -> tuple[Measure, ...]:
    """All figures of one filter, in percent; nan where there is no ham, or no spam, to tell them by."""
    spam, wrong = course.is_spam, course.is_wrong
    ham_errors, hams = int(wrong[~spam].sum()), int((~spam).sum())
    spam_errors, spams = int(wrong[spam].sum()), int(spam.sum())
    return (
        _rate_measure(HM, ham_errors, hams, level),
        _rate_measure(SM, spam_errors, spams, level),
        _lam_measure(ham_errors, hams, spam_errors, spams, level),
        _roca_measure(course, level),
        _sm_at_hm_measure(course.scores[~spam], course.scores[spam], level),
        _rate_measure(UNSURE, int(course.is_unsure.sum()), len(spam), level),
        _rate_measure(ACCURACY, int((~wrong).sum()), len(spam), level),
    )


def lam(ham_errors: int, hams: int, spam_errors: int, spams: int) -> float:
    """The logistic average of two error shares, as a share."""
    return float(_logistic_average(_corrected_rate(ham_errors, hams), _corrected_rate(spam_errors, spams)))


def one_minus_roca(scores: Floats, is_spam: np.typing.NDArray[np.bool_]) -> float:
    """The chance that a ham has the higher score, a tie counting half; nan with one kind alone."""
    if is_spam.all() or not is_spam.any():
        return math.nan
    return 1.0 - roc_area(rank_rows(scores, is_spam, np.ones(len(scores)))).value


def spam_misclassification_at(hams: Floats, spams: Floats, most: float = MAX_HAM_LOSS) -> float:
    """The share of spam let through at the lowest threshold that loses at most a share `most` of the ham."""
    at_all = np.sort(hams)[::-1]
    return float((spams <= at_all[_max_errors(len(hams), most)]).mean())


def _rate_measure(name: str, some: int, of: int, level: float) -> Measure:
    if of == 0:
        return Measure(name, math.nan)
    low, high = clopper_pearson(np.array([some]), np.array([of]), level)
    return Measure(name, 100.0 * some / of, 100.0 * float(low[0]), 100.0 * float(high[0]))


def _lam_measure(ham_errors: int, hams: int, spam_errors: int, spams: int, level: float) -> Measure:
    if not hams or not spams:
        return Measure(LAM, math.nan)
    rng = np.random.default_rng(SEED)
    draws = _logistic_average(
        _posterior_draws(rng, ham_errors, hams), _posterior_draws(rng, spam_errors, spams)
    )
    return _measure_from_draws(LAM, lam(ham_errors, hams, spam_errors, spams), draws, level)


def _roca_measure(course: FilterRun, level: float) -> Measure:
    order = rank_rows(course.scores, course.is_spam, np.ones(len(course.scores)))
    if not order.is_defined:
        return Measure(ROCA, math.nan)
    value, low, high = roc_area(order).interval(level)
    return Measure(ROCA, 100.0 * (1.0 - value), 100.0 * (1.0 - high), 100.0 * (1.0 - low))


def _sm_at_hm_measure(hams: Floats, spams: Floats, level: float) -> Measure:
    if not len(hams) or not len(spams):
        return Measure(SM_AT_HM, math.nan)
    rng = np.random.default_rng(SEED)
    allowed, n = _max_errors(len(hams), MAX_HAM_LOSS), len(hams)
    # The k-th highest of n draws with replacement lies at the k-th smallest of n uniform numbers, times n.
    thresholds = np.sort(hams)[::-1][(n * rng.beta(allowed + 1.0, n - allowed, N_DRAWS)).astype(np.int64)]
    errors = np.searchsorted(np.sort(spams), thresholds, side="right")
    return _measure_from_draws(
        SM_AT_HM, spam_misclassification_at(hams, spams), _posterior_draws(rng, errors, len(spams)), level
    )


def _measure_from_draws(name: str, value: float, draws: Floats, level: float) -> Measure:
    """Return a share in percent with the quantiles of its draws, which a share of 0 or 1 is never among."""
    low, high = np.quantile(draws, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return Measure(name, 100.0 * value, 100.0 * min(low, value), 100.0 * max(high, value))


def _posterior_draws(rng: np.random.Generator, errors: int | np.typing.NDArray[np.int64], n: int) -> Floats:
    """Return draws of the share of which so many of n were seen."""
    return rng.beta(np.broadcast_to(errors, N_DRAWS) + 0.5, n - np.broadcast_to(errors, N_DRAWS) + 0.5)


def _corrected_rate(errors: int, n: int) -> float:
    if errors == 0:
        return 0.5 / (n + 0.5)
    return errors / n if errors < n else n / (n + 0.5)


def _logistic_average(first: float | Floats, second: float | Floats) -> Floats:
    odds = np.sqrt(first / (1.0 - first) * (second / (1.0 - second)))
    return np.asarray(odds / (1.0 + odds))


def _max_errors(n: int, share: float) -> int:
    """Return how many of n may be lost; a product that rounding left below a whole number is that number."""
    return min(math.floor(n * share + 1e-9), n - 1)


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
        return {name: to_json_value(value) for name, value in asdict(self).items()}


def compare_pair(first: FilterRun, second: FilterRun, level: float) -> FilterPair:
    """Compare two filters that judged the same mails in the same order."""
    alone = first.is_wrong & ~second.is_wrong, second.is_wrong & ~first.is_wrong
    counts = int(alone[0].sum()), int(alone[1].sum())
    difference, low, high, p = _roca_difference(first, second, level)
    return FilterPair(first.name, second.name, *counts, mcnemar_p_value(*counts), difference, low, high, p)


def mcnemar_p_value(first: int, second: int) -> float:
    """The exact two-sided p of counts that were as likely to be the one as the other."""
    n, fewer = first + second, min(first, second)
    ways = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(fewer + 1)]
    return min(1.0, 2.0 * math.fsum(math.exp(way - n * math.log(2.0)) for way in ways))


def _roca_difference(first: FilterRun, second: FilterRun, level: float) -> tuple[float, float, float, float]:
    areas = _roc_area(first), _roc_area(second)
    if areas[0] is None or areas[1] is None:
        return (math.nan,) * 4
    difference = areas[1].value - areas[0].value
    scale = math.sqrt(float(np.square(areas[0].row_influences - areas[1].row_influences).sum()))
    if scale <= 1e-12:
        # Rankings without a single fault or without a single hit show no variance to judge by.
        return 100.0 * difference, math.nan, math.nan, 1.0 if difference == 0 else math.nan
    reach = student_quantile(math.inf, (1.0 + level) / 2.0) * scale
    p = student_two_sided_p(math.inf, abs(difference) / scale)
    return 100.0 * difference, 100.0 * (difference - reach), 100.0 * (difference + reach), p


def _roc_area(course: FilterRun) -> AreaEstimate | None:
    order = rank_rows(course.scores, course.is_spam, np.ones(len(course.scores)))
    return roc_area(order) if order.is_defined else None
