"""What a folder of mail lists."""

from __future__ import annotations

import os
from typing import NamedTuple


class Entry(NamedTuple):
    """A file or a folder in a folder: when its message came, and whether it is one message for sure."""

    found: os.DirEntry[str]
    at: float | None = None
    single: bool = False
