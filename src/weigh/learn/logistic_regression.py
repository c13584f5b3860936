"""Logistic regression as a task: read the rows, settle the prior, solve, prove."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.learn.class_weights import check_class_weight, compute_class_weights
from weigh.learn.dataset import Progress
from weigh.learn.design_matrix import linear_schema
from weigh.learn.linear.logistic import null_model, solve_l1_logistic, solve_logistic
from weigh.learn.linear.newton import name_diverging_features
from weigh.learn.linear.path import LogisticPathSolver
from weigh.learn.linear.penalties import ColumnPriors, check_prior
from weigh.learn.linear.posterior import LaplaceApproximation, ReindexedPosterior
from weigh.learn.linear.problem import (
    Problem,
    Solution,
    centre_distant_columns,
    centre_solution,
    orthogonalise,
    uncentre_solution,
)
from weigh.learn.linear.problem_setup import (
    ProblemSetup,
    check_solver_parameters,
    common_value,
    format_prior,
    optimality_certificate,
    set_up_problem,
    warn_unless_optimal,
)
from weigh.learn.linear.training_data import TrainingData, load_training_data
from weigh.model import Fit, LogisticModel
from weigh.model.perceptron import to_class_columns
from weigh.priors import Normal
from weigh.priors.conversion import WeightPrior
from weigh.source import Source
from weigh.source.missing import Marker

ESTIMATOR_NAME = "LogisticRegression"
DEFAULT_PRIOR = Normal(1.0)  # of columns that a mapping does not name
N_SCALES, MIN_SCALE_RATIO = 20, 1e-3  # how many scales cross-validation tries, and the last by the first
TUNING_TOLERANCE = 1e-4  # a gap that changes no choice


@dataclass(frozen=True)
class LogisticTask:
    """Learning a logistic regression exactly: the prior says what is minimised beside the log loss."""

    schema: Schema
    prior: WeightPrior | ColumnPriors | None = DEFAULT_PRIOR
    bias: bool = True
    scale: str | None = None
    offset: str | None = None
    class_weight: Any = None
    folds: int = 5
    tol: float = 1e-6
    max_iter: int = 1_000

    @classmethod
    def for_source(
        cls,
        source: Source,
        columns: object = "auto",
        *,
        prior: Any = 1.0,
        bias: bool = True,
        scale: str | None = None,
        offset: str | None = None,
        class_weight: Any = None,
        folds: int = 5,
        tol: float = 1e-6,
        max_iter: int = 1_000,
        missing: tuple[Marker, ...] = (),
    ) -> LogisticTask:
        """Return the task for a source; its columns' kinds are found in the first rows."""
        checked = check_prior(prior, ESTIMATOR_NAME)
        check_solver_parameters(
            ESTIMATOR_NAME, bias=bias, scale=scale, offset=offset, folds=folds, tol=tol, max_iter=max_iter
        )
        check_class_weight(ESTIMATOR_NAME, class_weight)
        schema = linear_schema(source, columns, missing=missing, owner=ESTIMATOR_NAME, whole_numbers=True)
        numbers = (int(folds), float(tol), int(max_iter))
        return cls(schema, checked, bool(bias), scale, offset, class_weight, *numbers)

    def learn(self, source: Source, *, progress: Progress | None = None) -> LogisticModel:
        """Return the model of a source."""
        rows = load_training_data(self.schema, source, measured=False, progress=progress)
        check_two_classes(rows)
        shares = np.bincount(rows.y, rows.weights, minlength=len(rows.classes))
        statement = self.set_up(rows)
        try:
            return self._build_model(statement, shares / shares.sum())
        except errors.Separated as cause:
            raise name_diverging_features(cause, statement.priors.names()) from None

    def set_up(self, rows: TrainingData) -> ProblemSetup:
        """Return the problem of gathered rows."""
        check_two_classes(rows)
        return set_up_problem(
            replace(rows, weights=apply_class_weights(self.class_weight, rows)),
            self.prior,
            DEFAULT_PRIOR,
            bias=self.bias,
            scale=self.scale,
            offset=self.offset,
            owner=ESTIMATOR_NAME,
            classes=1 if len(rows.classes) == 2 else len(rows.classes),
        )

    def _resolve_penalties(self, statement: ProblemSetup) -> tuple[Floats, Floats, str]:
        chosen = statement.priors.prior_to_tune
        if chosen is None:
            return (*statement.priors.penalties(), "given")
        if getattr(chosen, "scale", None) == "evidence":
            raise errors.ParameterError(
                f"{ESTIMATOR_NAME}: the evidence chooses scales of linear regression only. Give scale='cv', or a "
                f"number."
            )
        l1, l2 = statement.priors.unit_penalties()
        classes = len(statement.data.classes)
        track = LogisticPathSolver(
            statement.problem, l1, l2, classes, max(self.tol, TUNING_TOLERANCE), self.max_iter
        )
        scale = track.cross_validate(track.make_scales(N_SCALES, MIN_SCALE_RATIO), self.folds).best_scale
        return l1 * scale, l2 * scale, "cross-validation"

    def _build_model(self, statement: ProblemSetup, shares: Floats) -> LogisticModel:
        classes = statement.data.classes
        l1, l2, scale_by = self._resolve_penalties(statement)
        problem = statement.problem.with_penalties(l1, l2)
        solution = solve_logistic_regression(problem, len(classes), self.tol, self.max_iter)
        empty = null_model(problem, len(classes)).objective
        proof = optimality_certificate(solution, empty, self.tol)
        warn_unless_optimal(proof, ESTIMATOR_NAME, self.max_iter)
        full = statement.full_weights(solution.w)
        table = to_class_columns(full[:, None] if full.ndim == 1 else full)
        base = to_class_columns(np.atleast_2d(solution.b))[0]
        numbers = (common_value(l1), common_value(l2), problem.total_weight, problem.X.n_rows)
        loss = solution.objective - problem.penalty(solution.w)
        fit = Fit(
            "log",
            format_prior(self.prior),
            *numbers,
            self.bias,
            scale_by=scale_by,
            classes=len(classes),
            is_centred=statement.centre is None,
            lost=loss,
            units=None if self.scale is None else statement.priors.common_standardised_penalties(l1, l2),
            r2=None if not empty else 1 - loss / empty,
        )
        maker = (
            LaplaceApproximation.at_solution(problem, solution)
            if len(classes) == 2 and not l1.any()
            else None
        )
        known = (
            None if maker is None else ReindexedPosterior(maker, statement.model_indices, statement.centre)
        )
        terms = statement.build_terms(table)
        return LogisticModel(self.schema, classes, base, terms, shares, fit, proof, known)


