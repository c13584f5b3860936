"""Judging learners and models: losses with their uncertainty, margins, counts checked, models compared."""

from __future__ import annotations

from weigh.judge.audit import Audit, audit
from weigh.judge.difference import Difference, diff
from weigh.judge.evaluation import Evaluation, evaluate
from weigh.judge.margins import Margin, margin
from weigh.judge.mistakes import MistakeBound, mistake_bound
from weigh.judge.regression import RegressionEvaluation
from weigh.judge.verification import Verification, verify

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
