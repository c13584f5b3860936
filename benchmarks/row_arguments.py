"""The command line shared by benchmarks that consist of several rows."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from pathlib import Path

from benchmarks.harness import ROOT
from benchmarks.text import RESULTS


class RowParser(argparse.ArgumentParser):
    """A parser with the common arguments; a benchmark adds its own."""

    def __init__(
        self, name: str, description: str | None, rows: Collection[str], *, repeats: int, data: str
    ) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(f"python -m benchmarks.{name}", description=description, formatter_class=formatter)
        self._name, self._rows = name, list(rows)
        example = f"{','.join(self._rows[:2])},…"
        self.add_argument("--rows", type=lambda text: text.split(","), default=self._rows, metavar=example)
        self.add_argument("--repeats", type=int, default=repeats, help="timed repetitions")
        default_data = Path(os.environ.get("WEIGH_DATA", ROOT.parent / "shared" / "data"))
        self.add_argument(
            "--data", type=Path, default=default_data, help=f"folder of the {data} (default: $WEIGH_DATA)"
        )
        self.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")

    def add_size(self) -> None:
        """Add --size, whose small value checks quickly that a benchmark runs."""
        self.add_argument(
            "--size", choices=["full", "small"], default="full", help="small data only checks that it runs"
        )

    def parse(self) -> argparse.Namespace:
        """Parse the command line; unknown rows, and rows that cannot be written, are errors."""
        args = self.parse_args()
        if unknown := [row for row in args.rows if row not in self._rows]:
            self.error(f"unknown row {', '.join(unknown)}; choose from {', '.join(self._rows)}")
        if args.write and getattr(args, "size", "full") != "full":
            self.error("results on small data are not written; leave out --size or --write")
        page = RESULTS.read_text(encoding="utf-8")
        unmarked = [row for row in args.rows if f"begin {self._name} {row} -->" not in page]
        if args.write and unmarked:
            self.error(f"{RESULTS} has no marker '{self._name}' for row {', '.join(unmarked)}")
        return args
