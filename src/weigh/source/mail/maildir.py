"""Maildir: a folder with a file per message in `cur` and `new`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from weigh.source.mail.entry import Entry
from weigh.source.paths import PathLike, entries

_DELIVERED = re.compile(r"(\d{1,11})(?:\.M(\d{1,6})(?!\d)|\.)")


def is_maildir(folder: PathLike) -> bool:
    """Whether a folder is a Maildir: `cur` and `new` make one, `tmp` may have gone astray."""
    return all(os.path.isdir(os.path.join(folder, name)) for name in ("cur", "new"))


def entries_of_maildir(folder: str) -> Iterator[Entry]:
    """The files of `cur`, then those of `new`; `tmp` holds what is not delivered yet."""
    for name in ("cur", "new"):
        for entry in entries(os.path.join(folder, name)):
            yield Entry(entry, seconds_of_name(entry.name), single=True)


def seconds_of_name(name: str) -> float | None:
    """When a message was delivered, by its file's name; None if that does not begin with a time."""
    found = _DELIVERED.match(name)
    return None if found is None else int(found[1]) + int(found[2] or 0) / 1e6
