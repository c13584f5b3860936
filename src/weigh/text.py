"""Small pieces of text and HTML that all results share: tables, bars, numbers, names."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any


def text_table(rows: Sequence[Sequence[str]], left: int = 1, indent: str = "") -> str:
    """A table in plain text: the first `left` columns flush left, the others flush right."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [
            cell + blank if at < left else blank + cell
            for at, (cell, blank) in enumerate(zip(row, blanks, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def html_table(
    title: str, rows: Sequence[Sequence[str]], left: int = 1, bars: Sequence[float | None] = ()
) -> str:
    """A table in HTML: the first row is its head, the first `left` columns are flush left, the others right.

    `bars` are numbers, one for each row below the head, that a last column draws for and against zero.
    The style is in the tags, because notebooks of all kinds keep it there, and works on light and dark.
    """
    table = [list(map(escape_html, row)) for row in rows]
    drawn = ["", *_bars_html(bars)] if bars else [None] * len(table)
    body = "".join(
        "<tr>"
        + _cells_html(row, left, "td" if at else "th")
        + ("" if bar is None else _cell_html("td", bar))
        + "</tr>"
        for at, (row, bar) in enumerate(zip(table, drawn, strict=True))
    )
    caption = f'<caption style="{_CAPTION_STYLE}">{escape_html(title)}</caption>' if title else ""
    return f'<table style="{_TABLE_STYLE}">{caption}{body}</table>'


def html_paragraph(sentence: str) -> str:
    """A paragraph in HTML."""
    return f"<p>{escape_html(sentence)}</p>"


def escape_html(text: str) -> str:
    """A text for HTML; halves of signs, which no file can hold, are replaced."""
    return html.escape(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


POSITIVE_COLOUR, NEGATIVE_COLOUR = (
    "#3b82c4",
    "#d9690a",
)  # the colours of what speaks for and against, also in pictures
_TABLE_STYLE = "border-collapse:collapse;margin:0.4em 0 1em;font-variant-numeric:tabular-nums"
_CAPTION_STYLE = "caption-side:top;text-align:left;color:inherit;font-weight:600;padding:0.3em 0"
_CELL_STYLE = "padding:0.15em 0.7em;border-bottom:1px solid rgba(128,128,128,.3);text-align:"


def _cells_html(cells: Sequence[str], left: int, tag: str) -> str:
    return "".join(_cell_html(tag, cell, "left" if at < left else "right") for at, cell in enumerate(cells))


def _cell_html(tag: str, inner: str, side: str = "left") -> str:
    return f'<{tag} style="{_CELL_STYLE}{side}">{inner}</{tag}>'


def _bars_html(numbers: Sequence[float | None]) -> list[str]:
    """Numbers as bars from a common zero; infinite ones are as long as the longest, None has no bar."""
    known = [number for number in numbers if number is not None and math.isfinite(number)]
    longest = max(map(abs, known), default=0.0) or 1.0
    sizes = [None if n is None else max(-longest, min(n, longest)) for n in numbers]
    low = min((size for size in sizes if size is not None), default=0.0)
    low, high = min(low, 0.0), max([0.0, *(size for size in sizes if size is not None)])
    span = (high - low) or 1.0
    return ["" if size is None else _bar_html(min(size, 0.0) - low, abs(size), span, size) for size in sizes]


def _bar_html(start: float, length: float, span: float, size: float) -> str:
    place = f"margin-left:{100 * start / span:.1f}%;width:{100 * length / span:.1f}%"
    colour = POSITIVE_COLOUR if size >= 0 else NEGATIVE_COLOUR
    return f'<div style="width:12em"><div style="{place};height:0.8em;background:{colour}"></div></div>'


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes: the signs of East Asia take two each."""
    if text.isascii():
        return len(text)
    from unicodedata import east_asian_width

    return len(text) + sum(east_asian_width(sign) in ("W", "F") for sign in text)


def truncate(name: object, width: int) -> str:
    """A name of at most `width` columns, without line breaks."""
    text = _replace_unprintable(name)
    return text if display_width(text) <= width else _prefix_of_width(text, width - 1) + "…"


def truncate_start(place: str, width: int) -> str:
    """A place of at most `width` columns whose end, which tells things of one folder apart, is kept."""
    whole = _replace_unprintable(place)
    return whole if display_width(whole) <= width else "…" + _prefix_of_width(whole[::-1], width - 1)[::-1]


def _replace_unprintable(name: object) -> str:
    return "".join(sign if sign.isprintable() else "�" for sign in " ".join(str(name).split()))


def _prefix_of_width(text: str, width: int) -> str:
    """As many signs of the beginning as so many columns hold."""
    kept = text[:width]
    while kept and display_width(kept) > width:
        kept = kept[:-1]
    return kept


def format_quantity(number: float, one: str, many: str = "") -> str:
    """A number with its noun: '1 row', '2,000 rows'."""
    return f"{format_count(number)} {one if number == 1 else many or one + 's'}"


def format_count(number: float) -> str:
    """A count for people: whole ones with thousands apart, others with two decimals."""
    return use_minus_sign(f"{number:,.0f}" if number == round(number) else f"{number:,.2f}")


def format_float(number: float) -> str:
    """A measured number in at most about ten signs."""
    return use_minus_sign(f"{number:,.0f}" if 1_000 <= abs(number) < 1e12 else f"{number:.4g}")


def format_percent(share: float) -> str:
    """A share as a percentage, however small."""
    return (
        format_probability(share) if share == 0 or share >= 0.0001 else use_minus_sign(f"{100 * share:.1e} %")
    )


def format_probability(share: float, is_rounded: bool = False) -> str:
    """A probability as a percentage; what is nearly sure or nearly impossible as a limit.

    One that is rounded is never quite 0 or 1.
    """
    rest = min(share, 1.0 - share)
    if rest < 0.00005 and (rest > 0 or is_rounded):
        return "< 0.01 %" if share < 0.5 else "> 99.99 %"
    return f"{100 * share:.2f} %"


def format_clipped_probability(share: float) -> str:
    """A probability that was rounded, for programs: six digits, and never quite 0 or 1."""
    return f"{max(1e-6, min(share, 1.0 - 1e-6)):.6f}"


def format_signed(nats: float, digits: int = 2) -> str:
    """A difference of logarithms with its sign."""
    if not math.isfinite(nats):
        return "+∞" if nats > 0 else "−∞"
    return use_minus_sign(f"{nats:+.{digits}f}")


def use_minus_sign(number: str) -> str:
    """A written number with the sign that is as wide as a plus."""
    return number.replace("-", "−")


_LATEX_ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: "\\" + sign for sign in "&%$#_{}"
}


def escape_latex(value: object) -> str:
    """A value as text in LaTeX, its special signs escaped."""
    return "".join(_LATEX_ESCAPES.get(sign, sign) for sign in str(value))


def to_json_value(value: Any) -> Any:
    """A value for JSON: nan as None, infinities as "inf" and "-inf", others as they are."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
