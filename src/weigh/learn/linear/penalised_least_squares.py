"""Squared loss under a prior: noise, scale of the prior, weights and their posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from weigh import errors
from weigh.advice import Call, Setting
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Floats
from weigh.immutable import Immutable
from weigh.learn.linear.conjugate_gradient import needs_conjugate_gradient
from weigh.learn.linear.cross_validation import Folds, consecutive_folds, ridge_loo_validation
from weigh.learn.linear.lasso import solve_lasso
from weigh.learn.linear.least_squares import (
    LeastSquaresFit,
    fit_least_squares,
    fit_least_squares_from_moments,
    solve_least_squares,
)
from weigh.learn.linear.marginal_likelihood import estimate_noise, estimate_scales, residual_noise_std
from weigh.learn.linear.matrix import Matrix
from weigh.learn.linear.moments import Moments
from weigh.learn.linear.path import LinearPathSolver
from weigh.learn.linear.penalties import FeaturePriors
from weigh.learn.linear.posterior import classical_posterior, gaussian_posterior
from weigh.learn.linear.problem import Problem, Solution, null_objective
from weigh.learn.linear.refinement import certify_least_squares, refine_squared
from weigh.learn.linear.ridge import RowEigendecomposition, solve_ridge
from weigh.model.inference import Posterior
from weigh.text import format_quantity

MAX_COVARIANCE_FEATURES = 5_000  # features up to which a posterior is available
MAX_COVARIANCE_FEATURES_FEW_ROWS = 2_000  # the same with fewer rows than features
N_SCALES, MIN_SCALE_RATIO = (
    100,
    1e-3,
)  # scales tried by cross-validation, and the smallest relative to the largest
MIN_RELATIVE_NOISE = 1e-20  # of the targets' variance
MAX_SMALL_CELLS = 20_000  # that are worth refinement although the certificate does not need it
TOLERANCE_SHARE = 0.9  # of the tolerance for the solver; the rest is for rounding errors
MIN_NOISE_SHARE = 1e-6  # of the targets' squares: less means that the marginal likelihood found no noise
UNSOLVED = Solution(np.zeros(0), np.zeros(0), math.inf, math.inf, 0, "not solved yet")


@dataclass(frozen=True)
class NoiseEstimate:
    """Standard deviation of the noise, None if unknown and not needed, and where it comes from."""

    sigma: float | None = None
    source: str = ""


@dataclass(frozen=True, eq=False)
class PenalisedFit:
    """Penalties, solution and noise of a fit, and the source of its posterior."""

    l1: Floats
    l2: Floats
    solution: Solution
    noise: NoiseEstimate
    scale_by: str = "given"
    log_marginal_likelihood: float | None = None
    prior_scale: float | None = None  # estimated by marginal likelihood
    posterior_maker: MomentPosterior | Posterior | None = None


@dataclass(frozen=True, eq=False)
class MomentPosterior(Immutable):
    """The posterior of a fit, computed from moments on demand."""

    moments: Moments
    l2: Floats
    w: Floats
    sigma: float | None
    fit: LeastSquaresFit | None = None

    def posterior(self) -> Posterior:
        """Return the posterior; unknown noise is estimated from the residuals."""
        total = self.moments.total_weight if self.moments.has_intercept else 0.0
        if self.fit is not None and self.sigma is None:
            return classical_posterior(self.fit, self.moments.n_rows, total)
        sigma = self.sigma or residual_noise_std(self.moments, self.w, self.l2)
        return gaussian_posterior(self.moments, self.l2, sigma, self.w)


class PenalisedLeastSquares:
    """One fit of squared loss; its moments are computed at most once.

    `full_moments` are given if the problem's few rows stand for rows that are not in memory, and
    `fold_moments` if those rows can be cross-validated.
    """

    def __init__(
        self,
        problem: Problem,
        priors: FeaturePriors,
        noise: NoiseEstimate,
        folds: Folds,
        full_moments: Moments | None = None,
        fold_moments: list[Moments] | None = None,
    ) -> None:
        self._problem, self._priors, self._noise, self._folds = problem, priors, noise, folds
        self._full_moments, self._fold_moments = full_moments, fold_moments
        self._moments: Moments | None = None

    @property
    def _needs_conjugate_gradient(self) -> bool:
        """Whether the rows are too many and too sparse for a Gram matrix."""
        return needs_conjugate_gradient(self._problem.X)

    @property
    def _is_wide(self) -> bool:
        """Whether there are fewer rows than features, so that A Aᵀ is the smaller matrix."""
        return self._full_moments is None and self._problem.X.n_rows < self._problem.X.width

    def _marginal_likelihood_moments(self, direction: Floats) -> tuple[Moments, Floats]:
        """Return moments and a direction with the same marginal likelihood as the problem.

        With fewer rows than features they are those of an equivalent problem with as many features as rows.
        """
        if self._is_wide and (direction > 0).all():
            return RowEigendecomposition(self._problem, direction).rotated_moments()
        return self.moments, direction

    @property
    def moments(self) -> Moments:
        """Moments of all rows, computed once."""
        if self._moments is None:
            self._moments = self._compute_moments()
        return self._moments

    def _compute_moments(self) -> Moments:
        if self._needs_conjugate_gradient:
            raise errors.DataError(
                f"{self._problem.X.n_rows:,} rows of {self._problem.X.width:,} features are too many for the "
                "Gram matrix that this prior needs.",
                hint=("Give the penalty itself: ", Setting("", Call("Penalty", l2=...)), "."),
            )
        moments = Moments.from_problem(self._problem)
        if self._full_moments is None:
            return moments
        return replace(self._full_moments, gram=moments.gram, cross=moments.cross, yy=moments.yy)

    def solve(self, tol: float, max_iter: int) -> PenalisedFit:
        """Determine the noise and the penalties, then solve."""
        prior = self._priors.prior_to_tune
        if prior is None:
            noise = self._resolve_noise()
            l1, l2 = self._priors.penalties(noise.sigma or 1.0)
            return self._solve(PenalisedFit(l1, l2, UNSOLVED, noise), tol, max_iter)
        if getattr(prior, "scale", None) == "evidence":
            return self._solve(self._tune_by_marginal_likelihood(), tol, max_iter)
        return self._solve(self._tune_by_cross_validation(tol, max_iter), tol, max_iter)

    def _resolve_noise(self) -> NoiseEstimate:
        """Return the noise, estimated if a penalty depends on it."""
        is_needed = any(prior.penalty(1.0) != prior.penalty(2.0) for prior, _ in self._priors.groups)
        if self._noise.sigma is not None or not is_needed:
            return self._noise
        if self._needs_conjugate_gradient:
            raise unknown_noise_error(self._problem.X)
        X, has_intercept = self._problem.X, self._problem.has_intercept
        if self._full_moments is not None or X.n_rows > X.width + has_intercept:
            moments, fit = self.moments, self._least_squares()
            dof = moments.n_rows - fit.rank - moments.has_intercept
            if dof > 0:
                # Rows that are fitted exactly have no noise; the minimum keeps the prior's penalty positive.
                min_variance = MIN_RELATIVE_NOISE * (moments.yy / moments.total_weight)
                variance = max(fit.squared_error / dof, min_variance)
                return NoiseEstimate(math.sqrt(variance) or 1.0, "estimated")
        # With too many weights for an estimate from the residuals, use the marginal likelihood under the
        # prior.
        ridge = [prior for prior, _ in self._priors.groups if prior.penalty(1.0)[0] == 0]
        if len(ridge) == 1 and len(self._priors.groups) == 1:
            gamma = 1 / math.sqrt(ridge[0].penalty(1.0)[1])
            moments, direction = self._marginal_likelihood_moments(np.square(self._priors.feature_scales))
            if moments.n_rows < 2:
                raise unknown_noise_error(X)
            estimate = estimate_noise(moments, gamma, direction)
            if estimate.sigma**2 * moments.total_weight > MIN_NOISE_SHARE * moments.yy:
                return NoiseEstimate(estimate.sigma, "evidence")
            return self._assume_noise(math.sqrt(moments.yy / moments.total_weight) or 1.0)
        raise unknown_noise_error(self._problem.X)

    def _assume_noise(self, sigma: float) -> NoiseEstimate:
        X = self._problem.X
        warn(
            errors.UnknownNoise(
                f"The noise cannot be estimated from {X.n_rows:,} rows of {X.width:,} features; it is "
                f"assumed to be the targets' standard deviation, {sigma:.3g}, which makes the prior strong.",
                hint=(
                    "State it, for example ",
                    Setting("noise", Call("Normal", 1.0)),
                    ", or give the penalty itself: ",
                    Setting("", Call("Penalty", l2=...)),
                    ".",
                ),
            )
        )
        return NoiseEstimate(sigma, "assumed")

    def _least_squares(self) -> LeastSquaresFit:
        """Return the fit without a prior, refined from the rows if they are in memory."""
        if self._full_moments is not None:
            return fit_least_squares_from_moments(self.moments)
        return fit_least_squares(self._problem, self.moments)

    def _tune_by_marginal_likelihood(self) -> PenalisedFit:
        l1, direction = self._priors.unit_penalties()
        if self._noise.sigma is not None:
            raise errors.ParameterError(
                (
                    "LinearRegression: ",
                    Setting("scale", "evidence"),
                    " estimates the scale of the prior and the noise together.",
                ),
                hint=("Leave ", Setting("noise", "normal"), "."),
            )
        moments, reduced_direction = self._marginal_likelihood_moments(direction)
        estimate = estimate_scales(moments, reduced_direction)
        if estimate.sigma**2 * moments.total_weight <= MIN_NOISE_SHARE * moments.yy:
            raise errors.DataError(
                (Setting("scale", "evidence"), " found no noise, because the features can fit all rows."),
                hint=(
                    "Give the scale as a number with ",
                    Setting("noise", Call("Normal", ...)),
                    ", or use ",
                    Setting("scale", "cv"),
                    ".",
                ),
            )
        l2 = direction * (estimate.sigma / estimate.gamma) ** 2
        noise = NoiseEstimate(estimate.sigma, "evidence")
        return PenalisedFit(
            l1, l2, UNSOLVED, noise, "evidence", estimate.log_marginal_likelihood, prior_scale=estimate.gamma
        )

    def _tune_by_cross_validation(self, tol: float, max_iter: int) -> PenalisedFit:
        l1, l2 = self._priors.unit_penalties()
        if self._full_moments is not None and (self._fold_moments is None or self._folds == "loo"):
            raise errors.DataError(
                "Cross-validation needs the rows in memory, and the file is too large for that.",
                hint=("Use ", Setting("scale", "evidence"), ", or give a number."),
            )
        path = LinearPathSolver(self._problem, l1, l2, tol, max_iter)
        if self._folds == "loo":
            scale = self._tune_by_leave_one_out(l1, l2, path)
        elif self._fold_moments is not None:
            scales = path.make_scales(N_SCALES, MIN_SCALE_RATIO, reduce(Moments.plus, self._fold_moments))
            scale = path.cross_validate_moments(scales, self._fold_moments).best_scale
        elif path.uses_moments:
            folds = consecutive_folds(self._problem.X.n_rows, int(self._folds))
            fold_moments = [Moments.from_problem(self._problem.slice_rows(*fold)) for fold in folds]
            self._moments = reduce(Moments.plus, fold_moments)
            scales = path.make_scales(N_SCALES, MIN_SCALE_RATIO, self._moments)
            scale = path.cross_validate_moments(scales, fold_moments).best_scale
        else:
            scales = path.make_scales(N_SCALES, MIN_SCALE_RATIO)
            scale = path.cross_validate(scales, int(self._folds)).best_scale
        return PenalisedFit(l1 * scale, l2 * scale, UNSOLVED, self._noise, "cross-validation")

    def _tune_by_leave_one_out(self, l1: Floats, l2: Floats, path: LinearPathSolver) -> float:
        """Return the ridge scale with the smallest leave-one-out error."""
        if l1.any():
            raise errors.ParameterError(
                ("LinearRegression: ", Setting("folds", "loo"), " is available for Normal priors only."),
                hint="Give a number of folds.",
            )
        has_few_rows = self._problem.X.n_rows < self._problem.X.width
        moments = None if has_few_rows else self.moments
        scales = path.make_scales(N_SCALES, MIN_SCALE_RATIO, moments)
        return ridge_loo_validation(self._problem, l2, scales, moments).best_scale

    def _solve(self, fit: PenalisedFit, tol: float, max_iter: int) -> PenalisedFit:
        """Solve for the penalties of a fit."""
        solved = self._solve_in_memory(fit, tol, max_iter)
        if self._full_moments is None:
            return solved
        # The rows are known only through their moments, whose rounding errors are part of the gap.
        rounding = self._full_moments.rounding_error(solved.solution.w)
        return replace(solved, solution=replace(solved.solution, gap=solved.solution.gap + rounding))

    def _solve_in_memory(self, fit: PenalisedFit, tol: float, max_iter: int) -> PenalisedFit:
        problem = self._problem.with_penalties(fit.l1, fit.l2)
        if fit.l1.any():
            self._check_unpenalised_count(fit)
            solution = solve_lasso(problem, TOLERANCE_SHARE * tol, max_iter)
            return replace(fit, solution=self._certify(problem, solution, tol))
        if not fit.l2.any():
            return self._solve_without_penalty(fit, problem, tol)
        has_few_rows = self._full_moments is None and (
            problem.X.n_rows < problem.X.width or self._needs_conjugate_gradient
        )
        moments = None if has_few_rows and self._moments is None else self.moments
        # Rows that stand for a file are already centred: their own moments have mean zero, the full ones do
        # not.
        solution = solve_ridge(problem, moments if self._full_moments is None else None)
        solution = self._certify(problem, solution, tol)
        posterior: MomentPosterior | None = None
        max_features = MAX_COVARIANCE_FEATURES_FEW_ROWS if has_few_rows else MAX_COVARIANCE_FEATURES
        if problem.X.width <= max_features and not self._needs_conjugate_gradient:
            posterior = MomentPosterior(self.moments, fit.l2, solution.w, fit.noise.sigma)
        return replace(fit, solution=solution, posterior_maker=posterior)

    def _check_unpenalised_count(self, fit: PenalisedFit) -> None:
        n_free = int(((fit.l1 == 0) & (fit.l2 == 0)).sum())
        if n_free > MAX_COVARIANCE_FEATURES:
            raise errors.DataError(
                f"{n_free:,} features have no penalty while others have one; at most "
                f"{MAX_COVARIANCE_FEATURES:,} are supported. Give them a prior too."
            )

    def _certify(
        self, problem: Problem, solution: Solution, tol: float, gram: Floats | None = None
    ) -> Solution:
        return certify_least_squares(problem, solution, tol * null_objective(problem, False)[0], gram)

    def _solve_without_penalty(self, fit: PenalisedFit, problem: Problem, tol: float) -> PenalisedFit:
        if self._full_moments is None and self._needs_conjugate_gradient:
            return replace(fit, solution=solve_least_squares(problem))
        is_wide = problem.X.n_rows <= problem.X.width + problem.has_intercept
        has_few_rows = self._full_moments is None and (is_wide or self._needs_conjugate_gradient)
        moments = None if has_few_rows else self.moments
        plain = fit_least_squares(problem, None) if has_few_rows else self._least_squares()
        # Rows that stand for a file are centred; the intercept is that of their means.
        b = np.asarray(plain.b if self._full_moments is None else 0.0)
        solution = Solution(plain.w, b, plain.squared_error / 2, plain.gap, 1, plain.method)
        if plain.rank == problem.X.width and problem.X.n_rows * problem.X.width <= MAX_SMALL_CELLS:
            solution = refine_squared(problem, solution)
        is_of_rows = moments is not None and self._full_moments is None and problem.X is self._problem.X
        gram = self.moments.unshifted_gram(problem.X) if is_of_rows else None
        solution = self._certify(problem, solution, tol, gram)
        b = solution.b if self._full_moments is None else self._full_moments.intercept(solution.w)
        plain = replace(plain, w=solution.w, b=float(b), squared_error=2 * solution.objective)
        posterior = None
        if moments is not None and problem.X.width <= MAX_COVARIANCE_FEATURES:
            posterior = MomentPosterior(moments, fit.l2, plain.w, fit.noise.sigma, plain)
        return replace(fit, solution=solution, posterior_maker=posterior)


def unknown_noise_error(X: Matrix) -> errors.DataError:
    """Return the error for rows that do not determine the noise."""
    return errors.DataError(
        "The noise, which the prior's strength depends on, cannot be estimated from "
        f"{format_quantity(X.n_rows, 'row')} of {format_quantity(X.width, 'feature')}.",
        hint=(
            "State it, for example ",
            Setting("noise", Call("Normal", 1.0)),
            ", or give the penalty itself: ",
            Setting("", Call("Penalty", l1=..., l2=...)),
            ".",
        ),
    )
