"""`compare`: cross-validate learners on the same splits and test their differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import Estimate, holm_adjust
from weigh.parameters import Flag, check_finite, check_integer, check_level
from weigh.result import Facts, Section, TabularResult
from weigh.text import format_quantity
from weigh.trials.candidates import LOSSES, Candidate, Experiment, baseline_candidate
from weigh.trials.comparison_format import comparison_sections, plot_comparison
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
from weigh.trials.splits import Split

OWNER = "compare"
DEFAULT_ROPE = 0.01
EQUAL_LOSS_TOLERANCE = 1e-9  # losses whose relative difference is smaller are equal up to rounding

Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(TabularResult):
    """The result of `compare`; prints in at most 80 columns.

    `scores` are in the order of the learners, with the baseline last; `pairs` are the tests of their
    differences. `splits` are the (train, test) row indices, which scikit-learn accepts as `cv=`. `curve` is
    the learning curve of the learners if it was requested, and `crossings` the sizes at which one overtakes
    another.
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
    _json = (
        "loss",
        "n",
        "folds",
        "repeats",
        "level",
        "rope",
        "best",
        "scores",
        "pairs",
        ("traits", "trait_table"),
        "curve",
    )
    _frames = ("scores", "pairs")

    def __getitem__(self, name: str) -> ComparisonScore:
        scores = {each.learner: each for each in self.scores}
        return errors.find_named(scores, name, f"{OWNER}: there is no learner {name!r}; there are")

    def pair(self, first: str, second: str) -> PairComparison:
        """Return the comparison of two learners."""
        if self[first] is self[second]:
            raise errors.ParameterError(
                f"{OWNER}: {first!r} cannot be compared with itself. Name two learners."
            )
        for each in self.pairs:
            if {each.first, each.second} == {self[first].learner, self[second].learner}:
                return each
        raise errors.ParameterError(
            f"{OWNER}: {first!r} and {second!r} were not compared.",
            hint=("Call compare with ", Setting("reference", first), "."),
        )

    @property
    def best(self) -> str:
        """The learner with the smallest mean loss; the first of equal ones."""
        return min(self.scores, key=lambda each: each.loss.value).learner

    @property
    def crossings(self) -> tuple[Any, ...]:
        """The training sizes at which learners overtake each other; empty without a curve."""
        return () if self.curve is None else tuple(self.curve.crossings)

    def traits(self) -> TraitTable:
        """Return a description of each learner: hypothesis space, objective, search and cost."""
        return self.trait_table

    def plot(self, what: str = "scores") -> Any:
        """Return a chart of the "scores", the "differences" of pairs, the "times", or the "curve"."""
        return plot_comparison(self, what)

    @property
    def headline(self) -> str:
        """The numbers of learners, rows and folds, and the loss."""
        learners = format_quantity(sum(not each.is_baseline for each in self.scores), "learner")
        splits = f"{self.repeats} × {self.folds} folds"
        return f"{learners} on {format_quantity(self.n, 'row')}, {splits}: {LOSSES[self.loss].title}"

    def sections(self) -> list[Section]:
        """Return scores, pairs and notes, without the traits."""
        return comparison_sections(self)


