"""The box at the top: what the model is, how good it is, what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from weigh.report.audit_facts import AuditFacts
from weigh.report.calibration_facts import CalibrationFacts
from weigh.report.familiar_facts import FamiliarFacts
from weigh.report.learning_facts import LearningFacts
from weigh.report.model_facts import ModelFacts
from weigh.report.quality_facts import SHARES, MeasureFact, QualityFacts
from weigh.report.wording import share
from weigh.text import amount, counted

TILES = ("accuracy", "roc_area", "log_loss", "r2", "mae", "rmse")
MOST_TILES = 3
NOTHING_KNOWN = 0.005  # how near an end of all shares an interval's end says nothing
STRANGE = 0.05  # share of rows never met that is worth a word
WEAK = 0.5  # recall of a class that is worth a word


@dataclass(frozen=True)
class Tile:
    """A large number with its name, and a small line below it."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class SummaryFacts:
    """What it is, how good it is, what to do next."""

    what: str
    good: str
    next: tuple[str, ...]
    tiles: tuple[Tile, ...]


def summary_facts(
    model: ModelFacts,
    quality: QualityFacts,
    calibration: CalibrationFacts | None,
    familiar: FamiliarFacts | None,
    audit: AuditFacts | None,
    learning: LearningFacts | None,
) -> SummaryFacts:
    """Sum up the other facts."""
    advice = [
        *quality.doubts,
        *_of_quality(quality),
        *([calibration.advice] if calibration and calibration.advice else []),
        *_of_familiar(familiar),
        *_of_audit(audit, calibration),
        *([learning.advice] if learning and learning.advice else []),
    ]
    calm = (
        "Nothing here speaks against using it on rows like these. Make this report again when new labelled "
        "rows come in."
    )
    return SummaryFacts(
        _what(model), " ".join(quality.sentences[:2]), tuple(advice or [calm]), tuple(_tiles(quality))
    )


def _of_audit(audit: AuditFacts | None, calibration: CalibrationFacts | None) -> Iterator[str]:
    # An over-sure model doubts more labels than it should.
    is_over_sure = calibration is not None and calibration.verdict == "over-sure"
    if audit is not None and audit.advice and not (audit.of_training and is_over_sure):
        yield audit.advice


def _what(model: ModelFacts) -> str:
    learned = f", learned from {counted(model.rows, 'row')}" if model.rows else ""
    columns = f" of {counted(model.columns, 'column')}" if model.columns and model.rows else ""
    of = f" of {model.label}" if model.label else ""
    kinds = f" into {counted(model.n_classes, 'class', 'classes')}" if model.n_classes else ""
    name = model.kind[:1].upper() + model.kind[1:]
    return f"{name}{of}{kinds}{learned}{columns}. {model.sentence} {model.calibrated}".rstrip()


def _tiles(quality: QualityFacts) -> Iterator[Tile]:
    chosen = [each for name in TILES if (each := quality.measure(name)) is not None][:MOST_TILES]
    for each in chosen:
        yield Tile(each.title, each.told[0], _interval(each, quality.level))
    yield Tile("rows judged", amount(quality.n), _baseline(quality))


def _interval(measure: MeasureFact, level: float) -> str:
    if "–" in measure.told[1:] or not is_telling(measure):
        return ""
    return f"{measure.told[1]} to {measure.told[2]} ({100 * level:g} % interval)"


def is_telling(measure: MeasureFact) -> bool:
    """Whether an interval says more than the measure's definition does."""
    is_all = measure.name in SHARES and measure.low <= NOTHING_KNOWN and measure.high >= 1 - NOTHING_KNOWN
    return not is_all and not math.isinf(measure.high) and not math.isinf(measure.low)


def _baseline(quality: QualityFacts) -> str:
    if quality.baseline is None:
        return ""
    return f"{share(quality.baseline)} are of the most frequent class"


def _of_quality(quality: QualityFacts) -> Iterator[str]:
    accuracy = quality.measure("accuracy")
    if accuracy is not None and quality.baseline is not None and accuracy.low <= quality.baseline:
        yield "Do not rely on it yet: it is not surely better than always giving the same answer."
    r2 = quality.measure("r2")
    if r2 is not None and r2.high < 0:
        yield "Do not rely on it: it is surely worse than always predicting the mean."
    elif r2 is not None and r2.low <= 0:
        yield "Do not rely on it yet: it is not surely better than always predicting the mean."
    weak = min((each for each in quality.classes if each.support), key=lambda c: c.recall, default=None)
    if weak is not None and weak.recall < WEAK:
        lower = ", or say it at a lower threshold if missing it is costly" * (len(quality.classes) == 2)
        missed = share(1 - weak.recall)
        yield f"It misses most rows of {weak.label} ({missed}): learn from more such rows{lower}."


def _of_familiar(familiar: FamiliarFacts | None) -> Iterator[str]:
    if familiar is None:
        return
    if familiar.columns:
        names = ", ".join(each.column for each in familiar.columns[:4])
        more = f" and {len(familiar.columns) - 4} more" if len(familiar.columns) > 4 else ""
        yield f"These rows differ from those of training in {names}{more}: learn again from newer rows."
    if familiar.strange > STRANGE * familiar.n:
        yield (
            f"{counted(familiar.strange, 'row')} hold values or words never met in training; take verdicts "
            f"on them with care."
        )
