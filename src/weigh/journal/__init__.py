"""A durable store: records are appended, keys have marks, and snapshots take the place of old records."""

from weigh.journal.journal import Journal
from weigh.journal.record import START, Position, Record
from weigh.journal.turn import Turn

__all__ = ["START", "Journal", "Position", "Record", "Turn"]