def compare(
    learners: Any,
    X: Any,
    y: Any = None,
    *,
    folds: int = 10,
    repeats: int = 3,
    loss: str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    level: float = 0.95,
    rope: float | None = None,
    reference: str | None = None,
    baseline: bool = True,
    curve: bool = False,
    progress: Progress = None,
) -> Comparison:
    """Cross-validate learners on the same splits and test their differences.

    Every learner is trained and tested on all folds of a repeated, stratified cross-validation. Because the
    training sets overlap, differences are tested by the corrected resampled t-test of Nadeau & Bengio with
    Holm's adjustment for the number of pairs. The probability that one learner beats another comes from the
    Bayesian correlated t-test. Times are medians of the first three splits, which run one fit at a time.

    Parameters
    ----------
    learners : learners of this library or of scikit-learn, or names such as "naive-bayes", as a list or as a
        mapping from names; None means naive Bayes, logistic regression, perceptron, decision tree and
        nearest neighbours
    X, y : rows, as for `fit`
    folds, repeats : number of folds and repeats of the cross-validation
    loss : "zero_one" (default), "log_loss", "squared", "brier"; for regressions "squared_error" (default),
        "absolute_error"
    sample_weight : array of weights, one per row, for training and losses, or None
    groups : array of one group per row, such as a patient; the rows of a group are in one fold
    seed : determines which rows are in which fold
    n_jobs : number of parallel fits; -1 means all cores. The losses do not depend on it
    level : confidence level of the intervals; the significance level of the tests is 1 − level
    rope : region of practical equivalence; smaller differences in loss count as equal. None means 0.01, or
        for regressions 1 % of the loss of a constant prediction
    reference : compare all others with this learner, instead of all pairs
    baseline : whether to include a constant prediction: the most frequent class, the class frequencies for
        losses of probabilities, or the mean or median for regressions
    curve : whether to measure learning curves too, as `learning_curve` does with 2 × 5 folds, and the sizes
        at which learners overtake each other
    progress : called with the number of finished fits and the total

    Examples
    --------
    >>> import weigh
    >>> rows = {"x": [k % 20 / 2 for k in range(200)], "big": [str(k % 20 > 12) for k in range(200)]}
    >>> weigh.compare(["naive-bayes", "tree"], rows, "big", folds=5, repeats=1).best
    'tree'
    """
    level = check_level(OWNER, level)
    experiment = Experiment.of(learners, X, y, loss, OWNER, sample_weight, groups)
    rope, has_curve = _check_rope(rope, experiment), Flag().check(OWNER, "curve", curve)
    candidates, baseline_name = _with_baseline(experiment, Flag().check(OWNER, "baseline", baseline))
    pair_names = _select_pairs(list(experiment.candidates), reference, baseline_name)
    folds, repeats = check_integer(OWNER, "folds", folds, 2), check_integer(OWNER, "repeats", repeats, 1)
    seed = check_integer(OWNER, "seed", seed, 0)
    splits = experiment.splits(folds, repeats, seed, OWNER)
    n_fits = len(candidates) * len(splits)
    total = n_fits + (len(experiment.candidates) * DEFAULT_FOLDS * DEFAULT_REPEATS if has_curve else 0)
    result = cross_validate(candidates, splits, experiment.loss, n_jobs, _offset_progress(progress, 0, total))
    curves = (
        _measure_curves(experiment, seed, n_jobs, level, _offset_progress(progress, n_fits, total))
        if has_curve
        else None
    )
    ratio = _test_train_ratio(splits)
    return Comparison(
        scores=tuple(_learner_score(each, result, experiment, ratio, level) for each in candidates.values()),
        pairs=compare_pairs(result.losses, pair_names, ratio, level, rope),
        loss=experiment.loss,
        n=len(experiment.rows),
        folds=folds,
        repeats=repeats,
        level=level,
        rope=rope,
        splits=tuple((split.train, split.test) for split in splits),
        trait_table=TraitTable({name: traits_of(each.learner) for name, each in candidates.items()}),
        curve=curves,
    )


def _with_baseline(experiment: Experiment, has_baseline: bool) -> tuple[dict[str, Candidate], str | None]:
    """Return all candidates, including the baseline, and the name of the baseline."""
    if not has_baseline:
        return experiment.candidates, None
    baseline = baseline_candidate(experiment.loss, experiment.rows)
    if baseline.name in experiment.candidates:
        raise errors.ParameterError(
            f"{OWNER}: the name {baseline.name!r} is reserved for the baseline.",
            hint=("Rename the learner, or use ", Setting("baseline", False), "."),
        )
    return experiment.candidates | {baseline.name: baseline}, baseline.name


def _offset_progress(progress: Progress, offset: int, total: int) -> Progress:
    """Return a callback for one stage that reports its progress as part of the total."""
    return None if progress is None else lambda done, _: progress(offset + done, total)


def _learner_score(
    candidate: Candidate, result: CrossValidationResult, experiment: Experiment, ratio: float, level: float
) -> ComparisonScore:
    name, loss = candidate.name, experiment.loss
    losses, is_baseline = result.losses[name], name not in experiment.candidates
    if loss == "zero_one":
        measure = error_rate(losses, ratio, len(experiment.rows), level)
    else:
        measure = mean_loss(loss, losses, ratio, level, is_baseline)
    settings = "" if is_baseline else format_settings(candidate.learner)
    return ComparisonScore(name, measure, losses, result.costs[name], is_baseline, settings)


