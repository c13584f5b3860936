"""How the weights of a regression came about: loss, prior, noise, rows."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict, dataclass, replace
from typing import Any

from weigh.priors import Penalty
from weigh.priors.equivalents import Equivalents
from weigh.text import format_float, format_quantity, html_table, text_table


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


@dataclass(frozen=True)
class Certificate:
    """The facts of a run.

    `mistakes` are wrong predictions while learning; `updates` also counts right ones within the
    margin. `radius` is the largest length of a row, the bias's constant 1 included if there is a `bias`.
    `converged` says that the last pass changed nothing, so that the last plane separates the rows; a run
    over several batches is never called so, for its last pass has not seen all rows.

    Of two classes, `margin` is then the distance of the nearest row to the last plane, and
    `augmented_margin` the same with the bias as part of the weight vector, which is the margin of the
    mistake bound (radius / augmented_margin)². Both are 0 where the plane touches a row, and None for a run
    that did not converge. Of several classes they are the least lead in lengths of all weights together.
    `weighted` rows made steps of different sizes, for which there is no such bound.
    """

    mistakes: int
    updates: int
    examples: int
    passes: int
    converged: bool
    radius: float
    margin: float | None = None
    augmented_margin: float | None = None
    bias: bool = True
    weighted: bool = False
    batches: int = 1

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Certificate:
        """Return the facts that `to_dict` gave; others raise a ValueError."""
        facts = cls(**data)
        counts = (facts.mistakes, facts.updates, facts.examples, facts.passes, facts.batches)
        margins = [each for each in (facts.margin, facts.augmented_margin) if each is not None]
        whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts)
        numbers = all(isinstance(x, int | float) and math.isfinite(x) for x in (facts.radius, *margins))
        if (
            not whole
            or not numbers
            or not isinstance(facts.converged, bool)
            or not isinstance(facts.bias, bool)
        ):
            raise ValueError("the certificate holds other things than numbers")
        return facts

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self._title}\n\n{text_table(self._rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(self._title, [["", "value"], *self._rows()])

    @property
    def _title(self) -> str:
        ended = "converged: the last pass changed nothing" if self.converged else "did not converge"
        return f"{format_quantity(self.passes, 'pass', 'passes')}, {ended}"

    def _rows(self) -> list[list[str]]:
        rows = [
            ["mistakes", f"{self.mistakes:,}"],
            ["updates", f"{self.updates:,}"],
            ["examples seen", f"{self.examples:,}"],
            ["radius R", format_float(self.radius)],
        ]
        if self.margin is not None and self.augmented_margin is not None:
            rows += [
                ["margin of the last plane", format_float(self.margin)],
                ["the same, bias included", format_float(self.augmented_margin)],
            ]
        return rows


LINE_WIDTH = 80


@dataclass(frozen=True)
class Optimality:
    """The proof that comes with a fit.

    `objective` is the loss of all rows and the penalty together; its minimum is lower by at most
    `gap`. `null` is the objective of the model without features, beside which the gap is judged: the fit
    is `converged` if gap ≤ tol · null. `iterations` and `method` tell how the weights were found.
    """

    objective: float
    gap: float
    null: float
    tol: float
    iterations: int
    method: str

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective of the model without features."""
        return self.gap / self.null if self.null > 0 else self.gap

    @property
    def converged(self) -> bool:
        """Whether the gap is within the tolerance."""
        return self.relative_gap <= self.tol

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Optimality:
        """Return the proof that `to_dict` gave; anything else raises a ValueError."""
        found = cls(**data)
        numbers = (found.objective, found.gap, found.null, found.tol)
        plain = all(isinstance(x, int | float) and not isinstance(x, bool) for x in numbers)
        if not plain or any(map(math.isnan, numbers)) or not isinstance(found.iterations, int):
            raise ValueError("the certificate holds other things than numbers")
        if found.gap < 0 or found.tol < 0:
            raise ValueError("the certificate proves less than nothing")
        if not isinstance(found.method, str):
            raise ValueError("the certificate does not tell its method")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{textwrap.fill(self._title, LINE_WIDTH)}\n\n{text_table(self._rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(self._title, [["", "value"], *self._rows()])

    @property
    def _title(self) -> str:
        said = "optimal" if self.converged else "NOT optimal"
        steps = f"{self.method}, {self.iterations:,} iteration{'s' * (self.iterations != 1)}"
        return f"{said} within the tolerance: {steps}"

    def _rows(self) -> list[list[str]]:
        return [
            ["objective", f"{self.objective:.10g}"],
            ["above its minimum by at most", format_float(self.gap)],
            ["as a share of the empty model's", format_float(self.relative_gap)],
            ["tolerance", format_float(self.tol)],
        ]
