"""`compare`: any learners on the same rows, and how sure one can be that one is better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.validation import check_bool, check_finite, check_integer
from weigh.judge.metrics.losses import Floats
from weigh.text import to_json_value
from weigh.trials.candidates import LOSSES, Candidate, Experiment
from weigh.trials.candidates import baseline_candidate as guessed_by
from weigh.trials.comparison_format import comparison_html, format_comparison, plot_comparison
from weigh.trials.cross_validation import (
    ComparisonScore,
    CrossValidationResult,
    cross_validate,
    error_rate,
    mean_loss,
)
from weigh.trials.learner_traits import TraitTable, traits_of
from weigh.trials.learners import format_settings
from weigh.trials.learning_curves import (
    DEFAULT_FOLDS,
    DEFAULT_REPEATS,
    LearningCurve,
    learning_curve_on_splits,
)
from weigh.trials.resampled_t_test import CorrectedMean, check_level, holm_adjust
from weigh.trials.splits import Split, repeated_folds

OWNER = "compare"
DEFAULT_ROPE = 0.01

Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`; prints within 80 columns.

    `scores` are in the order of the learners, the baseline last; `pairs` tell how sure each difference is.
    `splits` are the (train, test) places that all learners were tried on, as scikit-learn's `cv=` takes them.
    `curve` is the learning curve of the learners where it was asked for, and `crossings` tell where one
    overtakes another.
    """

    scores: tuple[ComparisonScore, ...]
    pairs: tuple[PairComparison, ...]
    loss: str
    n: int
    folds: int
    repeats: int
    level: float
    rope: float
    splits: tuple[tuple[Any, Any], ...]
    trait_table: TraitTable
    curve: LearningCurve | None = None

    def __getitem__(self, name: str) -> ComparisonScore:
        for each in self.scores:
            if each.learner == name:
                return each
        known = [each.learner for each in self.scores]
        raise errors.ParameterError(
            f"{OWNER}: there is no learner {name!r}; there are {errors.quote_names(known)}."
            f"{errors.did_you_mean(str(name), known)}"
        )

    def pair(self, first: str, second: str) -> PairComparison:
        """Return the pair of two learners, as it was compared."""
        if self[first] is self[second]:
            raise errors.ParameterError(f"{OWNER}: {first!r} does not differ from itself. Name two learners.")
        for each in self.pairs:
            if {each.first, each.second} == {self[first].learner, self[second].learner}:
                return each
        raise errors.ParameterError(
            f"{OWNER}: {first!r} and {second!r} were not compared. Give reference={first!r}."
        )

    @property
    def best(self) -> str:
        """The learner of the smallest mean loss, of equal ones the first."""
        return min(self.scores, key=lambda each: each.loss.value).learner

    @property
    def crossings(self) -> tuple[Any, ...]:
        """Where learners overtake each other as rows grow; empty without a curve."""
        return () if self.curve is None else tuple(self.curve.crossings)

    def traits(self) -> TraitTable:
        """Return what kind of learners they are, in words."""
        return self.trait_table

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON; the places of the splits stay in `splits`."""
        names = ("loss", "n", "folds", "repeats", "level", "rope", "best")
        return {
            **{name: getattr(self, name) for name in names},
            "scores": [each.to_dict() for each in self.scores],
            "pairs": [each.to_dict() for each in self.pairs],
            "traits": self.trait_table.to_dict(),
            "curve": None if self.curve is None else self.curve.to_dict(),
        }

    def plot(self, what: str = "scores") -> Any:
        """Return a picture of the "scores", the "differences" of pairs, the "times", or the "curve"."""
        return plot_comparison(self, what)

    def __str__(self) -> str:
        return format_comparison(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return comparison_html(self)


def compare(
    learners: Any,
    X: Any,
    y: Any = None,
    *,
    folds: int = 10,
    repeats: int = 3,
    loss: str | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    level: float = 0.95,
    rope: float | None = None,
    reference: str | None = None,
    baseline: bool = True,
    curve: bool = False,
    progress: Progress = None,
) -> Comparison:
    """Try learners on the same splits of the rows, and tell how sure their differences are.

    Every learner is trained and judged on all folds of a repeated, stratified cross-validation. Folds share
    training rows, so differences are tested by the corrected resampled t-test of Nadeau & Bengio, adjusted
    by Holm for the number of pairs; the probability that one learner beats another is that of the Bayesian
    correlated t-test. Times are the medians of the first three splits, which run one trial at a time.

    Parameters
    ----------
    learners : learners of this library or of scikit-learn, or names such as "naive-bayes", as a list or by
        name; None means naive Bayes, logistic regression, perceptron, decision tree and nearest neighbours
    X, y : rows as `fit` takes them
    folds, repeats : of the cross-validation
    loss : "zero_one" (default), "log_loss", "squared", "brier"; of regressions "squared_error" (default),
        "absolute_error"
    seed : which rows are in which fold
    n_jobs : trials at a time; -1 means all cores. The losses do not depend on it
    level : of the intervals, and 1 − level of the tests
    rope : losses closer than this are equal for all purposes; None means 0.01, of regressions 1 % of the
        loss of a constant guess
    reference : compare all others with this learner, instead of all pairs
    baseline : whether to show a guess that does not look at the rows: the most frequent class, of losses of
        probabilities the frequencies of the classes, of numbers their mean or median
    curve : whether to measure learning curves too, as `learning_curve` does with 2 × 5 folds, and where
        learners overtake each other
    progress : called with the trials done and all trials

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 20 / 2 for k in range(200)], "big": [str(k % 20 > 12) for k in range(200)]}
    >>> weigh.compare(["naive-bayes", "tree"], rows, "big", folds=5, repeats=1).best
    'tree'
    """
    share = check_level(level, OWNER)
    contest = Experiment.of(learners, X, y, loss, OWNER)
    near, is_grown = _check_rope(rope, contest), check_bool(OWNER, "curve", curve)
    everyone, guessed = _with_baseline(contest, check_bool(OWNER, "baseline", baseline))
    chosen = _select_pairs(list(contest.candidates), reference, guessed)
    folds, repeats = check_integer(OWNER, "folds", folds, 2), check_integer(OWNER, "repeats", repeats, 1)
    seed = check_integer(OWNER, "seed", seed, 0)
    splits = contest.splits(folds, repeats, seed, OWNER)
    first = len(everyone) * len(splits)
    total = first + (len(contest.candidates) * DEFAULT_FOLDS * DEFAULT_REPEATS if is_grown else 0)
    trials = cross_validate(everyone, splits, contest.loss, n_jobs, _offset_progress(progress, 0, total))
    grown = (
        _measure_curves(contest, seed, n_jobs, share, _offset_progress(progress, first, total))
        if is_grown
        else None
    )
    ratio, n = _test_train_ratio(splits), len(contest.rows)
    scores = tuple(_learner_score(each, trials, contest, ratio, share) for each in everyone.values())
    pairs = compare_pairs(trials.losses, chosen, ratio, share, near)
    cuts = tuple((split.train, split.test) for split in splits)
    traits = TraitTable({name: traits_of(each.learner) for name, each in everyone.items()})
    return Comparison(scores, pairs, contest.loss, n, folds, repeats, share, near, cuts, traits, grown)


def _with_baseline(contest: Experiment, is_guessed: bool) -> tuple[dict[str, Candidate], str | None]:
    """Return all who are tried, and the name of the baseline among them."""
    if not is_guessed:
        return contest.candidates, None
    guess = guessed_by(contest.loss, contest.rows)
    if guess.name in contest.candidates:
        raise errors.ParameterError(
            f"{OWNER}: {guess.name!r} is what the guess that does not look at the rows is called. Give the "
            f"learner another name, or baseline=False."
        )
    return contest.candidates | {guess.name: guess}, guess.name


def _offset_progress(progress: Progress, before: int, total: int) -> Progress:
    """Return what hears of a part of the trials, and tells it as progress of all."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def _learner_score(
    tried: Candidate, trials: CrossValidationResult, contest: Experiment, ratio: float, level: float
) -> ComparisonScore:
    losses, loss, is_guess = trials.losses[tried.name], contest.loss, tried.name not in contest.candidates
    if loss == "zero_one":
        measure = error_rate(losses, ratio, len(contest.rows), level)
    else:
        measure = mean_loss(loss, losses, ratio, level, is_guess)
    settings = "" if is_guess else format_settings(tried.learner)
    return ComparisonScore(tried.name, measure, losses, trials.costs[tried.name], is_guess, settings)


