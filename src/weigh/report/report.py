"""The report: facts, and the page that shows them."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from weigh import errors
from weigh.replacing import reason, replaced
from weigh.report.facts import Facts
from weigh.report.figures import figures
from weigh.report.needs import refuse_lacking
from weigh.report.page import framed, page
from weigh.report.summary_facts import Tile
from weigh.text import aligned, cut

WIDTH = 80


def _lines(tile: Tile) -> Iterator[list[str]]:
    yield [tile.name, tile.value, tile.note]
    if tile.guess:
        yield ["", "", tile.guess]


def silent(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The result of `report_on`: `facts` are typed, `html` is the page, which needs no other file."""

    facts: Facts
    say: Callable[[str], None] = field(default=silent)

    @cached_property
    def html(self) -> str:
        """The page; the same facts give the same page."""
        refuse_lacking()
        return page(self.facts, figures(self.facts, self.say))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, at once or not at all."""
        written = self.html.encode("utf-8", "replace")
        try:
            with replaced(path) as file:
                file.write(written)
        except OSError as cause:
            told = f"{os.fspath(path)} cannot be written: {reason(cause)}. Check its folder."
            raise errors.FileError(told) from cause

    def to_dict(self) -> dict[str, Any]:
        """The facts for JSON."""
        return self.facts.to_dict()

    def __str__(self) -> str:
        summary = self.facts.summary
        tiles = aligned([line for tile in summary.tiles for line in _lines(tile)], left=3, indent="  ")
        steps = "\n".join(textwrap.fill(f"- {step}", WIDTH, subsequent_indent="  ") for step in summary.next)
        return "\n\n".join([self.facts.title, textwrap.fill(summary.what, WIDTH), tiles, f"Next:\n{steps}"])

    def _repr_html_(self) -> str:
        return framed(self.facts.title, self.html)

    def __repr__(self) -> str:
        return f"<Report: {cut(self.facts.title, 50)}>"
