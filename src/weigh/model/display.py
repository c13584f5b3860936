"""Models as small HTML tables, for notebooks: their classes, their columns, what weighs most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from weigh.features import Schema
from weigh.features.blocks import Floats
from weigh.text import cut, html_note, html_table, short

COLUMNS = 12
CLASSES = 12
WEIGHTS = 12


@dataclass(frozen=True)
class Told:
    """One table: the first of its rows is the head; `bars` draw a number beside each other row."""

    title: str
    rows: Sequence[Sequence[str]]
    left: int = 1
    bars: Sequence[float | None] = ()


def markup(title: str, tables: Iterable[Told]) -> str:
    """Return a model as HTML: side by side as far as there is room, below each other where there is none."""
    drawn = "".join(f"<div>{html_table(t.title, t.rows, t.left, t.bars)}</div>" for t in tables)
    return f'<div>{html_note(title)}<div style="display:flex;flex-wrap:wrap;gap:0 2em">{drawn}</div></div>'


def column_table(schema: Schema) -> Told:
    """Return the columns with their kinds, the first few of them."""
    pairs = zip(schema.names, schema.kinds, strict=True)
    rows = [[cut(name, 40), kind.name] for name, kind in islice(pairs, COLUMNS)]
    made = [[cut(name, 40), f"{kind.name}, made"] for name, kind in islice(schema.made.items(), COLUMNS)]
    return Told("Columns", [["column", "kind"], *rows, *_more(len(schema.names), COLUMNS, 2), *made], 2)


def class_table(classes: Sequence[Any], facts: Mapping[str, Sequence[str]]) -> Told:
    """Return the classes with what is known of them, the first few."""
    values = [[cut(label, 40) for label in classes[:CLASSES]], *(each[:CLASSES] for each in facts.values())]
    rows = [list(row) for row in zip(*values, strict=True)]
    heads = ["class", *facts]
    return Told("Classes", [heads, *rows, *_more(len(classes), CLASSES, len(heads))])


def weight_table(title: str, names: Sequence[str], weights: Floats) -> Told:
    """Return the heaviest weights, for or against, with bars."""
    first = np.argsort(-np.abs(weights), kind="stable")[:WEIGHTS].tolist()
    rows = [[cut(names[at], 40), short(float(weights[at]))] for at in first]
    more = _more(len(names), WEIGHTS, 2)
    return Told(
        title, [["feature", "weight"], *rows, *more], 1, [*weights[first].tolist(), *[None] * len(more)]
    )


def by_class(names: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
    """Yield the name of each weight of several classes, class by class."""
    return (f"{label}: {name}" for label in classes for name in names)


def _more(number: int, shown: int, width: int) -> list[list[str]]:
    return [[f"… and {number - shown:,} more", *[""] * (width - 1)]] if number > shown else []
