"""A durable append-only store with exactly-once keys, compacted into snapshots."""

from weigh.journal.journal import Journal, WriteTransaction
from weigh.journal.storage import JOURNAL_START, JournalRecord, Position

__all__ = ["JOURNAL_START", "Journal", "JournalRecord", "Position", "WriteTransaction"]
