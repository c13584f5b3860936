"""What becomes of a message's label, as a record of the journal."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

from weigh.errors import ModelFileError
from weigh.journal import Record

# Marks of the journal, which stand for labels: a message has been learned as one of them, or not at all.
NONE, HAM, SPAM = 0, 1, 2
LABELS = {"ham": HAM, "spam": SPAM}

# How a print begins: how many keys it has of the headers, and how many of the body.
VIEWS = struct.Struct("<II")


class Change(NamedTuple):
    """A message that had one mark and gets another, its print, and its words if the store keeps them."""

    key: bytes
    old: int
    new: int
    print: bytes = b""
    words: bytes = b""

    @property
    def record(self) -> Record:
        """The change for the journal; it says itself what has to be undone."""
        return Record(self.key, self.new, bytes([self.old]) + self.print + self.words)


def after(changes: Iterable[Change], mark: Callable[[bytes], int]) -> list[Change]:
    """Changes with the marks that messages have when it is their turn; `mark` tells the present ones."""
    marks: dict[bytes, int] = {}
    found = []
    for key, _, new, print, words in changes:
        old = marks[key] if key in marks else mark(key)
        marks[key] = new
        found.append(Change(key, old, new, print, words))
    return found


def change_of(record: Record) -> Change:
    """The change that a record tells of; ValueError if it is no such record."""
    payload = record.payload
    if len(payload) <= VIEWS.size or max(payload[0], record.mark) > SPAM:
        raise ValueError("a record is of another kind.")
    headers, body = VIEWS.unpack_from(payload, 1)
    end = 1 + VIEWS.size + 8 * (headers + body)
    if end > len(payload):
        raise ValueError("a record is cut short.")
    return Change(record.key, payload[0], record.mark, payload[1:end], payload[end:])


def changes_of(records: Iterable[Record], folder: str) -> list[Change]:
    """The changes that records of a store tell of, or a refusal."""
    try:
        return [change_of(record) for record in records]
    except ValueError as error:
        raise ModelFileError(
            f"{folder}: the journal cannot be used: {error} Restore the whole folder from a copy."
        ) from error
