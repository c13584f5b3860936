"""Verdicts from scores: ties, misclassification costs, other class priors and 'unsure'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting
from weigh.features.blocks import Floats
from weigh.immutable import Immutable
from weigh.priors.exact import MAX_MAGNITUDE, to_fraction

UNSURE = "unsure"
SCORE_TOLERANCE = 1e-12  # relative; closer scores may differ by rounding only and count as ties


def log_softmax(scores: Floats) -> Floats:
    """Return score − log Σ exp(score) of each row, without overflow."""
    top = scores.max(axis=1, keepdims=True)
    shifted = scores - np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def best_class(scores: Floats, tie: str = "first", rounding: float = SCORE_TOLERANCE) -> Any:
    """Return the index of each row's best class; the first (or last) class wins a tie."""
    is_best = _ties_with_best(scores, rounding)
    if tie == "first":
        return is_best.argmax(axis=1)
    return is_best.shape[1] - 1 - is_best[:, ::-1].argmax(axis=1)


def equalise_ties(scores: Floats, rounding: float = SCORE_TOLERANCE) -> Floats:
    """Set scores that tie with their row's best score to that score, so that later steps keep the tie."""
    return np.where(_ties_with_best(scores, rounding), scores.max(axis=1, keepdims=True), scores)


def _ties_with_best(scores: Floats, rounding: float) -> Any:
    top = scores.max(axis=1, keepdims=True)
    # top − rounding · max(1, |top|), written so that it is defined for infinite scores too
    threshold = np.minimum(top - rounding, np.minimum(top * (1.0 - rounding), top * (1.0 + rounding)))
    return scores >= threshold


@dataclass(frozen=True)
class Decision(Immutable):
    """A rule that turns posterior probabilities into verdicts with minimum expected cost.

    `class_prior` replaces the trained one: a mapping from class to probability, or "uniform", which
    gives the maximum-likelihood decision. `costs` maps (true class, verdict) to a cost; errors without a
    stated cost cost 1, and correct verdicts 0. `unsure` is the cost of the verdict 'unsure': with costs
    of 1, `unsure=0.1` means 'unsure' unless a class has a probability of 0.9 or more. With `predictive`, the
    probabilities are those of `model.predictive()`: the parameters of naive Bayes or joint Bayes are
    integrated out instead of estimated, so that verdicts from few rows are less certain.
    """

    costs: Mapping[tuple[Any, Any], float] | None = None
    class_prior: Mapping[Any, float] | str | None = None
    unsure: float | None = None
    predictive: bool = False

    def __post_init__(self) -> None:
        must = "{(true, said): cost of at least 0}"
        if not isinstance(self.costs, Mapping | None):
            raise errors.parameter_error("Decision", "costs", must, self.costs)
        for pair, cost in (self.costs or {}).items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not _is_cost(cost):
                raise errors.parameter_error("Decision", "costs", must, {pair: cost})
        if self.unsure is not None and not _is_cost(self.unsure):
            raise errors.parameter_error("Decision", "unsure", "a cost of at least 0", self.unsure)
        if not isinstance(self.predictive, bool):
            raise errors.parameter_error("Decision", "predictive", "True or False", self.predictive)

    def verdicts(self, scores: Floats, log_prior: Floats, classes: Sequence[Any]) -> Any:
        """Return one verdict per row: a class, or 'unsure'."""
        if self.class_prior is not None:
            new_log_prior = log_class_prior(self.class_prior, classes, "Decision")
            if not np.isfinite(log_prior).all():
                raise errors.Unsupported(
                    "A class has prior probability 0 in the model, so the prior cannot be replaced.",
                    hint=("Train with ", Setting("class_prior", "uniform"), " instead."),
                )
            scores = scores - log_prior + new_log_prior
        verdicts = np.array([*classes, UNSURE], dtype=object)
        if self.costs is None and self.unsure is None:
            return label_array(classes)[best_class(scores)]
        expected_costs = np.exp(log_softmax(scores)) @ self._cost_matrix(classes)
        if self.unsure is not None:
            expected_costs = np.column_stack([expected_costs, np.full(len(scores), self.unsure)])
        return verdicts[best_class(-expected_costs)]

    def _cost_matrix(self, classes: Sequence[Any]) -> Floats:
        """Return the costs [true class, verdict]."""
        matrix = 1.0 - np.eye(len(classes))
        index = {label: c for c, label in enumerate(classes)}
        for (true, verdict), cost in (self.costs or {}).items():
            for label in (true, verdict):
                if label not in index:
                    raise errors.ParameterError(
                        f"Decision: costs name the class {label!r}; the model has "
                        f"{errors.quote_names(classes)}."
                    )
            matrix[index[true], index[verdict]] = cost
        return matrix


def _is_cost(value: object) -> bool:
    cost = to_fraction(value)
    return cost is not None and 0 <= cost <= MAX_MAGNITUDE


def log_class_prior(prior: Mapping[Any, float] | str, classes: Sequence[Any], owner: str) -> Floats:
    """Return the logarithms of `exact_class_prior`."""
    return np.array([_log_probability(p) for p in exact_class_prior(prior, classes, owner)])


def exact_class_prior(prior: Mapping[Any, float] | str, classes: Sequence[Any], owner: str) -> list[Any]:
    """Return stated class probabilities as exact fractions in the order of the classes.

    Raises ParameterError, with `owner` in its message, unless every class has one and they sum to one.
    """
    if isinstance(prior, str) and prior == "uniform":
        return [Fraction(1, len(classes)) for _ in classes]
    if not isinstance(prior, Mapping):
        raise errors.parameter_error(
            owner, "class_prior", "a mapping from class to probability, or 'uniform'", prior
        )
    has_same_classes = all(label in prior for label in classes) and all(label in classes for label in prior)
    parsed = [to_fraction(prior.get(label)) for label in classes]
    valid = [p for p in parsed if p is not None and p >= 0]
    if not has_same_classes or len(valid) < len(classes) or abs(float(sum(valid)) - 1) > 1e-9:
        raise errors.ParameterError(
            f"{owner}: class_prior must give each of the classes {errors.quote_names(classes)} a "
            f"probability, and they must sum to 1, got {dict(prior)!r}."
        )
    return [p / sum(valid) for p in valid]


def _log_probability(p: Any) -> float:
    return float(np.log(float(p))) if p else -np.inf


def label_array(classes: Sequence[Any]) -> Any:
    """Return class labels as an array of their type, or of objects if their types differ."""
    types = {type(label) for label in classes}
    # NumPy string arrays drop trailing NUL characters.
    if len(types) == 1 and not any(isinstance(label, str) and label.endswith("\0") for label in classes):
        return np.array(classes)
    labels = np.empty(len(classes), dtype=object)
    labels[:] = classes
    return labels
