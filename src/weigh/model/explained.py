"""Evidence for several rows: a list that notebooks show as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, overload

from weigh.model.evidence import Evidence
from weigh.text import html_note

SHOWN = 10


class Explained(list[Evidence]):
    """What `explain` returns: the evidence for each row, in a list; prints and shows the first ten."""

    @overload
    def __getitem__(self, at: SupportsIndex) -> Evidence: ...
    @overload
    def __getitem__(self, at: slice) -> Explained: ...
    def __getitem__(self, at: Any) -> Any:
        found: Any = super().__getitem__(at)
        return Explained(found) if isinstance(at, slice) else found

    def __repr__(self) -> str:
        return "\n\n".join(self._told(map(str, self[:SHOWN]))) or "[]"

    def _repr_html_(self) -> str:
        shown = [evidence._repr_html_() for evidence in self[:SHOWN]]
        notes = [*self._told([]), *([] if self else ["No rows."])]
        return f"<div>{''.join([*shown, *map(html_note, notes)])}</div>"

    def _told(self, shown: Iterable[str]) -> list[str]:
        more = len(self) - SHOWN
        return [*shown, *([f"… and {more:,} more"] if more > 0 else [])]
