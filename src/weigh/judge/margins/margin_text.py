"""A margin as text of at most 80 columns, and as small HTML tables."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from weigh.text import aligned, counted, cut, html_note, html_table, short, signed

if TYPE_CHECKING:
    from weigh.judge.margins.margin import Margin
    from weigh.judge.margins.separation import Proof

WIDTH = 80
SHOWN = 10
# Longer fractions tell less than their decimals.
READABLE = 24


def text(margin: Margin) -> str:
    """The whole result as text."""
    parts = [textwrap.fill(sentence, WIDTH) for sentence in _sentences(margin)]
    parts += [aligned(rows, indent="  ") for _, rows in _tables(margin)]
    return "\n\n".join([parts[0], *parts[2:], parts[1]])


def markup(margin: Margin) -> str:
    """The result as HTML tables."""
    first, last = map(html_note, _sentences(margin))
    return f"<div>{first}{''.join(html_table(title, rows) for title, rows in _tables(margin))}{last}</div>"


def _sentences(margin: Margin) -> list[str]:
    told = {True: "separable", False: "not separable", None: "undecided"}[margin.separable]
    first, second = (cut(repr(label), 20) for label in margin.classes)
    of = f"{counted(margin.n_rows, 'row')}, {counted(margin.n_features, 'feature')}"
    head = f"Margin of {of}, {first} (−) against {second} (+): {told}."
    radius = f"Radius {short(margin.radius)} with the constant 1, {short(margin.radius_plain)} without."
    if margin.proof is not None:
        sure = "exactly" if margin.proof.exact else f"but for {margin.proof.residual:.1e} of rounding"
        return [head, f"Both means are the same point, {sure}, so no plane parts the classes. {radius}"]
    if margin.separable is None:
        return [head, f"The classes touch as far as floats can tell. {radius}"]
    return [head, radius]


def _tables(margin: Margin) -> list[tuple[str, list[list[str]]]]:
    if margin.proof is not None:
        return [("The same mean of both classes", _proof_rows(margin, margin.proof))]
    return [("Margins", _margin_rows(margin)), ("The widest planes", _weight_rows(margin))]


def _margin_rows(margin: Margin) -> list[list[str]]:
    rows = [["margin", "at least", "at most", "squared", "support"]]
    for name in ("distance", "augmented"):
        plane = getattr(margin, name)
        exact = getattr(margin.exact, name) if margin.exact else None
        square = str(exact.square) if exact else ""
        rows.append(
            [
                name,
                f"{plane.lower:.10g}",
                f"{plane.upper:.10g}",
                square if square and len(square) <= READABLE else f"{plane.upper**2:.6g}",
                counted(len(plane.support), "row"),
            ]
        )
    return rows


def _weight_rows(margin: Margin) -> list[list[str]]:
    planes = [plane for plane in (margin.distance, margin.augmented) if plane is not None]
    names = {name: max(abs(p.w.get(name, 0.0)) for p in planes) for plane in planes for name in plane.w}
    shown = sorted(names, key=lambda name: (-names[name], name))
    rows = [["weight", "distance", "augmented"]]
    rows += [[cut(name, 44), *(signed(p.w.get(name, 0.0), 4) for p in planes)] for name in shown[:SHOWN]]
    if len(shown) > SHOWN:
        rows.append([f"… and {len(shown) - SHOWN:,} more", "", ""])
    return [*rows, ["bias", *(signed(plane.b, 4) for plane in planes)]]


def _proof_rows(margin: Margin, proof: Proof) -> list[list[str]]:
    rows = [["class", "row", "weight"]]
    for label, side in zip(margin.classes, (proof.first, proof.second), strict=True):
        rows += [[cut(repr(label), 40), f"{row:,}", _weight(weight)] for row, weight in _heaviest(side)]
        if len(side) > SHOWN:
            rows.append([cut(repr(label), 40), f"… {len(side) - SHOWN:,} more", ""])
    return rows


def _heaviest(side: Mapping[int, Fraction | float]) -> list[tuple[int, Fraction | float]]:
    return sorted(sorted(side.items(), key=lambda pair: -pair[1])[:SHOWN])


def _weight(weight: Fraction | float) -> str:
    written = str(weight)
    return written if isinstance(weight, Fraction) and len(written) <= READABLE else f"{float(weight):.6g}"
