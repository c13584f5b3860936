"""A look at what matters to a few messages alone: their own keys, in all that was learned of late.

To learn a message touches memory all over the ledger, which costs a program that judges one message and
ends more than all the rest. Counts of other keys than the message's have no part in its verdict.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from weigh.apps.mail.change import VIEWS, Change


def keys_of(prints: Iterable[bytes]) -> set[int]:
    """The keys of some prints."""
    return {key for print in prints for key in _keys(print)}


def narrowed(change: Change, keys: set[int]) -> Change:
    """A change without the keys that are not asked for."""
    headers, _ = VIEWS.unpack_from(change.print)
    all_keys = _keys(change.print)
    found = [key for key in all_keys if key in keys]
    of_headers = sum(key in keys for key in all_keys[:headers])
    views = VIEWS.pack(of_headers, len(found) - of_headers)
    return change._replace(print=views + struct.pack(f"<{len(found)}Q", *found))


def _keys(print: bytes) -> tuple[int, ...]:
    return struct.unpack_from(f"<{len(print) // 8 - 1}Q", print, VIEWS.size)
