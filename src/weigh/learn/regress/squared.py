"""Squared loss: the noise, the strength of the prior, the weights, and what is known of them."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.learn.regress.evidence import choose_noise_by_evidence, choose_scale_by_evidence, noise_sd
from weigh.learn.regress.folds import Folds, consecutive
from weigh.learn.regress.gradients import asks_for_gradients
from weigh.learn.regress.lasso import solve_lasso
from weigh.learn.regress.least_squares import Fit, fit_least_squares, fit_moments, solve_least_squares
from weigh.learn.regress.matrix import Matrix
from weigh.learn.regress.moments import Moments
from weigh.learn.regress.posterior import classical_of, posterior
from weigh.learn.regress.problem import Problem, Solution
from weigh.learn.regress.ridge import solve_ridge
from weigh.learn.regress.ridge_choice import ridge_left_out
from weigh.learn.regress.row_spectrum import RowSpectrum
from weigh.learn.regress.track import LinearTrack
from weigh.learn.regress.weight_priors import FeaturePriors
from weigh.model import Posterior
from weigh.text import counted

MOST_KNOWN = 5_000  # features of which a covariance is kept
MOST_FROM_FEW = 2_000  # the same if there are fewer rows
TRIED, WEAKEST = (
    100,
    1e-3,
)  # scales that cross-validation tries, and the share of the strongest they go down to


@dataclass(frozen=True)
class Noise:
    """The standard deviation of the noise, if it is needed or given, and how it is known."""

    sigma: float | None = None
    by: str = ""


@dataclass(frozen=True, eq=False)
class Squared:
    """What came of a problem: penalties, solution, noise, and who can tell the posterior."""

    l1: Floats
    l2: Floats
    solution: Solution
    noise: Noise
    scale_by: str = "given"
    evidence: float | None = None
    scale: float | None = None  # of the prior, where it was chosen
    knowledge: Known | Posterior | None = None


@dataclass(frozen=True, eq=False)
class Known:
    """The posterior of a fit from moments, worked out when it is asked for."""

    moments: Moments
    l2: Floats
    w: Floats
    sigma: float | None
    fit: Fit | None = None

    def posterior(self) -> Posterior:
        """Return the posterior; noise that is not known is estimated from the residuals."""
        total = self.moments.total if self.moments.bias else 0.0
        if self.fit is not None and self.sigma is None:
            return classical_of(self.fit, self.moments.n_rows, total)
        sigma = self.sigma or noise_sd(self.moments, self.w, self.l2)
        return posterior(self.moments, self.l2, sigma, self.w)


class SquaredFit:
    """One fit of squared loss, its moments made once."""

    def __init__(
        self,
        problem: Problem,
        priors: FeaturePriors,
        noise: Noise,
        folds: Folds,
        whole: Moments | None = None,
    ) -> None:
        self._problem, self._priors, self._noise, self._folds = problem, priors, noise, folds
        self._whole = whole  # what the problem's few rows stand for
        self._known: Moments | None = None  # moments of all rows, once somebody has asked for them

    @property
    def _is_vast(self) -> bool:
        """Whether the rows are too many and too sparse for their moments."""
        return asks_for_gradients(self._problem.X)

    @property
    def _is_wide(self) -> bool:
        """Whether there are fewer rows than features, so that rows by rows is the smaller table."""
        return self._whole is None and self._problem.X.n_rows < self._problem.X.width

    def _telling(self, direction: Floats) -> tuple[Moments, Floats]:
        """Return moments, and the direction of a ridge over them, that have the evidence of the problem's.

        Of fewer rows than features those of the rows turned: as many features as rows, all alike.
        """
        if self._is_wide and (direction > 0).all():
            return RowSpectrum(self._problem, direction).moments()
        return self.moments, direction

    @property
    def moments(self) -> Moments:
        """The moments of all rows, made once."""
        if self._known is None:
            self._known = self._made_moments()
        return self._known

    def _made_moments(self) -> Moments:
        if self._is_vast:
            raise errors.DataError(
                f"{self._problem.X.n_rows:,} rows of {self._problem.X.width:,} features are too many for a "
                f"table of features by features, which this prior needs. Give the penalty itself: "
                f"Penalty(l2=...)."
            )
        own = Moments.of_problem(self._problem)
        if self._whole is None:
            return own
        return replace(self._whole, gram=own.gram, cross=own.cross, yy=own.yy)

    def solved(self, tol: float, max_iter: int) -> Squared:
        """Settle the noise and the penalties, and solve."""
        chosen = self._priors.chosen
        if chosen is None:
            noise = self._settled_noise()
            l1, l2 = self._priors.penalties(noise.sigma or 1.0)
            return self._solve(Squared(l1, l2, NONE, noise), tol, max_iter)
        if getattr(chosen, "scale", None) == "evidence":
            return self._solve(self._by_evidence(), tol, max_iter)
        return self._solve(self._by_folds(tol, max_iter), tol, max_iter)

    def _settled_noise(self) -> Noise:
        """Return the noise, estimated where a prior's meaning depends on it."""
        needed = any(prior.penalty(1.0) != prior.penalty(2.0) for prior, _ in self._priors.groups)
        if self._noise.sigma is not None or not needed:
            return self._noise
        if self._is_vast:
            raise unknown_noise(self._problem.X)
        X, bias = self._problem.X, self._problem.bias
        if self._whole is not None or X.n_rows > X.width + bias:
            moments, fit = self.moments, self._least_squares()
            left = moments.n_rows - fit.rank - moments.bias
            if left > 0:
                # Rows that are fitted exactly leave no noise, and the prior next to no say.
                least = LEAST_NOISE * (moments.yy / moments.total)
                return Noise(math.sqrt(max(fit.squared_error / left, least)) or 1.0, "estimated")
        # Too many weights to tell noise from signal by residuals: let the prior tell.
        ridge = [prior for prior, _ in self._priors.groups if prior.penalty(1.0)[0] == 0]
        if len(ridge) == 1 and len(self._priors.groups) == 1:
            gamma = 1 / math.sqrt(ridge[0].penalty(1.0)[1])
            moments, direction = self._telling(np.square(self._priors.units))
            if moments.n_rows < 2:
                raise unknown_noise(X)
            found = choose_noise_by_evidence(moments, gamma, direction)
            if found.sigma**2 * moments.total > SILENT * moments.yy:
                return Noise(found.sigma, "evidence")
            return self._assumed_noise(math.sqrt(moments.yy / moments.total) or 1.0)
        raise unknown_noise(self._problem.X)

    def _assumed_noise(self, sigma: float) -> Noise:
        X = self._problem.X
        warnings.warn(
            f"{X.n_rows:,} rows of {X.width:,} features cannot tell how large the noise is; it is taken to "
            f"be the targets' standard deviation, {sigma:.3g}, which makes the prior strong. State it, as in "
            f"noise=Normal(1.0), or give the penalty itself: Penalty(l2=...).",
            errors.UnknownNoise,
            stacklevel=2,
        )
        return Noise(sigma, "assumed")

    def _least_squares(self) -> Fit:
        """Return the fit without a prior, refined from the rows where they are at hand."""
        if self._whole is not None:
            return fit_moments(self.moments)
        return fit_least_squares(self._problem, self.moments)

    def _by_evidence(self) -> Squared:
        l1, direction = self._priors.direction()
        if self._noise.sigma is not None:
            raise errors.ParameterError(
                "LinearRegression: the evidence chooses the scale of the prior and the noise together. Leave "
                "noise='normal'."
            )
        moments, turned = self._telling(direction)
        found = choose_scale_by_evidence(moments, turned)
        if found.sigma**2 * moments.total <= SILENT * moments.yy:
            raise errors.DataError(
                "The evidence is greatest without any noise: the features can fit all rows. Give the scale "
                "as a number with noise=Normal(...), or choose it by scale='cv'."
            )
        l2 = direction * (found.sigma / found.gamma) ** 2
        noise = Noise(found.sigma, "evidence")
        return Squared(l1, l2, NONE, noise, "evidence", found.log_evidence, scale=found.gamma)

    def _by_folds(self, tol: float, max_iter: int) -> Squared:
        l1, l2 = self._priors.direction()
        if self._whole is not None:
            raise errors.DataError(
                "Cross-validation needs the rows in memory, and the file is too large to be held. Choose by "
                "scale='evidence', or give a number."
            )
        track = LinearTrack(self._problem, l1, l2, tol, max_iter)
        if self._folds == "loo":
            scale = self._left_out(l1, l2, track)
        elif track.by_moments:
            folds = consecutive(self._problem.X.n_rows, int(self._folds))
            parts = [Moments.of_problem(self._problem.cut(*fold)) for fold in folds]
            total = reduce(Moments.plus, parts)
            self._known = total
            scale = track.judged_by(track.scales(TRIED, WEAKEST, total), parts).scale
        else:
            scale = track.judged(track.scales(TRIED, WEAKEST), int(self._folds)).scale
        return Squared(l1 * scale, l2 * scale, NONE, self._noise, "cross-validation")

    def _left_out(self, l1: Floats, l2: Floats, track: LinearTrack) -> float:
        """Return the scale of ridge that predicts rows best that were left out one by one, by formula."""
        if l1.any():
            raise errors.ParameterError(
                "LinearRegression: folds='loo' has a formula for Normal priors only. Give a number of folds."
            )
        few = self._problem.X.n_rows < self._problem.X.width
        moments = None if few else self.moments
        scales = track.scales(TRIED, WEAKEST, moments)
        return ridge_left_out(self._problem, l2, scales, moments).scale

    def _solve(self, found: Squared, tol: float, max_iter: int) -> Squared:
        solved = self._solved(found, tol, max_iter)
        if self._whole is None:
            return solved
        # Of rows that are gone only sums are known, and those are rounded.
        sizes = float(np.abs(solved.solution.w) @ np.sqrt(np.diagonal(self._whole.gram)))
        rounded = 4 * float(np.finfo(np.float64).eps) * (self._whole.yy + sizes**2)
        return replace(solved, solution=replace(solved.solution, gap=max(solved.solution.gap, rounded)))

    def _solved(self, found: Squared, tol: float, max_iter: int) -> Squared:
        problem = self._problem.penalised(found.l1, found.l2)
        if found.l1.any():
            self._check_free(found)
            return replace(found, solution=solve_lasso(problem, tol, max_iter))
        if not found.l2.any():
            return self._unpenalised(found, problem)
        few = self._whole is None and (problem.X.n_rows < problem.X.width or self._is_vast)
        moments = None if few and self._known is None else self.moments
        # Rows that stand for others are counted from the means, and so must their moments be.
        solution = solve_ridge(problem, moments if self._whole is None else None)
        knowledge: Known | None = None
        if problem.X.width <= (MOST_FROM_FEW if few else MOST_KNOWN) and not self._is_vast:
            knowledge = Known(self.moments, found.l2, solution.w, found.noise.sigma)
        return replace(found, solution=solution, knowledge=knowledge)

    def _check_free(self, found: Squared) -> None:
        free = int(((found.l1 == 0) & (found.l2 == 0)).sum())
        if free > MOST_KNOWN:
            raise errors.DataError(
                f"{free:,} features have no penalty beside others that have one, and {MOST_KNOWN:,} are the "
                f"most. Give them a prior too."
            )

    def _unpenalised(self, found: Squared, problem: Problem) -> Squared:
        if self._whole is None and self._is_vast:
            return replace(found, solution=solve_least_squares(problem))
        few = problem.X.n_rows <= problem.X.width + problem.bias
        few = self._whole is None and (few or self._is_vast)
        moments = None if few else self.moments
        fit = fit_least_squares(problem, None) if few else self._least_squares()
        b = np.asarray(fit.b)
        solution = Solution(fit.w, b, fit.squared_error / 2, fit.gap, 1, fit.method)
        knowledge = None
        if moments is not None and problem.X.width <= MOST_KNOWN:
            knowledge = Known(moments, found.l2, fit.w, found.noise.sigma, fit)
        return replace(found, solution=solution, knowledge=knowledge)


def unknown_noise(X: Matrix) -> errors.DataError:
    """Word the refusal of rows that do not tell how large the noise is."""
    return errors.DataError(
        f"{counted(X.n_rows, 'row')} of {counted(X.width, 'feature')} cannot tell how large the noise is, "
        f"and the prior's strength depends on it. State it, as in noise=Normal(1.0), or give the penalty "
        f"itself: Penalty(l1=..., l2=...)."
    )


LEAST_NOISE = 1e-20  # of the targets' variance
SILENT = 1e-6  # of the targets' squares: so little noise means that the evidence found none
NONE = Solution(np.zeros(0), np.zeros(0), math.inf, math.inf, 0, "not solved yet")
