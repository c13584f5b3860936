"""Paths of regressions: the weights of a model for every strength of its prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.learn.regress.choice import Choice
from weigh.learn.regress.gathered import gathered
from weigh.learn.regress.linear import LinearTask
from weigh.learn.regress.logistic_task import LogisticTask
from weigh.learn.regress.statement import Statement
from weigh.learn.regress.track import LinearTrack, LogisticTrack, Track
from weigh.source import Source


@dataclass(frozen=True, eq=False)
class TrackedWeights:
    """A track in the order of a model's features, [k, features] or [k, classes, features]."""

    features: list[str]
    classes: list[Any]
    l1: Floats
    l2: Floats
    weights: Floats
    intercepts: Floats
    gaps: Floats
    choice: Choice | None


def tracked(
    task: LinearTask | LogisticTask, source: Source, n: int, ratio: float, folds: int | None
) -> TrackedWeights:
    """Return the weights of a task for n strengths of its prior, judged on folds if there are some."""
    is_linear = isinstance(task, LinearTask)
    if isinstance(task, LinearTask) and task.is_absolute:
        raise errors.Unsupported("Paths are of squared and of log loss. Give noise='normal'.")
    statement = task.statement(gathered(task.schema, source, measured=is_linear))
    l1, l2 = _direction(statement)
    classes = len(statement.rows.classes)
    track: LinearTrack | LogisticTrack
    if is_linear:
        track = LinearTrack(statement.problem, l1, l2, task.tol, task.max_iter)
    else:
        track = LogisticTrack(statement.problem, l1, l2, classes, task.tol, task.max_iter)
    scales = track.scales(n, ratio)
    choice = None if folds is None else track.judged(scales, folds)
    return _told(statement, track.over(scales), l1, l2, choice)


def _direction(statement: Statement) -> tuple[Floats, Floats]:
    """Return what the scale multiplies: the prior's own penalties, or one where its scale is open."""
    priors = statement.priors
    l1, l2 = priors.penalties() if priors.chosen is None else priors.direction()
    if not (l1.any() or l2.any()):
        raise errors.ParameterError(
            "path needs a prior whose strength can change: prior=Normal('cv') for ridge, Laplace('cv') for "
            "lasso, or Penalty(l1=1, l2=1) for an elastic net."
        )
    # The largest counts as one, in the features' own units, so that scales are penalties.
    largest = max(float(each.max(initial=0.0)) for each in priors.unitless(l1, l2))
    return l1 / largest, l2 / largest


def _told(
    statement: Statement, track: Track, l1: Floats, l2: Floats, choice: Choice | None
) -> TrackedWeights:
    order = np.concatenate(statement.rows.orders)
    W = np.array([statement.weights(w)[order] for w in track.weights])
    names = statement.rows.names
    features = [names[at] for at in order.tolist()]
    own1, own2 = (track.scales * float(u.max(initial=0.0)) for u in statement.priors.unitless(l1, l2))
    W = W if W.ndim == 2 else np.ascontiguousarray(W.transpose(0, 2, 1))
    classes = statement.rows.classes
    return TrackedWeights(features, classes, own1, own2, W, track.intercepts, track.gaps, choice)
