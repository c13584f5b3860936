"""From scores to verdicts: ties, costs of errors, other class priors, and 'unsure'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.priors.exact import MAX_MAGNITUDE, to_fraction

UNSURE = "unsure"
# Scores that differ by less than rounding can explain are equal, and the tie rule decides.
SCORE_TOLERANCE = 1e-12


def log_softmax(scores: Floats) -> Floats:
    """Return log posteriors from log scores, row by row."""
    top = scores.max(axis=1, keepdims=True)
    shifted = scores - np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def best_class(scores: Floats, tie: str = "first", rounding: float = SCORE_TOLERANCE) -> Any:
    """Return the number of the best class of each row; at a tie the first (or last) class wins."""
    near = _ties_with_best(scores, rounding)
    if tie == "first":
        return near.argmax(axis=1)
    return near.shape[1] - 1 - near[:, ::-1].argmax(axis=1)


def equalise_ties(scores: Floats, rounding: float = SCORE_TOLERANCE) -> Floats:
    """Return scores of which those that tie with the best are equal to it, whatever is made of them."""
    return np.where(_ties_with_best(scores, rounding), scores.max(axis=1, keepdims=True), scores)


def _ties_with_best(scores: Floats, rounding: float) -> Any:
    top = scores.max(axis=1, keepdims=True)
    # top − rounding · max(1, |top|), in steps that are defined for infinite scores too
    least = np.minimum(top - rounding, np.minimum(top * (1.0 - rounding), top * (1.0 + rounding)))
    return scores >= least


@dataclass(frozen=True)
class Decision:
    """How verdicts follow from posteriors.

    `class_prior` replaces the trained one: a mapping from class to probability, or "uniform", which
    gives the maximum-likelihood decision. `costs` says what each error costs: {(true, said): cost},
    errors not named cost 1, right answers 0; the verdict with the least expected cost is chosen.
    `unsure` is the cost of answering 'unsure' instead: with costs of 1, `unsure=0.1` means 'unsure'
    unless a class has a probability of 0.9 or more.
    """

    costs: Mapping[tuple[Any, Any], float] | None = None
    class_prior: Mapping[Any, float] | str | None = None
    unsure: float | None = None

    def __post_init__(self) -> None:
        must = "{(true, said): cost of at least 0}"
        if not isinstance(self.costs, Mapping | None):
            raise errors.parameter_error("Decision", "costs", must, self.costs)
        for pair, cost in (self.costs or {}).items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not _is_cost(cost):
                raise errors.parameter_error("Decision", "costs", must, {pair: cost})
        if self.unsure is not None and not _is_cost(self.unsure):
            raise errors.parameter_error("Decision", "unsure", "a cost of at least 0", self.unsure)

    def verdicts(self, scores: Floats, log_prior: Floats, classes: Sequence[Any]) -> Any:
        """Return one verdict per row: a class, or 'unsure'."""
        if self.class_prior is not None:
            wanted = log_class_prior(self.class_prior, classes, "Decision")
            if not np.isfinite(log_prior).all():
                raise errors.Unsupported(
                    "A class has prior probability 0 in the model, so another prior cannot be put in its "
                    "place. Train with class_prior='uniform' instead."
                )
            scores = scores - log_prior + wanted
        names = np.array([*classes, UNSURE], dtype=object)
        if self.costs is None and self.unsure is None:
            return label_array(classes)[best_class(scores)]
        expected = np.exp(log_softmax(scores)) @ self._cost_matrix(classes)
        if self.unsure is not None:
            expected = np.column_stack([expected, np.full(len(expected), self.unsure)])
        return names[best_class(-expected)]

    def _cost_matrix(self, classes: Sequence[Any]) -> Floats:
        table = 1.0 - np.eye(len(classes))
        place = {label: at for at, label in enumerate(classes)}
        for (true, said), cost in (self.costs or {}).items():
            for label in (true, said):
                if label not in place:
                    raise errors.ParameterError(
                        f"Decision: costs name the class {label!r}; the model has {errors.quote_names(classes)}."
                    )
            table[place[true], place[said]] = cost
        return table


def _is_cost(value: object) -> bool:
    cost = to_fraction(value)
    return cost is not None and 0 <= cost <= MAX_MAGNITUDE


def log_class_prior(given: Mapping[Any, float] | str, classes: Sequence[Any], owner: str) -> Floats:
    """Return the logarithms of stated class probabilities, checked: one each, summing to one."""
    return np.array([_log_probability(share) for share in exact_class_prior(given, classes, owner)])


def exact_class_prior(given: Mapping[Any, float] | str, classes: Sequence[Any], owner: str) -> list[Any]:
    """Return stated class probabilities as exact fractions, in the order of the classes."""
    if isinstance(given, str) and given == "uniform":
        return [Fraction(1, len(classes)) for _ in classes]
    if not isinstance(given, Mapping):
        raise errors.parameter_error(
            owner, "class_prior", "a mapping from class to probability, or 'uniform'", given
        )
    lacking = [label for label in classes if label not in given]
    beyond = [label for label in given if label not in classes]
    shares = [to_fraction(given.get(label)) for label in classes]
    known = [share for share in shares if share is not None and share >= 0]
    if lacking or beyond or len(known) < len(classes) or abs(float(sum(known)) - 1) > 1e-9:
        raise errors.ParameterError(
            f"{owner}: class_prior must give each of the classes {errors.quote_names(classes)} a probability, "
            f"and they must sum to 1, got {dict(given)!r}."
        )
    return [share / sum(known) for share in known]


def _log_probability(share: Any) -> float:
    return float(np.log(float(share))) if share else -np.inf


def label_array(classes: Sequence[Any]) -> Any:
    """Return class labels as an array of their own type, of objects where the types differ."""
    types = {type(label) for label in classes}
    # NumPy's own strings lose a NUL at their end.
    if len(types) == 1 and not any(isinstance(label, str) and label.endswith("\0") for label in classes):
        return np.array(classes)
    labels = np.empty(len(classes), dtype=object)
    labels[:] = classes
    return labels