def _select_pairs(names: list[str], reference: str | None, baseline: str | None) -> list[tuple[str, str]]:
    """Return the pairs to compare: all learners with each other, or all with the reference."""
    if reference is None:
        return list(combinations(names, 2)) if len(names) > 1 else [(names[0], baseline)] if baseline else []
    all_names = [*names, baseline] if baseline else names
    if reference not in all_names:
        raise errors.ParameterError(
            (
                f"{OWNER}: ",
                Setting("reference", reference),
                f" is not one of the learners {errors.quote_names(all_names)}.",
            ),
            suggestion=errors.closest(str(reference), all_names),
        )
    return [(name, reference) for name in all_names if name != reference]


def _check_rope(rope: float | None, experiment: Experiment) -> float:
    if rope is not None:
        checked = check_finite(OWNER, "rope", rope, "a number of at least 0")
        if checked < 0:
            raise errors.parameter_error(OWNER, "rope", "a number of at least 0", rope)
        return checked
    if not LOSSES[experiment.loss].is_for_regression:
        return DEFAULT_ROPE
    labels = experiment.rows.labels
    if experiment.loss == "squared_error":
        return DEFAULT_ROPE * float(labels.var())
    return DEFAULT_ROPE * float(np.abs(labels - np.median(labels)).mean())


def _test_train_ratio(splits: list[Split]) -> float:
    """Return n_test / n_train, averaged over folds whose sizes may differ by one row."""
    return sum(len(split.test) for split in splits) / sum(len(split.train) for split in splits)


def _measure_curves(
    experiment: Experiment, seed: int, n_jobs: int | None, level: float, progress: Progress
) -> LearningCurve:
    splits = experiment.splits(DEFAULT_FOLDS, DEFAULT_REPEATS, seed, OWNER)
    return learning_curve_on_splits(experiment, splits, None, seed, n_jobs, level, progress)


@dataclass(frozen=True)
class PairComparison(Facts):
    """The difference of two mean losses, first minus second: the first is better if it is negative.

    `p_value` is that of the corrected resampled t-test, `adjusted` the same with Holm's adjustment for all
    pairs. `better` is the probability that the first has the smaller loss. `first_better`, `equal` and
    `second_better` are the probabilities that the difference is below −rope, within ±rope, and above rope.
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


def compare_pairs(
    losses: Mapping[str, Floats], pairs: Iterable[tuple[str, str]], ratio: float, level: float, rope: float
) -> tuple[PairComparison, ...]:
    """Test the differences of pairs of learners, from their mean losses per split [splits]."""
    means = [
        (first, second, Estimate.of_mean(_loss_differences(losses[first], losses[second]), ratio))
        for first, second in pairs
    ]
    adjusted = holm_adjust([mean.p_value for _, _, mean in means])
    return tuple(
        _compare_pair(first, second, mean, p, level, rope)
        for (first, second, mean), p in zip(means, adjusted, strict=True)
    )


def _loss_differences(first: Floats, second: Floats) -> Floats:
    """Return first − second: zero if they differ only by rounding, NaN if both are infinite."""
    with np.errstate(invalid="ignore"):
        difference = first - second
        is_rounding = np.abs(difference) <= EQUAL_LOSS_TOLERANCE * np.maximum(np.abs(first), np.abs(second))
    return np.where(is_rounding & np.isfinite(difference), 0.0, difference)


def _compare_pair(
    first: str, second: str, mean: Estimate, adjusted: float, level: float, rope: float
) -> PairComparison:
    low, high = mean.interval(level)
    first_better, second_better = mean.probability_below(-rope), 1.0 - mean.probability_below(rope)
    return PairComparison(
        first=first,
        second=second,
        difference=mean.mean,
        low=low,
        high=high,
        statistic=mean.statistic,
        p_value=mean.p_value,
        adjusted=adjusted,
        better=mean.probability_below(0.0),
        first_better=first_better,
        equal=1.0 - first_better - second_better,
        second_better=second_better,
    )
