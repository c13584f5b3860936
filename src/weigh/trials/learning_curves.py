"""`learning_curve`: train and validation loss against the number of training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.validation import check_integer
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.losses import Floats
from weigh.text import format_quantity
from weigh.trials.candidates import LOSSES, Candidate, Experiment, baseline_candidate
from weigh.trials.crossing import Crossing, CurveLosses, find_crossing
from weigh.trials.diagnosis import Diagnosis, FinalLosses, diagnose
from weigh.trials.learner_curve import (
    FittedLearningCurve,
    LearningCurvePoint,
    crossing_marks,
    format_learning_curve,
    learning_curve_html,
    plot_rows,
)
from weigh.trials.learners import format_settings
from weigh.trials.parallel import run_jobs
from weigh.trials.power_law import PowerLaw, RequiredRows, fit_power_law
from weigh.trials.resampled_t_test import FoldCorrection, check_level
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Groups, Split, stratified_order

OWNER = "learning_curve"
DEFAULT_SIZES, MAX_SIZE_RATIO, MIN_FIRST_SIZE = 8, 128, 10
DEFAULT_FOLDS, DEFAULT_REPEATS = 5, 2


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """The result of `learning_curve`; prints within 80 columns.

    `curves` has one `Curve` per learner, `curve["logistic"]` is the one of that name. Of a single learner
    `law`, `diagnosis`, `at(n)` and `size_for(loss)` are those of its curve. `crossings` tells for every
    pair of learners where one overtakes the other.

    Means are over all folds of all repeats. Their intervals take into account that the folds' training
    rows overlap: the variance of a mean is (1/J + n_test/n_train) s² (Nadeau & Bengio), with n_train the
    rows that are not held out, whatever the size, and Student's t of J − 1 degrees of freedom.
    """

    curves: tuple[FittedLearningCurve, ...]
    crossings: tuple[Crossing, ...]
    loss: str
    sizes: tuple[int, ...]
    n: int
    folds: int
    repeats: int
    level: float

    def __getitem__(self, name: str) -> FittedLearningCurve:
        for each in self.curves:
            if each.name == name:
                return each
        known = [each.name for each in self.curves]
        raise errors.ParameterError(
            f"{OWNER}: there is no curve of {name!r}; there are {errors.quote_names(known)}."
            f"{errors.did_you_mean(str(name), known)}"
        )

    def __iter__(self) -> Iterator[FittedLearningCurve]:
        return iter(self.curves)

    @property
    def _only_curve(self) -> FittedLearningCurve:
        if len(self.curves) == 1:
            return self.curves[0]
        known = [each.name for each in self.curves]
        raise errors.Unsupported(
            f"There are curves of {errors.quote_names(known)}. Ask one of them, such as curve[{known[0]!r}]."
        )

    @property
    def law(self) -> PowerLaw | None:
        """The law of the only learner."""
        return self._only_curve.law

    @property
    def diagnosis(self) -> Diagnosis:
        """What holds the only learner back."""
        return self._only_curve.diagnosis

    def at(self, n: float) -> Measure:
        """Return the validation loss of the only learner that is expected after n rows."""
        return self._only_curve.at(n)

    def size_for(self, loss: float) -> RequiredRows:
        """Return how many rows bring the only learner's validation loss down to `loss`."""
        return self._only_curve.size_for(loss)

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        names = ("loss", "n", "folds", "repeats", "level")
        return {
            **{name: getattr(self, name) for name in names},
            "sizes": list(self.sizes),
            "curves": [each.to_dict() for each in self.curves],
            "crossings": [each.to_dict() for each in self.crossings],
        }

    def plot(self) -> Any:
        """Return a picture of the losses over the rows, the laws dashed, the crossings marked."""
        from weigh.pictures import line_chart

        return line_chart(
            plot_rows(self.curves),
            x="training rows",
            y=LOSSES[self.loss].title,
            title="learning curve",
            log=True,
            marks=crossing_marks(self.crossings),
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Print sizes, laws, diagnoses and crossings."""
        return format_learning_curve(self)

    def _repr_html_(self) -> str:
        return learning_curve_html(self)


def learning_curve(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    folds: int = DEFAULT_FOLDS,
    repeats: int = DEFAULT_REPEATS,
    loss: str | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> LearningCurve:
    """Measure train and validation loss against the number of training rows.

    Parameters
    ----------
    learner : an estimator of this library or of scikit-learn, a name such as "naive-bayes", or several as a
        list or by name; several learn from the same rows, and their crossings are told
    X, y : rows as `fit` takes them
    sizes : numbers of training rows; None takes eight, each about twice the one before, the last all rows
        that are not held out
    folds, repeats : each fold is held out once per repeat; within a fold every size contains the smaller
        ones, and has the classes in their shares
    loss : "zero_one" (classifiers' default), "squared", "brier", "log_loss"; of regressions "squared_error"
        (their default), "absolute_error"
    seed : which rows are in which fold and subset
    n_jobs : trials at a time; -1 means all cores. The losses do not depend on it, times of fits do
    level : confidence level of the intervals
    progress : called after every fold of a learner with how many of how many are done

    Examples
    --------
    >>> import weigh
    >>> x = [k % 10 for k in range(400)]
    >>> rows = {"x": [float(k) for k in x], "big": [str(k > 4) for k in x]}
    >>> weigh.learning_curve(weigh.Threshold(), rows, "big").diagnosis.verdict
    'fine'
    """
    contest = Experiment.of(learner, X, y, loss, OWNER)
    folds, repeats = check_integer(OWNER, "folds", folds, 2), check_integer(OWNER, "repeats", repeats, 1)
    share = check_level(level, OWNER)
    seed = check_integer(OWNER, "seed", seed, 0)
    return learning_curve_on_splits(
        contest, contest.splits(folds, repeats, seed, OWNER), sizes, seed, n_jobs, share, progress
    )


def learning_curve_on_splits(
    contest: Experiment,
    splits: list[Split],
    sizes: Sequence[int] | None,
    seed: int,
    n_jobs: int | None,
    level: float,
    progress: Callable[[int, int], None] | None,
) -> LearningCurve:
    """Measure the curves of learners on these splits."""
    learners, rows, groups, loss = contest.candidates, contest.rows, contest.groups, contest.loss
    least = min(len(split.train) for split in splits)
    steps = _check_sizes(sizes, least, len(np.unique(groups)), LOSSES[loss].is_for_regression)
    corrected = FoldCorrection(len(splits), (len(rows) - least) / least, level)
    trials = _FoldEvaluation(rows, groups, splits, steps, loss, seed)
    jobs = [(each, split) for each in learners.values() for split in splits]
    found = run_jobs(trials.evaluate_fold, jobs, n_jobs, progress)
    table = np.array(found).reshape(len(learners), len(splits), len(steps), 3)
    measured = {name: table[at] for at, name in enumerate(learners)}
    curves, crossings = _fit_curves(measured, trials.baseline_losses(), steps, corrected)
    told = tuple(replace(each, settings=format_settings(learners[each.name].learner)) for each in curves)
    folds, repeats = splits[-1].fold + 1, splits[-1].repeat + 1
    return LearningCurve(told, crossings, loss, tuple(steps), len(rows), folds, repeats, level)


def _check_sizes(given: Sequence[int] | None, most: int, classes: int, of_numbers: bool) -> list[int]:
    fewest = 2 if of_numbers else max(2, classes)
    if most < fewest:
        raise errors.DataError(
            f"{OWNER}: {format_quantity(most, 'row')} would be left to train on, and {fewest:,} are needed. "
            f"Give more rows."
        )
    if given is None:
        start = min(most, max(fewest, MIN_FIRST_SIZE, most // MAX_SIZE_RATIO))
        return sorted({round(size) for size in np.geomspace(start, most, DEFAULT_SIZES)})
    must = f"whole numbers of rows from {fewest:,} to {most:,}, all rows that no fold holds out"
    found = [check_integer(OWNER, "sizes", size, 1) for size in np.atleast_1d(np.asarray(given, object))]
    if not found or min(found) < fewest or max(found) > most:
        raise errors.parameter_error(OWNER, "sizes", must, list(found))
    return sorted(set(found))


@dataclass(frozen=True, eq=False)
class _FoldEvaluation:
    """What every fold is measured with."""

    rows: LabelledRows
    groups: Groups
    splits: list[Split]
    sizes: list[int]
    loss: str
    seed: int

    def evaluate_fold(self, job: tuple[Candidate, Split]) -> list[tuple[float, float, float]]:
        """Return train loss, validation loss and seconds of a learner at every size of one fold."""
        tried, split = job
        rng = np.random.default_rng([self.seed, split.repeat, split.fold])
        order = stratified_order(split.train, self.groups, rng)
        held, found = tried.rows.take(split.test), []
        for size in self.sizes:
            with tried.error_context(f"{split}, {size:,} rows"):
                part, model = tried.rows.take(order[:size]), tried.fit(order[:size])
                train, validation = (float(model.losses(each, self.loss).mean()) for each in (part, held))
            found.append((train, validation, model.seconds))
        return found

    def baseline_losses(self) -> Floats:
        """Return the validation loss of guessing, fold by fold."""
        guess = baseline_candidate(self.loss, self.rows)
        models = [guess.fit(split.train) for split in self.splits]
        tests = [guess.rows.take(split.test) for split in self.splits]
        return np.array([m.losses(t, self.loss).mean() for m, t in zip(models, tests, strict=True)])


def _fit_curves(
    measured: dict[str, Floats], guessing: Floats, sizes: list[int], corrected: FoldCorrection
) -> tuple[tuple[FittedLearningCurve, ...], tuple[Crossing, ...]]:
    laws = {
        name: fit_power_law(sizes, table[:, :, 1], corrected, train=table[:, :, 0])
        for name, table in measured.items()
    }
    curves = []
    for name, table in measured.items():
        law = laws[name]
        rivals = {other: each[:, -1, 1] for other, each in measured.items() if other != name}
        losses = FinalLosses(table[:, -1, 0], table[:, -1, 1], guessing, rivals)
        told = diagnose(losses, law, sizes[-1], corrected)
        points = tuple(_curve_point(size, table[:, at], corrected) for at, size in enumerate(sizes))
        curves.append(
            FittedLearningCurve(name, points, None, law, told)
            if isinstance(law, str)
            else FittedLearningCurve(name, points, law, None, told)
        )
    contenders = [CurveLosses(name, table[:, :, 1], laws[name]) for name, table in measured.items()]
    pairs = combinations(contenders, 2)
    return tuple(curves), tuple(find_crossing(*pair, sizes, corrected) for pair in pairs)


def _curve_point(size: int, table: Floats, corrected: FoldCorrection) -> LearningCurvePoint:
    train = corrected.measure("train", table[:, 0], 0.0)
    validation = corrected.measure("validation", table[:, 1], 0.0)
    return LearningCurvePoint(size, train, validation, float(np.median(table[:, 2])))
