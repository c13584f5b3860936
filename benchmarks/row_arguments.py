"""What benchmarks of several rows are asked on the command line, and what they refuse."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from pathlib import Path

from benchmarks.harness import ROOT
from benchmarks.text import RESULTS


class RowParser(argparse.ArgumentParser):
    """The arguments that all of them take; a benchmark adds its own."""

    def __init__(
        self, name: str, about: str | None, rows: Collection[str], *, repeats: int, data: str
    ) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(f"python -m benchmarks.{name}", description=about, formatter_class=form)
        self._name, self._rows = name, list(rows)
        some = f"{','.join(self._rows[:2])},…"
        self.add_argument("--rows", type=lambda given: given.split(","), default=self._rows, metavar=some)
        self.add_argument("--repeats", type=int, default=repeats, help="of what is timed")
        usual = Path(os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data"))
        self.add_argument("--data", type=Path, default=usual, help=f"{data}; else $WEIGH_DATA")
        self.add_argument("--write", action="store_true", help="put the tables into benchmarks/RESULTS.md")

    def add_size(self) -> None:
        """Let people see quickly whether a benchmark works."""
        self.add_argument("--size", choices=["full", "small"], default="full", help="small ones show nothing")

    def parse(self) -> argparse.Namespace:
        """Return what was asked; rows that are not there, or have no place to be written to, are refused."""
        given = self.parse_args()
        if beyond := [row for row in given.rows if row not in self._rows]:
            self.error(f"there is no row {' and no row '.join(beyond)}; the rows are {', '.join(self._rows)}")
        if given.write and getattr(given, "size", "full") != "full":
            self.error("small rows show nothing, so they are not written; leave --size or --write out")
        page = RESULTS.read_text(encoding="utf-8")
        absent = [row for row in given.rows if f"begin {self._name} {row} -->" not in page]
        if given.write and absent:
            self.error(f"{RESULTS} has no place marked {self._name} {', '.join(absent)}")
        return given
