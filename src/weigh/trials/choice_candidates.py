"""The learners that `choose_learner` compares, from the simplest to the richest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weigh import errors, estimators
from weigh.features.curves import Pair
from weigh.features.schema import Schema
from weigh.parameters.learners import LEARNERS

OWNER = "choose_learner"
# Imported on use: tables that need no comparison need no scikit-learn.
ESTIMATORS = {"naive-bayes": "NaiveBayes", "logistic": "LogisticRegression", "linear": "LinearRegression"}
TITLES = {"naive-bayes": "naive Bayes", "logistic": "logistic regression", "linear": "linear regression"}
# From the simplest to the richest; of equal ones the first is chosen. Counts can be merged and forgotten.
CLASS_LEARNERS = ("naive-bayes", "logistic")
NUMBER_LEARNERS = ("linear",)
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "naive-bayes": ({},),
    "logistic": ({}, {"curves": "auto"}, {"curves": "auto", "pairs": "auto"}),
    "linear": ({}, {"curves": "auto"}, {"curves": "auto", "pairs": "auto"}),
}


@dataclass(frozen=True, eq=False)
class LearnerVariant:
    """A learner with parameters: those that the variant adds, and those that the user gave."""

    learner: str
    added: Mapping[str, Any]
    given: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters; those that the user gave take precedence."""
        return {**self.added, **self.given}

    @property
    def name(self) -> str:
        """The name in tables and sentences, such as "logistic regression with curves"."""
        parts = [name for name in ("curves", "pairs") if self.parameters.get(name) not in (None, 0)]
        return f"{TITLES[self.learner]}{' with ' * bool(parts)}{' and '.join(parts)}"

    def adds(self, parameter: str) -> bool:
        """Return whether the variant sets a parameter that the user left open."""
        return parameter in self.added and parameter not in self.given

    def select_added(self) -> dict[str, Any]:
        """Return the parameters that the variant sets and the user left open."""
        return {name: value for name, value in self.added.items() if self.adds(name)}

    def has_effect(self, schema: Any) -> bool:
        """Return whether curves, if the variant adds them, change anything for columns of these kinds."""
        if not (self.adds("curves") and isinstance(schema, Schema)):
            return True
        from weigh.learn.additive.fitting import is_additive  # loads solvers

        return is_additive(schema, self.parameters.get("pairs"), pools_levels=self.learner == "linear")

    def estimator(self, columns: Any, missing: Any) -> Any:
        """Return the untrained estimator."""
        learner = getattr(estimators, ESTIMATORS[self.learner])
        return learner(columns=columns, missing=missing, **self.parameters)


def list_variants(learner: str, given: Mapping[str, Any]) -> Iterator[LearnerVariant]:
    """Yield the variants of a learner that differ after the parameters of the user are set."""
    seen = set()
    table = LEARNERS[learner]
    allowed = table.for_method(given["method"]).names if given.get("method") else table.names
    for added in VARIANTS[learner]:
        if any(given.get(name, value) != value for name, value in added.items()):
            continue
        variant = LearnerVariant(learner, added, given)
        effective = {name: value for name, value in variant.parameters.items() if value is not None}
        if all(name in allowed for name in added) and repr(sorted(effective.items())) not in seen:
            seen.add(repr(sorted(effective.items())))
            yield variant


def has_pairs(schema: Any) -> bool:
    """Return whether a schema has pairs of columns."""
    return isinstance(schema, Schema) and any(isinstance(each.kind, Pair) for each in schema.column_groups)


def one_sentence(error: errors.WeighError) -> str:
    """Return the first sentence of a message, without its advice."""
    return str(error).partition(". ")[0].rstrip(".")
