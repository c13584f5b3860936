"""The prior settings of naive Bayes: the class prior, and the priors of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Setting, join
from weigh.features.blocks import Floats
from weigh.features.schema import ColumnGroup
from weigh.immutable import Immutable, read_only
from weigh.model.decision import exact_class_prior
from weigh.model.evidence.exact_products import Factor, smoothed_ratio, to_fraction
from weigh.parameters import ClassPriors
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.exact import fraction_to_json, nonnegative_fraction, parse_fraction
from weigh.priors.smoothing import (
    Prior,
    dirichlet_parameters,
    exact_estimates,
    min_pseudo_count,
    prior_from_json,
    prior_to_json,
    pseudo_counts,
)


@dataclass(frozen=True, eq=False)
class ClassPrior(Immutable):
    """P(class): frequencies (None), smoothed (a number, Dirichlet, Beta), given (a mapping), or "uniform"."""

    classes: Sequence[Any]
    rows: Any
    prior: Any = None
    owner: str = "NaiveBayes"

    def __post_init__(self) -> None:
        super().__post_init__()
        ClassPriors().check(self.owner, "class_prior", self.prior)

    @property
    def is_fixed(self) -> bool:
        """Whether the probabilities are given instead of estimated from the rows."""
        return isinstance(self.prior, Mapping) or self.prior == "uniform"

    @cached_property
    def exact_probabilities(self) -> list[Fraction]:
        """The probabilities as fractions."""
        if self.is_fixed:
            return exact_class_prior(self.prior, self.classes, self.owner)
        return exact_estimates(self._counts, self._pseudo_counts)

    def check(self) -> None:
        """Raise an error if given probabilities do not match the classes."""
        if self.is_fixed and len(self.classes):
            exact_class_prior(self.prior, self.classes, self.owner)

    @cached_property
    @read_only
    def log_probabilities(self) -> Floats:
        """The log-probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.array([float(p) for p in self.exact_probabilities])))

    @cached_property
    def _counts(self) -> list[Fraction]:
        return [to_fraction(n) for n in self.rows.tolist()]

    @cached_property
    def _pseudo_counts(self) -> list[Fraction]:
        return pseudo_counts(self.prior, list(self.classes))

    def posterior(self) -> Dirichlet:
        """Return the posterior of the class probabilities: mean, mode, interval, predictive."""
        if self.is_fixed:
            raise errors.Unsupported(
                "The class probabilities are stated, not estimated, so they have no posterior.",
                hint=("Train with ", Setting("class_prior", 1), "."),
            )
        prior = dirichlet_parameters(self.prior, list(self.classes))
        parameters = [b + n for b, n in zip(prior, self._counts, strict=True)]
        if not all(parameters):
            raise errors.Unsupported(
                "A class without rows has no posterior probability without a class prior.",
                hint=("Train with ", Setting("class_prior", 1), "."),
            )
        return Dirichlet(dict(zip(self.classes, parameters, strict=True)))

    def factor(self, c: int) -> Factor:
        """Return P(class c), with the formula."""
        if self.is_fixed or any(a < 0 for a in self._pseudo_counts):
            return Factor("class", "", "", self.exact_probabilities[c]).in_lowest_terms()
        total, pseudo = sum(self._counts, Fraction(0)), sum(self._pseudo_counts, Fraction(0))
        return smoothed_ratio("class", "", self._counts[c], self._pseudo_counts[c], total, pseudo)

    def to_json(self) -> Any:
        """Return the setting as plain JSON data."""
        if isinstance(self.prior, Mapping):
            return {"shares": [fraction_to_json(p) for p in self.exact_probabilities]}
        return self.prior if self.prior == "uniform" else prior_to_json(self.prior)

    @staticmethod
    def from_json(data: Any, classes: Sequence[Any]) -> Any:
        """Return the setting that `to_json` wrote, for the same classes."""
        if isinstance(data, dict) and "shares" in data:
            # The given probability of a class may be 0.
            shares = (
                nonnegative_fraction(parse_fraction(share) if isinstance(share, str) else share)
                for share in data["shares"]
            )
            return dict(zip(classes, shares, strict=True))
        return data if data == "uniform" else prior_from_json(data)


PriorSpec = Prior | Mapping[str, Prior]


def check_priors_fit_columns(groups: Sequence[ColumnGroup], spec: PriorSpec, complement: bool) -> None:
    """Raise an error for the prior of an unknown column, and for a complement that cannot be computed."""
    for name in spec if isinstance(spec, Mapping) else ():
        if not any(name in group.names for group in groups):
            names = [name for group in groups for name in group.names] if len(groups) > 1 else groups[0].names
            where = "NaiveBayes: prior names columns of the table, which"
            raise errors.unknown_column_error(str(name), names, where)
    others = [group.title for group in groups if group.kind.family != "multinomial"]
    if complement and others:
        raise errors.ParameterError(
            (
                Setting("complement", owner="NaiveBayes"),
                " must be ",
                Setting("", False),
                f" unless all columns are counts or text; the column {others[0]!r} is not.",
            )
        )
    if complement and smallest_pseudo_count(spec, groups) <= 0:
        must = join(
            "above 0 with ",
            Setting("complement", True),
            ", and every parameter of a Dirichlet (also its rest) above 1",
        )
        raise errors.parameter_error("NaiveBayes", "prior", must, spec)


def part_prior(spec: PriorSpec, part: ColumnGroup) -> tuple[Prior, dict[str, Prior]]:
    """Return the prior of a part, and the priors of individual columns in it.

    Columns that a mapping does not name get Laplace smoothing, a pseudo-count of 1.
    """
    if not isinstance(spec, Mapping):
        return spec, {}
    if not part.kind.shares_block:
        return spec.get(part.names[0], 1.0), {}
    return 1.0, {name: prior for name, prior in spec.items() if name in part.names}


def smallest_pseudo_count(spec: PriorSpec, parts: Sequence[ColumnGroup]) -> Fraction:
    """Return the smallest pseudo-count that can occur in any part; 1 if there are no parts."""
    pairs = [part_prior(spec, part) for part in parts]
    return min(
        (min_pseudo_count(p) for prior, by_name in pairs for p in (prior, *by_name.values())),
        default=Fraction(1),
    )


def column_priors_to_json(spec: PriorSpec) -> Any:
    """Return a prior, or a mapping of priors by column, as plain JSON data."""
    if isinstance(spec, Mapping):
        return {"columns": {name: prior_to_json(prior) for name, prior in spec.items()}}
    return prior_to_json(spec)


def column_priors_from_json(data: Any) -> PriorSpec:
    """Return the priors that `column_priors_to_json` wrote."""
    if isinstance(data, dict) and "columns" in data:
        return {str(name): prior_from_json(prior) for name, prior in data["columns"].items()}
    return prior_from_json(data)
