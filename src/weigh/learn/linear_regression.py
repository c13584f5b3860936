"""The task of linear regression: read the rows, resolve noise and prior, solve, certify."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Call, Setting, set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Floats
from weigh.features.label_numbers import detect_label_numbers
from weigh.features.schema import Schema
from weigh.learn.additive.fitting import is_additive
from weigh.learn.additive.models import CurveSettings, check_curve_parameters, learn_linear
from weigh.learn.dataset import Progress
from weigh.learn.design_matrix import linear_schema
from weigh.learn.folds.features import find_features
from weigh.learn.folds.moments import MomentsTask
from weigh.learn.linear.absolute_certificate import certify_absolute
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
from weigh.learn.linear.penalties import ColumnPriors
from weigh.learn.linear.problem import null_objective, weighted_median
from weigh.learn.linear.problem_setup import (
    ProblemSetup,
    common_value,
    format_prior,
    optimality_certificate,
    select_fields,
    set_up_problem,
    warn_unless_optimal,
)
from weigh.learn.linear.training_data import (
    TrainingData,
    build_training_data,
    compress_dataset,
    compress_moments,
    load_training_data,
    read_dataset,
)
from weigh.learn.scaling import (
    centres_missing_numbers,
    resolve_regression_scale,
    warn_unlike_regression_scales,
)
from weigh.learn.task import Fold
from weigh.model.fit import Fit
from weigh.model.regression import RegressionModel
from weigh.parameters.learners import LINEAR_REGRESSION
from weigh.priors.conversion import WeightPrior
from weigh.priors.location_scale import Laplace, Normal
from weigh.source.base import Source

MIN_NOTED_FEATURES = 100  # fewer features than rows are no surprise in a small table


@dataclass(frozen=True)
class LinearTask:
    """Fits a linear regression; prior and noise determine the objective."""

    schema: Schema
    prior: WeightPrior | ColumnPriors | None
    noise: Normal | Laplace | str
    bias: bool
    scale: str | None
    offset: str | None
    folds: Folds
    tol: float
    max_iter: int
    curves: str | None = None
    pairs: Any = None

    @classmethod
    def for_source(cls, source: Source, columns: object = "auto", **parameters: Any) -> LinearTask:
        """Return the task for a source: check the parameters and infer the kinds of the columns."""
        values = LINEAR_REGRESSION.check(parameters)
        prior = parameters.get("prior", LINEAR_REGRESSION.defaults["prior"])
        schema = linear_schema(
            source,
            columns,
            missing=values["missing"],
            whole_numbers=True,
            centres_missing=centres_missing_numbers(values["scale"], prior),
            curves=values["curves"],
        )
        check_curve_parameters(
            LINEAR_REGRESSION.owner, values, schema, pools_levels=values["curves"] is not None
        )
        scale = resolve_regression_scale(values["scale"], source, prior)
        if (scale, values["scale"]) == (None, "auto") and not (prior is None or isinstance(columns, Schema)):
            warn_unlike_regression_scales(schema, source)
        labels = source.prefix().labels
        found = None if labels is None else detect_label_numbers(labels, schema.missing, source.number_format)
        schema = schema if found is None else replace(schema, label_reading=found.reading)
        return cls(schema, **select_fields(cls, values | {"scale": scale}))

    @property
    def is_absolute(self) -> bool:
        """Whether the loss is absolute (Laplace noise)."""
        return isinstance(self.noise, Laplace) or self.noise == "laplace"

    def learn(self, source: Source, *, progress: Progress | None = None) -> RegressionModel:
        """Fit the model to the rows of a source."""
        # Least squares does not shrink levels, so those of a table without numbers are pooled too.
        pools_levels = self.curves is not None
        if is_additive(self.schema, self.pairs, pools_levels):
            data = load_training_data(self.schema, source, is_regression=True, progress=progress)
            settings = CurveSettings(
                LINEAR_REGRESSION.owner, self.prior, self.pairs, self.tol, self.max_iter, pools_levels
            )
            model = learn_linear(data, settings)
            if model is not None:
                return model
        # Without an intercept the moments cannot be centred and would lose precision for distant columns.
        caches_all = self.is_absolute or not self.bias
        dataset = read_dataset(
            self.schema, source, is_regression=True, caches_all=caches_all, progress=progress
        )
        moments = None
        if not dataset.is_cached and dataset.feature_index.width > MAX_COVARIANCE_FEATURES:
            # The moments would need more memory than the rows.
            dataset = read_dataset(self.schema, source, is_regression=True, progress=progress)
        if dataset.is_cached:
            data = build_training_data(self.schema, dataset, is_regression=True)
        else:
            data, moments = compress_dataset(self.schema, dataset, self.bias)
        setup = self.set_up(data, moments)
        if moments is None and self.prior is None:
            _warn_of_exact_fit(setup)
        fit = self._fit_absolute_loss(setup) if self.is_absolute else self._fit_squared_loss(setup, moments)
        return self._build_model(setup, fit, moments)

    def learn_by_folds(self, source: Source, fold: Fold) -> RegressionModel:
        """Fit the model to partitions: its features are one fold, if they are not known, and its sums one."""
        if self.is_absolute:
            raise errors.Unsupported(
                "Absolute loss has no sums from which its minimum follows, so partitions cannot fit it.",
                hint=("Use ", Setting("noise", "normal"), ", or collect the rows."),
            )
        index, _ = find_features(self.schema, fold, has_classes=False)
        if index.width > MAX_COVARIANCE_FEATURES:
            raise errors.DataError(
                f"The rows have {index.width:,} features; sums over partitions are supported for at most "
                f"{MAX_COVARIANCE_FEATURES:,}.",
                hint="Use fewer columns, or words that are frequent: min_count= or max_words=.",
            )
        n_folds = self.folds if isinstance(self.folds, int) and tunes_by_rows(self.prior) else 1
        sums = fold(MomentsTask(self.schema, index, n_folds))
        data, moments = compress_moments(
            self.schema, index, sums.moments, self.bias, sums.is_binary, sums.n_missing, sums.rows
        )
        setup = self.set_up(data, moments)
        fit = self._fit_squared_loss(setup, moments, sums.folds if n_folds > 1 else None)
        return self._build_model(setup, fit, moments)

    def set_up(self, data: TrainingData, moments: Moments | None = None) -> ProblemSetup:
        """Set up the problem; rows compressed from `moments` are centred and have no intercept."""
        bias = self.bias and moments is None
        units = None if self.scale is None or moments is None else moments.std
        return set_up_problem(
            data,
            self.prior,
            None,
            has_intercept=bias,
            scale=self.scale,
            offset=self.offset,
            owner=LINEAR_REGRESSION.owner,
            feature_stds=units,
        )

    def _fit_squared_loss(
        self, setup: ProblemSetup, moments: Moments | None, folds: list[Moments] | None = None
    ) -> PenalisedFit:
        sigma = float(self.noise.scale) if isinstance(self.noise, Normal) else None
        noise = NoiseEstimate() if sigma is None else NoiseEstimate(sigma, "given")
        selected = None if moments is None else self._select_moments(setup, moments)
        selected_folds = None if folds is None else [self._select_moments(setup, each) for each in folds]
        solver = PenalisedLeastSquares(
            setup.problem, setup.priors, noise, self.folds, selected, selected_folds
        )
        return solver.solve(self.tol, self.max_iter)

    def _select_moments(self, setup: ProblemSetup, moments: Moments) -> Moments:
        """Return the moments of the problem's features, for the targets that are left to explain."""
        moments = moments if self.bias else moments.without_intercept()
        return moments.subtract_baseline(setup.baseline_weights).select(setup.feature_indices)

    def _fit_absolute_loss(self, setup: ProblemSetup) -> PenalisedFit:
        problem = setup.problem
        if setup.priors.prior_to_tune is not None:
            raise errors.ParameterError(
                f"{LINEAR_REGRESSION.owner}: the scale of a prior can be chosen for squared loss only.",
                hint=("Give a number, or ", Setting("noise", "normal"), "."),
            )
        if needs_conjugate_gradient(problem.X):
            raise errors.DataError(
                f"{problem.X.n_rows:,} rows with {problem.X.width:,} features are too many for absolute "
                "loss.",
                hint=("Use ", Setting("noise", "normal"), "."),
            )
        b = float(self.noise.scale) if isinstance(self.noise, Laplace) else None
        if b is None and any(p.penalty(1.0) != p.penalty(2.0) for p, _ in setup.priors.groups):
            # As for squared loss, estimate the scale from the residuals of the unpenalised fit.
            b = solve_lad(problem, self.tol, self.max_iter).objective / problem.total_weight
            if b <= MIN_NOISE_SHARE * null_objective(problem, True)[0] / problem.total_weight:
                raise unknown_noise_error(problem.X)
            noise = NoiseEstimate(b, "estimated")
        else:
            noise = NoiseEstimate(b, "" if b is None else "given")
        l1, l2 = setup.priors.penalties(math.sqrt(b) if b else 1.0)
        problem = problem.with_penalties(l1, l2)
        solution = solve_lad(problem, self.tol, self.max_iter)
        solution = certify_absolute(problem, solution, self.tol * null_objective(problem, True)[0])
        return PenalisedFit(l1, l2, solution, noise)

    def _build_model(
        self, setup: ProblemSetup, penalised: PenalisedFit, moments: Moments | None
    ) -> RegressionModel:
        problem = setup.problem.with_penalties(penalised.l1, penalised.l2)
        null, spread = null_objective(problem, self.is_absolute)
        n_rows, total = problem.X.n_rows, problem.total_weight
        if moments is not None:
            spread = math.sqrt(float(moments.squared_error(setup.baseline_weights)) / moments.total_weight)
            n_rows, total = moments.n_rows, moments.total_weight
        solution = penalised.solution
        certificate = optimality_certificate(solution, null, self.tol)
        warn_unless_optimal(certificate, LINEAR_REGRESSION.owner, self.max_iter)
        table = setup.full_weights(solution.w)[:, None]
        loss = solution.objective - problem.penalty(solution.w)
        fit = Fit(
            "absolute" if self.is_absolute else "squared",
            format_prior(self.prior),
            common_value(penalised.l1),
            common_value(penalised.l2),
            total,
            n_rows,
            self.bias,
            penalised.noise.sigma,
            penalised.noise.source,
            penalised.scale_by,
            spread,
            _explained_fraction(setup.data.y, setup.data.weights, loss, self.is_absolute, moments),
            penalised.log_marginal_likelihood,
            is_centred=setup.centre is None,
            lost=loss,
            scale=penalised.prior_scale,
            units=None
            if setup.scaling is None
            else setup.priors.common_standardised_penalties(penalised.l1, penalised.l2),
            scaling=setup.scaling,
        )
        b = solution.b if moments is None or not self.bias else moments.intercept(table[:, 0])
        intercept = np.atleast_1d(b).astype(np.float64)
        posterior = setup.reindex_posterior(penalised.posterior_maker)
        terms = setup.build_terms(table)
        rows = setup.data.training_rows
        return RegressionModel(self.schema, intercept, terms, fit, certificate, posterior, training_rows=rows)


