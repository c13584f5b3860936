"""The measures of the TREC spam track with confidence intervals, and tests that compare two filters.

With e of n mails of a label misclassified, all in percent:

    hm %         ham misclassified: share of the ham called spam
    sm %         spam misclassified: share of the spam not called spam; an unsure mail is delivered
    lam %        logistic average of both, logit^-1((logit hm + logit sm) / 2)
    1-ROCA %     probability that a ham scores higher than a spam, ties counting half
    sm % at hm   spam misclassified at the threshold that loses at most 0.1 % of the ham

lam follows the published tables and uses the plain rates. Only if none (or all) of a label is misclassified,
half a mail is counted as misclassified (or not), (e + 1/2) / (n + 1/2) as at CEAS 2007; otherwise a filter
without a single error on one label would have a lam of zero whatever it does on the other.

Rates have exact (Clopper-Pearson) intervals, 1-ROCA DeLong's on the logit scale. The intervals of lam and of
sm at hm are quantiles of seeded draws: error rates are drawn from Beta(e + 1/2, n - e + 1/2), their posterior
under Jeffreys' prior, which unlike the bootstrap does not collapse to a point without errors; the threshold
is bootstrapped over the ham.
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
MAX_HAM_LOSS = 0.001  # share of the ham that sm at hm may lose
N_DRAWS = 10_000
SEED = 0


def filter_measures(run: FilterRun, level: float) -> tuple[Measure, ...]:
    """Return all measures of a filter in percent; nan where they need ham or spam and there is none."""
    spam, wrong = run.is_spam, run.is_wrong
    ham_errors, hams = int(wrong[~spam].sum()), int((~spam).sum())
    spam_errors, spams = int(wrong[spam].sum()), int(spam.sum())
    return (
        _rate_measure(HM, ham_errors, hams, level),
        _rate_measure(SM, spam_errors, spams, level),
        _lam_measure(ham_errors, hams, spam_errors, spams, level),
        _roca_measure(run, level),
        _sm_at_hm_measure(run.scores[~spam], run.scores[spam], level),
        _rate_measure(UNSURE, int(run.is_unsure.sum()), len(spam), level),
        _rate_measure(ACCURACY, int((~wrong).sum()), len(spam), level),
    )


def lam(ham_errors: int, hams: int, spam_errors: int, spams: int) -> float:
    """Return the logistic average of two error rates, as a share."""
    return float(_logistic_average(_corrected_rate(ham_errors, hams), _corrected_rate(spam_errors, spams)))


def one_minus_roca(scores: Floats, is_spam: np.typing.NDArray[np.bool_]) -> float:
    """Return the probability that a ham scores higher than a spam; nan with only one label."""
    if is_spam.all() or not is_spam.any():
        return math.nan
    return 1.0 - roc_area(rank_rows(scores, is_spam, np.ones(len(scores)))).value


def spam_misclassification_at(hams: Floats, spams: Floats, max_ham_loss: float = MAX_HAM_LOSS) -> float:
    """Return the share of spam missed at the lowest threshold that loses at most this share of the ham."""
    descending = np.sort(hams)[::-1]
    return float((spams <= descending[_max_errors(len(hams), max_ham_loss)]).mean())


def _rate_measure(name: str, count: int, n: int, level: float) -> Measure:
    if n == 0:
        return Measure(name, math.nan)
    low, high = clopper_pearson(np.array([count]), np.array([n]), level)
    return Measure(name, 100.0 * count / n, 100.0 * float(low[0]), 100.0 * float(high[0]))


def _lam_measure(ham_errors: int, hams: int, spam_errors: int, spams: int, level: float) -> Measure:
    if not hams or not spams:
        return Measure(LAM, math.nan)
    rng = np.random.default_rng(SEED)
    draws = _logistic_average(
        _posterior_draws(rng, ham_errors, hams), _posterior_draws(rng, spam_errors, spams)
    )
    return _measure_from_draws(LAM, lam(ham_errors, hams, spam_errors, spams), draws, level)


def _roca_measure(run: FilterRun, level: float) -> Measure:
    area = _roc_area(run)
    if area is None:
        return Measure(ROCA, math.nan)
    value, low, high = area.interval(level)
    return Measure(ROCA, 100.0 * (1.0 - value), 100.0 * (1.0 - high), 100.0 * (1.0 - low))


def _sm_at_hm_measure(hams: Floats, spams: Floats, level: float) -> Measure:
    if not len(hams) or not len(spams):
        return Measure(SM_AT_HM, math.nan)
    rng = np.random.default_rng(SEED)
    allowed, n = _max_errors(len(hams), MAX_HAM_LOSS), len(hams)
    # The k-th highest of n draws with replacement has rank ⌊n U⌋ with U the k-th smallest of n uniforms.
    thresholds = np.sort(hams)[::-1][(n * rng.beta(allowed + 1.0, n - allowed, N_DRAWS)).astype(np.int64)]
    errors = np.searchsorted(np.sort(spams), thresholds, side="right")
    return _measure_from_draws(
        SM_AT_HM, spam_misclassification_at(hams, spams), _posterior_draws(rng, errors, len(spams)), level
    )


def _measure_from_draws(name: str, value: float, draws: Floats, level: float) -> Measure:
    """Return a share in percent with quantiles of its draws, extended to the value, which may be 0 or 1."""
    low, high = np.quantile(draws, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return Measure(name, 100.0 * value, 100.0 * min(low, value), 100.0 * max(high, value))


def _posterior_draws(rng: np.random.Generator, errors: int | np.typing.NDArray[np.int64], n: int) -> Floats:
    """Draw error rates from their posterior given `errors` of n, under Jeffreys' prior."""
    return rng.beta(np.broadcast_to(errors, N_DRAWS) + 0.5, n - np.broadcast_to(errors, N_DRAWS) + 0.5)


