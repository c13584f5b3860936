"""How well a classifier does on labelled rows: losses, areas, calibration, confusion, classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.accumulators import MAX_RETAINED_TEXT, EvaluationAccumulator
from weigh.judge.metrics.batches import check_sample_weights, read_batches
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.judge.metrics.confusion_matrix import ClassShares, ConfusionMatrix, macro_measures
from weigh.judge.metrics.evaluation_format import evaluation_html, format_evaluation, plot_evaluation
from weigh.judge.metrics.predictor import is_regression, make_predictor
from weigh.judge.metrics.ranking import UNDEFINED_AREAS, ClassCurves, RankingAreas, ranking_areas
from weigh.judge.metrics.regression import RegressionEvaluation, evaluate_regression
from weigh.judge.metrics.reliability import (
    ProbabilityBins,
    ReliabilityBin,
    ReliabilityTable,
    bin_probabilities,
)
from weigh.text import format_quantity, to_json_value


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The result of `evaluate`; prints as tables of at most 80 columns.

    `measures` are, by name:

    - `accuracy`, `zero_one`; `balanced_accuracy`, `macro_precision`, `macro_recall` and `macro_f1`, means
      over the classes that occur, 0/0 counting as 0;
    - where the classifier gives probabilities, `squared` = mean (1 - p_true)^2, `brier` = mean over rows of
      the sum over classes of (p_c - [c = y])^2, halved for two classes as scikit-learn's brier_score_loss
      does, `log_loss`, `calibration_error` = mean |share right - probability of the verdict| over the bins
      of `reliability`, and `conditional_log_likelihood` = sum w log p(y | x);
    - where it gives probabilities or scores, `roc_area` and `pr_area` (average precision): of the second of
      two classes, of more the mean over the classes that occur, each against the rest;
    - where it models the rows too, `joint_log_likelihood` = sum w log p(x, y).

    Without sample weights w is 1. `confusion.table()` is the array [true, predicted] in the order of
    `classes`. `reliability` are bins of rows with similar probability, `curves` the ROC and PR curves of
    the classes (of the 20 with most rows). `unseen` lists labels that are no class of the model, with their
    rows: they count as errors with probability zero. `impossible` counts the rows whose true class is known
    to the model and was given probability zero: with either, the log loss is infinite. `omitted` says what
    could not be measured.

    Shares (accuracy, zero-one, precision, recall, F1 of a class) have exact Clopper-Pearson intervals,
    their means over classes those that follow from them; mean losses Student's interval of a mean, kept
    within the values a loss can have, which is rough for few rows and where few rows have most of the loss;
    areas that of Student's t for their logit, with DeLong's variance (ROC) or that of the bootstrap over
    rows in the limit of many draws (PR); the calibration error one that holds at least as often as it says.
    Weighted rows count by their effective number, (sum w)^2 / sum w^2.
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
    curves: tuple[ClassCurves, ...] = ()
    omitted: tuple[str, ...] = ()

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        known = [measure.name for measure in self.measures]
        raise errors.Unsupported(
            f"This evaluation has no measure {name!r}; it has {errors.quote_names(known)}."
            f"{errors.did_you_mean(name, known)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON; `confusion` lists the pairs that occur, true None if unseen."""
        names = [to_json_value(value) for value in self.classes]
        pairs = zip(
            self.confusion.true.tolist(),
            self.confusion.predicted.tolist(),
            self.confusion.weight.tolist(),
            strict=True,
        )
        return {
            "classes": names,
            "n": self.n,
            "weight": self.weight,
            "level": self.level,
            "measures": [measure.to_dict() for measure in self.measures],
            "confusion": [
                {"true": names[t] if t >= 0 else None, "predicted": names[p], "weight": w}
                for t, p, w in pairs
            ],
            "per_class": [row.to_dict() for row in self.per_class],
            "unseen": [{"label": to_json_value(label), "rows": rows} for label, rows in self.unseen],
            "impossible": self.impossible,
            "reliability": [each.to_dict() for each in self.reliability],
            "curves": [each.to_dict() for each in self.curves],
            "omitted": list(self.omitted),
        }

    def plot(self, what: str = "confusion") -> Any:
        """Draw "confusion", "reliability", "roc", "precision_recall" or "classes" as an Altair chart."""
        return plot_evaluation(self, what)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Print measures, areas, confusion table and classes."""
        return format_evaluation(self)

    def _repr_html_(self) -> str:
        return evaluation_html(self)


def evaluate(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    label: str | None = None,
    sample_weight: Any = None,
    level: float = 0.95,
) -> Evaluation | RegressionEvaluation:
    """Judge a trained classifier or regression on labelled rows.

    Parameters
    ----------
    model : a model or estimator of this library, or any fitted scikit-learn classifier or regressor
        A classifier without probabilities gets the measures of its predictions and, of its scores, the areas.
    data : rows as `fit` takes them, or a source; read in batches
        Areas need all scores: up to 256 MB of rows are kept, 7 million of two classes, which takes 1.4 GB
        while they are ranked. Beyond that areas, and then calibration, are left out, with a note. Of a
        regression all predictions are kept.
    y : array of labels, or the name of the label column, or None
        None takes the source's own labels, else the column that the model was trained to predict.
    label : name of the label column, the same as a name given as `y`
    sample_weight : array of weights, one per row, or None
    level : confidence level of the intervals

    Returns
    -------
    Evaluation, or of a regression RegressionEvaluation
    """
    y, label = resolve_labels(y, label)
    if not (isinstance(level, int | float | np.floating) and 0.0 < level < 1.0):
        raise errors.parameter_error("evaluate", "level", "a number between 0 and 1", level)
    judged, weights = make_predictor(model), check_sample_weights(sample_weight)
    if is_regression(model):
        return evaluate_regression(judged, data, y, label, weights, float(level))
    tally = EvaluationAccumulator(judged)
    for batch in read_batches(judged, data, y, label, weights):
        tally.add(batch)
    return _build_evaluation(tally, tuple(judged.classes), float(level))


def resolve_labels(y: Any, label: str | None) -> tuple[Any, str | None]:
    """Labels as an array, or the name of their column, however they were given."""
    if y is not None and label is not None:
        raise errors.parameter_error("evaluate", "label", "left out when y is given", label)
    if isinstance(y, str):
        return None, y
    shape: tuple[int, ...] = getattr(y, "shape", (0,))
    if len(shape) == 2 and shape[1] == 1:
        return np.asarray(y)[:, 0], None
    if len(shape) != 1:
        raise errors.LabelError(
            f"y has the shape {tuple(shape)}; evaluate takes one label per row, a 1-D array."
        )
    return y, label


def _build_evaluation(tally: EvaluationAccumulator, classes: tuple[Any, ...], level: float) -> Evaluation:
    confusion = tally.confusion()
    weight = float(confusion.weight.sum())
    if weight == 0.0:
        raise errors.DataError("The sample weights sum to zero; give some row a positive weight.")
    held, shares = tally.retained, confusion.shares(level)
    verdicts = (
        bin_probabilities(held.confidence, held.is_correct, held.weights) if held.has_confidence else None
    )
    areas = ranking_areas(held, classes, level) if held.has_scores else None
    per_class = [UNDEFINED_AREAS] * len(classes) if areas is None else areas.per_class
    return Evaluation(
        classes,
        tally.n,
        weight,
        level,
        tuple(_measures(tally, shares, areas, verdicts, level)),
        confusion,
        class_metrics(confusion, shares, classes, per_class),
        tuple(sorted(tally.unseen.items(), key=lambda item: (-item[1], str(item[0])))),
        tally.impossible,
        ReliabilityTable(_reliability_bins(tally, classes, verdicts, level)),
        () if areas is None else areas.curves,
        tuple(_omission_notes(tally, areas)),
    )


def _measures(
    tally: EvaluationAccumulator,
    shares: ClassShares,
    areas: RankingAreas | None,
    verdicts: ProbabilityBins | None,
    level: float,
) -> Iterator[Measure]:
    confusion = tally.confusion()
    yield Measure("accuracy", *confusion.accuracy(level))
    yield Measure("zero_one", *confusion.zero_one(level))
    yield from macro_measures(confusion, shares, len(tally.unseen))
    if tally.squared_loss is not None and tally.brier_score is not None and tally.log_loss is not None:
        most = 1.0 if confusion.n_classes < 3 else 2.0
        yield Measure("squared", *tally.squared_loss.interval(level, 1.0))
        yield Measure("brier", *tally.brier_score.interval(level, most))
        yield Measure("log_loss", *tally.log_loss.interval(level))
    if verdicts is not None:
        yield verdicts.calibration_error(level)
    if areas is not None:
        yield from areas.overall
    if tally.log_loss is not None:
        yield Measure("conditional_log_likelihood", 0.0 - tally.log_loss.total())
    if tally.joint_log_likelihood is not None:
        yield Measure("joint_log_likelihood", tally.joint_log_likelihood)


def _reliability_bins(
    tally: EvaluationAccumulator, classes: tuple[Any, ...], verdicts: ProbabilityBins | None, level: float
) -> Iterator[ReliabilityBin]:
    if verdicts is None:
        return
    yield from verdicts.bins("verdict", level)
    if len(classes) == 2 and tally.retained.has_scores:
        found = bin_probabilities(
            tally.retained.class_scores(1), tally.retained.true_codes == 1, tally.retained.weights
        )
        yield from found.bins(f"P({classes[1]})", level)


def _omission_notes(tally: EvaluationAccumulator, areas: RankingAreas | None) -> Iterator[str]:
    if tally.log_loss is None:
        others = "losses and no calibration" if areas else "other measures"
        pairs = ", and its scores are of pairs of classes" if tally.predictor.has_pairwise_scores else ""
        yield f"The classifier gives no probabilities{pairs}, so there are no {others}."
    if tally.retained.lacks_scores:
        yield f"Areas would need more than {MAX_RETAINED_TEXT} of scores at once, and are left out."
    if tally.retained.lacks_confidence and tally.log_loss is not None:
        yield f"Calibration would need more than {MAX_RETAINED_TEXT} of rows at once, and is left out."
    if areas is not None:
        absent = sum(np.isnan(roc.value) for roc, _ in areas.per_class)
        if absent == len(areas.per_class):
            yield "Areas need rows of at least two classes."
        elif absent:
            yield f"{format_quantity(absent, 'class', 'classes')} without rows: no area, and not in the means."


@dataclass(frozen=True)
class ClassMetrics:
    """One class: precision, recall, F1 and the weight of its rows; 0/0 is nan.

    `roc_area` and `pr_area` are those of the class against the rest, nan where it has no rows or all of
    them, or where the classifier gives no scores.
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

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "class": to_json_value(self.label),
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
            "f1": to_json_value(self.f1),
            "f1_low": to_json_value(self.f1_low),
            "f1_high": to_json_value(self.f1_high),
            "support": self.support,
            "roc_area": self.roc_area.to_dict(),
            "pr_area": self.pr_area.to_dict(),
        }


def class_metrics(
    confusion: ConfusionMatrix,
    shares: ClassShares,
    classes: Sequence[Any],
    areas: Sequence[tuple[Measure, Measure]],
) -> tuple[ClassMetrics, ...]:
    """The rows of all classes; `areas` are (ROC, PR) of each."""
    parts = (shares.precision, shares.recall, shares.f1)
    precision, recall, f1 = (zip(*(ends.tolist() for ends in part), strict=True) for part in parts)
    columns = zip(classes, precision, recall, f1, confusion.support().tolist(), areas, strict=True)
    return tuple(
        ClassMetrics(
            label, Measure("precision", *p), Measure("recall", *r), f[0], support, f[1], f[2], roc, pr
        )
        for label, p, r, f, support, (roc, pr) in columns
    )
