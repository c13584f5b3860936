"""What to do next: what speaks against a model, and which command goes on from there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weigh.report.audit_facts import AuditFacts
from weigh.report.calibration_facts import CalibrationFacts
from weigh.report.cause_facts import CauseFacts
from weigh.report.doubts import FEWEST
from weigh.report.familiar_facts import FamiliarFacts
from weigh.report.learning_facts import LearningFacts
from weigh.report.measure_facts import number
from weigh.report.model_facts import ModelFacts
from weigh.report.quality_facts import QualityFacts
from weigh.report.wording import share
from weigh.text import counted

STRANGE = 0.05  # share of rows unlike training that is worth a word
NOTABLE = 0.1  # recall below that of the others that is worth a word
HALF = 0.5  # of a class found, or of the differences explained
FEW = 100  # rows that are few to learn from
WIDE = 0.15  # width of an interval of accuracy that tells little


@dataclass(frozen=True)
class Grounds:
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
    causes: CauseFacts | None = None
    familiar: FamiliarFacts | None = None
    audit: AuditFacts | None = None
    learning: LearningFacts | None = None


def advice(grounds: Grounds) -> tuple[str, ...]:
    """What speaks against the model, the gravest first, or that nothing does; then how to go on."""
    found = [
        *grounds.quality.doubts,
        *_of_skill(grounds.quality, grounds.has_thresholds),
        *_of_few(grounds),
        *_of_weakest(grounds.quality, grounds.has_thresholds),
        *_of_numbers(grounds.quality),
        *_of_probabilities(grounds.quality, grounds.calibration),
        *(grounds.causes.lines if grounds.causes else ()),
        *_of_familiar(grounds.familiar),
        *_of_audit(grounds.audit, grounds.calibration),
        *(grounds.learning.advice if grounds.learning else ()),
    ]
    return (*(found or [_calm(grounds.quality)]), *_going_on(grounds))


def _of_skill(quality: QualityFacts, has_thresholds: bool) -> Iterator[str]:
    area = quality.measure("roc_area")
    by_area = f" by its ROC area ({area.told[0]}; guessing has 50 %)" if area is not None else ""
    if quality.skill == "none":
        main = quality.measure("accuracy") or quality.measure("r2")
        same = "giving the same answer" if quality.baseline is not None else "predicting the mean"
        if main is not None and main.guess is not None and main.high < main.guess:
            yield f"Do not rely on it: it is surely worse than always {same}."
        else:
            yield f"Do not rely on it yet: it is not surely better than always {same}."
    elif quality.is_lopsided and quality.baseline is not None:
        yield (
            f"Accuracy is the wrong yardstick here, since {share(quality.baseline)} of the rows are of one "
            f"class: judge it{by_area or ' by the recall of the other'} and by what it finds and misses."
        )
    elif quality.skill == "ranks":
        other = ", and decide at another threshold" if has_thresholds else ""
        yield (
            f"Its verdicts are not surely better than always giving the same answer, but it ranks rows "
            f"better than guessing: judge it{by_area or ' by its log loss'}{other}."
        )


def _of_few(grounds: Grounds) -> Iterator[str]:
    quality, model = grounds.quality, grounds.model
    accuracy = quality.measure("accuracy")
    if accuracy is not None and quality.n >= FEWEST and accuracy.high - accuracy.low > WIDE:
        yield (
            f"{counted(quality.n, 'row')} are few to judge it by: its accuracy may be anything from "
            f"{accuracy.told[1]} to {accuracy.told[2]}. Judge it on more."
        )
    if model.rows and model.rows < FEW:
        has = f" and has {counted(model.parameters, 'free parameter')}" if model.parameters else ""
        yield f"It was learned from only {counted(model.rows, 'row')}{has}: learn from more."


def _of_weakest(quality: QualityFacts, has_thresholds: bool) -> Iterator[str]:
    weakest = quality.weakest
    if weakest is None or quality.skill in ("none", "unknown"):
        return
    if weakest.low >= HALF and weakest.high > weakest.others - NOTABLE:
        return
    other = "if missing them is costly, choose another decision threshold, or " if has_thresholds else ""
    yield (
        f"Of the rows of {weakest.label} it finds {share(weakest.recall)} ({share(weakest.low)} to "
        f"{share(weakest.high)}), of all others {share(weakest.others)}: {other}learn from more such rows."
    )


def _of_numbers(quality: QualityFacts) -> Iterator[str]:
    r2, bias = quality.measure("r2"), quality.measure("bias")
    if r2 is not None and 0 < r2.low < HALF:
        yield (
            f"It leaves much unexplained: R² is {r2.told[0]} ({r2.told[1]} to {r2.told[2]}). More "
            f"columns that tell the number, or products of columns, may explain more."
        )
    if bias is not None and (bias.low > 0 or bias.high < 0):
        side = "high" if bias.value > 0 else "low"
        yield (
            f"Its predictions are too {side} by {number(abs(bias.value))} on average: learn again from rows "
            f"like these."
        )


def _of_probabilities(quality: QualityFacts, calibration: CalibrationFacts | None) -> Iterator[str]:
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


def _of_familiar(familiar: FamiliarFacts | None) -> Iterator[str]:
    if familiar is None:
        return
    if familiar.columns:
        names = ", ".join(each.column for each in familiar.columns[:4])
        more = f" and {len(familiar.columns) - 4} more" if len(familiar.columns) > 4 else ""
        yield f"These rows differ from those of training in {names}{more}: learn again from newer rows."
    if familiar.strange > STRANGE * familiar.n:
        yield (
            f"{counted(familiar.strange, 'row')} hold something unlike training, such as new values or "
            f"words, or numbers far out; take verdicts on them with care."
        )


def _of_audit(audit: AuditFacts | None, calibration: CalibrationFacts | None) -> Iterator[str]:
    # An over-sure model doubts more labels than it should.
    is_over_sure = calibration is not None and calibration.verdict == "over-sure"
    if audit is not None and audit.advice and not (audit.of_training and is_over_sure):
        yield audit.advice


def _calm(quality: QualityFacts) -> str:
    wrong, off = quality.measure("zero_one"), quality.measure("mae")
    price = (
        f"errors on {wrong.told[0]} of them" if wrong else f"errors of {off.told[0]}" if off else "its errors"
    )
    return f"Nothing measured here speaks against using it on rows like these, if {price} are acceptable."


def _going_on(grounds: Grounds) -> Iterator[str]:
    if grounds.compare:
        yield f"To see whether another learner does better: {grounds.compare}"
    if grounds.learning is None and grounds.can_learn:
        yield (
            "Without its training rows (--train FILE) it cannot be told whether it over- or underfits, or "
            "what more rows would bring."
        )
