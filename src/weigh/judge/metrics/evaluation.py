"""Evaluate a classifier on labelled rows: losses, areas, calibration, confusion matrix, class metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Advised, Setting, Step
from weigh.judge.metrics.accumulators import MAX_RETAINED_TEXT, EvaluationAccumulator
from weigh.judge.metrics.batches import check_sample_weights, read_batches
from weigh.judge.metrics.confidence_intervals import Measure, find_measure
from weigh.judge.metrics.confusion_matrix import ClassShares, ConfusionMatrix, macro_measures
from weigh.judge.metrics.evaluation_format import evaluation_sections, plot_evaluation
from weigh.judge.metrics.overconfidence import Overconfidence, find_overconfidence
from weigh.judge.metrics.predictor import is_regression, make_predictor
from weigh.judge.metrics.ranking import UNDEFINED_AREAS, RankingAreas, RankingCurves, ranking_areas
from weigh.judge.metrics.regression import RegressionEvaluation, evaluate_regression
from weigh.judge.metrics.reliability import (
    ProbabilityBins,
    ReliabilityBin,
    ReliabilityTable,
    bin_probabilities,
)
from weigh.judge.metrics.training_overlap import OverlapDetector, TrainingOverlap
from weigh.result import Facts, Section, TabularResult, to_json
from weigh.text import format_count, format_quantity


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(TabularResult):
    """The result of `evaluate`; prints as tables of at most 80 columns.

    `measures` are, by name:

    - `accuracy`, `zero_one`; `balanced_accuracy`, `macro_precision`, `macro_recall` and `macro_f1`, means
      over the classes that occur, 0/0 counting as 0;
    - if the classifier gives probabilities: `squared` = mean (1 - p_true)^2, `brier` = mean over rows of
      the sum over classes of (p_c - [c = y])^2, halved for two classes like scikit-learn's brier_score_loss,
      `log_loss`, `calibration_error` = mean |accuracy - predicted probability| over the bins of
      `reliability`, and `conditional_log_likelihood` = sum w log p(y | x);
    - if it gives probabilities or scores: `roc_area` and `pr_area` (average precision), for two classes
      those of the second, otherwise the one-vs-rest mean over the classes that occur;
    - if the model is generative: `joint_log_likelihood` = sum w log p(x, y).

    Without sample weights w is 1. `confusion.table()` is the array [true, predicted] in the order of
    `classes`. `reliability` holds bins of rows with similar probability, `curves` the ROC and PR curves of
    the 20 classes with most rows. `unseen` lists labels that are not a class of the model, with their
    number of rows: they count as errors with probability zero. `impossible` counts the rows whose true class
    is a class of the model but was given probability zero. Either makes the log loss infinite. `omitted` says
    what could not be measured. `is_training_data` says whether these are the rows that the model was trained
    on, and `training_share` estimates the share of them that it was trained on; None means that the model
    cannot tell. `overconfidence` has the temperature that would calibrate the model, if its 99% interval is
    above 1 and the log loss would decrease by 1% or more.

    Intervals: exact Clopper-Pearson for shares (accuracy, zero-one, precision, recall and F1 of a class),
    combined for their means over classes; Student's t for mean losses, clipped to the range of the loss,
    which is rough for few rows or heavy-tailed losses; Student's t on the logit for areas, with DeLong's
    variance (ROC) or the limit of the bootstrap over rows (PR); a conservative one for the calibration error.
    Weighted rows count as (sum w)^2 / sum w^2 effective rows.
    """

    classes: tuple[Any, ...]
    n: int
    weight: float
    level: float
    measures: tuple[Measure, ...]
    confusion: ConfusionMatrix
    per_class: tuple[ClassMetrics, ...]
    unseen: tuple[tuple[Any, int], ...] = ()
    impossible: int = 0
    reliability: tuple[ReliabilityBin, ...] = ()
    curves: tuple[RankingCurves, ...] = ()
    omitted: tuple[str, ...] = ()
    is_training_data: bool | None = None
    training_share: float | None = None
    overconfidence: Overconfidence | None = None
    _notation: Callable[[Setting | Step], str] = str
    _frames = ("measures", "per_class", "confusion", "reliability")

    def measure(self, name: str) -> Measure:
        """Return the measure with this name."""
        return find_measure(self.measures, name, "evaluation")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; `confusion` lists the pairs that occur, with true None if unseen."""
        matrix, names = self.confusion, [*to_json(self.classes), None]
        pairs = zip(matrix.true.tolist(), matrix.predicted.tolist(), matrix.weight.tolist(), strict=True)
        return super().to_dict() | {
            "confusion": [{"true": names[t], "predicted": names[p], "weight": w} for t, p, w in pairs],
            "unseen": [{"label": to_json(label), "rows": rows} for label, rows in self.unseen],
        }

    @property
    def headline(self) -> str:
        """The numbers of rows and classes."""
        weighted = "" if self.weight == self.n else f", total weight {format_count(self.weight)}"
        n_classes = format_quantity(len(self.classes), "class", "classes")
        return f"Evaluation on {format_quantity(self.n, 'row')}{weighted}, {n_classes}"

    def sections(self) -> list[Section]:
        """Return measures, areas, notes, confusion matrix and class metrics."""
        return evaluation_sections(self)

    def with_notation(self, notation: Callable[[Setting | Step], str]) -> Evaluation:
        """Return the evaluation with its advice written for another interface."""
        return replace(self, _notation=notation)

    def note_advice(self) -> list[str]:
        """Return what the evaluation recommends, as sentences."""
        if self.overconfidence is None:
            return []
        advice = Advised(self.overconfidence.advice).render(self._notation)
        return [f"{self.overconfidence.sentence} {advice}"]

    def plot(self, what: str = "confusion") -> Any:
        """Plot "confusion", "reliability", "roc", "precision_recall" or "classes" as an Altair chart."""
        return plot_evaluation(self, what)


