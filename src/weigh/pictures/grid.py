"""Grids: rows on all pairs of their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.pictures.facts import Rows


@dataclass(frozen=True)
class Grid:
    """Rows on all pairs of their x and y: lines[j][i] is at ys[j] and xs[i]."""

    xs: list[float]
    ys: list[float]
    lines: list[list[dict[str, Any]]]

    @classmethod
    def of(cls, what: str, rows: Rows) -> Grid:
        """Return rows as a grid; refuse those that have a hole or a place twice."""
        xs, ys = (sorted({row[axis] for row in rows}) for axis in "xy")
        places = {(row["x"], row["y"]): row for row in rows}
        if len(places) != len(rows) or len(rows) != len(xs) * len(ys) or min(len(xs), len(ys)) < 2:
            raise errors.DataError(
                f"{what} are drawn from a full grid, every x with every y once and two of each at least, "
                f"got {len(rows):,} rows for {len(xs):,} x and {len(ys):,} y."
            )
        return cls(xs, ys, [[places[x, y] for x in xs] for y in ys])

    @property
    def spans(self) -> tuple[list[float], list[float]]:
        """What each axis shows, from and to."""
        return [self.xs[0], self.xs[-1]], [self.ys[0], self.ys[-1]]
