"""What a solver proves: how far its weights can be from the best ones, at most."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict, dataclass
from typing import Any

from weigh.text import aligned, html_table, short

WIDTH = 80


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
        return f"{textwrap.fill(self._title, WIDTH)}\n\n{aligned(self._rows(), indent='  ')}"

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
            ["above its minimum by at most", short(self.gap)],
            ["as a share of the empty model's", short(self.relative_gap)],
            ["tolerance", short(self.tol)],
        ]
