"""How the weights of a regression came about: loss, prior, noise, rows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from weigh.priors import Penalty
from weigh.priors.equivalents import Equivalents


@dataclass(frozen=True)
class Fit:
    """The facts of a fit, so that a saved model can tell them.

    `loss` is "squared", "absolute" or "log"; `prior` is what was given, in words. `l1` and `l2` are the
    penalties of a weight, None where features have different ones. `sigma` is the standard deviation of
    the noise (of absolute loss its mean size), `sigma_by` how it is known: "given", "estimated" or
    "evidence"; `scale_by` the same of the prior's scale. `spread` is the standard deviation of the targets,
    `n` the total weight of the rows, `method` "exact" or "online", `classes` their number, `scale` that of
    the prior where the evidence chose it, `units` l1 and l2 of weights in standard deviations;
    `is_centred` whether weights were expected at zero, `lost` the loss of all rows.
    """

    loss: str
    prior: str
    l1: float | None
    l2: float | None
    n: float
    rows: int
    bias: bool = True
    sigma: float | None = None
    sigma_by: str = ""
    scale_by: str = "given"
    spread: float = 1.0
    r2: float | None = None
    evidence: float | None = None
    method: str = "exact"
    classes: int = 2
    scale: float | None = None
    units: tuple[float, float] | None = None
    is_centred: bool = True
    lost: float | None = None

    @property
    def task(self) -> str:
        """The task by which other packages name their penalties."""
        return "logistic" if self.loss == "log" else "linear"

    def equivalents(self) -> Equivalents | None:
        """Return what other packages call the penalty; None if features have different ones, or none."""
        if self.l1 is None or self.l2 is None or self.loss == "absolute" or not (self.l1 or self.l2):
            return None
        if self.classes > 2:  # most others learn one class against the rest
            return None
        found = Penalty(l1=self.l1, l2=self.l2).equivalents(self.task, self.n, 1.0, self.spread)
        return replace(found, is_centred=self.is_centred)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Fit:
        """Return the facts that `to_dict` gave; anything else raises a ValueError."""
        units = data.get("units")
        found = cls(**{**data, "units": None if units is None else tuple(units)})
        some = (found.l1, found.l2, found.sigma, found.r2, found.evidence, found.scale, *(found.units or ()))
        numbers = (found.n, found.rows, found.spread, found.classes, *(x for x in some if x is not None))
        if not all(isinstance(x, int | float) and math.isfinite(x) for x in numbers):
            raise ValueError("the facts of the fit hold other things than numbers")
        words = (found.loss, found.prior, found.sigma_by, found.scale_by, found.method)
        if not all(isinstance(x, str) for x in words) or not isinstance(found.bias, bool):
            raise ValueError("the facts of the fit hold other things than words")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain data."""
        return asdict(self)
