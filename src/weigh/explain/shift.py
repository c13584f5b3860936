"""What a test says of one column: is it distributed as it was in training?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FEWEST = 20  # rows below which no column is tested
SURE = 0.001
NOTABLE = 0.1
LEAST = 1e-300  # p-values below it are too small for a number


@dataclass(frozen=True)
class Shift:
    """One column: its test's p-value, how large the change is, and the change in words."""

    column: str
    test: str
    p: float
    effect: float
    before: str
    now: str

    @property
    def shifted(self) -> bool:
        """Whether the change is both sure and notable."""
        return self.p < SURE and self.effect >= NOTABLE

    @property
    def p_told(self) -> str:
        """The p-value as text, which is never zero."""
        return f"{self.p:.1e}" if self.p >= LEAST else f"< {LEAST:.0e}"

    def to_dict(self) -> dict[str, Any]:
        """The column for JSON."""
        return vars(self) | {"shifted": self.shifted}
