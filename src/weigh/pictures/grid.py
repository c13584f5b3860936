"""Grids of cells, joined into runs of the same kind so that their rows are few."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from weigh import errors
from weigh.pictures.facts import Rows, brief


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
        """What each axis shows: the outer edges of its first and last cells."""
        wide, tall = edges(self.xs), edges(self.ys)
        return [wide[0], wide[-1]], [tall[0], tall[-1]]

    def runs(self, kind: Callable[[dict[str, Any]], Hashable]) -> list[tuple[Any, dict[str, float]]]:
        """Return the kind and the edges of every run of neighbours of the same kind along x."""
        wide, tall = edges(self.xs), edges(self.ys)
        found = []
        for j, line in enumerate(self.lines):
            kinds = [kind(row) for row in line]
            starts = [i for i in range(len(kinds)) if i == 0 or kinds[i] != kinds[i - 1]]
            for start, end in zip(starts, [*starts[1:], len(kinds)], strict=True):
                corners = {"x": wide[start], "x2": wide[end], "y": tall[j], "y2": tall[j + 1]}
                found.append((kinds[start], {name: brief(at) for name, at in corners.items()}))
        return found


def edges(centres: Sequence[float]) -> list[float]:
    """The edges of cells around centres: half way between neighbours."""
    inner = [(here + there) / 2 for here, there in pairwise(centres)]
    return [2 * centres[0] - inner[0], *inner, 2 * centres[-1] - inner[-1]]
