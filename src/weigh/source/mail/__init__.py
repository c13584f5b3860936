"""Mail in: the raw messages of mailboxes, and mail as rows."""

from __future__ import annotations

from weigh.source.mail.arrival import arrived
from weigh.source.mail.finding import messages
from weigh.source.mail.stored import Stored, batches

__all__ = ["Stored", "arrived", "batches", "messages"]
