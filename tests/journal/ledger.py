"""A minimal journal owner: its state is a list of records, its snapshot a JSON file."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from weigh.atomic_files import atomic_write
from weigh.journal.journal import Journal
from weigh.journal.storage import JOURNAL_START, JournalRecord, Position

Entries = list[tuple[str, int, str]]


def key(name: object) -> bytes:
    return hashlib.blake2b(str(name).encode(), digest_size=16).digest()


def record(name: object, mark: int = 1, payload: bytes = b"") -> JournalRecord:
    return JournalRecord(key(name), mark, payload)


class Ledger:
    """A journal and its snapshot."""

    def __init__(self, folder: Path | str, timeout: float = 10.0) -> None:
        self.path = os.path.join(folder, "journal")
        self.snapshot = os.path.join(folder, "snapshot")
        self.journal = Journal(self.path, timeout=timeout)
        self.loads = 0

    def load(self) -> tuple[Entries, Position]:
        self.loads += 1
        try:
            with open(self.snapshot) as file:
                entries, position = json.load(file)
        except FileNotFoundError:
            return [], JOURNAL_START
        return [(k, m, p) for k, m, p in entries], Position(*position)

    def state(self, current: tuple[Entries, Position] | None = None) -> tuple[Entries, Position]:
        return self.journal.state(self.load, lambda entries, records: entries + plain(*records), current)

    def entries(self) -> Entries:
        return self.state()[0]

    def append(self, *records: JournalRecord) -> list[bool]:
        with self.journal.transaction() as transaction:
            return transaction.append(records)

    def write(self, position: Position) -> None:
        entries, covered = self.state()
        assert covered == position
        with atomic_write(self.snapshot) as file:
            file.write(json.dumps([entries, position]).encode())

    def compact(self, *, keep: bool = False) -> None:
        with self.journal.transaction() as transaction:
            transaction.compact(self.write, keep_records=keep)


def plain(*records: JournalRecord) -> Entries:
    return [(record.key.hex(), record.mark, record.payload.hex()) for record in records]
