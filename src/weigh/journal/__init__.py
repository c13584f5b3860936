"""A durable store: records are appended, keys have marks, and snapshots take the place of old records."""

from weigh.journal.journal import Journal, WriteTransaction
from weigh.journal.storage import JOURNAL_START, JournalRecord, Position

__all__ = ["JOURNAL_START", "Journal", "JournalRecord", "Position", "WriteTransaction"]