def evaluate(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    label: str | None = None,
    sample_weight: Any = None,
    level: float = 0.95,
) -> Evaluation | RegressionEvaluation:
    """Evaluate a trained classifier or regression on labelled rows.

    Parameters
    ----------
    model : a model or estimator of this library, or any fitted scikit-learn classifier or regressor
        A classifier without probabilities is measured by its predictions and, if it gives scores, by areas.
    data : rows as `fit` takes them, or a source; read in batches
        Areas need all scores: up to 256 MB of rows are kept (7 million rows of two classes, which take 1.4 GB
        while they are ranked). Beyond that, areas and then calibration are omitted, with a note. For a
        regression all predictions are kept.
    y : array of labels, or the name of the label column, or None
        None takes the source's labels, or else the column that the model was trained to predict.
    label : name of the label column; the same as passing a name as `y`
    sample_weight : array of weights, one per row, or None
    level : confidence level of the intervals

    Returns
    -------
    Evaluation, or RegressionEvaluation for a regression
    """
    y, label = resolve_labels(y, label)
    if not (isinstance(level, int | float | np.floating) and 0.0 < level < 1.0):
        raise errors.parameter_error("evaluate", "level", "a number between 0 and 1", level)
    predictor, weights = make_predictor(model), check_sample_weights(sample_weight)
    detector = OverlapDetector(model, predictor)
    if is_regression(model):
        return evaluate_regression(predictor, detector, data, y, label, weights, float(level))
    totals = EvaluationAccumulator(predictor)
    for batch in map(detector.encode, read_batches(predictor, data, y, label, weights)):
        totals.add(batch)
        detector.add(batch)
    overlap = detector.result(data, y, label, totals.n)
    evaluation = _build_evaluation(totals, tuple(predictor.classes), float(level), overlap)
    return replace(evaluation, overconfidence=find_overconfidence(model, totals.retained))


def resolve_labels(y: Any, label: str | None) -> tuple[Any, str | None]:
    """Return the labels as (array, None), or as (None, column name)."""
    if y is not None and label is not None:
        raise errors.parameter_error("evaluate", "label", "left out when y is given", label)
    if isinstance(y, str):
        return None, y
    shape: tuple[int, ...] = getattr(y, "shape", (0,))
    if len(shape) == 2 and shape[1] == 1:
        return np.asarray(y)[:, 0], None
    if len(shape) != 1:
        raise errors.LabelError(f"y has shape {tuple(shape)}; evaluate takes one label per row, a 1-D array.")
    return y, label


def _build_evaluation(
    totals: EvaluationAccumulator, classes: tuple[Any, ...], level: float, overlap: TrainingOverlap
) -> Evaluation:
    confusion = totals.confusion()
    weight = float(confusion.weight.sum())
    if weight == 0.0:
        raise errors.DataError("The sample weights sum to zero; give some row a positive weight.")
    rows, shares = totals.retained, confusion.shares(level)
    verdict_bins = (
        bin_probabilities(rows.confidence, rows.is_correct, rows.weights) if rows.has_confidence else None
    )
    areas = ranking_areas(rows, classes, level) if rows.has_scores else None
    per_class = [UNDEFINED_AREAS] * len(classes) if areas is None else areas.per_class
    return Evaluation(
        classes,
        totals.n,
        weight,
        level,
        tuple(_measures(totals, shares, areas, verdict_bins, level)),
        confusion,
        class_metrics(confusion, shares, classes, per_class),
        tuple(sorted(totals.unseen.items(), key=lambda item: (-item[1], str(item[0])))),
        totals.impossible,
        ReliabilityTable(_reliability_bins(totals, classes, verdict_bins, level)),
        () if areas is None else areas.curves,
        tuple(_omission_notes(totals, areas)),
        overlap.is_training_data,
        overlap.share,
    )


