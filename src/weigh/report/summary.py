"""The summary of a report: description, key measures, and advice on what to do next."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from weigh.judge.metrics.evaluation_format import MIN_COMPARABLE_ROWS
from weigh.report.data_checks import AuditFacts, MisleadingColumns, UnfamiliarityFacts, identifier_advice
from weigh.report.facts import format_share
from weigh.report.learning_curve_facts import LearningCurveFacts
from weigh.report.measure_facts import SHARE_MEASURES, MeasureFact, format_number
from weigh.report.model_facts import ModelFacts
from weigh.report.probability_facts import CalibrationFacts
from weigh.report.quality_facts import QualityFacts
from weigh.text import format_count, format_quantity

NOTABLE_UNFAMILIAR_SHARE = 0.05
NOTABLE_RECALL_GAP = 0.1  # between the weakest class and the others
LOW_SCORE = 0.5  # recall or R²
FEW_TRAINING_ROWS = 100
WIDE_ACCURACY_INTERVAL = 0.15
TILE_MEASURES = ("accuracy", "roc_area", "log_loss", "r2", "mae", "rmse")
# If one class has nearly all rows, accuracy is uninformative.
IMBALANCED_TILE_MEASURES = ("roc_area", "balanced_accuracy", "log_loss", "accuracy")
MAX_MEASURE_TILES = 3
UNINFORMATIVE_MARGIN = 0.005  # an interval within this distance of [0, 1] says nothing
BASELINE_TEXTS = {
    "accuracy": "most frequent class: {}",
    "roc_area": "chance: {}",
    "balanced_accuracy": "chance: {}",
    "log_loss": "class frequencies: {}",
    "r2": "mean: {}",
    "rmse": "mean: {}",
}


@dataclass(frozen=True)
class AdviceInputs:
    """The facts that advice is based on.

    `compare` is the command that compares learners on the training rows. `can_learn` says whether training
    rows, which were not passed, would add a learning curve. `identifiers` are columns of the model whose
    values are nearly all distinct; new values of them are no sign of a shift or of overfitting.
    """

    model: ModelFacts
    quality: QualityFacts
    has_thresholds: bool
    can_learn: bool
    compare: str
    identifiers: tuple[str, ...] = ()
    calibration: CalibrationFacts | None = None
    causes: MisleadingColumns | None = None
    familiar: UnfamiliarityFacts | None = None
    audit: AuditFacts | None = None
    learning: LearningCurveFacts | None = None


def build_advice(inputs: AdviceInputs) -> tuple[str, ...]:
    """Return the objections to the model, most serious first, or that there are none; then next steps."""
    objections = [
        *inputs.quality.doubts,
        *_skill_advice(inputs.quality, inputs.has_thresholds),
        *identifier_advice(inputs.identifiers),
        *_sample_size_advice(inputs),
        *_weakest_class_advice(inputs.quality, inputs.has_thresholds),
        *_regression_advice(inputs.quality),
        *_probability_advice(inputs.quality, inputs.calibration),
        *(inputs.causes.lines if inputs.causes else ()),
        *_unfamiliar_rows_advice(inputs.familiar, inputs.identifiers),
        *_audit_advice(inputs.audit, inputs.calibration),
        *(inputs.learning.advice if inputs.learning and not inputs.identifiers else ()),
    ]
    return (*(objections or [_no_objection(inputs.quality)]), *_next_commands(inputs))


def _skill_advice(quality: QualityFacts, has_thresholds: bool) -> Iterator[str]:
    area = quality.measure("roc_area")
    by_area = f"by its ROC area ({area.told[0]}; chance is 50 %)" if area is not None else ""
    if quality.skill == "none":
        main = quality.measure("accuracy") or quality.measure("r2")
        constant = "the most frequent class" if quality.baseline is not None else "the mean"
        if main is not None and main.guess is not None and main.high < main.guess:
            yield f"Do not rely on it: it is significantly worse than always predicting {constant}."
        else:
            yield f"Do not rely on it yet: it is not significantly better than always predicting {constant}."
    elif quality.is_imbalanced and quality.baseline is not None:
        yield (
            f"Accuracy is misleading here, because {format_share(quality.baseline)} of the rows are of one "
            f"class: judge it {by_area or 'by the recall of the other'} and by its confusion matrix."
        )
    elif quality.skill == "ranks":
        other = ", and choose another decision threshold" if has_thresholds else ""
        yield (
            f"Its predictions are not significantly better than always predicting the most frequent class, "
            f"but it ranks rows better than chance: judge it {by_area or 'by its log loss'}{other}."
        )


def _sample_size_advice(inputs: AdviceInputs) -> Iterator[str]:
    quality, model = inputs.quality, inputs.model
    accuracy = quality.measure("accuracy")
    if (
        accuracy is not None
        and quality.n >= MIN_COMPARABLE_ROWS
        and accuracy.high - accuracy.low > WIDE_ACCURACY_INTERVAL
    ):
        yield (
            f"Evaluate it on more than {format_quantity(quality.n, 'row')}: its accuracy may be anything "
            f"from {accuracy.told[1]} to {accuracy.told[2]}."
        )
    if model.rows and model.rows < FEW_TRAINING_ROWS:
        has = f" and has {format_quantity(model.parameters, 'free parameter')}" if model.parameters else ""
        yield f"It was trained on only {format_quantity(model.rows, 'row')}{has}: train it on more."


def _weakest_class_advice(quality: QualityFacts, has_thresholds: bool) -> Iterator[str]:
    weakest = quality.weakest
    if weakest is None or quality.skill in ("none", "unknown"):
        return
    if weakest.low >= LOW_SCORE and weakest.high > weakest.others - NOTABLE_RECALL_GAP:
        return
    recall, low, high = map(format_share, (weakest.recall, weakest.low, weakest.high))
    other = "if missing them is costly, choose another decision threshold, or " if has_thresholds else ""
    yield (
        f"It finds only {recall} ({low} to {high}) of the rows of {weakest.label}, compared with "
        f"{format_share(weakest.others)} of all others: {other}train it on more such rows."
    )


def _regression_advice(quality: QualityFacts) -> Iterator[str]:
    r2, bias = quality.measure("r2"), quality.measure("bias")
    if r2 is not None and 0 < r2.low < LOW_SCORE:
        yield (
            f"Much of the variance is unexplained: R² is {r2.told[0]} ({r2.told[1]} to {r2.told[2]}). More "
            f"informative columns, or products of columns, may explain more."
        )
    if bias is not None and (bias.low > 0 or bias.high < 0):
        side = "high" if bias.value > 0 else "low"
        yield (
            f"Its predictions are too {side} by {format_number(abs(bias.value))} on average: train it on "
            f"rows like these."
        )


def _probability_advice(quality: QualityFacts, calibration: CalibrationFacts | None) -> Iterator[str]:
    log = quality.measure("log_loss")
    if calibration is None or log is None:
        return
    is_known = calibration.verdict not in ("unknown labels", "unknown")
    if is_known and log.guess is not None and log.low > log.guess:
        yield (
            f"Do not use its probabilities: their log loss of {log.told[0]} is worse than the "
            f"{log.guess_told} of the class frequencies; {calibration.remedy}"
        )
    elif calibration.advice:
        yield calibration.advice


def _unfamiliar_rows_advice(
    familiar: UnfamiliarityFacts | None, identifiers: Collection[str]
) -> Iterator[str]:
    if familiar is None:
        return
    columns = [each.column for each in familiar.columns if each.column not in identifiers]
    if columns:
        more = f" and {len(columns) - 4} more" if len(columns) > 4 else ""
        names = ", ".join(columns[:4])
        yield f"These rows differ from the training rows in {names}{more}: train it again on newer rows."
    # Every row has a new value of an identifier.
    notable = max(NOTABLE_UNFAMILIAR_SHARE, 2 * (familiar.false_alarm_rate or 0.0))
    if not identifiers and familiar.strange > notable * familiar.n:
        yield (
            f"{format_quantity(familiar.strange, 'row')} differ from the training rows, for example by new "
            f"values or words, or extreme numbers: be careful with predictions for them."
        )


def _audit_advice(audit: AuditFacts | None, calibration: CalibrationFacts | None) -> Iterator[str]:
    # An overconfident model doubts too many labels.
    is_overconfident = calibration is not None and calibration.verdict == "overconfident"
    if audit is not None and audit.advice and not (audit.of_training and is_overconfident):
        yield audit.advice


def _no_objection(quality: QualityFacts) -> str:
    zero_one, mae = quality.measure("zero_one"), quality.measure("mae")
    if zero_one:
        errors = f"errors on {zero_one.told[0]} of them are"
    else:
        errors = f"a mean absolute error of {mae.told[0]} is" if mae else "its errors are"
    return f"No measure here is an objection to using it on rows like these, if {errors} acceptable."


def _next_commands(inputs: AdviceInputs) -> Iterator[str]:
    if inputs.compare:
        yield f"To compare it with other learners: {inputs.compare}"
    if inputs.learning is None and inputs.can_learn:
        yield (
            "Add the training rows (--train FILE) to detect over- or underfitting and to estimate the effect "
            "of more rows."
        )


@dataclass(frozen=True)
class Tile:
    """A key figure with its name, its interval, and the value of the baseline."""

    name: str
    value: str
    note: str
    guess: str = ""


@dataclass(frozen=True)
class SummaryFacts:
    """What the model is, how good it is, and what to do next."""

    what: str
    good: str
    next: tuple[str, ...]
    tiles: tuple[Tile, ...]


def summarise(inputs: AdviceInputs) -> SummaryFacts:
    """Summarise the facts of the other sections."""
    quality = inputs.quality
    good = " ".join(quality.sentences[: 3 if quality.weakest or quality.baseline is None else 2])
    return SummaryFacts(
        _describe_model(inputs.model), good, build_advice(inputs), tuple(_build_tiles(quality))
    )


def _describe_model(model: ModelFacts) -> str:
    kind = model.kind[:1].upper() + model.kind[1:]
    label = f" for {model.label}" if model.label else ""
    classes = f" with {format_quantity(model.n_classes, 'class', 'classes')}" if model.n_classes else ""
    rows = f", trained on {format_quantity(model.rows, 'row')}" if model.rows else ""
    columns = f" of {format_quantity(model.columns, 'column')}" if model.columns and model.rows else ""
    return f"{kind}{label}{classes}{rows}{columns}. {model.sentence} {model.calibrated}".rstrip()


def _build_tiles(quality: QualityFacts) -> Iterator[Tile]:
    names = IMBALANCED_TILE_MEASURES if quality.is_imbalanced else TILE_MEASURES
    measures = [each for name in names if (each := quality.measure(name)) is not None]
    for each in measures[:MAX_MEASURE_TILES]:
        # The mean absolute error has no baseline.
        baseline = BASELINE_TEXTS[each.name].format(each.guess_told) if each.guess is not None else ""
        yield Tile(each.title, each.told[0], _format_interval(each, quality.level), baseline)
    yield Tile("test rows", format_count(quality.n), "")


def _format_interval(measure: MeasureFact, level: float) -> str:
    if "–" in measure.told[1:] or not is_informative(measure):
        return ""
    return f"{measure.told[1]} to {measure.told[2]} ({100 * level:g} % interval)"


def is_informative(measure: MeasureFact) -> bool:
    """Return whether an interval is narrower than the range of the measure."""
    is_full_range = (
        measure.name in SHARE_MEASURES
        and measure.low <= UNINFORMATIVE_MARGIN
        and measure.high >= 1 - UNINFORMATIVE_MARGIN
    )
    return not is_full_range and not math.isinf(measure.high) and not math.isinf(measure.low)
