"""Small pieces of text that all printed results share: tables, numbers, names."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any


def aligned(rows: Sequence[Sequence[str]], left: int = 1, indent: str = "") -> str:
    """A table in plain text: the first `left` columns flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def html_table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML: the first row is its head."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<table><caption>{html.escape(title)}</caption><tr>{head}</tr>{body}</table>"


def cut(name: object, width: int) -> str:
    """A name of at most `width` signs, without line breaks."""
    text = "".join(sign if sign.isprintable() else "�" for sign in " ".join(str(name).split()))
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(number: float, one: str, many: str = "") -> str:
    """A number with its noun: '1 row', '2,000 rows'."""
    return f"{amount(number)} {one if number == 1 else many or one + 's'}"


def amount(number: float) -> str:
    """A count for people: whole ones with thousands apart, others with two decimals."""
    return f"{number:,.0f}" if number == round(number) else f"{number:,.2f}"


def short(number: float) -> str:
    """A measured number in at most about ten signs."""
    return f"{number:,.0f}" if abs(number) >= 1_000 else f"{number:.4g}"


def percent(share: float) -> str:
    """A probability as a percentage."""
    return f"{100 * share:.2f} %" if share == 0 or share >= 0.0001 else f"{100 * share:.1e} %"


def signed(nats: float, digits: int = 2) -> str:
    """A difference of logarithms with its sign."""
    if not math.isfinite(nats):
        return "+∞" if nats > 0 else "−∞"
    return f"{nats:+.{digits}f}".replace("-", "−")


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: "\\" + sign for sign in "&%$#_{}"
}


def latex(value: object) -> str:
    """A value as text in LaTeX, its special signs escaped."""
    return "".join(_LATEX.get(sign, sign) for sign in str(value))


def plain(value: Any) -> Any:
    """A value for JSON: nan as None, infinities as "inf" and "-inf", others as they are."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