def _select_pairs(names: list[str], reference: str | None, guessed: str | None) -> list[tuple[str, str]]:
    """Return the pairs to compare: all learners with each other, or with the reference."""
    known = [*names, guessed] if guessed else names
    if reference is None:
        return list(combinations(names, 2)) if len(names) > 1 else [(names[0], guessed)] if guessed else []
    if reference not in known:
        raise errors.ParameterError(
            f"{OWNER}: reference={reference!r} is none of the learners {errors.quote_names(known)}."
            f"{errors.did_you_mean(str(reference), known)}"
        )
    return [(name, reference) for name in known if name != reference]


def _check_rope(rope: float | None, contest: Experiment) -> float:
    if rope is not None:
        near = check_finite(OWNER, "rope", rope, "a number of at least 0")
        if near < 0:
            raise errors.parameter_error(OWNER, "rope", "a number of at least 0", rope)
        return near
    if not LOSSES[contest.loss].is_for_regression:
        return DEFAULT_ROPE
    numbers = contest.rows.labels
    if contest.loss == "squared_error":
        return DEFAULT_ROPE * float(numbers.var())
    return DEFAULT_ROPE * float(np.abs(numbers - np.median(numbers)).mean())


def _test_train_ratio(splits: list[Split]) -> float:
    """Return n_test / n_train; folds differ by a row at most."""
    tests, trains = (sum(len(getattr(split, name)) for split in splits) for name in ("test", "train"))
    return tests / trains


