"""Evaluate and check models: metrics with intervals, margins, verification, label audits, differences."""

from __future__ import annotations

from weigh.judge.label_audit import Audit, audit
from weigh.judge.margins.margin import Margin, margin
from weigh.judge.margins.mistake_bound import MistakeBound, mistake_bound
from weigh.judge.metrics.evaluation import Evaluation, evaluate
from weigh.judge.metrics.regression import RegressionEvaluation
from weigh.judge.model_difference import Difference, diff
from weigh.judge.verification.verify import Verification, verify

__all__ = [
    "Audit",
    "Difference",
    "Evaluation",
    "Margin",
    "MistakeBound",
    "RegressionEvaluation",
    "Verification",
    "audit",
    "diff",
    "evaluate",
    "margin",
    "mistake_bound",
    "verify",
]
