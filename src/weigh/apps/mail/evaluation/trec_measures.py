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
from dataclasses import dataclass

import numpy as np

from weigh.apps.mail.evaluation.filter_run import FilterRun
from weigh.judge.metrics.confidence_intervals import Measure, proportion, quantile_interval
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import area_difference, mcnemar_p_value
from weigh.judge.metrics.ranking import Ranking, roc_area
from weigh.result import Facts

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
PERCENT = 100.0
N_DRAWS = 10_000
SEED = 0


def filter_measures(run: FilterRun, level: float) -> tuple[Measure, ...]:
    """Return all measures of a filter in percent; nan where they need ham or spam and there is none."""
    spam, wrong = run.is_spam, run.is_wrong
    ham_errors, hams = int(wrong[~spam].sum()), int((~spam).sum())
    spam_errors, spams = int(wrong[spam].sum()), int(spam.sum())
    return (
        proportion(HM, ham_errors, hams, level, PERCENT),
        proportion(SM, spam_errors, spams, level, PERCENT),
        _lam_measure(ham_errors, hams, spam_errors, spams, level),
        _roca_measure(run.ranking, level),
        _sm_at_hm_measure(run.ranking, level),
        proportion(UNSURE, int(run.is_unsure.sum()), len(spam), level, PERCENT),
        proportion(ACCURACY, int((~wrong).sum()), len(spam), level, PERCENT),
    )


def lam(ham_errors: int, hams: int, spam_errors: int, spams: int) -> float:
    """Return the logistic average of two error rates, as a share."""
    return float(_logistic_average(_corrected_rate(ham_errors, hams), _corrected_rate(spam_errors, spams)))


def one_minus_roca(ranking: Ranking) -> float:
    """Return the probability that a ham scores higher than a spam; nan with only one label."""
    return 1.0 - roc_area(ranking).value if ranking.is_defined else math.nan


def spam_misclassification_at(ranking: Ranking, max_ham_loss: float = MAX_HAM_LOSS) -> float:
    """Return the share of spam missed at the lowest threshold that loses at most this share of the ham."""
    hams, spams = ranking.false_positives[-1], ranking.true_positives[-1]
    found = float(ranking.true_positives_at(_max_errors(int(hams), max_ham_loss)))
    return float((spams - found) / spams)


def _lam_measure(ham_errors: int, hams: int, spam_errors: int, spams: int, level: float) -> Measure:
    if not hams or not spams:
        return Measure(LAM, math.nan)
    rng = np.random.default_rng(SEED)
    draws = _logistic_average(
        _posterior_draws(rng, ham_errors, hams), _posterior_draws(rng, spam_errors, spams)
    )
    return _measure_from_draws(LAM, lam(ham_errors, hams, spam_errors, spams), draws, level)


def _roca_measure(ranking: Ranking, level: float) -> Measure:
    if not ranking.is_defined:
        return Measure(ROCA, math.nan)
    value, low, high = roc_area(ranking).interval(level)
    return Measure(ROCA, 100.0 * (1.0 - value), 100.0 * (1.0 - high), 100.0 * (1.0 - low))


def _sm_at_hm_measure(ranking: Ranking, level: float) -> Measure:
    if not ranking.is_defined:
        return Measure(SM_AT_HM, math.nan)
    rng = np.random.default_rng(SEED)
    n, spams = int(ranking.false_positives[-1]), int(ranking.true_positives[-1])
    allowed = _max_errors(n, MAX_HAM_LOSS)
    # The k-th highest of n draws with replacement has rank ⌊n U⌋ with U the k-th smallest of n uniforms.
    n_lost = (n * rng.beta(allowed + 1.0, n - allowed, N_DRAWS)).astype(np.int64)
    draws = _posterior_draws(rng, spams - ranking.true_positives_at(n_lost), spams)
    return _measure_from_draws(SM_AT_HM, spam_misclassification_at(ranking), draws, level)


def _measure_from_draws(name: str, value: float, draws: Floats, level: float) -> Measure:
    """Return a share in percent with quantiles of its draws, extended to the value, which may be 0 or 1."""
    low, high = quantile_interval(draws, level).tolist()
    return Measure(name, 100.0 * value, 100.0 * min(low, value), 100.0 * max(high, value))


def _posterior_draws(rng: np.random.Generator, errors: int | Floats, n: int) -> Floats:
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


@dataclass(frozen=True)
class FilterPair(Facts):
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
        *_roca_difference(first.ranking, second.ranking, level),
    )


def _roca_difference(first: Ranking, second: Ranking, level: float) -> tuple[float, float, float, float]:
    """Return the difference of 1-ROCA in percent, its limits and DeLong's p-value."""
    if not first.is_defined or not second.is_defined:
        return (math.nan,) * 4
    difference = area_difference(roc_area(second), roc_area(first))
    low, high = difference.interval(level)
    return 100.0 * difference.mean, 100.0 * low, 100.0 * high, difference.p_value
