"""MH: a folder whose messages are files with numbers for names."""

from __future__ import annotations

import os
from collections.abc import Iterator

from weigh.source.mail.entry import Entry
from weigh.source.paths import PathLike, entries


def is_mh(folder: PathLike) -> bool:
    """Whether a folder is of MH; numbers alone would not tell it from other folders."""
    return os.path.isfile(os.path.join(folder, ".mh_sequences"))


def entries_of_mh(folder: str) -> Iterator[Entry]:
    """The numbered files by their numbers; others are drafts, removed messages and notes."""
    numbered = [entry for entry in entries(folder) if is_number(entry.name)]
    for entry in sorted(numbered, key=lambda entry: int(entry.name)):
        yield Entry(entry, single=True)


def is_number(name: str) -> bool:
    """Whether a name is a message's number."""
    return name.isascii() and name.isdigit() and len(name) < 20
