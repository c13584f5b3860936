"""Rows in, chunk by chunk: tables in memory and files of any length.

Names are resolved when they are first used: one message is judged without the readers of all formats.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weigh.source.base import Source
    from weigh.source.chunk import Chunk
    from weigh.source.files.open_files import open
    from weigh.source.memory.table import rows

__all__ = ["Chunk", "Source", "open", "rows"]

_HOMES = {"Chunk": "chunk", "Source": "base", "open": "files.open_files", "rows": "memory.table"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'weigh.source' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"weigh.source.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
