"""The words that keys stand for, in stores that keep them."""

from __future__ import annotations

import itertools
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.change import VIEWS, Change
from weigh.apps.mail.extent import Extent
from weigh.apps.mail.features import Features
from weigh.apps.mail.folder import WORDS
from weigh.apps.mail.glance import keys_of

_FIXED = struct.Struct("<QBH")


class Word(NamedTuple):
    """A key, the view that it belongs to (0 headers, 1 body), and how people read it."""

    key: int
    view: int
    name: str

    def packed(self) -> bytes:
        """The word as it is stored."""
        name = self.name.encode("utf-8", "surrogatepass")[: 1 << 15]
        return _FIXED.pack(self.key, self.view, len(name)) + name

    @property
    def print(self) -> bytes:
        """The print of a message that has this feature and no other."""
        return VIEWS.pack(self.view == 0, self.view == 1) + struct.pack("<Q", self.key)


def words_of(features: Features, content: bytes) -> bytes:
    """The words of a message, as they are stored."""
    return b"".join(Word(each.key, each.view, each.name).packed() for each in features.named(content))


def read_words(folder: str, extent: Extent) -> Iterator[Word]:
    """The words that a store keeps."""
    return _unpacked(extent.read(os.path.join(folder, WORDS)))


def kept_words(
    folder: str, extent: Extent, changes: Sequence[Change], before: MailLedger, now: MailLedger
) -> Extent:
    """Bring the words up to date: grown, or written anew without those that no message has any more.

    `before` is the ledger whose words are there, `now` the one with the changes.
    """
    path = os.path.join(folder, WORDS)
    new: dict[int, Word] = {}
    gone: set[int] = set()
    for change in changes:
        known = {key for _, key, _ in before.evidence(change.print)}
        new.update((word.key, word) for word in _unpacked(change.words) if word.key not in known)
        if change.old:
            gone |= keys_of([change.print]) - {key for _, key, _ in now.evidence(change.print)}
    coming = (word.packed() for word in new.values() if word.key not in gone)
    if not gone:
        return extent.grown(path, coming) if new else extent
    left = (word.packed() for word in read_words(folder, extent) if word.key not in gone)
    return extent.next().grown(path, itertools.chain(left, coming))


def _unpacked(data: bytes | mmap.mmap) -> Iterator[Word]:
    at = 0
    while at < len(data):
        key, view, length = _FIXED.unpack_from(data, at)
        at += _FIXED.size + length
        yield Word(key, view, data[at - length : at].decode("utf-8", "replace"))
