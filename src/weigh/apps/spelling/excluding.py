"""Paths that are left out, by patterns of their names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from weigh import errors


class Excluded:
    """Whether a path is left out: its last parts match one of the patterns, part by part.

    `venv` and `CHANGELOG*` are names of files or folders anywhere, `docs/old` is what ends so.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [_parts(pattern) for pattern in patterns]

    def __call__(self, path: str) -> bool:
        """Whether this very path is left out."""
        return self._is_left_out(path.split(os.sep))

    def below(self, path: str) -> bool:
        """Whether a path is left out, or a folder that it names on its way, unless it begins at the root."""
        parts = os.path.normpath(path).split(os.sep)
        ends = [len(parts)] if os.path.isabs(path) else range(1, len(parts) + 1)
        return any(self._is_left_out(parts[:end]) for end in ends)

    def _is_left_out(self, parts: list[str]) -> bool:
        return any(
            len(pattern) <= len(parts) and all(map(fnmatchcase, parts[-len(pattern) :], pattern))
            for pattern in self._patterns
        )


def _parts(pattern: str) -> list[str]:
    """The parts of a pattern; that folders may come before it, and all that is in it, goes without saying."""
    found = [part for part in pattern.split("/") if part not in ("", ".")]
    while found and found[0] == "**":
        del found[0]
    while found and found[-1] == "**":
        del found[-1]
    if not found:
        raise errors.parameter("documents", "exclude", "patterns of names, such as 'venv'", pattern)
    return found
