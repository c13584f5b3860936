"""The facts of a report, collected before anything is rendered, and helpers to format them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weigh.result import Facts

if TYPE_CHECKING:
    from weigh.report.data_checks import AuditFacts, MisleadingColumns, UnfamiliarityFacts
    from weigh.report.effect_facts import EffectFacts
    from weigh.report.learning_curve_facts import LearningCurveFacts
    from weigh.report.mistake_facts import MistakeFacts
    from weigh.report.model_facts import ModelFacts, StrongestFacts
    from weigh.report.probability_facts import CalibrationFacts, CurveFacts, ThresholdFacts
    from weigh.report.quality_facts import QualityFacts
    from weigh.report.regression_facts import RegressionFacts
    from weigh.report.reproducibility import ReproducibilityFacts
    from weigh.report.schema_facts import SchemaFacts
    from weigh.report.summary import SummaryFacts

EMPTY_CELL = "–"


@dataclass(frozen=True)
class NamedFact:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True)
class OmittedSection:
    """A section that this report omits, and why."""

    section: str
    why: str


@dataclass(frozen=True)
class ReportFacts(Facts):
    """All facts of a report; sections that do not apply are None and listed in `left_out`."""

    title: str
    summary: SummaryFacts
    model: ModelFacts
    quality: QualityFacts
    reproduce: ReproducibilityFacts
    left_out: tuple[OmittedSection, ...]
    effects: EffectFacts | None = None
    strongest: StrongestFacts | None = None
    schema: SchemaFacts | None = None
    familiar: UnfamiliarityFacts | None = None
    learning: LearningCurveFacts | None = None
    numbers: RegressionFacts | None = None
    mistakes: MistakeFacts | None = None
    thresholds: ThresholdFacts | None = None
    curves: CurveFacts | None = None
    calibration: CalibrationFacts | None = None
    audit: AuditFacts | None = None
    causes: MisleadingColumns | None = None


ZERO_BASED_NOTE = "Rows are counted from 0."
SPACE_BEFORE_PERCENT = re.compile(r"(?<=\d) %")


def keep_percent_together(text: str) -> str:
    """Put a no-break space between numbers and percent signs."""
    return SPACE_BEFORE_PERCENT.sub("\u00a0%", text)


def format_share(share: float) -> str:
    """Return a share as a percentage with one decimal, or two close to 0 % and 100 %."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    distance = min(share, 1.0 - share)
    if distance >= 0.0005:
        return f"{100 * share:.1f} %"
    return f"{100 * share:.2f} %" if distance >= 0.00005 else "< 0.01 %" if share < 0.5 else "> 99.99 %"
