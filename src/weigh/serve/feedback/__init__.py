"""Durable feedback: rows that a served model learns and forgets while it is in use."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "change": ("Change", "Outcome"),
        "group_commit": ("GroupCommitter", "TooManyChanges"),
        "store": ("FeedbackStore",),
    },
)
