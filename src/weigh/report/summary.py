"""What to do next: what speaks against a model, and which command goes on from there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from weigh.report.data_checks import AuditFacts, MisleadingColumns, UnfamiliarityFacts
from weigh.report.facts import format_share
from weigh.report.learning_curve_facts import LearningCurveFacts
from weigh.report.measure_facts import MIN_COMPARABLE_ROWS, SHARE_MEASURES, MeasureFact, format_number
from weigh.report.model_facts import ModelFacts
from weigh.report.probability_facts import CalibrationFacts
from weigh.report.quality_facts import QualityFacts
from weigh.text import format_count, format_quantity

NOTABLE_UNFAMILIAR_SHARE = 0.05  # share of rows unlike training that is worth a word
NOTABLE_RECALL_GAP = 0.1  # recall below that of the others that is worth a word
LOW_SCORE = 0.5  # of a class found, or of the differences explained
FEW_TRAINING_ROWS = 100  # rows that are few to learn from
WIDE_ACCURACY_INTERVAL = 0.15  # width of an interval of accuracy that tells little


@dataclass(frozen=True)
class AdviceInputs:
    """The facts that advice rests on.

    `compare` is the command that tries other learners on the training rows. Without training rows `can_learn`
    tells whether they would say more.
    """

    model: ModelFacts
    quality: QualityFacts
    has_thresholds: bool
    can_learn: bool
    compare: str
    calibration: CalibrationFacts | None = None
    causes: MisleadingColumns | None = None
    familiar: UnfamiliarityFacts | None = None
    audit: AuditFacts | None = None
    learning: LearningCurveFacts | None = None


def build_advice(grounds: AdviceInputs) -> tuple[str, ...]:
    """What speaks against the model, the gravest first, or that nothing does; then how to go on."""
    found = [
        *grounds.quality.doubts,
        *_skill_advice(grounds.quality, grounds.has_thresholds),
        *_sample_size_advice(grounds),
        *_weakest_class_advice(grounds.quality, grounds.has_thresholds),
        *_regression_advice(grounds.quality),
        *_probability_advice(grounds.quality, grounds.calibration),
        *(grounds.causes.lines if grounds.causes else ()),
        *_unfamiliar_rows_advice(grounds.familiar),
        *_audit_advice(grounds.audit, grounds.calibration),
        *(grounds.learning.advice if grounds.learning else ()),
    ]
    return (*(found or [_no_objection(grounds.quality)]), *_next_commands(grounds))


def _skill_advice(quality: QualityFacts, has_thresholds: bool) -> Iterator[str]:
    area = quality.measure("roc_area")
    by_area = f" by its ROC area ({area.told[0]}; guessing has 50 %)" if area is not None else ""
    if quality.skill == "none":
        main = quality.measure("accuracy") or quality.measure("r2")
        same = "giving the same answer" if quality.baseline is not None else "predicting the mean"
        if main is not None and main.guess is not None and main.high < main.guess:
            yield f"Do not rely on it: it is surely worse than always {same}."
        else:
            yield f"Do not rely on it yet: it is not surely better than always {same}."
    elif quality.is_imbalanced and quality.baseline is not None:
        yield (
            f"Accuracy is the wrong yardstick here, since {format_share(quality.baseline)} of the rows are of one "
            f"class: judge it{by_area or ' by the recall of the other'} and by what it finds and misses."
        )
    elif quality.skill == "ranks":
        other = ", and decide at another threshold" if has_thresholds else ""
        yield (
            f"Its verdicts are not surely better than always giving the same answer, but it ranks rows "
            f"better than guessing: judge it{by_area or ' by its log loss'}{other}."
        )


def _sample_size_advice(grounds: AdviceInputs) -> Iterator[str]:
    quality, model = grounds.quality, grounds.model
    accuracy = quality.measure("accuracy")
    if (
        accuracy is not None
        and quality.n >= MIN_COMPARABLE_ROWS
        and accuracy.high - accuracy.low > WIDE_ACCURACY_INTERVAL
    ):
        yield (
            f"{format_quantity(quality.n, 'row')} are few to judge it by: its accuracy may be anything from "
            f"{accuracy.told[1]} to {accuracy.told[2]}. Judge it on more."
        )
    if model.rows and model.rows < FEW_TRAINING_ROWS:
        has = f" and has {format_quantity(model.parameters, 'free parameter')}" if model.parameters else ""
        yield f"It was learned from only {format_quantity(model.rows, 'row')}{has}: learn from more."


def _weakest_class_advice(quality: QualityFacts, has_thresholds: bool) -> Iterator[str]:
    weakest = quality.weakest
    if weakest is None or quality.skill in ("none", "unknown"):
        return
    if weakest.low >= LOW_SCORE and weakest.high > weakest.others - NOTABLE_RECALL_GAP:
        return
    other = "if missing them is costly, choose another decision threshold, or " if has_thresholds else ""
    yield (
        f"Of the rows of {weakest.label} it finds {format_share(weakest.recall)} ({format_share(weakest.low)} to "
        f"{format_share(weakest.high)}), of all others {format_share(weakest.others)}: {other}learn from more such rows."
    )


def _regression_advice(quality: QualityFacts) -> Iterator[str]:
    r2, bias = quality.measure("r2"), quality.measure("bias")
    if r2 is not None and 0 < r2.low < LOW_SCORE:
        yield (
            f"It leaves much unexplained: R² is {r2.told[0]} ({r2.told[1]} to {r2.told[2]}). More "
            f"columns that tell the number, or products of columns, may explain more."
        )
    if bias is not None and (bias.low > 0 or bias.high < 0):
        side = "high" if bias.value > 0 else "low"
        yield (
            f"Its predictions are too {side} by {format_number(abs(bias.value))} on average: learn again from rows "
            f"like these."
        )


def _probability_advice(quality: QualityFacts, calibration: CalibrationFacts | None) -> Iterator[str]:
    log = quality.measure("log_loss")
    if calibration is None or log is None:
        return
    is_known = calibration.verdict not in ("strangers", "unknown")
    if is_known and log.guess is not None and log.low > log.guess:
        yield (
            f"Do not use its probabilities: their log loss of {log.told[0]} is worse than the "
            f"{log.guess_told} of stating the classes' shares for every row; {calibration.remedy}"
        )
    elif calibration.advice:
        yield calibration.advice


def _unfamiliar_rows_advice(familiar: UnfamiliarityFacts | None) -> Iterator[str]:
    if familiar is None:
        return
    if familiar.columns:
        names = ", ".join(each.column for each in familiar.columns[:4])
        more = f" and {len(familiar.columns) - 4} more" if len(familiar.columns) > 4 else ""
        yield f"These rows differ from those of training in {names}{more}: learn again from newer rows."
    if familiar.strange > NOTABLE_UNFAMILIAR_SHARE * familiar.n:
        yield (
            f"{format_quantity(familiar.strange, 'row')} hold something unlike training, such as new values or "
            f"words, or numbers far out; take verdicts on them with care."
        )


def _audit_advice(audit: AuditFacts | None, calibration: CalibrationFacts | None) -> Iterator[str]:
    # An over-sure model doubts more labels than it should.
    is_over_sure = calibration is not None and calibration.verdict == "over-sure"
    if audit is not None and audit.advice and not (audit.of_training and is_over_sure):
        yield audit.advice


def _no_objection(quality: QualityFacts) -> str:
    wrong, off = quality.measure("zero_one"), quality.measure("mae")
    price = (
        f"errors on {wrong.told[0]} of them" if wrong else f"errors of {off.told[0]}" if off else "its errors"
    )
    return f"Nothing measured here speaks against using it on rows like these, if {price} are acceptable."


def _next_commands(grounds: AdviceInputs) -> Iterator[str]:
    if grounds.compare:
        yield f"To see whether another learner does better: {grounds.compare}"
    if grounds.learning is None and grounds.can_learn:
        yield (
            "Without its training rows (--train FILE) it cannot be told whether it over- or underfits, or "
            "what more rows would bring."
        )


# Where one class has nearly all rows, accuracy tells little.
TILE_MEASURES = ("accuracy", "roc_area", "log_loss", "r2", "mae", "rmse")
IMBALANCED_TILE_MEASURES = ("roc_area", "balanced_accuracy", "log_loss", "accuracy")
MAX_MEASURE_TILES = 3
UNINFORMATIVE_MARGIN = 0.005  # how near an end of all shares an interval's end says nothing
BASELINE_TEXTS = {
    "accuracy": "always the most frequent class: {}",
    "roc_area": "guessing: {}",
    "balanced_accuracy": "guessing: {}",
    "log_loss": "stating the classes' shares: {}",
    "r2": "predicting the mean: {}",
    "rmse": "predicting the mean: {}",
}


@dataclass(frozen=True)
class Tile:
    """A large number with its name, and small lines below it: its interval, and what guessing would have."""

    name: str
    value: str
    note: str
    guess: str = ""


@dataclass(frozen=True)
class SummaryFacts:
    """What it is, how good it is, what to do next."""

    what: str
    good: str
    next: tuple[str, ...]
    tiles: tuple[Tile, ...]


def summarise(grounds: AdviceInputs) -> SummaryFacts:
    """Sum up the other facts."""
    quality = grounds.quality
    good = " ".join(quality.sentences[: 3 if quality.weakest or quality.baseline is None else 2])
    return SummaryFacts(
        _describe_model(grounds.model), good, build_advice(grounds), tuple(_build_tiles(quality))
    )


def _describe_model(model: ModelFacts) -> str:
    learned = f", learned from {format_quantity(model.rows, 'row')}" if model.rows else ""
    columns = f" of {format_quantity(model.columns, 'column')}" if model.columns and model.rows else ""
    of = f" of {model.label}" if model.label else ""
    kinds = f" into {format_quantity(model.n_classes, 'class', 'classes')}" if model.n_classes else ""
    name = model.kind[:1].upper() + model.kind[1:]
    return f"{name}{of}{kinds}{learned}{columns}. {model.sentence} {model.calibrated}".rstrip()


def _build_tiles(quality: QualityFacts) -> Iterator[Tile]:
    wanted = IMBALANCED_TILE_MEASURES if quality.is_imbalanced else TILE_MEASURES
    chosen = [each for name in wanted if (each := quality.measure(name)) is not None][:MAX_MEASURE_TILES]
    for each in chosen:
        guess = BASELINE_TEXTS[each.name].format(each.guess_told) if each.guess is not None else ""
        yield Tile(each.title, each.told[0], _format_interval(each, quality.level), guess)
    yield Tile("rows judged", format_count(quality.n), "")


def _format_interval(measure: MeasureFact, level: float) -> str:
    if "–" in measure.told[1:] or not is_informative(measure):
        return ""
    return f"{measure.told[1]} to {measure.told[2]} ({100 * level:g} % interval)"


def is_informative(measure: MeasureFact) -> bool:
    """Whether an interval says more than the measure's definition does."""
    is_all = (
        measure.name in SHARE_MEASURES
        and measure.low <= UNINFORMATIVE_MARGIN
        and measure.high >= 1 - UNINFORMATIVE_MARGIN
    )
    return not is_all and not math.isinf(measure.high) and not math.isinf(measure.low)
