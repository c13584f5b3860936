"""Facts: what a report tells, collected before anything is drawn or written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from weigh.text import to_json_value

if TYPE_CHECKING:
    from weigh.report.data_checks import AuditFacts, MisleadingColumns, UnfamiliarityFacts
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
    """One line of a list: a name and what it is."""

    name: str
    value: str


@dataclass(frozen=True)
class OmittedSection:
    """A section that this report does not have, and why."""

    section: str
    why: str


@dataclass(frozen=True)
class ReportFacts:
    """Everything a report tells; what does not apply is None and named in `left_out`."""

    title: str
    summary: SummaryFacts
    model: ModelFacts
    quality: QualityFacts
    reproduce: ReproducibilityFacts
    left_out: tuple[OmittedSection, ...]
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

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        found: dict[str, Any] = to_plain_data(self)
        return found


def to_plain_data(value: Any) -> Any:
    """Facts of any depth as plain data for JSON."""
    if is_dataclass(value):
        return {field.name: to_plain_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain_data(each) for key, each in value.items()}
    return (
        [to_plain_data(each) for each in value] if isinstance(value, list | tuple) else to_json_value(value)
    )


ZERO_BASED_NOTE = "Rows are counted from 0."
SPACE_BEFORE_PERCENT = re.compile(r"(?<=\d) %")


def keep_percent_together(text: str) -> str:
    """A sentence in which no line ends between a number and its percent sign."""
    return SPACE_BEFORE_PERCENT.sub("\u00a0%", text)


def format_share(part: float) -> str:
    """A share with one decimal of a percent, with more where it is small or close to all."""
    if part in (0.0, 1.0):
        return f"{100 * part:.0f} %"
    rest = min(part, 1.0 - part)
    if rest >= 0.0005:
        return f"{100 * part:.1f} %"
    return f"{100 * part:.2f} %" if rest >= 0.00005 else "< 0.01 %" if part < 0.5 else "> 99.99 %"
