"""Words and numbers as a report writes them."""

from __future__ import annotations

import re

FROM_ZERO = "Rows are counted from 0."
PERCENT = re.compile(r"(?<=\d) %")


def tied(text: str) -> str:
    """A sentence in which no line ends between a number and its percent sign."""
    return PERCENT.sub("\u00a0%", text)


def share(part: float) -> str:
    """A share with one decimal of a percent, with more where it is small or close to all."""
    if part in (0.0, 1.0):
        return f"{100 * part:.0f} %"
    rest = min(part, 1.0 - part)
    if rest >= 0.0005:
        return f"{100 * part:.1f} %"
    return f"{100 * part:.2f} %" if rest >= 0.00005 else "< 0.01 %" if part < 0.5 else "> 99.99 %"
