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

import numpy as np

from weigh.apps.mail.trial.course import Course
from weigh.judge.measures.intervals import clopper_pearson
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure
from weigh.judge.measures.ranking import ranked, roc_area

HM, SM, LAM, ROCA, SM_AT_HM, UNSURE, ACCURACY = NAMES = (
    "hm",
    "sm",
    "lam",
    "1-roca",
    "sm_at_hm",
    "unsure",
    "accuracy",
)
HAM_LOST = 0.001  # the share of ham that sm at hm allows to lose
DRAWS = 10_000
SEED = 0


def figures(course: Course, level: float) -> tuple[Measure, ...]:
    """All figures of one filter, in percent; nan where there is no ham, or no spam, to tell them by."""
    spam, wrong = course.is_spam, course.is_wrong
    ham_errors, hams = int(wrong[~spam].sum()), int((~spam).sum())
    spam_errors, spams = int(wrong[spam].sum()), int(spam.sum())
    return (
        _share(HM, ham_errors, hams, level),
        _share(SM, spam_errors, spams, level),
        _lam(ham_errors, hams, spam_errors, spams, level),
        _area(course, level),
        _at_ham_lost(course.scores[~spam], course.scores[spam], level),
        _share(UNSURE, int(course.is_unsure.sum()), len(spam), level),
        _share(ACCURACY, int((~wrong).sum()), len(spam), level),
    )


def lam(ham_errors: int, hams: int, spam_errors: int, spams: int) -> float:
    """The logistic average of two error shares, as a share."""
    return float(_logistic_average(_counted(ham_errors, hams), _counted(spam_errors, spams)))


def one_minus_roca(scores: Floats, is_spam: np.typing.NDArray[np.bool_]) -> float:
    """The chance that a ham has the higher score, a tie counting half; nan with one kind alone."""
    if is_spam.all() or not is_spam.any():
        return math.nan
    return 1.0 - roc_area(ranked(scores, is_spam, np.ones(len(scores)))).value


def spam_lost(hams: Floats, spams: Floats, most: float = HAM_LOST) -> float:
    """The share of spam let through at the lowest threshold that loses at most a share `most` of the ham."""
    at_all = np.sort(hams)[::-1]
    return float((spams <= at_all[_allowed(len(hams), most)]).mean())


def _share(name: str, some: int, of: int, level: float) -> Measure:
    if of == 0:
        return Measure(name, math.nan)
    low, high = clopper_pearson(np.array([some]), np.array([of]), level)
    return Measure(name, 100.0 * some / of, 100.0 * float(low[0]), 100.0 * float(high[0]))


def _lam(ham_errors: int, hams: int, spam_errors: int, spams: int, level: float) -> Measure:
    if not hams or not spams:
        return Measure(LAM, math.nan)
    rng = np.random.default_rng(SEED)
    draws = _logistic_average(_drawn(rng, ham_errors, hams), _drawn(rng, spam_errors, spams))
    return _between(LAM, lam(ham_errors, hams, spam_errors, spams), draws, level)


def _area(course: Course, level: float) -> Measure:
    order = ranked(course.scores, course.is_spam, np.ones(len(course.scores)))
    if not order.is_defined:
        return Measure(ROCA, math.nan)
    value, low, high = roc_area(order).interval(level)
    return Measure(ROCA, 100.0 * (1.0 - value), 100.0 * (1.0 - high), 100.0 * (1.0 - low))


def _at_ham_lost(hams: Floats, spams: Floats, level: float) -> Measure:
    if not len(hams) or not len(spams):
        return Measure(SM_AT_HM, math.nan)
    rng = np.random.default_rng(SEED)
    allowed, n = _allowed(len(hams), HAM_LOST), len(hams)
    # The k-th highest of n draws with replacement lies at the k-th smallest of n uniform numbers, times n.
    thresholds = np.sort(hams)[::-1][(n * rng.beta(allowed + 1.0, n - allowed, DRAWS)).astype(np.int64)]
    errors = np.searchsorted(np.sort(spams), thresholds, side="right")
    return _between(SM_AT_HM, spam_lost(hams, spams), _drawn(rng, errors, len(spams)), level)


def _between(name: str, value: float, draws: Floats, level: float) -> Measure:
    """Return a share in percent with the quantiles of its draws, which a share of 0 or 1 is never among."""
    low, high = np.quantile(draws, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return Measure(name, 100.0 * value, 100.0 * min(low, value), 100.0 * max(high, value))


def _drawn(rng: np.random.Generator, errors: int | np.typing.NDArray[np.int64], n: int) -> Floats:
    """Return draws of the share of which so many of n were seen."""
    return rng.beta(np.broadcast_to(errors, DRAWS) + 0.5, n - np.broadcast_to(errors, DRAWS) + 0.5)


def _counted(errors: int, n: int) -> float:
    if errors == 0:
        return 0.5 / (n + 0.5)
    return errors / n if errors < n else n / (n + 0.5)


def _logistic_average(first: float | Floats, second: float | Floats) -> Floats:
    odds = np.sqrt(first / (1.0 - first) * (second / (1.0 - second)))
    return np.asarray(odds / (1.0 + odds))


def _allowed(n: int, share: float) -> int:
    """Return how many of n may be lost; a product that rounding left below a whole number is that number."""
    return min(math.floor(n * share + 1e-9), n - 1)
