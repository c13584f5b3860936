"""Squared loss: the noise, the strength of the prior, the weights, and what is known of them."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
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
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.ridge import RowEigendecomposition, solve_ridge
from weigh.model import Posterior
from weigh.text import format_quantity

MAX_COVARIANCE_FEATURES = 5_000  # features of which a covariance is kept
MAX_COVARIANCE_FEATURES_FEW_ROWS = 2_000  # the same if there are fewer rows
N_SCALES, MIN_SCALE_RATIO = (
    100,
    1e-3,
)  # scales that cross-validation tries, and the share of the strongest they go down to


@dataclass(frozen=True)
class NoiseEstimate:
    """The standard deviation of the noise, if it is needed or given, and how it is known."""

    sigma: float | None = None
    source: str = ""


@dataclass(frozen=True, eq=False)
class PenalisedFit:
    """What came of a problem: penalties, solution, noise, and who can tell the posterior."""

    l1: Floats
    l2: Floats
    solution: Solution
    noise: NoiseEstimate
    scale_by: str = "given"
    log_marginal_likelihood: float | None = None
    prior_scale: float | None = None  # of the prior, where it was chosen
    posterior_maker: MomentPosterior | Posterior | None = None


@dataclass(frozen=True, eq=False)
class MomentPosterior:
    """The posterior of a fit from moments, worked out when it is asked for."""

    moments: Moments
    l2: Floats
    w: Floats
    sigma: float | None
    fit: LeastSquaresFit | None = None

    def posterior(self) -> Posterior:
        """Return the posterior; noise that is not known is estimated from the residuals."""
        total = self.moments.total_weight if self.moments.has_intercept else 0.0
        if self.fit is not None and self.sigma is None:
            return classical_posterior(self.fit, self.moments.n_rows, total)
        sigma = self.sigma or residual_noise_std(self.moments, self.w, self.l2)
        return gaussian_posterior(self.moments, self.l2, sigma, self.w)


class PenalisedLeastSquares:
    """One fit of squared loss, its moments made once."""

    def __init__(
        self,
        problem: Problem,
        priors: FeaturePriors,
        noise: NoiseEstimate,
        folds: Folds,
        whole: Moments | None = None,
    ) -> None:
        self._problem, self._priors, self._noise, self._folds = problem, priors, noise, folds
        self._full_moments = whole  # what the problem's few rows stand for
        self._moments: Moments | None = None  # moments of all rows, once somebody has asked for them

    @property
    def _needs_conjugate_gradient(self) -> bool:
        """Whether the rows are too many and too sparse for their moments."""
        return needs_conjugate_gradient(self._problem.X)

    @property
    def _is_wide(self) -> bool:
        """Whether there are fewer rows than features, so that rows by rows is the smaller table."""
        return self._full_moments is None and self._problem.X.n_rows < self._problem.X.width

    def _marginal_likelihood_moments(self, direction: Floats) -> tuple[Moments, Floats]:
        """Return moments, and the direction of a ridge over them, that have the evidence of the problem's.

        Of fewer rows than features those of the rows turned: as many features as rows, all alike.
        """
        if self._is_wide and (direction > 0).all():
            return RowEigendecomposition(self._problem, direction).rotated_moments()
        return self.moments, direction

    @property
    def moments(self) -> Moments:
        """The moments of all rows, made once."""
        if self._moments is None:
            self._moments = self._compute_moments()
        return self._moments

    def _compute_moments(self) -> Moments:
        if self._needs_conjugate_gradient:
            raise errors.DataError(
                f"{self._problem.X.n_rows:,} rows of {self._problem.X.width:,} features are too many for a "
                f"table of features by features, which this prior needs. Give the penalty itself: "
                f"Penalty(l2=...)."
            )
        own = Moments.from_problem(self._problem)
        if self._full_moments is None:
            return own
        return replace(self._full_moments, gram=own.gram, cross=own.cross, yy=own.yy)

    def solve(self, tol: float, max_iter: int) -> PenalisedFit:
        """Settle the noise and the penalties, and solve."""
        chosen = self._priors.prior_to_tune
        if chosen is None:
            noise = self._resolve_noise()
            l1, l2 = self._priors.penalties(noise.sigma or 1.0)
            return self._solve(PenalisedFit(l1, l2, UNSOLVED, noise), tol, max_iter)
        if getattr(chosen, "scale", None) == "evidence":
            return self._solve(self._tune_by_marginal_likelihood(), tol, max_iter)
        return self._solve(self._tune_by_cross_validation(tol, max_iter), tol, max_iter)

    def _resolve_noise(self) -> NoiseEstimate:
        """Return the noise, estimated where a prior's meaning depends on it."""
        needed = any(prior.penalty(1.0) != prior.penalty(2.0) for prior, _ in self._priors.groups)
        if self._noise.sigma is not None or not needed:
            return self._noise
        if self._needs_conjugate_gradient:
            raise unknown_noise_error(self._problem.X)
        X, bias = self._problem.X, self._problem.has_intercept
        if self._full_moments is not None or X.n_rows > X.width + bias:
            moments, fit = self.moments, self._least_squares()
            left = moments.n_rows - fit.rank - moments.has_intercept
            if left > 0:
                # Rows that are fitted exactly leave no noise, and the prior next to no say.
                least = MIN_RELATIVE_NOISE * (moments.yy / moments.total_weight)
                return NoiseEstimate(math.sqrt(max(fit.squared_error / left, least)) or 1.0, "estimated")
        # Too many weights to tell noise from signal by residuals: let the prior tell.
        ridge = [prior for prior, _ in self._priors.groups if prior.penalty(1.0)[0] == 0]
        if len(ridge) == 1 and len(self._priors.groups) == 1:
            gamma = 1 / math.sqrt(ridge[0].penalty(1.0)[1])
            moments, direction = self._marginal_likelihood_moments(np.square(self._priors.feature_scales))
            if moments.n_rows < 2:
                raise unknown_noise_error(X)
            found = estimate_noise(moments, gamma, direction)
            if found.sigma**2 * moments.total_weight > MIN_NOISE_SHARE * moments.yy:
                return NoiseEstimate(found.sigma, "evidence")
            return self._assume_noise(math.sqrt(moments.yy / moments.total_weight) or 1.0)
        raise unknown_noise_error(self._problem.X)

    def _assume_noise(self, sigma: float) -> NoiseEstimate:
        X = self._problem.X
        warnings.warn(
            f"{X.n_rows:,} rows of {X.width:,} features cannot tell how large the noise is; it is taken to "
            f"be the targets' standard deviation, {sigma:.3g}, which makes the prior strong. State it, as in "
            f"noise=Normal(1.0), or give the penalty itself: Penalty(l2=...).",
            errors.UnknownNoise,
            stacklevel=2,
        )
        return NoiseEstimate(sigma, "assumed")

    def _least_squares(self) -> LeastSquaresFit:
        """Return the fit without a prior, refined from the rows where they are at hand."""
        if self._full_moments is not None:
            return fit_least_squares_from_moments(self.moments)
        return fit_least_squares(self._problem, self.moments)

    def _tune_by_marginal_likelihood(self) -> PenalisedFit:
        l1, direction = self._priors.unit_penalties()
        if self._noise.sigma is not None:
            raise errors.ParameterError(
                "LinearRegression: the evidence chooses the scale of the prior and the noise together. Leave "
                "noise='normal'."
            )
        moments, turned = self._marginal_likelihood_moments(direction)
        found = estimate_scales(moments, turned)
        if found.sigma**2 * moments.total_weight <= MIN_NOISE_SHARE * moments.yy:
            raise errors.DataError(
                "The evidence is greatest without any noise: the features can fit all rows. Give the scale "
                "as a number with noise=Normal(...), or choose it by scale='cv'."
            )
        l2 = direction * (found.sigma / found.gamma) ** 2
        noise = NoiseEstimate(found.sigma, "evidence")
        return PenalisedFit(
            l1, l2, UNSOLVED, noise, "evidence", found.log_marginal_likelihood, prior_scale=found.gamma
        )

    def _tune_by_cross_validation(self, tol: float, max_iter: int) -> PenalisedFit:
        l1, l2 = self._priors.unit_penalties()
        if self._full_moments is not None:
            raise errors.DataError(
                "Cross-validation needs the rows in memory, and the file is too large to be held. Choose by "
                "scale='evidence', or give a number."
            )
        track = LinearPathSolver(self._problem, l1, l2, tol, max_iter)
        if self._folds == "loo":
            scale = self._tune_by_leave_one_out(l1, l2, track)
        elif track.uses_moments:
            folds = consecutive_folds(self._problem.X.n_rows, int(self._folds))
            parts = [Moments.from_problem(self._problem.slice_rows(*fold)) for fold in folds]
            total = reduce(Moments.plus, parts)
            self._moments = total
            scale = track.cross_validate_moments(
                track.make_scales(N_SCALES, MIN_SCALE_RATIO, total), parts
            ).best_scale
        else:
            scale = track.cross_validate(
                track.make_scales(N_SCALES, MIN_SCALE_RATIO), int(self._folds)
            ).best_scale
        return PenalisedFit(l1 * scale, l2 * scale, UNSOLVED, self._noise, "cross-validation")

    def _tune_by_leave_one_out(self, l1: Floats, l2: Floats, track: LinearPathSolver) -> float:
        """Return the scale of ridge that predicts rows best that were left out one by one, by formula."""
        if l1.any():
            raise errors.ParameterError(
                "LinearRegression: folds='loo' has a formula for Normal priors only. Give a number of folds."
            )
        few = self._problem.X.n_rows < self._problem.X.width
        moments = None if few else self.moments
        scales = track.make_scales(N_SCALES, MIN_SCALE_RATIO, moments)
        return ridge_loo_validation(self._problem, l2, scales, moments).best_scale

    def _solve(self, found: PenalisedFit, tol: float, max_iter: int) -> PenalisedFit:
        solved = self._solve_in_memory(found, tol, max_iter)
        if self._full_moments is None:
            return solved
        # Of rows that are gone only sums are known, and those are rounded.
        sizes = float(np.abs(solved.solution.w) @ np.sqrt(np.diagonal(self._full_moments.gram)))
        rounded = 4 * float(np.finfo(np.float64).eps) * (self._full_moments.yy + sizes**2)
        return replace(solved, solution=replace(solved.solution, gap=max(solved.solution.gap, rounded)))

    def _solve_in_memory(self, found: PenalisedFit, tol: float, max_iter: int) -> PenalisedFit:
        problem = self._problem.with_penalties(found.l1, found.l2)
        if found.l1.any():
            self._check_unpenalised_count(found)
            return replace(found, solution=solve_lasso(problem, tol, max_iter))
        if not found.l2.any():
            return self._solve_without_penalty(found, problem)
        few = self._full_moments is None and (
            problem.X.n_rows < problem.X.width or self._needs_conjugate_gradient
        )
        moments = None if few and self._moments is None else self.moments
        # Rows that stand for others are counted from the means, and so must their moments be.
        solution = solve_ridge(problem, moments if self._full_moments is None else None)
        knowledge: MomentPosterior | None = None
        if (
            problem.X.width <= (MAX_COVARIANCE_FEATURES_FEW_ROWS if few else MAX_COVARIANCE_FEATURES)
            and not self._needs_conjugate_gradient
        ):
            knowledge = MomentPosterior(self.moments, found.l2, solution.w, found.noise.sigma)
        return replace(found, solution=solution, posterior_maker=knowledge)

    def _check_unpenalised_count(self, found: PenalisedFit) -> None:
        free = int(((found.l1 == 0) & (found.l2 == 0)).sum())
        if free > MAX_COVARIANCE_FEATURES:
            raise errors.DataError(
                f"{free:,} features have no penalty beside others that have one, and {MAX_COVARIANCE_FEATURES:,} are the "
                f"most. Give them a prior too."
            )

    def _solve_without_penalty(self, found: PenalisedFit, problem: Problem) -> PenalisedFit:
        if self._full_moments is None and self._needs_conjugate_gradient:
            return replace(found, solution=solve_least_squares(problem))
        few = problem.X.n_rows <= problem.X.width + problem.has_intercept
        few = self._full_moments is None and (few or self._needs_conjugate_gradient)
        moments = None if few else self.moments
        fit = fit_least_squares(problem, None) if few else self._least_squares()
        b = np.asarray(fit.b)
        solution = Solution(fit.w, b, fit.squared_error / 2, fit.gap, 1, fit.method)
        knowledge = None
        if moments is not None and problem.X.width <= MAX_COVARIANCE_FEATURES:
            knowledge = MomentPosterior(moments, found.l2, fit.w, found.noise.sigma, fit)
        return replace(found, solution=solution, posterior_maker=knowledge)


def unknown_noise_error(X: Matrix) -> errors.DataError:
    """Word the refusal of rows that do not tell how large the noise is."""
    return errors.DataError(
        f"{format_quantity(X.n_rows, 'row')} of {format_quantity(X.width, 'feature')} cannot tell how large the noise is, "
        f"and the prior's strength depends on it. State it, as in noise=Normal(1.0), or give the penalty "
        f"itself: Penalty(l1=..., l2=...)."
    )


MIN_RELATIVE_NOISE = 1e-20  # of the targets' variance
MIN_NOISE_SHARE = 1e-6  # of the targets' squares: so little noise means that the evidence found none
UNSOLVED = Solution(np.zeros(0), np.zeros(0), math.inf, math.inf, 0, "not solved yet")