def tunes_by_rows(prior: object) -> bool:
    """Whether the scale of a prior, or of one of several, is chosen by cross-validation."""
    priors = prior.values() if isinstance(prior, Mapping) else [prior]
    return any(getattr(each, "scale", None) == "cv" for each in priors)


def _warn_of_exact_fit(setup: ProblemSetup) -> None:
    """Warn if the columns of a named table have as many features as rows; of a matrix that is known."""
    X, data = setup.problem.X, setup.data
    if not data.schema.named or X.width < max(MIN_NOTED_FEATURES, X.n_rows - setup.problem.has_intercept):
        return
    name, features = max(data.column_features, key=lambda column: len(column[1]))
    warn(
        errors.ExactFit(
            f"{X.n_rows:,} rows have {X.width:,} features, {len(features):,} of them from column {name!r}, "
            "so the weights fit these rows exactly and say little about others.",
            hint=("Use ", Setting("prior", Call("Normal", "cv")), ", or ", set_kind(name, "skip"), "."),
        ),
        [name],
    )


def _explained_fraction(
    y: Floats, weights: Floats | None, loss: float, is_absolute: bool, moments: Moments | None
) -> float | None:
    """Return 1 − loss / (loss of the best constant), which is R² for squared loss; None if y is constant."""
    if moments is not None:
        yy = moments.yy
        null_loss = (yy if moments.has_intercept else yy - moments.total_weight * moments.mean_y**2) / 2
    else:
        s = np.ones(len(y)) if weights is None else weights
        centre = weighted_median(y, s) if is_absolute else float(np.average(y, weights=s))
        residual = y - centre
        null_loss = float(s @ np.abs(residual)) if is_absolute else float(s @ np.square(residual)) / 2
    return 1 - loss / null_loss if null_loss > 0 else None
