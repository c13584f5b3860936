"""The identity of a message: the same wherever it lies, and whatever programs have written into it."""

from __future__ import annotations

import re
from hashlib import blake2b

SIZE = 16

# What filters, mail programs and mailboxes write, and rewrite, into messages that are not theirs. To begin
# with the end of the line before lets the search leap from line to line.
_WRITTEN = re.compile(
    rb"\n(?:x-(?:weigh|spam-|mozilla-)[^:\n]*|x-bogosity|status|x-status|x-keywords|x-uid|x-gmail-labels"
    rb"|content-length|lines):[^\n]*(?:\n[ \t][^\n]*)*",
    re.IGNORECASE,
)


def canonical(content: bytes) -> bytes:
    """The bytes of a message that stay the same when it is delivered, filed, marked as read or filtered.

    Lines end in LF, without empty ones at the end; the mailbox's own first line ("From …") and the headers
    that filters and mailboxes write (X-Weigh…, X-Bogosity, X-Spam-…, X-Mozilla-…, X-Gmail-Labels, Status,
    X-Status, X-Keywords, X-UID, Content-Length, Lines) are left out.
    """
    text = content.replace(b"\r\n", b"\n")
    if text.startswith(b"From "):
        text = text[text.find(b"\n") + 1 :]
    # The headers end with the first empty line; there are none if that is the first line of all.
    end = 0 if text.startswith(b"\n") else text.find(b"\n\n") + 1 or len(text)
    return (_WRITTEN.sub(b"", b"\n" + text[:end])[1:] + text[end:]).rstrip(b"\n")


def digest(content: bytes) -> bytes:
    """The 16 bytes that a message is known by: blake2b of its canonical bytes."""
    return identity(canonical(content))


def identity(canonical: bytes) -> bytes:
    """The 16 bytes that canonical bytes are known by."""
    return blake2b(canonical, digest_size=SIZE).digest()