def _measures(
    totals: EvaluationAccumulator,
    shares: ClassShares,
    areas: RankingAreas | None,
    verdict_bins: ProbabilityBins | None,
    level: float,
) -> Iterator[Measure]:
    confusion = totals.confusion()
    yield Measure("accuracy", *confusion.accuracy(level))
    yield Measure("zero_one", *confusion.zero_one(level))
    yield from macro_measures(confusion, shares, len(totals.unseen))
    if totals.squared_loss is not None and totals.brier_score is not None and totals.log_loss is not None:
        max_brier = 1.0 if confusion.n_classes < 3 else 2.0
        yield Measure("squared", *totals.squared_loss.interval(level, 1.0))
        yield Measure("brier", *totals.brier_score.interval(level, max_brier))
        yield Measure("log_loss", *totals.log_loss.interval(level))
    if verdict_bins is not None:
        yield verdict_bins.calibration_error(level)
    if areas is not None:
        yield from areas.overall
    if totals.log_loss is not None:
        yield Measure("conditional_log_likelihood", 0.0 - totals.log_loss.total())
    if totals.joint_log_likelihood is not None:
        yield Measure("joint_log_likelihood", totals.joint_log_likelihood)


def _reliability_bins(
    totals: EvaluationAccumulator,
    classes: tuple[Any, ...],
    verdict_bins: ProbabilityBins | None,
    level: float,
) -> Iterator[ReliabilityBin]:
    if verdict_bins is None:
        return
    yield from verdict_bins.bins("verdict", level)
    rows = totals.retained
    if len(classes) == 2 and rows.has_scores:
        class_bins = bin_probabilities(rows.class_scores(1), rows.true_codes == 1, rows.weights)
        yield from class_bins.bins(f"P({classes[1]})", level)


def _omission_notes(totals: EvaluationAccumulator, areas: RankingAreas | None) -> Iterator[str]:
    if totals.log_loss is None:
        others = "losses and no calibration" if areas else "other measures"
        pairs = ", and its scores are for pairs of classes" if totals.predictor.has_pairwise_scores else ""
        yield f"The classifier gives no probabilities{pairs}, so there are no {others}."
    if totals.retained.dropped_scores:
        yield f"Areas are omitted: they would need more than {MAX_RETAINED_TEXT} of scores in memory."
    if totals.retained.dropped_confidence and totals.log_loss is not None:
        yield f"Calibration is omitted: it would need more than {MAX_RETAINED_TEXT} of rows in memory."
    if areas is not None:
        n_absent = sum(np.isnan(roc.value) for roc, _ in areas.per_class)
        if n_absent == len(areas.per_class):
            yield "Areas need rows of at least two classes."
        elif n_absent:
            n_classes = format_quantity(n_absent, "class", "classes")
            yield f"{n_classes} without rows: no area, and not in the means."


@dataclass(frozen=True)
class ClassMetrics(Facts):
    """Precision, recall, F1 and support (weight of the rows) of one class; 0/0 is nan.

    `roc_area` and `pr_area` are one-vs-rest; they are nan if the class has no rows or all rows, or if the
    classifier gives no scores.
    """

    label: Any
    precision: Measure
    recall: Measure
    f1: float
    support: float
    f1_low: float = math.nan
    f1_high: float = math.nan
    roc_area: Measure = UNDEFINED_AREAS[0]
    pr_area: Measure = UNDEFINED_AREAS[1]
    _json = (
        ("class", "label"),
        "precision",
        "recall",
        "f1",
        "f1_low",
        "f1_high",
        "support",
        "roc_area",
        "pr_area",
    )


def class_metrics(
    confusion: ConfusionMatrix,
    shares: ClassShares,
    classes: Sequence[Any],
    areas: Sequence[tuple[Measure, Measure]],
) -> tuple[ClassMetrics, ...]:
    """Return the metrics of every class; `areas` has one (ROC, PR) pair per class."""
    metrics = (shares.precision, shares.recall, shares.f1)
    precision, recall, f1 = (zip(*(column.tolist() for column in metric), strict=True) for metric in metrics)
    columns = zip(classes, precision, recall, f1, confusion.support().tolist(), areas, strict=True)
    return tuple(
        ClassMetrics(
            label, Measure("precision", *p), Measure("recall", *r), f[0], support, f[1], f[2], roc, pr
        )
        for label, p, r, f, support, (roc, pr) in columns
    )
