"""Judging learners: losses with their uncertainty."""

from __future__ import annotations

from weigh.judge.evaluation import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]
