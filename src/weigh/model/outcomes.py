"""What a part of a model may show: its values, how often they were seen, how probable they are.

Whoever prints, ranks or compares parameters asks every distribution for these and need not know
the families.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weigh.features.blocks import Floats

Curve = tuple[float, float]  # mean and spread

# What was counted, of which names, and the numbers [C, names]; one column stands for all names.
Held = tuple[str, Sequence[Any], Any]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Values with their counts and probabilities, both [C, K]; `keys` tell them apart.

    `named` gives a value's feature and the value itself for people; `is_told` says whether the
    value must be told for the feature to make sense. Of `exclusive` outcomes just one is the case,
    so that their probabilities sum to one; others are each present or absent.
    """

    keys: Sequence[Any]
    counts: Any
    probabilities: Floats
    named: Callable[[int], tuple[str, str]]
    is_told: bool = True
    exclusive: bool = True

    def title(self, at: int) -> str:
        """An outcome for people, in one piece."""
        feature, value = self.named(at)
        return f"{feature} = {value}" if self.is_told and value else feature

    def frequencies(self) -> dict[Any, float]:
        """How often each was seen, in all classes."""
        return dict(zip(self.keys, self.counts.sum(axis=0).tolist(), strict=True))
