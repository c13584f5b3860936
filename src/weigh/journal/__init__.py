"""A durable append-only store with exactly-once keys, compacted into snapshots."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {"journal": ("Journal", "WriteTransaction"), "storage": ("JOURNAL_START", "JournalRecord", "Position")},
)
