"""`learning_curve`: training and validation loss against the number of training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from weigh import errors
from weigh.immutable import ImmutablePart
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.learning_curve_laws import PowerLaw, RequiredRows, fit_power_law
from weigh.judge.metrics.losses import Floats
from weigh.judge.metrics.paired_tests import FoldCorrection
from weigh.parameters import check_integer, check_level
from weigh.result import Facts, Result, Section, to_frame
from weigh.text import format_quantity
from weigh.trials.candidates import LOSSES, Candidate, Experiment, baseline_candidate
from weigh.trials.crossing import Crossing, CurveLosses, find_crossing
from weigh.trials.diagnosis import Diagnosis, FinalLosses, diagnose
from weigh.trials.learners import format_settings
from weigh.trials.learning_curve_format import (
    crossing_marks,
    learning_curve_sections,
    plot_rows,
)
from weigh.trials.parallel import run_jobs
from weigh.trials.rivals import RIVAL_ADVICE, RivalLosses, measure_rivals
from weigh.trials.rows import LabelledRows
from weigh.trials.splits import Codes, Split, stratified_order

OWNER = "learning_curve"
DEFAULT_SIZES, MAX_SIZE_RATIO, MIN_FIRST_SIZE = 8, 128, 10  # number of sizes, last / first, and first size
DEFAULT_FOLDS, DEFAULT_REPEATS = 5, 2


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """The result of `learning_curve`; prints in at most 80 columns.

    `curves` has one `FittedLearningCurve` per learner; `result["logistic"]` is the one of that name. With a
    single learner, `law`, `diagnosis`, `at(n)` and `size_for(loss)` are those of its curve. `crossings` says
    for every pair of learners at which size one overtakes the other.

    Means are over all J folds of all repeats. Their intervals account for the overlap of the training sets:
    the variance of a mean is (1/J + n_test/n_train) s² (Nadeau & Bengio), where n_train is the number of rows
    that are not held out, at all sizes, and the quantiles are those of Student's t with J − 1 degrees of
    freedom.
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
        curves = {each.name: each for each in self.curves}
        return errors.find_named(curves, name, f"{OWNER}: there is no curve of {name!r}; there are")

    def __iter__(self) -> Iterator[FittedLearningCurve]:
        return iter(self.curves)

    @property
    def _only_curve(self) -> FittedLearningCurve:
        if len(self.curves) == 1:
            return self.curves[0]
        names = [each.name for each in self.curves]
        raise errors.Unsupported(
            f"There are curves of several learners: {errors.quote_names(names)}. Select one, such as "
            f"curve[{names[0]!r}]."
        )

    @property
    def law(self) -> PowerLaw | None:
        """The power law of the only learner, or None if none fits."""
        return self._only_curve.law

    @property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis of the only learner."""
        return self._only_curve.diagnosis

    def at(self, n: float) -> Measure:
        """Return the validation loss that the only learner's power law predicts for n rows."""
        return self._only_curve.at(n)

    def size_for(self, loss: float) -> RequiredRows:
        """Return the number of rows at which the only learner's power law reaches `loss`."""
        return self._only_curve.size_for(loss)

    def plot(self) -> Any:
        """Return a chart of the losses by training rows, with fitted laws dashed and crossings marked."""
        from weigh.pictures import line_chart

        return line_chart(
            plot_rows(self.curves),
            x="training rows",
            y=LOSSES[self.loss].title,
            title="learning curve",
            log=True,
            marks=crossing_marks(self.crossings),
        )

    @property
    def headline(self) -> str:
        """The loss, the number of rows and the folds."""
        folds = f"{self.folds} folds" + (f" × {self.repeats}" if self.repeats > 1 else "")
        return f"{LOSSES[self.loss].title} on {format_quantity(self.n, 'row')}, {folds}"

    def to_frame(self) -> Any:
        """Return the losses of every learner at every size as a pandas DataFrame."""
        return to_frame([{"learner": each.name} | point.to_dict() for each in self for point in each.points])

    def sections(self) -> list[Section]:
        """Return losses, power law and diagnosis of each learner, and crossings."""
        return learning_curve_sections(self)


