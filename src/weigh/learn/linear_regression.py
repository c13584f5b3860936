"""Linear regression as a task: read the rows, settle noise and prior, solve, prove."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.learn.dataset import Progress
from weigh.learn.design_matrix import linear_schema
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient
from weigh.learn.linear.cross_validation import Folds
from weigh.learn.linear.lad import solve_lad
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.penalised_least_squares import (
    MAX_COVARIANCE_FEATURES,
    MIN_NOISE_SHARE,
    NoiseEstimate,
    PenalisedFit,
    PenalisedLeastSquares,
    unknown_noise_error,
)
from weigh.learn.linear.penalties import ColumnPriors, check_prior
from weigh.learn.linear.posterior import ReindexedPosterior
from weigh.learn.linear.problem import Problem
from weigh.learn.linear.problem_setup import (
    ProblemSetup,
    check_noise,
    check_solver_parameters,
    common_value,
    format_prior,
    optimality_certificate,
    set_up_problem,
    warn_unless_optimal,
)
from weigh.learn.linear.training_data import TrainingData, build_training_data, compress_dataset, read_dataset
from weigh.model import Fit, RegressionModel
from weigh.priors import Laplace, Normal
from weigh.priors.conversion import WeightPrior
from weigh.source import Source
from weigh.source.missing import Marker

ESTIMATOR_NAME = "LinearRegression"


@dataclass(frozen=True)
class LinearTask:
    """Learning a linear regression: prior and noise say what is minimised."""

    schema: Schema
    prior: WeightPrior | ColumnPriors | None = None
    noise: Normal | Laplace | str = "normal"
    bias: bool = True
    scale: str | None = None
    offset: str | None = None
    folds: Folds = 5
    tol: float = 1e-8
    max_iter: int = 10_000

    @classmethod
    def for_source(
        cls,
        source: Source,
        columns: object = "auto",
        *,
        prior: Any = None,
        noise: Any = "normal",
        bias: bool = True,
        scale: str | None = None,
        offset: str | None = None,
        folds: Folds = 5,
        tol: float = 1e-8,
        max_iter: int = 10_000,
        missing: tuple[Marker, ...] = (),
    ) -> LinearTask:
        """Return the task for a source; its columns' kinds are found in the first rows."""
        checked = check_prior(prior, ESTIMATOR_NAME)
        noise = check_noise(noise, ESTIMATOR_NAME)
        check_solver_parameters(
            ESTIMATOR_NAME, bias=bias, scale=scale, offset=offset, folds=folds, tol=tol, max_iter=max_iter
        )
        schema = linear_schema(source, columns, missing=missing, owner=ESTIMATOR_NAME, whole_numbers=True)
        return cls(schema, checked, noise, bool(bias), scale, offset, folds, float(tol), int(max_iter))

    @property
    def is_absolute(self) -> bool:
        """Whether the loss is absolute."""
        return isinstance(self.noise, Laplace) or self.noise == "laplace"

    def learn(self, source: Source, *, progress: Progress | None = None) -> RegressionModel:
        """Return the model of a source."""
        # Without a bias rows cannot be counted from their means, and moments of far ones lose their digits.
        keeps = self.is_absolute or not self.bias
        reading = read_dataset(self.schema, source, measured=True, keeps=keeps, progress=progress)
        whole = None
        if not reading.is_cached and reading.feature_index.width > MAX_COVARIANCE_FEATURES:
            # Their moments would need more memory than they do themselves.
            reading = read_dataset(self.schema, source, measured=True, progress=progress)
        if reading.is_cached:
            rows = build_training_data(self.schema, reading, measured=True)
        else:
            rows, whole = compress_dataset(self.schema, reading, self.bias)
        statement = self.set_up(rows, whole)
        found = (
            self._fit_absolute_loss(statement)
            if self.is_absolute
            else self._fit_squared_loss(statement, whole)
        )
        return self._build_model(statement, found, whole)

    def set_up(self, rows: TrainingData, whole: Moments | None = None) -> ProblemSetup:
        """Return the problem of gathered rows; those that stand for a `whole` have no bias any more."""
        bias = self.bias and whole is None
        units = None if self.scale is None or whole is None else whole.std
        return set_up_problem(
            rows,
            self.prior,
            None,
            bias=bias,
            scale=self.scale,
            offset=self.offset,
            owner=ESTIMATOR_NAME,
            units=units,
        )

    def _fit_squared_loss(self, statement: ProblemSetup, whole: Moments | None) -> PenalisedFit:
        given = float(self.noise.scale) if isinstance(self.noise, Normal) else None
        noise = NoiseEstimate() if given is None else NoiseEstimate(given, "given")
        own = None
        if whole is not None:
            counted = whole if self.bias else whole.without_intercept()
            own = replace(
                counted.select(statement.feature_indices),
                mean_y=float(counted.intercept(statement.baseline_weights)),
            )
        fit = PenalisedLeastSquares(statement.problem, statement.priors, noise, self.folds, own)
        return fit.solve(self.tol, self.max_iter)

    def _fit_absolute_loss(self, statement: ProblemSetup) -> PenalisedFit:
        if statement.priors.prior_to_tune is not None:
            raise errors.ParameterError(
                f"{ESTIMATOR_NAME}: the scale of a prior is chosen beside squared loss only. Give a number, or "
                f"noise='normal'."
            )
        if needs_conjugate_gradient(statement.problem.X):
            raise errors.DataError(
                f"{statement.problem.X.n_rows:,} rows of {statement.problem.X.width:,} features are too many "
                f"for absolute loss. Use noise='normal'."
            )
        size = float(self.noise.scale) if isinstance(self.noise, Laplace) else None
        if size is None and any(p.penalty(1.0) != p.penalty(2.0) for p, _ in statement.priors.groups):
            # As with squared loss: the mean size of what is left without a prior.
            plain = solve_lad(statement.problem, self.tol, self.max_iter)
            size = plain.objective / statement.problem.total_weight
            if (
                size
                <= MIN_NOISE_SHARE
                * _null_objective(statement.problem, True)[0]
                / statement.problem.total_weight
            ):
                raise unknown_noise_error(statement.problem.X)
            noise = NoiseEstimate(size, "estimated")
        else:
            noise = NoiseEstimate(size, "" if size is None else "given")
        l1, l2 = statement.priors.penalties(math.sqrt(size) if size else 1.0)
        solution = solve_lad(statement.problem.with_penalties(l1, l2), self.tol, self.max_iter)
        return PenalisedFit(l1, l2, solution, noise)

    def _build_model(
        self, statement: ProblemSetup, found: PenalisedFit, whole: Moments | None
    ) -> RegressionModel:
        problem = statement.problem.with_penalties(found.l1, found.l2)
        null, spread = _null_objective(problem, self.is_absolute)
        n_rows, total = problem.X.n_rows, problem.total_weight
        if whole is not None:
            spread = math.sqrt(float(whole.squared_error(statement.baseline_weights)) / whole.total_weight)
            n_rows, total = whole.n_rows, whole.total_weight
        solution = found.solution
        proof = optimality_certificate(solution, null, self.tol)
        warn_unless_optimal(proof, ESTIMATOR_NAME, self.max_iter)
        table = statement.full_weights(solution.w)[:, None]
        loss = solution.objective - problem.penalty(solution.w)
        fit = Fit(
            "absolute" if self.is_absolute else "squared",
            format_prior(self.prior),
            common_value(found.l1),
            common_value(found.l2),
            total,
            n_rows,
            self.bias,
            found.noise.sigma,
            found.noise.source,
            found.scale_by,
            spread,
            _explained_fraction(statement.data.y, statement.data.weights, loss, self.is_absolute, whole),
            found.log_marginal_likelihood,
            is_centred=statement.centre is None,
            lost=loss,
            scale=found.prior_scale,
            units=None
            if self.scale is None
            else statement.priors.common_standardised_penalties(found.l1, found.l2),
        )
        b = solution.b if whole is None or not self.bias else whole.intercept(table[:, 0])
        base = np.atleast_1d(b).astype(np.float64)
        maker = found.posterior_maker
        known = (
            None if maker is None else ReindexedPosterior(maker, statement.model_indices, statement.centre)
        )
        return RegressionModel(self.schema, base, statement.build_terms(table), fit, proof, known)


