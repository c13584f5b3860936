"""The task of exact logistic regression: read the rows, resolve the prior, solve, certify."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.features.blocks import Floats
from weigh.features.schema import Schema
from weigh.features.width import check_score_memory
from weigh.learn.additive.fitting import is_additive
from weigh.learn.additive.models import CurveSettings, check_curve_parameters, learn_logistic
from weigh.learn.class_weights import compute_class_weights, weigh_rows, zero_weight_classes
from weigh.learn.dataset import Progress
from weigh.learn.design_matrix import linear_schema
from weigh.learn.linear.log_certificate import certify_log
from weigh.learn.linear.logistic import null_model, solve_l1_logistic, solve_logistic
from weigh.learn.linear.newton import name_diverging_features
from weigh.learn.linear.path import LogisticPathSolver
from weigh.learn.linear.penalties import ColumnPriors
from weigh.learn.linear.posterior import LaplaceApproximation
from weigh.learn.linear.prior_scale import can_choose_prior_scale, choose_prior_scale
from weigh.learn.linear.problem import (
    Problem,
    Solution,
    centre_distant_columns,
    centre_offset,
    centre_solution,
    orthogonalise,
    uncentre_solution,
)
from weigh.learn.linear.problem_setup import (
    ProblemSetup,
    absorb_constants,
    common_value,
    format_prior,
    optimality_certificate,
    select_fields,
    set_up_problem,
    warn_unless_optimal,
)
from weigh.learn.linear.training_data import TrainingData, load_training_data
from weigh.learn.scaling import (
    centres_missing_numbers,
    has_column_names,
    resolve_regression_scale,
    warn_unlike_regression_scales,
)
from weigh.model.fit import Fit
from weigh.model.logistic import LogisticModel
from weigh.model.perceptron import to_class_columns
from weigh.parameters.learners import LOGISTIC_REGRESSION
from weigh.priors.conversion import WeightPrior
from weigh.priors.location_scale import Normal
from weigh.source.base import Source

EXACT_PARAMETERS = LOGISTIC_REGRESSION.for_method("exact")
DEFAULT_PRIOR = Normal(1.0)  # for columns that a mapping does not name
N_SCALES = 20  # of penalties in cross-validation
MIN_L1_RATIO, MIN_L2_RATIO = 1e-3, 1e-8  # last / first scale; classes that a plane separates have small l2
TOLERANCE_SHARE = 0.9  # of the tolerance for the solver; the rest is for rounding errors
TUNING_TOLERANCE = 1e-4  # a duality gap small enough to select a scale


@dataclass(frozen=True)
class LogisticTask:
    """Fits a logistic regression by minimising log loss plus the penalty of the prior."""

    schema: Schema
    prior: WeightPrior | ColumnPriors | None
    bias: bool
    scale: str | None
    offset: str | None
    class_weight: Any
    folds: int
    tol: float
    max_iter: int
    chooses_prior_scale: bool = False
    curves: str | None = None
    pairs: Any = None

    @classmethod
    def for_source(cls, source: Source, columns: object = "auto", **parameters: Any) -> LogisticTask:
        """Return the task for a source: check the parameters and infer the kinds of the columns."""
        values = EXACT_PARAMETERS.check(parameters)
        prior = parameters.get("prior", EXACT_PARAMETERS.defaults["prior"])
        scale = resolve_regression_scale(values["scale"], source, prior)
        schema = linear_schema(
            source,
            columns,
            missing=values["missing"],
            whole_numbers=True,
            weighs_text=scale == "auto",
            centres_missing=centres_missing_numbers(values["scale"], prior),
            curves=values["curves"],
        )
        check_curve_parameters(EXACT_PARAMETERS.owner, values, schema)
        if (scale, values["scale"]) == (None, "auto") and not (prior is None or isinstance(columns, Schema)):
            warn_unlike_regression_scales(schema, source)
        # The prior of a bare array is that of scikit-learn on the same array.
        chooses_scale = isinstance(prior, str) and has_column_names(source)
        return cls(schema, **select_fields(cls, values | {"scale": scale}), chooses_prior_scale=chooses_scale)

    def learn(self, source: Source, *, progress: Progress | None = None) -> LogisticModel:
        """Fit the model to the rows of a source."""
        data = load_training_data(
            self.schema,
            source,
            is_regression=False,
            ignored_classes=zero_weight_classes(self.class_weight),
            progress=progress,
        )
        check_two_classes(data)
        totals = np.bincount(data.y, data.weights, minlength=len(data.classes))
        if is_additive(self.schema, self.pairs):
            weighted = replace(data, weights=apply_class_weights(self.class_weight, data))
            prior = None if self.chooses_prior_scale else self.prior
            settings = CurveSettings(EXACT_PARAMETERS.owner, prior, self.pairs, self.tol, self.max_iter)
            model = learn_logistic(weighted, totals / totals.sum(), settings)
            if model is not None:
                return model
        setup = self.set_up(data)
        try:
            return self._build_model(setup, totals / totals.sum())
        except errors.Separated as cause:
            raise name_diverging_features(cause, setup.priors.names()) from None

    def set_up(self, data: TrainingData) -> ProblemSetup:
        """Set up the problem for the training data."""
        check_two_classes(data)
        check_score_memory(data.X.n_rows, len(data.classes))
        return set_up_problem(
            replace(data, weights=apply_class_weights(self.class_weight, data)),
            self.prior,
            DEFAULT_PRIOR,
            has_intercept=self.bias,
            scale=self.scale,
            offset=self.offset,
            owner=EXACT_PARAMETERS.owner,
            n_outputs=1 if len(data.classes) == 2 else len(data.classes),
        )

    def _resolve_prior(
        self, setup: ProblemSetup
    ) -> tuple[Floats, Floats, WeightPrior | ColumnPriors | None, str]:
        """Return l1 and l2 per feature, the prior, and how its scale was chosen."""
        if self.chooses_prior_scale and can_choose_prior_scale(setup.problem):
            l1, l2 = setup.priors.penalties()
            n_classes = len(setup.data.classes)
            scale = choose_prior_scale(setup.problem, l2, n_classes, self.max_iter)
            return l1, l2 / scale**2, Normal(scale), "cross-validation"
        l1, l2, scale_by = self._resolve_penalties(setup)
        return l1, l2, self.prior, scale_by

    def _resolve_penalties(self, setup: ProblemSetup) -> tuple[Floats, Floats, str]:
        """Return l1 and l2 per feature, and how their scale was chosen."""
        prior_to_tune = setup.priors.prior_to_tune
        if prior_to_tune is None:
            return (*setup.priors.penalties(), "given")
        if getattr(prior_to_tune, "scale", None) == "evidence":
            raise errors.ParameterError(
                (
                    f"{EXACT_PARAMETERS.owner}: ",
                    Setting("scale", "evidence"),
                    " is available for linear regression only.",
                ),
                hint=("Give ", Setting("scale", "cv"), ", or a number."),
            )
        l1, l2 = setup.priors.unit_penalties()
        n_classes, tol = len(setup.data.classes), max(self.tol, TUNING_TOLERANCE)
        solver = LogisticPathSolver(setup.problem, l1, l2, n_classes, tol, self.max_iter)
        scales = solver.make_scales(N_SCALES, MIN_L1_RATIO if l1.any() else MIN_L2_RATIO)
        scale = solver.select_scale(scales, self.folds)
        return l1 * scale, l2 * scale, "cross-validation"

    def _solve(self, setup: ProblemSetup, problem: Problem, null_objective: float) -> Solution:
        """Solve and certify; if the certificate misses the tolerance, once more with a smaller one."""
        n_classes, max_gap = len(setup.data.classes), self.tol * null_objective
        start: Solution | None = None
        for share in (TOLERANCE_SHARE, TOLERANCE_SHARE / 10):
            solution = solve_logistic_regression(problem, n_classes, share * self.tol, self.max_iter, start)
            absorbed = absorb_constants(setup, solution)
            certified = certify_log(problem, absorbed, n_classes, max_gap)
            if certified.gap <= max_gap or solution.gap > share * max_gap:
                break
            start = solution
        return certified

    def _build_model(self, setup: ProblemSetup, class_frequencies: Floats) -> LogisticModel:
        classes = setup.data.classes
        l1, l2, prior, scale_by = self._resolve_prior(setup)
        problem = setup.problem.with_penalties(l1, l2)
        null_objective = null_model(problem, len(classes)).objective
        solution = self._solve(setup, problem, null_objective)
        certificate = optimality_certificate(solution, null_objective, self.tol)
        warn_unless_optimal(certificate, EXACT_PARAMETERS.owner, self.max_iter)
        full = setup.full_weights(solution.w)
        table = to_class_columns(full[:, None] if full.ndim == 1 else full)
        intercepts = to_class_columns(np.atleast_2d(solution.b))[0]
        loss = solution.objective - problem.penalty(solution.w)
        fit = Fit(
            "log",
            format_prior(prior),
            common_value(l1),
            common_value(l2),
            problem.total_weight,
            problem.X.n_rows,
            self.bias,
            scale_by=scale_by,
            classes=len(classes),
            is_centred=setup.centre is None,
            lost=loss,
            units=None if setup.scaling is None else _standardised_penalties(prior, setup, l1, l2),
            scaling=setup.scaling,
            r2=None if not null_objective else 1 - loss / null_objective,
        )
        has_posterior = len(classes) == 2 and not l1.any()
        maker = LaplaceApproximation.at_solution(problem, solution) if has_posterior else None
        posterior = setup.reindex_posterior(maker)
        terms = setup.build_terms(table)
        return LogisticModel(
            self.schema,
            classes,
            intercepts,
            terms,
            class_frequencies,
            fit,
            certificate,
            posterior,
            training_rows=setup.data.training_rows,
        )


def _standardised_penalties(
    prior: WeightPrior | ColumnPriors | None, setup: ProblemSetup, l1: Floats, l2: Floats
) -> tuple[float, float] | None:
    """Return the l1 and l2 of all features per standard deviation, or None if they differ."""
    if isinstance(prior, Normal) and not prior.is_scale_automatic:
        return prior.penalty()  # without the rounding of products and quotients
    return setup.priors.common_standardised_penalties(l1, l2)


def solve_logistic_regression(
    problem: Problem, n_classes: int, tol: float, max_iter: int, start: Solution | None = None
) -> Solution:
    """Solve with the solver that suits the penalties.

    Columns far from zero and the offset are centred and nearly collinear unpenalised features orthogonalised
    for the solver; the solution is returned in the original coordinates.
    """
    problem, mean = centre_offset(problem)
    start = None if start is None else replace(start, b=np.asarray(start.b + mean))
    solution = _solve_centred(problem, n_classes, tol, max_iter, start)
    return replace(solution, b=np.asarray(solution.b - mean))


def _solve_centred(
    problem: Problem, n_classes: int, tol: float, max_iter: int, start: Solution | None
) -> Solution:
    centred, shift = centre_distant_columns(problem)
    orthogonal, transform = orthogonalise(centred)
    start = centre_solution(start, shift)
    if transform is None:
        return uncentre_solution(_solve_by_penalty(centred, n_classes, tol, max_iter, start), shift)
    start = None if start is None else transform.to_orthogonal(start)
    try:
        solution = _solve_by_penalty(orthogonal, n_classes, tol, max_iter, start)
    except errors.Separated as cause:
        diverging = None if cause.features is None else transform.indices.tolist()
        raise errors.Separated((cause,), diverging) from None
    return uncentre_solution(transform.from_orthogonal(solution), shift)


def _solve_by_penalty(
    problem: Problem, n_classes: int, tol: float, max_iter: int, start: Solution | None
) -> Solution:
    if not problem.l1.any():
        return solve_logistic(problem, n_classes, tol, max_iter, start)
    is_free = (problem.l1 == 0) & (problem.l2 == 0)
    if is_free.any():
        # The unpenalised weights diverge, if at all, whatever the others are. Detect it before the l1 solver.
        zeros = np.zeros(int(is_free.sum()))
        unpenalised = replace(problem, X=problem.X.select_features(is_free), l1=zeros, l2=zeros)
        try:
            solve_logistic(unpenalised, n_classes, tol, max_iter)
        except errors.Separated as cause:
            indices = np.flatnonzero(is_free)
            diverging = None if cause.features is None else indices[cause.features].tolist()
            raise errors.Separated((cause,), diverging) from None
    return solve_l1_logistic(problem, n_classes, tol, max_iter, start)


def check_two_classes(data: TrainingData) -> None:
    """Raise LabelError if all rows have the same class."""
    if len(data.classes) < 2:
        raise errors.LabelError(
            f"All rows have the label {errors.quote_names(data.classes)}; logistic regression needs at "
            f"least two classes. Give rows of another class too: the data has only one class."
        )


def apply_class_weights(class_weight: Any, data: TrainingData) -> Floats | None:
    """Return the sample weights multiplied by the weights of their classes; None means one each."""
    counts = np.bincount(data.y, data.weights, minlength=len(data.classes)).astype(np.float64)
    class_weights = compute_class_weights(EXACT_PARAMETERS.owner, class_weight, data.classes, counts)
    return data.weights if class_weights is None else weigh_rows(class_weights, data.y, data.weights)
