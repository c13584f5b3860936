"""What a perceptron's run proves: mistakes, radius, and the margin of the plane it found."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from weigh.text import aligned, counted, html_table, short


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
        return f"{self._title}\n\n{aligned(self._rows(), indent='  ')}"

    def _repr_html_(self) -> str:
        return html_table(self._title, [["", "value"], *self._rows()])

    @property
    def _title(self) -> str:
        ended = "converged: the last pass changed nothing" if self.converged else "did not converge"
        return f"{counted(self.passes, 'pass', 'passes')}, {ended}"

    def _rows(self) -> list[list[str]]:
        rows = [
            ["mistakes", f"{self.mistakes:,}"],
            ["updates", f"{self.updates:,}"],
            ["examples seen", f"{self.examples:,}"],
            ["radius R", short(self.radius)],
        ]
        if self.margin is not None and self.augmented_margin is not None:
            rows += [
                ["margin of the last plane", short(self.margin)],
                ["the same, bias included", short(self.augmented_margin)],
            ]
        return rows