@dataclass(frozen=True, eq=False)
class FittedLearningCurve(Facts, ImmutablePart):
    """The learning curve of one learner: its losses, the power law of its validation loss, and a diagnosis.

    `law` is None if no power law fits, and `no_law` says why. `settings` lists the settings that differ from
    the defaults, as text.
    """

    name: str
    points: tuple[LearningCurvePoint, ...]
    law: PowerLaw | None
    no_law: str | None
    diagnosis: Diagnosis
    settings: str = ""
    _json = (("learner", "name"), "settings", "points", "law", "no_law", "diagnosis")

    def at(self, n: float) -> Measure:
        """Return the validation loss that the power law predicts for n rows."""
        return self._require_law().at(n)

    def size_for(self, loss: float) -> RequiredRows:
        """Return the number of rows at which the power law reaches `loss`."""
        return self._require_law().size_for(loss)

    def _require_law(self) -> PowerLaw:
        if self.law is None:
            raise errors.Unsupported(
                f"No power law fits the curve of {self.name}: {self.no_law}. Use more sizes, folds or "
                f"repeats."
            )
        return self.law


@dataclass(frozen=True)
class LearningCurvePoint(Facts):
    """Training and validation loss at one number of training rows, and the median seconds of a fit."""

    rows: int
    train: Measure
    validation: Measure
    seconds: float


