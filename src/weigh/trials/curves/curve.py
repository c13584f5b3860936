"""The learning curve of one learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.judge.measures.measure import Measure
from weigh.text import plain
from weigh.trials.curves.diagnosis import Diagnosis
from weigh.trials.curves.power_law import Needed, PowerLaw


@dataclass(frozen=True)
class Point:
    """The losses of a learner after so many rows, and the seconds that a fit took in the middle."""

    rows: int
    train: Measure
    validation: Measure
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The point for JSON."""
        return {
            "rows": self.rows,
            "train": self.train.to_dict(),
            "validation": self.validation.to_dict(),
            "seconds": plain(self.seconds),
        }


@dataclass(frozen=True, eq=False)
class Curve:
    """One learner: its losses at every size, the law of its validation loss, and what holds it back.

    `law` is None where no power law fits, and `no_law` says why. `settings` are those of the learner that
    differ from the defaults, in words.
    """

    name: str
    points: tuple[Point, ...]
    law: PowerLaw | None
    no_law: str | None
    diagnosis: Diagnosis
    settings: str = ""

    def at(self, n: float) -> Measure:
        """Return the validation loss expected after n rows, by the law."""
        return self._law().at(n)

    def size_for(self, loss: float) -> Needed:
        """Return how many rows bring the validation loss down to `loss`, by the law."""
        return self._law().size_for(loss)

    def _law(self) -> PowerLaw:
        if self.law is None:
            raise errors.Unsupported(
                f"No power law fits the curve of {self.name}: {self.no_law}. Measure more sizes, or more "
                f"folds and repeats."
            )
        return self.law

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "learner": self.name,
            "settings": self.settings,
            "points": [point.to_dict() for point in self.points],
            "law": None if self.law is None else self.law.to_dict(),
            "no_law": self.no_law,
            "diagnosis": self.diagnosis.to_dict(),
        }
