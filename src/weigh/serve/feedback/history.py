"""Who said what and when: a file of JSON lines beside the model, which can be erased without changing it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from weigh import errors
from weigh.atomic_files import error_reason
from weigh.serve.feedback.change import CheckedChange
from weigh.serve.feedback.snapshot import write_private_file

HISTORY_FILE = "history.jsonl"

_BLOCK_BYTES = 1 << 16


class History:
    """The file of entries; writing needs the lock of the journal.

    An entry is written before its change is committed, so that a killed process loses none. It may therefore
    leave an entry without a change, and a second one when the client sends the change again; readers compare
    the ids with the journal.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, HISTORY_FILE)

    def append(self, changes: Iterable[CheckedChange]) -> None:
        """Add one entry per change. It is not flushed to disk, which would double the time of a commit."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        lines = b"".join(_to_line(_entry(change, now)) for change in changes)
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            with open(descriptor, "r+b") as file:
                end = _end_of_last_line(descriptor)
                file.truncate(end)
                file.seek(end)
                file.write(lines)
        except OSError as error:
            raise errors.FileError(f"{self.path} cannot be written: {error_reason(error)}.") from error

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entries, the oldest first."""
        try:
            with open(self.path, "rb") as file:
                for number, line in enumerate(file, 1):
                    if line.endswith(b"\n"):  # otherwise a killed writer left it, or one is writing it
                        yield _read_line(line, f"{self.path}, line {number:,}")
        except FileNotFoundError:
            return
        except OSError as error:
            raise errors.FileError(f"{self.path} cannot be read: {error_reason(error)}.") from error

    def rewrite(self, entries: Iterable[dict[str, Any]]) -> None:
        """Replace the entries by these."""
        write_private_file(self.path, b"".join(map(_to_line, entries)))


def _entry(checked: CheckedChange, now: str) -> dict[str, Any]:
    change = checked.change
    return {
        "when": now,
        "who": change.who,
        "id": change.id,
        "operation": change.operation,
        "rows": checked.rows,
    }


def _to_line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry).encode("ascii") + b"\n"


def _read_line(line: bytes, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            return entry
    except (ValueError, RecursionError):
        pass
    raise errors.FileError(
        f"{where} is not an entry of feedback.",
        hint="Remove that line, or restore the file from a copy; the model does not depend on it.",
    )


def _end_of_last_line(descriptor: int) -> int:
    """Return the offset after the last complete line; a killed writer may have left a part of another."""
    end = os.fstat(descriptor).st_size
    while end:
        start = max(0, end - _BLOCK_BYTES)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
