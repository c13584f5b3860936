"""What an evaluation keeps of single rows, for measures that no sums can give: up to a stated number."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weigh.judge.measures.losses import Codes, Floats

MOST = 1 << 24  # numbers kept: 128 MB, 8 million rows of two classes


@dataclass(eq=False)
class Held:
    """Truth, weight and numbers of every row; nothing at all once the numbers are too many."""

    numbers: int = 0
    _parts: list[tuple[Codes, Floats, Floats]] = field(default_factory=list)

    def add(self, truth: Codes, weights: Floats, table: Floats) -> None:
        """Keep rows of positive weight, with their numbers [n, k]."""
        self.numbers += table.size
        if self.is_over:
            self._parts.clear()
        else:
            self._parts.append((truth, weights, table))

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def is_over(self) -> bool:
        """Whether there were more numbers than are kept."""
        return self.numbers > MOST

    @property
    def truth(self) -> Codes:
        """What is true of each row, as a code."""
        return np.concatenate([part[0] for part in self._parts])

    @property
    def weights(self) -> Floats:
        """The weight of each row."""
        return np.concatenate([part[1] for part in self._parts])

    def column(self, place: int) -> Floats:
        """One number of each row."""
        return np.concatenate([part[2][:, place] for part in self._parts])
