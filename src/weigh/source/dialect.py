"""The settings with which a file was read, as a model stores them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_NAME_LENGTH = 1000


# Codecs of Python for other purposes than text files; some would read other text than a file shows.
_SPECIAL_CODECS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}


def is_delimiter(value: object) -> bool:
    """Whether a value can separate fields: one ASCII character, no letter, digit, quote or end of line."""
    is_character = isinstance(value, str) and len(value) == 1 and value.isascii()
    return is_character and not str(value).isalnum() and value not in ("\0", '"', "\r", "\n")


def is_encoding(value: object) -> bool:
    """Whether a value is the name of an encoding of text files."""
    import codecs

    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_. -]{1,40}", value):
        return False
    try:
        codec = codecs.lookup(value)
    except LookupError:
        return False
    return bool(getattr(codec, "_is_text_encoding", True)) and codec.name not in _SPECIAL_CODECS


def _are_names(value: object) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) for name in value)
        and len(set(value)) == len(value) > 0
    )


def _is_sheet(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= MAX_NAME_LENGTH
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 20


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "delimiter": is_delimiter,
    "encoding": is_encoding,
    "has_header": lambda value: isinstance(value, bool),
    "quotes": lambda value: isinstance(value, bool),
    "names": _are_names,
    "sheet": _is_sheet,
    "decimal": lambda value: value in (".", ","),
    "thousands": lambda value: value in ("", ",", ".", " ", "'"),
}


def check_dialect(data: object) -> dict[str, Any]:
    """Return a stored dialect; raises ValueError for a setting that no file can have been read with."""
    if not isinstance(data, Mapping):
        raise ValueError("the dialect is not a mapping")
    for name, value in data.items():
        check = _CHECKS.get(name)
        if check is None:
            raise ValueError(f"the dialect has an unknown setting {name!r}")
        if not check(value):
            raise ValueError(f"the dialect's {name} is {str(value)[:40]!r}")
    if data.get("thousands") == data.get("decimal", "."):
        raise ValueError("the dialect's decimal sign is also its thousands separator")
    return dict(data)
