"""Collecting the facts of a report, section by section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from weigh import errors
from weigh.report.facts import LeftOut

# What is wrong with the rows themselves is refused, never passed over.
OF_THE_ROWS = (errors.ColumnError, errors.LabelError, errors.FileError)
# Why a kind of model has no such section, in words for those who read the page.
WHY = {
    "Calibration": "The model gives no probabilities that could be compared with what came true.",
    "Unfamiliar rows": "Only naive Bayes models know their training rows well enough to tell what is new.",
    "Strongest features": "The model does not weigh features one by one.",
    "Columns": "The model does not tell which columns it was trained on.",
    "Curves": "There is nothing to rank rows by, or all rows are of one class.",
}
TOO_FEW = {
    "Learning curve": "The rows given for training, or those of a class, are too few to be learned in parts.",
}

Found = TypeVar("Found")
Said = Callable[[str], None]


@dataclass
class Sections:
    """Tries sections one by one, says what it is doing, and notes those that do not apply."""

    say: Said
    left_out: list[LeftOut] = field(default_factory=list)

    def collect(self, title: str, work: Callable[..., Found | None], *given: Any) -> Found | None:
        """Return a section's facts, or None where model or rows do not allow it, with the reason noted."""
        self.say(title)
        try:
            found = work(*given)
        except OF_THE_ROWS:
            raise
        except errors.WeighError as refusal:
            told = TOO_FEW if isinstance(refusal, errors.DataError) else WHY
            self.skip(title, told.get(title, str(refusal)))
            return None
        if found is None:
            self.skip(title, WHY[title])
        return found

    def skip(self, title: str, why: str) -> None:
        """Note a section that is left out."""
        self.left_out.append(LeftOut(title, why))
