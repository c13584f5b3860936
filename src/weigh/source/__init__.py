"""Rows in, chunk by chunk: tables in memory and files of any length."""

from __future__ import annotations

from weigh.source.base import Source
from weigh.source.chunk import Chunk
from weigh.source.files import open
from weigh.source.table import rows

__all__ = ["Chunk", "Source", "open", "rows"]
