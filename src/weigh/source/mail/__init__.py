"""Mail in: the raw messages of mailboxes, what is in one, and mail as rows."""

from __future__ import annotations

from weigh.source.mail.arrival import arrived
from weigh.source.mail.finding import messages
from weigh.source.mail.message import Link, Message, Part, read
from weigh.source.mail.stored import Stored, batches

__all__ = ["Link", "Message", "Part", "Stored", "arrived", "batches", "messages", "read"]