def _corrected_rate(errors: int, n: int) -> float:
    if errors == 0:
        return 0.5 / (n + 0.5)
    return errors / n if errors < n else n / (n + 0.5)


def _logistic_average(first: float | Floats, second: float | Floats) -> Floats:
    odds = np.sqrt(first / (1.0 - first) * (second / (1.0 - second)))
    return np.asarray(odds / (1.0 + odds))


def _max_errors(n: int, share: float) -> int:
    """Return ⌊n · share⌋, at most n − 1, without rounding errors just below an integer."""
    return min(math.floor(n * share + 1e-9), n - 1)


def _roc_area(run: FilterRun) -> AreaEstimate | None:
    ranking = rank_rows(run.scores, run.is_spam, np.ones(len(run.scores)))
    return roc_area(ranking) if ranking.is_defined else None


@dataclass(frozen=True)
class FilterPair:
    """A paired comparison of two filters.

    `first_alone` and `second_alone` count the mails that only one of them misclassified; `error_p` is
    McNemar's exact p-value. `difference` is 1-ROCA % of the first minus that of the second, with its
    confidence limits and DeLong's p-value `area_p`.
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
        """Return the pair as plain values for JSON."""
        return {name: to_json_value(value) for name, value in asdict(self).items()}


def compare_pair(first: FilterRun, second: FilterRun, level: float) -> FilterPair:
    """Compare two filters that judged the same mails in the same order."""
    first_alone = int((first.is_wrong & ~second.is_wrong).sum())
    second_alone = int((second.is_wrong & ~first.is_wrong).sum())
    return FilterPair(
        first.name,
        second.name,
        first_alone,
        second_alone,
        mcnemar_p_value(first_alone, second_alone),
        *_roca_difference(first, second, level),
    )


def mcnemar_p_value(first: int, second: int) -> float:
    """Return the exact two-sided p-value of McNemar's test for two counts of discordant pairs."""
    n, fewer = first + second, min(first, second)
    log_binomials = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(fewer + 1)
    ]
    return min(1.0, 2.0 * math.fsum(math.exp(each - n * math.log(2.0)) for each in log_binomials))


def _roca_difference(first: FilterRun, second: FilterRun, level: float) -> tuple[float, float, float, float]:
    """Return the difference of 1-ROCA in percent, its limits and DeLong's p-value."""
    areas = _roc_area(first), _roc_area(second)
    if areas[0] is None or areas[1] is None:
        return (math.nan,) * 4
    difference = areas[1].value - areas[0].value
    standard_error = math.sqrt(float(np.square(areas[0].row_influences - areas[1].row_influences).sum()))
    if standard_error <= 1e-12:
        # Perfect or completely reversed rankings have no variance to test with.
        return 100.0 * difference, math.nan, math.nan, 1.0 if difference == 0 else math.nan
    margin = student_quantile(math.inf, (1.0 + level) / 2.0) * standard_error
    p = student_two_sided_p(math.inf, abs(difference) / standard_error)
    return 100.0 * difference, 100.0 * (difference - margin), 100.0 * (difference + margin), p
