"""The settings with which a file was read, as a model stores them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_NAME_LENGTH = 1000


def is_delimiter(value: object) -> bool:
    """Whether a value can separate fields: one ASCII character, no quote and no end of line."""
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in '"\r\n'


def _is_encoding(value: object) -> bool:
    import codecs

    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", value):
        return False
    try:
        return bool(getattr(codecs.lookup(value), "_is_text_encoding", True))
    except LookupError:
        return False


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
    "encoding": _is_encoding,
    "has_header": lambda value: isinstance(value, bool),
    "quotes": lambda value: isinstance(value, bool),
    "names": _are_names,
    "sheet": _is_sheet,
    "decimal": lambda value: value in (".", ","),
    "thousands": lambda value: isinstance(value, str) and len(value) <= 1,
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
    return dict(data)
