"""The prior probabilities of the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors, priors
from weigh.features.blocks import Floats
from weigh.model.decision import stated_shares
from weigh.model.factors import Factor, estimate, to_fraction
from weigh.priors.exact import count, parse, to_json


@dataclass(frozen=True, eq=False)
class ClassPrior:
    """P(class): frequencies (None), smoothed (a number, Dirichlet, Beta), stated, or uniform."""

    classes: Sequence[Any]
    rows: Any
    given: Any = None
    owner: str = "NaiveBayes"

    def __post_init__(self) -> None:
        if isinstance(self.given, Mapping) or self.given == "uniform":
            return
        if isinstance(self.given, str):
            must = "None, a number above zero, a Dirichlet, a mapping from class to probability, or 'uniform'"
            raise errors.parameter(self.owner, "class_prior", must, self.given)
        priors.check(self.given, self.owner, "class_prior")

    @property
    def is_stated(self) -> bool:
        """Whether the probabilities were given and not counted."""
        return isinstance(self.given, Mapping) or self.given == "uniform"

    @cached_property
    def exact(self) -> list[Fraction]:
        """The probabilities as fractions."""
        if self.is_stated:
            return stated_shares(self.given, self.classes, self.owner)
        return priors.exact_estimates(self._counts, self._pseudo)

    def check(self) -> None:
        """Refuse probabilities that do not fit the classes."""
        if self.is_stated and len(self.classes):
            stated_shares(self.given, self.classes, self.owner)

    @cached_property
    def logs(self) -> Floats:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.array([float(share) for share in self.exact])))

    @cached_property
    def _counts(self) -> list[Fraction]:
        return [to_fraction(n) for n in self.rows.tolist()]

    @cached_property
    def _pseudo(self) -> list[Fraction]:
        return priors.concentration(self.given, list(self.classes))

    def factor(self, c: int) -> Factor:
        """Return P(class c) with its arithmetic."""
        if self.is_stated or any(a < 0 for a in self._pseudo):
            return Factor("class", "", "", self.exact[c]).reduced()
        total, pseudo = sum(self._counts, Fraction(0)), sum(self._pseudo, Fraction(0))
        return estimate("class", "", self._counts[c], self._pseudo[c], total, pseudo)

    def to_json(self) -> Any:
        """Return what was given as plain data."""
        if isinstance(self.given, Mapping):
            return {"shares": [to_json(share) for share in self.exact]}
        return self.given if self.given == "uniform" else priors.to_json(self.given)

    @staticmethod
    def from_json(data: Any, classes: Sequence[Any]) -> Any:
        """Return what `to_json` wrote, for the same classes."""
        if isinstance(data, dict) and "shares" in data:
            # A class may be stated to be impossible, so a share of 0 is read back too.
            shares = (count(parse(share) if isinstance(share, str) else share) for share in data["shares"])
            return dict(zip(classes, shares, strict=True))
        return data if data == "uniform" else priors.from_json(data)
