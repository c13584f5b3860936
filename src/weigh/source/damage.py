"""What damaged files raise."""

from __future__ import annotations

import lzma
import zlib

# What the libraries that unpack raise over damaged files; Arrow's errors are OSError or ValueError.
DAMAGE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
