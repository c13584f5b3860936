"""An owner of a journal as small as can be: its state is a list of records, its snapshot a file of JSON."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from weigh.atomic_files import atomic_write
from weigh.journal import JOURNAL_START, Journal, JournalRecord, Position

Entries = list[tuple[str, int, str]]


def key(name: object) -> bytes:
    return hashlib.blake2b(str(name).encode(), digest_size=16).digest()


def record(name: object, mark: int = 1, payload: bytes = b"") -> JournalRecord:
    return JournalRecord(key(name), mark, payload)


class Ledger:
    """A journal and the snapshot beside it."""

    def __init__(self, folder: Path | str, patience: float = 10.0) -> None:
        self.path = os.path.join(folder, "journal")
        self.snapshot = os.path.join(folder, "snapshot")
        self.journal = Journal(self.path, patience=patience)
        self.loads = 0

    def load(self) -> tuple[Entries, Position]:
        self.loads += 1
        try:
            with open(self.snapshot) as file:
                entries, position = json.load(file)
        except FileNotFoundError:
            return [], JOURNAL_START
        return [(k, m, p) for k, m, p in entries], Position(*position)

    def state(self, held: tuple[Entries, Position] | None = None) -> tuple[Entries, Position]:
        return self.journal.state(self.load, added, held)

    def entries(self) -> Entries:
        return self.state()[0]

    def learn(self, *records: JournalRecord) -> list[bool]:
        with self.journal.transaction() as turn:
            return turn.append(records)

    def write(self, position: Position) -> None:
        entries, including = self.state()
        assert including == position
        with atomic_write(self.snapshot) as file:
            file.write(json.dumps([entries, position]).encode())

    def fold(self, *, keep: bool = False) -> None:
        with self.journal.transaction() as turn:
            turn.compact(self.write, keep=keep)


def added(entries: Entries, records: list[JournalRecord]) -> Entries:
    return entries + plain(*records)


def plain(*records: JournalRecord) -> Entries:
    return [(each.key.hex(), each.mark, each.payload.hex()) for each in records]