def solve_logistic_regression(
    problem: Problem, classes: int, tol: float, max_iter: int, start: Solution | None = None
) -> Solution:
    """Solve with the solver that suits the penalties, columns far from zero counted from their means."""
    near, shift = centre_distant_columns(problem)
    apart, straight = orthogonalise(near)
    begun = centre_solution(start, shift)
    if straight is None:
        return uncentre_solution(_solve_by_penalty(near, classes, tol, max_iter, begun), shift)
    begun = None if begun is None else straight.to_orthogonal(begun)
    try:
        found = _solve_by_penalty(apart, classes, tol, max_iter, begun)
    except errors.Separated as cause:
        grown = None if cause.features is None else straight.indices.tolist()
        raise errors.Separated(str(cause), grown) from None
    return uncentre_solution(straight.from_orthogonal(found), shift)


def _solve_by_penalty(
    problem: Problem, classes: int, tol: float, max_iter: int, start: Solution | None
) -> Solution:
    if not problem.l1.any():
        return solve_logistic(problem, classes, tol, max_iter, start)
    free = (problem.l1 == 0) & (problem.l2 == 0)
    if free.any():
        # Weights without a prior that would grow for ever do so whatever the others are.
        none = np.zeros(int(free.sum()))
        alone = replace(problem, X=problem.X.select_features(free), l1=none, l2=none)
        try:
            solve_logistic(alone, classes, tol, max_iter)
        except errors.Separated as cause:
            places = np.flatnonzero(free)
            grown = None if cause.features is None else places[cause.features].tolist()
            raise errors.Separated(str(cause), grown) from None
    return solve_l1_logistic(problem, classes, tol, max_iter, start)


def check_two_classes(rows: TrainingData) -> None:
    """Refuse rows that are all of one class, from which no difference can be learned."""
    if len(rows.classes) < 2:
        raise errors.LabelError(
            f"All rows have the label {errors.quote_names(rows.classes)}; a logistic regression learns what "
            f"parts two classes or more. Give rows of another class too: the data has only one class."
        )


def apply_class_weights(given: Any, rows: TrainingData) -> Floats | None:
    """Return the rows' weights times those of their classes."""
    counts = np.bincount(rows.y, rows.weights, minlength=len(rows.classes)).astype(np.float64)
    per_class = compute_class_weights(ESTIMATOR_NAME, given, rows.classes, counts)
    if per_class is None:
        return rows.weights
    own = per_class[rows.y]
    return np.asarray(own if rows.weights is None else own * rows.weights)
