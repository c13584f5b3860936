"""What a perceptron's run proves: mistakes, radius, and the margin of the plane it found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from weigh.text import aligned, counted, short


@dataclass(frozen=True)
class Certificate:
    """The facts of a run.

    `mistakes` are wrong predictions while learning; `updates` also counts right ones within the
    margin. `radius` is the largest length of a row, the bias's constant 1 included. `converged`
    says that the last pass changed nothing, so that the last plane separates the rows; then `margin` is
    the distance of the nearest row to it, and `augmented_margin` the same with the bias as part of the
    weight vector, which is the margin of the mistake bound (radius / augmented_margin)². Both are None
    for a run that did not converge.
    """

    mistakes: int
    updates: int
    examples: int
    passes: int
    converged: bool
    radius: float
    margin: float | None = None
    augmented_margin: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        ended = "converged: the last pass changed nothing" if self.converged else "did not converge"
        rows = [
            ["mistakes", f"{self.mistakes:,}"],
            ["updates", f"{self.updates:,}"],
            ["examples seen", f"{self.examples:,}"],
            ["radius R", short(self.radius)],
        ]
        if self.margin is not None and self.augmented_margin is not None:
            rows += [
                ["margin of the found plane", short(self.margin)],
                ["the same, bias included", short(self.augmented_margin)],
            ]
        return f"{counted(self.passes, 'pass', 'passes')}, {ended}\n\n{aligned(rows, indent='  ')}"
