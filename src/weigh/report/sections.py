"""Collecting the facts of a report, section by section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from weigh import errors
from weigh.report.facts import LeftOut

Found = TypeVar("Found")
Said = Callable[[str], None]


@dataclass
class Sections:
    """Tries sections one by one, says what it is doing, and notes those that do not apply."""

    say: Said
    left_out: list[LeftOut] = field(default_factory=list)

    def collect(self, title: str, work: Callable[..., Found | None], *given: Any) -> Found | None:
        """Return a section's facts, or None where the model does not allow it, with its reason noted."""
        self.say(title)
        try:
            return work(*given)
        except errors.Unsupported as refusal:
            self.skip(title, str(refusal))
            return None

    def skip(self, title: str, why: str) -> None:
        """Note a section that is left out."""
        self.left_out.append(LeftOut(title, why))
