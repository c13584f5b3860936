"""A measured value with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from weigh.text import html_note, minus, plain


@dataclass(frozen=True, repr=False)
class Measure:
    """A value with its confidence interval; low and high are nan where none is given."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f", from {self.low:.4g} to {self.high:.4g}"
        return f"{self.name}: " + minus(f"{self.value:.4g}{interval}")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_note(str(self))

    @property
    def is_cut_off(self) -> bool:
        """Whether the interval of a mean loss would begin below zero: a few rows have most of it."""
        return self.low == 0.0 < self.value

    def to_dict(self) -> dict[str, Any]:
        """The measure for JSON: nan as None, infinities as "inf" and "-inf"."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {"name": self.name} | {key: plain(number) for key, number in numbers.items()}
