"""A path: the weights of a regression for every strength of its prior, as tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.features.validation import check_finite, check_integer
from weigh.learn.linear.cross_validation import ValidationCurve
from weigh.learn.linear.path import LinearPathSolver, LogisticPathSolver, SolutionPath
from weigh.learn.linear.problem_setup import ProblemSetup
from weigh.learn.linear.training_data import load_training_data
from weigh.learn.linear_regression import LinearTask
from weigh.learn.logistic_regression import LogisticTask
from weigh.pictures import line_chart, path_chart
from weigh.source import Source
from weigh.text import format_float, html_table, text_table, truncate, use_minus_sign

MAX_TABLE_ROWS = 12
MAX_LABELLED_FEATURES = 8  # features that are told apart in a picture


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Weights [k, features] (of several classes [k, classes, features]) for k penalties, strong to weak.

    `penalties` are l1 of lasso and elastic net, l2 of ridge; `gaps` prove every fit. If it was
    cross-validated, `errors` are the mean losses of rows held out, `uncertainty` their standard errors, and
    `best` is the number of the least.
    """

    features: tuple[str, ...]
    classes: tuple[Any, ...]
    penalty: str
    l1: Floats
    l2: Floats
    weights: Floats
    intercepts: Floats
    gaps: Floats
    errors: Floats | None = None
    uncertainty: Floats | None = None

    @property
    def penalties(self) -> Floats:
        """The strength of every fit: l1, or l2 where there is no l1."""
        return self.l1 if self.l1.any() else self.l2

    @property
    def counts(self) -> Floats:
        """How many features have a weight, in every fit."""
        used = self.weights != 0
        return np.asarray((used if used.ndim == 2 else used.any(axis=1)).sum(axis=1))

    @property
    def best(self) -> int | None:
        """The number of the fit with the least error on rows held out; None without cross-validation."""
        return None if self.errors is None else int(np.argmin(self.errors))

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        arrays = ("l1", "l2", "weights", "intercepts", "gaps", "errors", "uncertainty")
        told = {name: getattr(self, name) for name in arrays}
        return {
            "penalty": self.penalty,
            "features": list(self.features),
            "classes": list(self.classes),
            "best": self.best,
            **{name: None if each is None else each.tolist() for name, each in told.items()},
        }

    def plot(self, top: int = MAX_LABELLED_FEATURES) -> Any:
        """Return a picture of the weights over the penalty; the strongest features are named."""
        W = self.weights if self.weights.ndim == 2 else self.weights[:, -1]
        strong = np.argsort(-np.abs(W).max(axis=0), kind="stable")[:60].tolist()
        rows = [
            {"series": self.features[j], "x": float(t), "y": float(w), "named": rank < top}
            for rank, j in enumerate(strong)
            for t, w in zip(self.penalties, W[:, j], strict=True)
        ]
        mark = None if self.best is None else float(self.penalties[self.best])
        return path_chart(rows, x=f"{self.penalty} (strong to the right)", y="weight", mark=mark)

    def plot_errors(self) -> Any:
        """Return a picture of the mean loss of rows held out over the penalty, with its standard error."""
        if self.errors is None or self.uncertainty is None:
            raise errors.Unsupported("The path was not cross-validated. Give folds=5 to path.")
        rows = [
            {"series": "rows held out", "x": float(t), "y": e, "low": e - u, "high": e + u}
            for t, e, u in zip(self.penalties, self.errors.tolist(), self.uncertainty.tolist(), strict=True)
        ]
        marks = [] if self.best is None else [(float(self.penalties[self.best]), "least")]
        return line_chart(
            rows, x=f"{self.penalty} (strong to the right)", y="mean loss", log=True, marks=marks
        )

    def _table_rows(self) -> list[list[str]]:
        heads = [self.penalty, "features", "largest weight", "gap"]
        heads += [] if self.errors is None else ["held-out loss", "± std. error"]
        step = max(1, len(self.penalties) // MAX_TABLE_ROWS)
        shown = sorted({*range(0, len(self.penalties), step), len(self.penalties) - 1, self.best or 0})
        return [heads, *(self._table_row(at) for at in shown)]

    def _table_row(self, at: int) -> list[str]:
        W = np.abs(self.weights[at])
        largest = self.features[int(np.argmax(W if W.ndim == 1 else W.max(axis=0)))] if W.any() else "none"
        row = [
            use_minus_sign(f"{self.penalties[at]:.4g}"),
            f"{int(self.counts[at]):,}",
            truncate(largest, 24),
            format_float(self.gaps[at]),
        ]
        if self.errors is None or self.uncertainty is None:
            return row
        star = " *" if at == self.best else "  "
        return [*row, f"{self.errors[at]:.5g}{star}", f"{self.uncertainty[at]:.2g}"]

    def __str__(self) -> str:
        title = f"{len(self.penalties):,} fits over {len(self.features):,} features, strong penalty first"
        note = "" if self.errors is None else "\n\n  * the least loss on rows held out"
        return f"{title}\n\n{text_table(self._table_rows(), indent='  ')}{note}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(str(self).split("\n")[0], self._table_rows())


def compute_path(
    task: LinearTask | LogisticTask, source: Source, n: int, ratio: float, folds: int | None
) -> Path:
    """Return the path of a task over n strengths of its prior, judged on folds if there are some."""
    found = compute_feature_path(task, source, n, ratio, folds)
    choice = found.validation
    judged = () if choice is None else (choice.mean_errors, choice.standard_errors)
    return Path(
        tuple(found.features),
        tuple(found.classes),
        "l1" if found.l1.any() else "l2",
        found.l1,
        found.l2,
        found.weights,
        found.intercepts,
        found.gaps,
        *judged,
    )


def check_path_parameters(n: Any, ratio: Any, folds: Any) -> tuple[int, float, int | None]:
    """Return how many strengths, the weakest of them and the folds; refuse what is none of these."""
    n = check_integer("path", "n", n, 1)
    share = check_finite("path", "ratio", ratio, "a share between 0 and 1")
    if not 0 < share < 1:
        raise errors.parameter_error("path", "ratio", "a share between 0 and 1", ratio)
    return n, share, None if folds is None else check_integer("path", "folds", folds, 2)


@dataclass(frozen=True, eq=False)
class FeaturePath:
    """A track in the order of a model's features, [k, features] or [k, classes, features]."""

    features: list[str]
    classes: list[Any]
    l1: Floats
    l2: Floats
    weights: Floats
    intercepts: Floats
    gaps: Floats
    validation: ValidationCurve | None


def compute_feature_path(
    task: LinearTask | LogisticTask, source: Source, n: int, ratio: float, folds: int | None
) -> FeaturePath:
    """Return the weights of a task for n strengths of its prior, judged on folds if there are some."""
    is_linear = isinstance(task, LinearTask)
    if isinstance(task, LinearTask) and task.is_absolute:
        raise errors.Unsupported("Paths are of squared and of log loss. Give noise='normal'.")
    statement = task.set_up(load_training_data(task.schema, source, measured=is_linear))
    l1, l2 = _penalty_direction(statement)
    classes = len(statement.data.classes)
    track: LinearPathSolver | LogisticPathSolver
    if is_linear:
        track = LinearPathSolver(statement.problem, l1, l2, task.tol, task.max_iter)
    else:
        track = LogisticPathSolver(statement.problem, l1, l2, classes, task.tol, task.max_iter)
    scales = track.make_scales(n, ratio)
    choice = None if folds is None else track.cross_validate(scales, folds)
    return _to_feature_path(statement, track.solve(scales), l1, l2, choice)


def _penalty_direction(statement: ProblemSetup) -> tuple[Floats, Floats]:
    """Return what the scale multiplies: the prior's own penalties, or one where its scale is open."""
    priors = statement.priors
    l1, l2 = priors.penalties() if priors.prior_to_tune is None else priors.unit_penalties()
    if not (l1.any() or l2.any()):
        raise errors.ParameterError(
            "path needs a prior whose strength can change: prior=Normal('cv') for ridge, Laplace('cv') for "
            "lasso, or Penalty(l1=1, l2=1) for an elastic net."
        )
    # The largest counts as one, in the features' own units, so that scales are penalties.
    largest = max(float(each.max(initial=0.0)) for each in priors.standardise_penalties(l1, l2))
    return l1 / largest, l2 / largest


def _to_feature_path(
    statement: ProblemSetup, track: SolutionPath, l1: Floats, l2: Floats, choice: ValidationCurve | None
) -> FeaturePath:
    order = np.concatenate(statement.data.feature_orders)
    W = np.array([statement.full_weights(w)[order] for w in track.weights])
    names = statement.data.feature_names
    features = [names[at] for at in order.tolist()]
    own1, own2 = (
        track.scales * float(u.max(initial=0.0)) for u in statement.priors.standardise_penalties(l1, l2)
    )
    W = W if W.ndim == 2 else np.ascontiguousarray(W.transpose(0, 2, 1))
    classes = statement.data.classes
    return FeaturePath(features, classes, own1, own2, W, track.intercepts, track.gaps, choice)