def _explained_fraction(
    y: Floats, weights: Floats | None, loss: float, is_absolute: bool, whole: Moments | None
) -> float | None:
    """Return which share of the targets' own variation the loss leaves out; None if they do not vary."""
    if whole is not None:
        all_of_it = (
            whole.yy / 2 if whole.has_intercept else (whole.yy - whole.total_weight * whole.mean_y**2) / 2
        )
    else:
        s = np.ones(len(y)) if weights is None else weights
        middle = _weighted_median(y, s) if is_absolute else float(np.average(y, weights=s))
        away = y - middle
        all_of_it = float(s @ np.abs(away)) if is_absolute else float(s @ np.square(away)) / 2
    return 1 - loss / all_of_it if all_of_it > 0 else None


def _null_objective(problem: Problem, is_absolute: bool) -> tuple[float, float]:
    """Return the objective without features, and the standard deviation of the targets."""
    y = problem.y if problem.offset is None else problem.y - problem.offset
    weights = np.ones(len(y)) if problem.weights is None else problem.weights
    mean = float(np.average(y, weights=weights))
    spread = math.sqrt(float(weights @ np.square(y - mean)) / problem.total_weight)
    if is_absolute:
        middle = _weighted_median(y, weights) if problem.has_intercept else 0.0
        return float(weights @ np.abs(y - middle)), spread
    away = y - mean if problem.has_intercept else y
    return 0.5 * float(weights @ np.square(away)), spread


def _weighted_median(y: Floats, weights: Floats) -> float:
    order = np.argsort(y)
    before = np.cumsum(weights[order])
    return float(y[order[np.searchsorted(before, before[-1] / 2)]])
