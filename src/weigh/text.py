"""Text and HTML formatting shared by all results: tables, bars, numbers and names."""

from __future__ import annotations

import datetime
import html
import math
from collections.abc import Callable, Sequence
from typing import Any

# Control characters, invisible formatting (bidirectional overrides, zero-width characters), lone surrogates,
# line and paragraph separators; but neither spaces nor characters of a later Unicode version than Python's.
# Joiners stay: Persian, Hindi and emoji need them.
_ESCAPED_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_NONCHARACTERS = "\ufffe\uffff"  # invalid in XML
_JOINERS = "\u200c\u200d"


def escape_control_characters(text: str, quote: Callable[[str], str] = repr) -> str:
    r"""Replace control and invisible characters by escapes such as \x1b, \n and \u202e.

    A name from a file could otherwise move the cursor, hide text or add lines on a terminal. `quote` writes a
    character as a quoted literal.
    """
    if text.isprintable():
        return text
    from unicodedata import category

    def is_escaped(char: str) -> bool:
        is_control = category(char) in _ESCAPED_CATEGORIES or char in _NONCHARACTERS
        return is_control and char not in _JOINERS

    return "".join(quote(char)[1:-1] if is_escaped(char) else char for char in text)


def escape_lines(text: str, quote: Callable[[str], str] = repr) -> str:
    """Escape the control characters of a text except its line ends."""
    if text.isprintable():
        return text
    return "\n".join(escape_control_characters(line, quote) for line in text.split("\n"))


