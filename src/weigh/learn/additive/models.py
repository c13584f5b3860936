"""Additive logistic and linear regression: from training data to a model with curves and pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np

from weigh import algebra, errors
from weigh.advice import Setting
from weigh.features.blocks import Floats, Mask
from weigh.features.schema import Schema
from weigh.learn.additive.fitting import (
    MAX_SMOOTHING_ROWS,
    AdditiveData,
    AdditiveFit,
    complete_terms,
    finish,
    has_curve,
    is_additive,
    posterior_source,
    strengths_by_title,
)
from weigh.learn.additive.held_out_strengths import MAX_WEIGHTS, fix_word_strengths, relax_strengths
from weigh.learn.additive.pairs import (
    PairData,
    build_pairs,
    choose_pairs,
    named_pairs,
    rank_pairs,
    strongest_columns,
)
from weigh.learn.additive.problem import AdditiveProblem, Prior, SquaredLoss
from weigh.learn.additive.rounding import objective_rounding
from weigh.learn.additive.smoothing import Smoothing, add_strengths, choose_strengths
from weigh.learn.linear.logistic import null_model
from weigh.learn.linear.losses import ScoreLoss, make_loss
from weigh.learn.linear.problem import Problem, Solution
from weigh.learn.linear.problem_setup import optimality_certificate, warn_unless_optimal
from weigh.learn.linear.training_data import TrainingData
from weigh.model.distributions.curve_weights import PairWeights
from weigh.model.fit import Fit, Optimality
from weigh.model.logistic import LogisticModel
from weigh.model.perceptron import to_class_columns
from weigh.model.regression import RegressionModel
from weigh.priors.location_scale import Laplace, Normal

METHOD = "Newton's method on curves"
MIN_SCALE, MAX_SCALE = 1e-6, 1e6  # of a stated prior: the objective is certified for these


@dataclass(frozen=True, eq=False)
class CurveSettings:
    """The parameters of a regression that additive models use; `owner` names the estimator.

    If it `pools_levels`, a model without curves and pairs is additive too.
    """

    owner: str
    prior: Any
    pairs: Any
    tol: float
    max_iter: int
    pools_levels: bool = False

    @property
    def fixed_strength(self) -> float | None:
        """The stated precision of the features without a curve; None if it is chosen from the data."""
        return 1 / float(self.prior.scale) ** 2 if _has_fixed_scale(self.prior) else None


def _has_fixed_scale(prior: Any) -> TypeGuard[Normal]:
    """Whether a prior states its scale."""
    return isinstance(prior, Normal) and not prior.is_scale_automatic


def check_curve_parameters(
    owner: str, values: dict[str, Any], schema: Schema, pools_levels: bool = False
) -> None:
    """Raise ParameterError if a parameter cannot be combined with curves, or pairs have no columns."""
    if not is_additive(schema, values["pairs"], pools_levels):
        if values["pairs"] is not None and (values["curves"] is None or isinstance(values["pairs"], tuple)):
            raise errors.ParameterError(
                f"{owner}: pairs join columns with curves or levels, but there are none.",
                hint=("Use ", Setting("curves", "auto"), " too."),
            )
        return
    prior, noise = values["prior"], values.get("noise", "normal")
    if not (prior is None or (isinstance(prior, Normal | str) and getattr(prior, "is_centred", True))):
        raise errors.ParameterError(
            f"{owner}: curves have a Normal prior of mean zero, got prior={prior!r}.",
            hint=("Leave the prior out, or give a number or ", Setting("curves", None), "."),
        )
    if _has_fixed_scale(prior) and not MIN_SCALE <= float(prior.scale) <= MAX_SCALE:
        raise errors.ParameterError(
            f"{owner}: beside curves, the scale of the prior must be from {MIN_SCALE:g} to {MAX_SCALE:g}, "
            f"got prior={prior!r}.",
            hint="Leave the prior out to choose the scale from the data.",
        )
    if noise == "laplace" or isinstance(noise, Laplace):
        raise errors.ParameterError(
            f"{owner}: curves need squared loss, but the noise is Laplace.",
            hint=("Use ", Setting("noise", "normal"), " or ", Setting("curves", None), "."),
        )
    if not values["bias"]:
        raise errors.ParameterError(
            f"{owner}: the heights of curves are relative to the intercept, but bias is off.",
            hint=("Use ", Setting("bias", True), " or ", Setting("curves", None), "."),
        )
    if values["offset"] is not None:
        raise errors.ParameterError(
            f"{owner}: curves cannot be combined with an offset.",
            hint=("Leave the offset out, or use ", Setting("curves", None), "."),
        )


class LossMaker:
    """Makes the loss of some rows: log loss of classes, or squared loss of standardised targets."""

    def __init__(self, y: Floats, weights: Floats | None, n_classes: int) -> None:
        self.y, self.weights, self.n_classes = y, weights, n_classes

    def __call__(self, mask: Mask | None = None, offset: Floats | None = None) -> ScoreLoss:
        """Return the loss of the rows in `mask`, whose scores have the offset added."""
        y = self.y if mask is None else self.y[mask]
        weights = self.weights if mask is None or self.weights is None else self.weights[mask]
        if not self.n_classes:
            return SquaredLoss(y if offset is None else y - offset[:, 0], weights)
        return make_loss(_Targets(y, weights, offset), self.n_classes)


@dataclass(frozen=True, eq=False)
class _Targets:
    y: Floats
    weights: Floats | None
    offset: Floats | None


@dataclass(frozen=True, eq=False)
class FittedEffects:
    """An additive fit with its schema, which names the pairs, their axes, and the counts of all cells."""

    schema: Schema
    fit: AdditiveFit
    axes: list[tuple[Any, Any]]
    counts: Floats


def fit_effects(
    data: TrainingData, make: LossMaker, null: float, settings: CurveSettings
) -> FittedEffects | None:
    """Fit the main effects, choose pairs if asked for, and minimise the objective over all of them.

    Returns None if there is neither a curve nor a pair, unless levels are pooled.
    """
    with algebra.single_thread_blas():
        effects = AdditiveData.from_training_data(data, settings.fixed_strength)
        has_curves = has_curve(data.schema)
        is_optional = not has_curves and (settings.pairs is None or settings.pairs == "auto")
        if is_optional and _count_dense_weights(effects, make) > MAX_WEIGHTS:
            return None
        problem = fix_word_strengths(AdditiveProblem(effects.X, make(), effects.effects), make)
        sample, in_sample = _sample(problem, make)
        smoothing = relax_strengths(problem, choose_strengths(sample), make, null)
        schema, axes, counts = data.schema, [], effects.counts
        if settings.pairs is not None:
            pair_data = _pair_data(data, effects)
            pairs = _select_pairs(sample, smoothing, pair_data, in_sample, make, settings)
            if not (has_curves or pairs or settings.pools_levels):
                return None
            problem, smoothing, counts = _add_pairs(problem, smoothing, pair_data, pairs, make, counts, null)
            axes = [(pair_data.axes[a], pair_data.axes[b]) for a, b in pairs]
            schema = replace(schema, pairs=tuple((left.name, right.name) for left, right in axes))
        fit = finish(problem, smoothing, null, settings.tol, settings.max_iter)
    return FittedEffects(schema, fit, axes, counts)


def _count_dense_weights(effects: AdditiveData, make: LossMaker) -> int:
    """Return the number of weights of all outputs whose Hessian is dense."""
    sizes = [effect.n_coordinates for effect in effects.effects if not effect.is_wide]
    return sum(sizes) * make().n_outputs


def _sample(problem: AdditiveProblem, make: LossMaker) -> tuple[AdditiveProblem, Mask]:
    """Return the problem of at most `MAX_SMOOTHING_ROWS` rows at equal distances, and their mask."""
    n = problem.X.n_rows
    mask = np.ones(n, dtype=bool)
    if n <= MAX_SMOOTHING_ROWS:
        return problem, mask
    mask = np.zeros(n, dtype=bool)
    mask[np.linspace(0, n - 1, MAX_SMOOTHING_ROWS).astype(np.int64)] = True
    return AdditiveProblem(problem.X.select_rows(mask), make(mask), problem.effects), mask


def _pair_data(data: TrainingData, effects: AdditiveData) -> PairData:
    orders = data.feature_orders
    terms = data.feature_index.build_terms(orders, np.zeros((effects.X.width, 1)))
    kinds = [group.kind for group in effects.groups]
    return PairData.from_effects(effects.X, effects.effects, kinds, terms, effects.counts)


def _select_pairs(
    sample: AdditiveProblem,
    smoothing: Smoothing,
    data: PairData,
    in_sample: Mask,
    make: LossMaker,
    settings: CurveSettings,
) -> list[tuple[int, int]]:
    """Return the pairs that the user named or asked for, or those that lower the held-out loss."""
    if not isinstance(settings.pairs, str | int):
        return named_pairs(settings.pairs, data, settings.owner)
    data = data.select_rows(in_sample)
    indices = np.flatnonzero(in_sample)

    def make_in_sample(mask: Mask, offset: Floats | None) -> ScoreLoss:
        rows = np.zeros(len(in_sample), dtype=bool)
        rows[indices[mask]] = True
        return make(rows, offset)

    weights = sample.loss.weights[:, 0]
    if isinstance(settings.pairs, str):
        return choose_pairs(sample, smoothing, data, make_in_sample, weights)
    p = sample.loss.probabilities(sample.scores(smoothing.U, smoothing.b))
    strongest = strongest_columns(sample, smoothing.U, data)
    return list(rank_pairs(data, sample.loss, p, strongest, smoothing.noise))[: settings.pairs]


def _add_pairs(
    problem: AdditiveProblem,
    smoothing: Smoothing,
    data: PairData,
    pairs: list[tuple[int, int]],
    make: LossMaker,
    counts: Floats,
    null: float,
) -> tuple[AdditiveProblem, Smoothing, Floats]:
    """Return the problem with pairs, and strengths chosen again from where they were."""
    if not pairs:
        return problem, smoothing, counts
    X, effects, pair_counts = build_pairs(
        problem.X, problem.X.n_rows, data, pairs, problem.loss.weights[:, 0]
    )
    joint = AdditiveProblem(X, problem.loss, [*problem.effects, *effects])
    added = np.zeros((joint.offsets[-1] - len(smoothing.U), smoothing.U.shape[1]))
    start = replace(
        smoothing,
        strengths=add_strengths(joint, smoothing.strengths, smoothing.noise),
        U=np.concatenate([smoothing.U, added]),
        degrees={},
    )
    found = relax_strengths(joint, choose_strengths(_sample(joint, make)[0], start), make, null)
    return joint, found, np.concatenate([counts, *pair_counts])


def build_terms(
    data: TrainingData, fitted: FittedEffects, table: Floats, scale: float, binary: bool
) -> list[Any]:
    """Return the terms of the model: main effects with the weights [features, outputs], then pairs."""
    orders = data.feature_orders
    n_main = sum(map(len, orders))
    terms = data.feature_index.build_terms(orders, np.ascontiguousarray(table[:n_main]))
    for (left, right), effect in zip(fitted.axes, fitted.fit.problem.effects[len(terms) :], strict=True):
        at = slice(effect.start, effect.stop)
        heights = np.ascontiguousarray(table[at])
        terms.append(PairWeights(left, right, heights, fitted.counts[at], np.zeros(1)))
    with algebra.single_thread_blas():
        return complete_terms(terms, fitted.fit, fitted.counts, scale, binary)


def certify(
    fitted: FittedEffects, null: float, settings: CurveSettings, scale: float = 1.0, mean: float = 0.0
) -> Optimality:
    """Return the certificate of a fit, in the units of the targets, and warn if it is not optimal.

    The targets were standardised by their mean and `scale`.
    """
    fit, unit = fitted.fit, scale**2
    solution = fit.solution
    prior = Prior(fit.problem, fit.smoothing.strengths)
    rounding = objective_rounding(fit.problem, prior, solution.state, abs(mean) / scale)
    found = Solution(
        np.zeros(0),
        np.zeros(0),
        unit * solution.state.objective,
        unit * (solution.gap + rounding),
        solution.iterations,
        METHOD,
    )
    certificate = optimality_certificate(found, unit * null, settings.tol)
    warn_unless_optimal(certificate, settings.owner, settings.max_iter)
    return certificate


def learn_logistic(data: TrainingData, frequencies: Floats, settings: CurveSettings) -> LogisticModel | None:
    """Fit an additive logistic regression; None if it has neither a curve nor a pair."""
    n_classes, y = len(data.classes), np.asarray(data.y, dtype=np.float64)
    make = LossMaker(y, data.weights, n_classes)
    empty = Problem(data.X, y, np.zeros(data.X.width), np.zeros(data.X.width), True, data.weights)
    null = null_model(empty, n_classes).objective
    fitted = fit_effects(data, make, null, settings)
    if fitted is None:
        return None
    fit, is_binary = fitted.fit, n_classes == 2
    certificate = certify(fitted, null, settings)
    table = to_class_columns(fit.weights)
    intercepts = to_class_columns(np.atleast_2d(fit.intercepts))[0]
    loss = fit.solution.state.loss
    record = Fit(
        "log",
        describe_prior(settings),
        None,
        None,
        empty.total_weight,
        data.X.n_rows,
        scale_by="marginal likelihood",
        classes=n_classes,
        lost=loss,
        r2=1 - loss / null if null else None,
        strengths=strengths_by_title(fitted.schema, fit),
    )
    terms = build_terms(data, fitted, table, 1.0, is_binary)
    return LogisticModel(
        fitted.schema,
        data.classes,
        intercepts,
        terms,
        frequencies,
        record,
        certificate,
        posterior_source(fit),
        training_rows=data.training_rows,
    )


def learn_linear(data: TrainingData, settings: CurveSettings) -> RegressionModel | None:
    """Fit an additive linear regression, with the targets standardised during learning.

    Returns None if it has neither a curve nor a pair, unless levels are pooled.
    """
    y = np.asarray(data.y, dtype=np.float64)
    weights = np.ones(len(y)) if data.weights is None else data.weights
    total = float(weights.sum())
    mean = float(np.average(y, weights=weights))
    spread = float(np.sqrt(np.average(np.square(y - mean), weights=weights)))
    scale = spread or 1.0
    make = LossMaker((y - mean) / scale, data.weights, 0)
    null = 0.5 * total if spread else 0.0
    fitted = fit_effects(data, make, null, settings)
    if fitted is None:
        return None
    fit = fitted.fit
    certificate = certify(fitted, null, settings, scale, mean)
    loss = scale**2 * fit.solution.state.loss
    record = Fit(
        "squared",
        describe_prior(settings),
        None,
        None,
        total,
        data.X.n_rows,
        sigma=scale * float(np.sqrt(fit.smoothing.noise)),
        sigma_by="estimated",
        scale_by="marginal likelihood",
        spread=scale,
        lost=loss,
        r2=1 - fit.solution.state.loss / null if null else None,
        strengths=strengths_by_title(fitted.schema, fit),
    )
    terms = build_terms(data, fitted, scale * fit.weights, scale, False)
    base = np.array([mean + scale * float(fit.intercepts[0])])
    source = posterior_source(fit, scale, mean)
    rows = data.training_rows
    return RegressionModel(fitted.schema, base, terms, record, certificate, source, training_rows=rows)


def describe_prior(settings: CurveSettings) -> str:
    """Return the prior of an additive model as text."""
    return "random walks of curves, pooled levels" + (
        "" if settings.fixed_strength is None else f", {settings.prior!r}"
    )
