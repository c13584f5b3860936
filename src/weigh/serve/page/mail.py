"""A pasted mail as a row: its headers and text decoded, under the names of the columns of mail sources."""

from __future__ import annotations

from typing import Any

from weigh.source.mail.mail_source import message_row
from weigh.source.mail.raw_message import RawMessage


def decode_mail(raw: bytes) -> dict[str, Any]:
    """Return the columns of one raw message: from, to, subject, text, hosts, flags and size."""
    # A browser shows the lines of a pasted mail box with this separator before the headers.
    content = raw.partition(b"\n")[2] if raw.startswith(b"From ") else raw
    return message_row(RawMessage(content, "the pasted mail"))