def text_table(rows: Sequence[Sequence[str]], left: int = 1, indent: str = "") -> str:
    """Format a plain-text table, with the first `left` columns left-aligned and the others right-aligned."""
    cells_by_row = [list(map(escape_control_characters, row)) for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*cells_by_row, strict=True)]
    lines = []
    for row in cells_by_row:
        padding = [" " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [
            cell + pad if i < left else pad + cell
            for i, (cell, pad) in enumerate(zip(row, padding, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def html_table(
    title: str,
    rows: Sequence[Sequence[str]],
    left: int = 1,
    bars: Sequence[float | None] = (),
    has_header: bool = True,
) -> str:
    """Format an HTML table, by default with a header in its first row; `left` columns are left-aligned.

    `bars` holds one number per body row, drawn in an extra last column as a bar from a common zero.
    Styles are inline because notebooks strip style sheets; they suit light and dark themes.
    """
    table = [list(map(escape_html, row)) for row in rows]
    bar_cells = [*[""] * has_header, *_bars_html(bars)] if bars else [None] * len(table)
    body = "".join(
        "<tr>"
        + _cells_html(row, left, "th" if i < has_header else "td")
        + ("" if bar is None else _cell_html("td", bar))
        + "</tr>"
        for i, (row, bar) in enumerate(zip(table, bar_cells, strict=True))
    )
    caption = f'<caption style="{_CAPTION_STYLE}">{escape_html(title)}</caption>' if title else ""
    return f'<table style="{_TABLE_STYLE}">{caption}{body}</table>'


def html_paragraph(sentence: str) -> str:
    """Return an HTML paragraph."""
    return f"<p>{escape_html(sentence)}</p>"


def html_list(items: Sequence[str]) -> str:
    """Return an HTML list."""
    return f"<ul>{''.join(f'<li>{escape_html(item)}</li>' for item in items)}</ul>"


def html_lines(text: str) -> str:
    """Return HTML that keeps the indentation and the columns of a text."""
    return f'<pre style="{_LINES_STYLE}">{escape_html(text)}</pre>'


def escape_html(text: str) -> str:
    """Escape text for HTML, with control characters and lone surrogates as in text."""
    return html.escape(escape_lines(text))


POSITIVE_COLOUR, NEGATIVE_COLOUR = "#3b82c4", "#d9690a"  # evidence for and against; charts use them too
_TABLE_STYLE = "border-collapse:collapse;margin:0.4em 0 1em;font-variant-numeric:tabular-nums"
_LINES_STYLE = "margin:0.4em 0 1em;font-family:monospace;white-space:pre"
_CAPTION_STYLE = "caption-side:top;text-align:left;color:inherit;font-weight:600;padding:0.3em 0"
_CELL_STYLE = "padding:0.15em 0.7em;border-bottom:1px solid rgba(128,128,128,.3);text-align:"


def _cells_html(cells: Sequence[str], left: int, tag: str) -> str:
    return "".join(_cell_html(tag, cell, "left" if i < left else "right") for i, cell in enumerate(cells))


def _cell_html(tag: str, inner: str, align: str = "left") -> str:
    return f'<{tag} style="{_CELL_STYLE}{align}">{inner}</{tag}>'


def _bars_html(numbers: Sequence[float | None]) -> list[str]:
    """Draw numbers as bars from a common zero; infinite bars are as long as the longest finite one."""
    finite = [number for number in numbers if number is not None and math.isfinite(number)]
    longest = max(map(abs, finite), default=0.0) or 1.0
    sizes = [None if n is None else max(-longest, min(n, longest)) for n in numbers]
    low = min((size for size in sizes if size is not None), default=0.0)
    low, high = min(low, 0.0), max([0.0, *(size for size in sizes if size is not None)])
    span = (high - low) or 1.0
    return ["" if size is None else _bar_html(min(size, 0.0) - low, abs(size), span, size) for size in sizes]


def _bar_html(start: float, length: float, span: float, size: float) -> str:
    extent = f"margin-left:{100 * start / span:.1f}%;width:{100 * length / span:.1f}%"
    colour = POSITIVE_COLOUR if size >= 0 else NEGATIVE_COLOUR
    return f'<div style="width:12em"><div style="{extent};height:0.8em;background:{colour}"></div></div>'


def display_width(text: str) -> int:
    """Return the number of terminal columns of a text; wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import east_asian_width

    return len(text) + sum(east_asian_width(char) in ("W", "F") for char in text)


def truncate(name: object, width: int) -> str:
    """Shorten a name to at most `width` columns on one line, dropping its end."""
    text = _to_one_line(name)
    return text if display_width(text) <= width else _prefix_of_width(text, width - 1) + "…"


def truncate_start(path: str, width: int) -> str:
    """Shorten a path to at most `width` columns, dropping its start because paths differ at the end."""
    text = _to_one_line(path)
    return text if display_width(text) <= width else "…" + _prefix_of_width(text[::-1], width - 1)[::-1]


def _to_one_line(name: object) -> str:
    return escape_control_characters(" ".join(str(name).split()))


def _prefix_of_width(text: str, width: int) -> str:
    """Return the longest prefix of at most `width` terminal columns."""
    prefix = text[:width]
    while prefix and display_width(prefix) > width:
        prefix = prefix[:-1]
    return prefix


def format_quantity(number: float, singular: str, plural: str = "") -> str:
    """Format a number with its noun: '1 row', '2,000 rows'."""
    return f"{format_count(number)} {singular if number == 1 else plural or singular + 's'}"


def format_count(number: float) -> str:
    """Format a count: integers with thousands separators, fractions with two decimals."""
    return use_minus_sign(f"{number:,.0f}" if number == round(number) else f"{number:,.2f}")


def format_float(number: float) -> str:
    """Format a measured number in at most about ten characters."""
    return use_minus_sign(f"{number:,.0f}" if 1_000 <= abs(number) < 1e12 else f"{number:.4g}")


EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()


def date_of_day(day: float) -> datetime.date | None:
    """Return the date of a day since 1970; None if the calendar does not have it."""
    ordinal = math.floor(day) + EPOCH_ORDINAL
    return datetime.date.fromordinal(ordinal) if 1 <= ordinal <= datetime.date.max.toordinal() else None


def format_day(day: float) -> str:
    """Format a day since 1970 as a date, or as a number if the calendar does not have it."""
    date = date_of_day(day)
    return format_float(day) if date is None else date.isoformat()


def format_coefficient(number: float | None) -> str:
    """Format a number with five significant digits; None becomes an empty string."""
    return "" if number is None else use_minus_sign(f"{number:.5g}")


def format_percent(share: float) -> str:
    """Format a fraction as a percentage, in scientific notation if it is tiny."""
    if share == 0 or share >= 0.0001:
        return format_probability(share)
    return use_minus_sign(f"{100 * share:.1e} %")


def format_probability(share: float, is_rounded: bool = False) -> str:
    """Format a probability as a percentage, and as a bound when it is close to 0 or 1.

    A rounded probability is never shown as exactly 0 or 1.
    """
    distance = min(share, 1.0 - share)
    if distance < 0.00005 and (distance > 0 or is_rounded):
        return "< 0.01 %" if share < 0.5 else "> 99.99 %"
    return f"{100 * share:.2f} %"


def format_p_value(p: float) -> str:
    """Format the p-value of a test with three decimals; NaN becomes a dash."""
    if math.isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else "< .001"


def format_clipped_probability(share: float) -> str:
    """Format a rounded probability for programs: six decimals, clipped away from 0 and 1."""
    return f"{max(1e-6, min(share, 1.0 - 1e-6)):.6f}"


def format_signed(nats: float, digits: int = 2) -> str:
    """Format a difference of logarithms with its sign."""
    if not math.isfinite(nats):
        return "+∞" if nats > 0 else "−∞"
    return use_minus_sign(f"{nats:+.{digits}f}")


def use_minus_sign(number: str) -> str:
    """Replace hyphens in a formatted number by the minus sign, which is as wide as a plus."""
    return number.replace("-", "−")


_LATEX_ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    char: "\\" + char for char in "&%$#_{}"
}


def escape_latex(value: object) -> str:
    """Escape a value as LaTeX text on one line."""
    text = escape_control_characters(str(value))
    return "".join(_LATEX_ESCAPES.get(char, char) for char in text)


def to_json_value(value: Any) -> Any:
    """Convert a scalar for JSON: NaN to None, infinities to "inf" and "-inf", other types to str."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
