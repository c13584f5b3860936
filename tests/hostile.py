"""Names that attack whatever shows them, and what must not reach a terminal."""

from __future__ import annotations

import unicodedata

INJECTED = "INJECTED"  # a line of output that begins with it was added by a name

CONTROL_NAMES = [
    "escape\x1b[31mred\x1b[0m",
    "title\x1b]0;owned\x07",
    "return\r" + INJECTED,
    "erase\x08\x08\x08",
    "newline\n" + INJECTED,
    "tab\tbed\x0b\x0c",
    "delete\x7f",
    "c1\x9b2J\x90\x85" + INJECTED,
    "bidi\u202egnp.exe\u202c\u2066\u2069",
    "zero\u200bwidth\u2060\ufeff",
    "separator\u2028" + INJECTED + "\u2029",
    "tag\U000e0041\ufffe\uffff",
]
MARKUP_NAMES = [
    "<script>alert(1)</script>",
    "\" onload='alert(1)",
    "&lt;b&gt;]]>-->",
    r"\input{/etc/passwd}",
    r"\write18{id}%$x^2_{~}#&",
    "[31m]\\\\",
    "{{7*7}}${x}%s%n",
    "[bold]rich[/bold]",
    "=?utf-8?q?x?=: y",
]
FORMULA_NAMES = [
    "=1+1",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "'=1+1",
    '"=1+1',
    "＝1+1",
    "＋1",
    "－1+1",
    "＠A1",
    "a;=1+1",
    'a,"=1+1',
    "a\t=1+1",
]
# Every name can be written in a UTF-8 file. LONE_SURROGATE can only come from Python or from JSON.
HOSTILE_NAMES = [*CONTROL_NAMES, *MARKUP_NAMES, *FORMULA_NAMES]
LONE_SURROGATE = "half\ud800"


def find_control_characters(text: str, allowed: str = "\n") -> list[str]:
    """Return the distinct characters that control a terminal or are invisible, as escapes."""
    return sorted({ascii(char) for char in text if _is_control(char) and char not in allowed})


def find_injected_lines(text: str) -> list[str]:
    """Return the lines that a name has added to a text."""
    return [line for line in text.splitlines() if line.lstrip().startswith(INJECTED)]


def _is_control(char: str) -> bool:
    if char in "\u200c\u200d":  # joiners, which Persian, Hindi and emoji need
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or char in "\ufffe\uffff"