def learning_curve(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    folds: int = DEFAULT_FOLDS,
    repeats: int = DEFAULT_REPEATS,
    loss: str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> LearningCurve:
    """Measure training and validation loss against the number of training rows.

    The diagnosis of a single classifier of this library compares it with other learners on the same folds:
    one fit per fold with at most 2,000 training rows, fewer for wide rows and many classes.

    Parameters
    ----------
    learner : a learner of this library or of scikit-learn, a name such as "naive-bayes", or several as a
        list or as a mapping from names; several are trained on the same rows, and their crossings are found
    X, y : rows, as for `fit`
    sizes : numbers of training rows; None means eight sizes in geometric progression, up to all rows that are
        not held out
    folds, repeats : number of folds and repeats of the cross-validation; within a fold, the training subsets
        are nested and stratified
    loss : "zero_one" (default), "squared", "brier", "log_loss"; for regressions "squared_error" (default),
        "absolute_error"
    sample_weight : array of weights, one per row, for training and losses, or None
    groups : array of one group per row, such as a patient; the rows of a group are in one fold
    seed : determines which rows are in which fold and subset
    n_jobs : number of parallel jobs; -1 means all cores. The losses do not depend on it, the times do
    level : confidence level of the intervals
    progress : called with the number of finished folds of all learners and the total

    Examples
    --------
    >>> import weigh
    >>> x = [k % 10 for k in range(400)]
    >>> rows = {"x": [float(k) for k in x], "big": [str(k > 4) for k in x]}
    >>> weigh.learning_curve(weigh.Threshold(), rows, "big").diagnosis.verdict
    'fine'
    """
    experiment = Experiment.of(learner, X, y, loss, OWNER, sample_weight, groups)
    folds, repeats = check_integer(OWNER, "folds", folds, 2), check_integer(OWNER, "repeats", repeats, 1)
    level = check_level(OWNER, level)
    seed = check_integer(OWNER, "seed", seed, 0)
    splits = experiment.splits(folds, repeats, seed, OWNER)
    return learning_curve_on_splits(experiment, splits, sizes, seed, n_jobs, level, progress)


def learning_curve_on_splits(
    experiment: Experiment,
    splits: list[Split],
    sizes: Sequence[int] | None,
    seed: int,
    n_jobs: int | None,
    level: float,
    progress: Callable[[int, int], None] | None,
) -> LearningCurve:
    """Measure the learning curves of all candidates on the same splits."""
    candidates, rows, loss = experiment.candidates, experiment.rows, experiment.loss
    n_train = min(len(split.train) for split in splits)
    min_size = 2 if LOSSES[loss].is_for_regression else max(2, len(np.unique(experiment.strata)))
    checked_sizes = _check_sizes(sizes, min_size, n_train)
    correction = FoldCorrection(len(splits), (len(rows) - n_train) / n_train, level)
    evaluation = _FoldEvaluation(rows, experiment.strata, splits, checked_sizes, loss, seed)
    jobs = [(candidate, split) for candidate in candidates.values() for split in splits]
    results = run_jobs(evaluation.evaluate_fold, jobs, n_jobs, progress)
    table = np.array(results).reshape(len(candidates), len(splits), len(checked_sizes), 3)
    measured = {name: table[i] for i, name in enumerate(candidates)}
    rivals = measure_rivals(experiment, splits, checked_sizes[-1], seed)
    curves, crossings = _fit_curves(
        measured, evaluation.baseline_losses(), checked_sizes, correction, rivals, loss
    )
    return LearningCurve(
        curves=tuple(
            replace(each, settings=format_settings(candidates[each.name].learner)) for each in curves
        ),
        crossings=crossings,
        loss=loss,
        sizes=tuple(checked_sizes),
        n=len(rows),
        folds=splits[-1].fold + 1,
        repeats=splits[-1].repeat + 1,
        level=level,
    )


def _check_sizes(sizes: Sequence[int] | None, min_size: int, n_train: int) -> list[int]:
    """Return the sorted training sizes; None gives a geometric progression up to `n_train`."""
    if n_train < min_size:
        raise errors.DataError(
            f"{OWNER}: each fold leaves {format_quantity(n_train, 'row')} for training, but at least "
            f"{min_size:,} are needed. Use more rows."
        )
    if sizes is None:
        first = min(n_train, max(min_size, MIN_FIRST_SIZE, n_train // MAX_SIZE_RATIO))
        return sorted({round(size) for size in np.geomspace(first, n_train, DEFAULT_SIZES)})
    checked = [check_integer(OWNER, "sizes", size, 1) for size in np.atleast_1d(np.asarray(sizes, object))]
    if not checked or min(checked) < min_size or max(checked) > n_train:
        must = f"whole numbers of rows from {min_size:,} to {n_train:,} (the training rows of a fold)"
        raise errors.parameter_error(OWNER, "sizes", must, list(checked))
    return sorted(set(checked))


@dataclass(frozen=True, eq=False)
class _FoldEvaluation:
    """The data and settings that the evaluations of all folds share."""

    rows: LabelledRows
    strata: Codes
    splits: list[Split]
    sizes: list[int]
    loss: str
    seed: int

    def evaluate_fold(self, job: tuple[Candidate, Split]) -> list[tuple[float, float, float]]:
        """Return training loss, validation loss and fit seconds of a candidate at every size."""
        candidate, split = job
        rng = np.random.default_rng([self.seed, split.repeat, split.fold])
        order = stratified_order(split.train, self.strata, rng)
        test, results = candidate.rows.take(split.test), []
        for size in self.sizes:
            with candidate.error_context(f"{split}, {size:,} rows"):
                train, model = candidate.rows.take(order[:size]), candidate.fit(order[:size])
                losses = [model.mean_loss(rows, self.loss) for rows in (train, test)]
            results.append((losses[0], losses[1], model.seconds))
        return results

    def baseline_losses(self) -> Floats:
        """Return the validation loss of the baseline on every fold [folds]."""
        baseline = baseline_candidate(self.loss, self.rows)
        models = [baseline.fit(split.train) for split in self.splits]
        tests = [baseline.rows.take(split.test) for split in self.splits]
        return np.array([m.mean_loss(t, self.loss) for m, t in zip(models, tests, strict=True)])


def _fit_curves(
    measured: dict[str, Floats],
    baseline: Floats,
    sizes: list[int],
    correction: FoldCorrection,
    others: RivalLosses,
    loss: str,
) -> tuple[tuple[FittedLearningCurve, ...], tuple[Crossing, ...]]:
    """Fit laws, diagnose learners and find crossings, from tables [folds, sizes, 3] of `evaluate_fold`."""
    laws = {
        name: fit_power_law(sizes, table[:, :, 1], correction, train=table[:, :, 0])
        for name, table in measured.items()
    }
    curves = []
    for name, table in measured.items():
        law = laws[name]
        rivals = {other: each[:, -1, 1] for other, each in measured.items() if other != name}
        losses = FinalLosses(
            train=table[:, -1, 0],
            validation=table[:, -1, 1],
            baseline=baseline,
            rivals=rivals or others.losses,
            loss=loss,
            rival_rows=others.rows if others.losses and others.rows < sizes[-1] else None,
            left_out=others.left_out,
            advice=RIVAL_ADVICE if others.losses else {},
        )
        diagnosis = diagnose(losses, law, sizes[-1], correction)
        points = tuple(_curve_point(size, table[:, i], correction) for i, size in enumerate(sizes))
        curves.append(
            FittedLearningCurve(name, points, None, law, diagnosis)
            if isinstance(law, str)
            else FittedLearningCurve(name, points, law, None, diagnosis)
        )
    losses_by_name = [CurveLosses(name, table[:, :, 1], laws[name]) for name, table in measured.items()]
    pairs = combinations(losses_by_name, 2)
    return tuple(curves), tuple(find_crossing(*pair, sizes, correction) for pair in pairs)


def _curve_point(size: int, table: Floats, correction: FoldCorrection) -> LearningCurvePoint:
    train = correction.measure("train", table[:, 0], 0.0)
    validation = correction.measure("validation", table[:, 1], 0.0)
    return LearningCurvePoint(size, train, validation, float(np.median(table[:, 2])))
