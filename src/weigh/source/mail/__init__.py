"""Mail: finding raw messages in mailboxes, parsing them, and reading them as rows."""

from weigh.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "mailboxes": ("messages",),
        "message": ("Link", "Message", "MimePart", "read"),
        "raw_message": ("RawMessage", "arrival_time", "batches"),
    },
)
