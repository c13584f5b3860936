"""Mail: finding raw messages in mailboxes, parsing them, and reading them as rows."""

from __future__ import annotations

from weigh.source.mail.mailboxes import messages
from weigh.source.mail.message import Link, Message, MimePart, read
from weigh.source.mail.raw_message import RawMessage, arrival_time, batches

__all__ = ["Link", "Message", "MimePart", "RawMessage", "arrival_time", "batches", "messages", "read"]
