"""Judging learners and models: losses with their uncertainty, counts checked, models compared."""

from __future__ import annotations

from weigh.judge.difference import Difference, diff
from weigh.judge.evaluation import Evaluation, evaluate
from weigh.judge.verification import Verification, verify

__all__ = ["Difference", "Evaluation", "Verification", "diff", "evaluate", "verify"]
