"""Regularisation paths: the weights of a regression as a function of its penalty, as table and chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Call, Setting
from weigh.features.blocks import Floats
from weigh.learn.class_weights import zero_weight_classes
from weigh.learn.linear.cross_validation import ValidationCurve
from weigh.learn.linear.path import LinearPathSolver, LogisticPathSolver, SolutionPath
from weigh.learn.linear.problem_setup import ProblemSetup
from weigh.learn.linear.training_data import load_training_data
from weigh.learn.linear_regression import LinearTask
from weigh.learn.logistic_regression import LogisticTask
from weigh.parameters import check_finite, check_integer
from weigh.pictures import line_chart, path_chart
from weigh.result import Result, Section, Table, to_frame
from weigh.source.base import Source
from weigh.text import format_float, truncate, use_minus_sign

MAX_TABLE_ROWS = 12
MAX_LABELLED_FEATURES = 8
MAX_PLOTTED_FEATURES = 60


@dataclass(frozen=True, eq=False, repr=False)
class Path(Result):
    """Weights [k, features] ([k, classes, features] for several classes) for k penalties, strong to weak.

    `penalties` are the l1 penalties of lasso and elastic net, or the l2 penalties of ridge; `gaps` are the
    duality gaps. With cross-validation, `errors` are the mean held-out losses, `uncertainty` their standard
    errors, and `best` is the index of the smallest. If numbers are `standardised` during learning, the
    penalties refer to standardised numbers, the weights to the original units.
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
    standardised: bool = False
    _json = (
        *("penalty", "features", "classes", "best", "l1", "l2"),
        *("weights", "intercepts", "gaps", "errors", "uncertainty", "standardised"),
    )

    @property
    def penalties(self) -> Floats:
        """The penalty of each fit: l1, or l2 if there is no l1."""
        return self.l1 if self.l1.any() else self.l2

    @property
    def counts(self) -> Floats:
        """The number of features with a non-zero weight in each fit."""
        is_active = self.weights != 0
        return np.asarray((is_active if is_active.ndim == 2 else is_active.any(axis=1)).sum(axis=1))

    @property
    def best(self) -> int | None:
        """The index of the fit with the smallest held-out loss; None without cross-validation."""
        return None if self.errors is None else int(np.argmin(self.errors))

    def to_frame(self) -> Any:
        """Return the fits as a pandas DataFrame: penalties, number of features, gap and held-out loss."""
        columns = {"l1": self.l1, "l2": self.l2, "features": self.counts, "gap": self.gaps}
        if self.errors is not None and self.uncertainty is not None:
            columns |= {"error": self.errors, "uncertainty": self.uncertainty}
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return to_frame([dict(zip(columns, row, strict=True)) for row in rows])

    def plot(self, top: int = MAX_LABELLED_FEATURES) -> Any:
        """Plot the weights against the penalty, with the `top` strongest features labelled."""
        W = self.weights if self.weights.ndim == 2 else self.weights[:, -1]
        strongest = np.argsort(-np.abs(W).max(axis=0), kind="stable")[:MAX_PLOTTED_FEATURES].tolist()
        rows = [
            {"series": self.features[j], "x": float(t), "y": float(w), "named": rank < top}
            for rank, j in enumerate(strongest)
            for t, w in zip(self.penalties, W[:, j], strict=True)
        ]
        mark = None if self.best is None else float(self.penalties[self.best])
        return path_chart(rows, x=f"{self.penalty} (strong to the right)", y="weight", mark=mark)

    def plot_errors(self) -> Any:
        """Plot the mean held-out loss against the penalty, with its standard error."""
        if self.errors is None or self.uncertainty is None:
            raise errors.Unsupported(
                "The path was not cross-validated.", hint=("Give ", Setting("folds", 5), " to path.")
            )
        rows = [
            {"series": "rows held out", "x": float(t), "y": e, "low": e - u, "high": e + u}
            for t, e, u in zip(self.penalties, self.errors.tolist(), self.uncertainty.tolist(), strict=True)
        ]
        marks = [] if self.best is None else [(float(self.penalties[self.best]), "least")]
        return line_chart(
            rows, x=f"{self.penalty} (strong to the right)", y="mean loss", log=True, marks=marks
        )

    @property
    def headline(self) -> str:
        """The numbers of fits and features."""
        on = ", on standardised numbers" if self.standardised else ""
        return f"{len(self.penalties):,} fits over {len(self.features):,} features, strong penalty first{on}"

    def sections(self) -> list[Section]:
        """Return a selection of the fits."""
        header = [self.penalty, "features", "largest weight", "gap"]
        header += [] if self.errors is None else ["held-out loss", "± std. error"]
        step = max(1, len(self.penalties) // MAX_TABLE_ROWS)
        shown = sorted({*range(0, len(self.penalties), step), len(self.penalties) - 1, self.best or 0})
        table = Table([header, *(self._table_row(k) for k in shown)], indent="  ")
        note = [] if self.errors is None else [Section("note", ["  * smallest held-out loss"])]
        return [Section("fits", [table]), *note]

    def _table_row(self, k: int) -> list[str]:
        W = np.abs(self.weights[k])
        largest = self.features[int(np.argmax(W if W.ndim == 1 else W.max(axis=0)))] if W.any() else "none"
        row = [
            use_minus_sign(f"{self.penalties[k]:.4g}"),
            f"{int(self.counts[k]):,}",
            truncate(largest, 24),
            format_float(self.gaps[k]),
        ]
        if self.errors is None or self.uncertainty is None:
            return row
        star = " *" if k == self.best else "  "
        return [*row, f"{self.errors[k]:.5g}{star}", f"{self.uncertainty[k]:.2g}"]


def compute_path(
    task: LinearTask | LogisticTask, source: Source, n: int, ratio: float, folds: int | None
) -> Path:
    """Return the path of a task over n penalties, cross-validated if `folds` is given."""
    path = compute_feature_path(task, source, n, ratio, folds)
    curve = path.validation
    return Path(
        tuple(path.features),
        tuple(path.classes),
        "l1" if path.l1.any() else "l2",
        path.l1,
        path.l2,
        path.weights,
        path.intercepts,
        path.gaps,
        None if curve is None else curve.mean_errors,
        None if curve is None else curve.standard_errors,
        path.standardised,
    )


def check_path_parameters(n: Any, ratio: Any, folds: Any) -> tuple[int, float, int | None]:
    """Return n, ratio and folds, or raise ParameterError for the first invalid one."""
    n = check_integer("path", "n", n, 1)
    fraction = check_finite("path", "ratio", ratio, "a share between 0 and 1")
    if not 0 < fraction < 1:
        raise errors.parameter_error("path", "ratio", "a share between 0 and 1", ratio)
    return n, fraction, None if folds is None else check_integer("path", "folds", folds, 2)


@dataclass(frozen=True, eq=False)
class FeaturePath:
    """A solution path with features in model order: weights [k, features] or [k, classes, features]."""

    features: list[str]
    classes: list[Any]
    l1: Floats
    l2: Floats
    weights: Floats
    intercepts: Floats
    gaps: Floats
    validation: ValidationCurve | None
    standardised: bool


def compute_feature_path(
    task: LinearTask | LogisticTask, source: Source, n: int, ratio: float, folds: int | None
) -> FeaturePath:
    """Return the weights of a task for n penalties, cross-validated if `folds` is given."""
    is_linear = isinstance(task, LinearTask)
    if isinstance(task, LinearTask) and task.is_absolute:
        raise errors.Unsupported(
            "Paths exist for squared and log loss only.", hint=("Give ", Setting("noise", "normal"), ".")
        )
    ignored = zero_weight_classes(getattr(task, "class_weight", None))
    data = load_training_data(task.schema, source, is_regression=is_linear, ignored_classes=ignored)
    setup = task.set_up(data)
    l1, l2 = _penalty_direction(setup)
    solver: LinearPathSolver | LogisticPathSolver
    if is_linear:
        solver = LinearPathSolver(setup.problem, l1, l2, task.tol, task.max_iter)
    else:
        n_classes = len(setup.data.classes)
        solver = LogisticPathSolver(setup.problem, l1, l2, n_classes, task.tol, task.max_iter)
    scales = solver.make_scales(n, ratio)
    curve = None if folds is None else solver.cross_validate(scales, folds)
    return _to_feature_path(setup, solver.solve(scales), l1, l2, curve)


def _penalty_direction(setup: ProblemSetup) -> tuple[Floats, Floats]:
    """Return l1 and l2 at scale one: the penalties of the prior, divided by the largest."""
    priors = setup.priors
    l1, l2 = priors.penalties() if priors.prior_to_tune is None else priors.unit_penalties()
    if not (l1.any() or l2.any()):
        raise errors.ParameterError(
            (
                "path needs a prior whose strength can change: ",
                Setting("prior", Call("Normal", "cv")),
                " for ridge, ",
                Setting("", Call("Laplace", "cv")),
                " for lasso, or ",
                Setting("", Call("Penalty", l1=1, l2=1)),
                " for an elastic net.",
            )
        )
    # Dividing by the largest penalty in standardised units makes the scales themselves penalties.
    largest = max(float(penalty.max(initial=0.0)) for penalty in priors.standardise_penalties(l1, l2))
    return l1 / largest, l2 / largest


def _to_feature_path(
    setup: ProblemSetup, path: SolutionPath, l1: Floats, l2: Floats, curve: ValidationCurve | None
) -> FeaturePath:
    order = setup.model_order
    W = np.array([setup.full_weights(w)[order] for w in path.weights])
    W = W if W.ndim == 2 else np.ascontiguousarray(W.transpose(0, 2, 1))
    names = setup.data.feature_names
    features = [names[j] for j in order.tolist()]
    l1_path, l2_path = (
        path.scales * float(penalty.max(initial=0.0))
        for penalty in setup.priors.standardise_penalties(l1, l2)
    )
    classes = setup.data.classes
    standardised = setup.scaling is not None
    return FeaturePath(
        features, classes, l1_path, l2_path, W, path.intercepts, path.gaps, curve, standardised
    )