def _measure_curves(
    contest: Experiment, seed: int, n_jobs: int | None, level: float, progress: Progress
) -> LearningCurve:
    splits = repeated_folds(contest.groups, DEFAULT_FOLDS, DEFAULT_REPEATS, seed, OWNER)
    return learning_curve_on_splits(contest, splits, None, seed, n_jobs, level, progress)


EQUAL_LOSS_TOLERANCE = 1e-9  # of a loss: nearer losses are taken for equal


@dataclass(frozen=True)
class PairComparison:
    """The difference of two mean losses, first less second: below zero the first is better.

    `p_value` is that of the corrected resampled t-test, `adjusted` the same by Holm among all pairs.
    `better` is the probability that the first has the smaller loss. With the region of practical equivalence,
    `first_better`, `equal` and `second_better` are the probabilities that the difference is below −rope,
    within ±rope, and above.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    statistic: float
    p_value: float
    adjusted: float
    better: float
    first_better: float
    equal: float
    second_better: float

    def to_dict(self) -> dict[str, Any]:
        """The pair for JSON."""
        return {name: to_json_value(value) for name, value in self.__dict__.items()}


def compare_pairs(
    losses: Mapping[str, Floats], chosen: Iterable[tuple[str, str]], ratio: float, level: float, rope: float
) -> tuple[PairComparison, ...]:
    """Test the chosen pairs, from one mean loss per split."""
    found = [
        (first, second, CorrectedMean.of(_loss_differences(losses[first], losses[second]), ratio))
        for first, second in chosen
    ]
    adjusted = holm_adjust([mean.p_value for _, _, mean in found])
    return tuple(
        _compare_pair(first, second, mean, p, level, rope)
        for (first, second, mean), p in zip(found, adjusted, strict=True)
    )


def _loss_differences(first: Floats, second: Floats) -> Floats:
    """Return the differences; what only rounding tells apart is equal, and two infinities cannot be told."""
    with np.errstate(invalid="ignore"):
        apart = first - second
        is_rounding = np.abs(apart) <= EQUAL_LOSS_TOLERANCE * np.maximum(np.abs(first), np.abs(second))
    return np.where(is_rounding & np.isfinite(apart), 0.0, apart)


def _compare_pair(
    first: str, second: str, mean: CorrectedMean, adjusted: float, level: float, rope: float
) -> PairComparison:
    low, high = mean.interval(level)
    before, after = mean.probability_below(-rope), 1.0 - mean.probability_below(rope)
    return PairComparison(
        first,
        second,
        mean.mean,
        low,
        high,
        mean.statistic,
        mean.p_value,
        adjusted,
        mean.probability_below(0.0),
        before,
        1.0 - before - after,
        after,
    )
