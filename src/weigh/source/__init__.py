"""Reading rows chunk by chunk, from tables in memory and from files of any size.

Names are resolved lazily so that classifying a single message does not import every file reader.
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

_MODULE_BY_NAME = {"Chunk": "chunk", "Source": "base", "open": "files.open_files", "rows": "memory.table"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module 'weigh.source' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"weigh.source.{_MODULE_BY_NAME[name]}"), name)
    globals()[name] = value
    return value
