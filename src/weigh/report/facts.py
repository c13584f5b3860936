"""Facts: what a report tells, collected before anything is drawn or written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from weigh.text import plain

if TYPE_CHECKING:
    from weigh.report.audit_facts import AuditFacts
    from weigh.report.calibration_facts import CalibrationFacts
    from weigh.report.cause_facts import CauseFacts
    from weigh.report.curve_facts import CurveFacts
    from weigh.report.familiar_facts import FamiliarFacts
    from weigh.report.learning_facts import LearningFacts
    from weigh.report.mistake_facts import MistakeFacts
    from weigh.report.model_facts import ModelFacts
    from weigh.report.number_facts import NumberFacts
    from weigh.report.quality_facts import QualityFacts
    from weigh.report.reproduce_facts import ReproduceFacts
    from weigh.report.schema_facts import SchemaFacts
    from weigh.report.strongest_facts import StrongestFacts
    from weigh.report.summary_facts import SummaryFacts
    from weigh.report.threshold_facts import ThresholdFacts

NOTHING = "–"


@dataclass(frozen=True)
class Fact:
    """One line of a list: a name and what it is."""

    name: str
    value: str


@dataclass(frozen=True)
class LeftOut:
    """A section that this report does not have, and why."""

    section: str
    why: str


@dataclass(frozen=True)
class Facts:
    """Everything a report tells; what does not apply is None and named in `left_out`."""

    title: str
    summary: SummaryFacts
    model: ModelFacts
    quality: QualityFacts
    reproduce: ReproduceFacts
    left_out: tuple[LeftOut, ...]
    strongest: StrongestFacts | None = None
    schema: SchemaFacts | None = None
    familiar: FamiliarFacts | None = None
    learning: LearningFacts | None = None
    numbers: NumberFacts | None = None
    mistakes: MistakeFacts | None = None
    thresholds: ThresholdFacts | None = None
    curves: CurveFacts | None = None
    calibration: CalibrationFacts | None = None
    audit: AuditFacts | None = None
    causes: CauseFacts | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        found: dict[str, Any] = as_plain(self)
        return found


def as_plain(value: Any) -> Any:
    """Facts of any depth as plain data for JSON."""
    if is_dataclass(value):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_plain(each) for key, each in value.items()}
    return [as_plain(each) for each in value] if isinstance(value, list | tuple) else plain(value)
