"""Judging learners and models: losses with their uncertainty, margins, counts checked, models compared."""

from __future__ import annotations

from weigh.judge.auditing.audit import Audit, audit
from weigh.judge.difference import Difference, diff
from weigh.judge.margins.margin import Margin, margin
from weigh.judge.margins.mistakes import MistakeBound, mistake_bound
from weigh.judge.measures.evaluation import Evaluation, evaluate
from weigh.judge.measures.regression import RegressionEvaluation
from weigh.judge.verifying.verification import Verification, verify

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
