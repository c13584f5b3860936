"""The words that keys stand for, in stores that keep them."""

from __future__ import annotations

import itertools
import mmap
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.change import Change
from weigh.apps.mail.extent import Extent
from weigh.apps.mail.features import Features
from weigh.apps.mail.folder import WORDS

_FIXED = struct.Struct("<QBH")
_VIEWS = struct.Struct("<II")


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
        return _VIEWS.pack(self.view == 0, self.view == 1) + struct.pack("<Q", self.key)


def words_of(features: Features, content: bytes) -> bytes:
    """The words of a message, as they are stored."""
    return b"".join(Word(each.key, each.view, each.name).packed() for each in features.named(content))


def read_words(folder: str, extent: Extent) -> Iterator[Word]:
    """The words that a store keeps."""
    return _unpacked(extent.read(os.path.join(folder, WORDS)))


def kept_words(folder: str, extent: Extent, changes: Sequence[Change], ledger: MailLedger) -> Extent:
    """Bring the words up to date: grown, or written anew without those that no message has any more."""
    path = os.path.join(folder, WORDS)
    known = {word.key: word for word in read_words(folder, extent)}
    coming = itertools.chain.from_iterable(_unpacked(change.words) for change in changes)
    new = {word.key: word for word in coming if word.key not in known}
    if any(change.old for change in changes):
        return extent.next().grown(path, _pieces(_learned([*known.values(), *new.values()], ledger)))
    return extent.grown(path, _pieces(new.values())) if new else extent


def _learned(words: Iterable[Word], ledger: MailLedger) -> Iterator[Word]:
    return (word for word in words if ledger.evidence(word.print))


def _pieces(words: Iterable[Word]) -> Iterator[bytes]:
    return (word.packed() for word in words)


def _unpacked(data: bytes | mmap.mmap) -> Iterator[Word]:
    at = 0
    while at < len(data):
        key, view, length = _FIXED.unpack_from(data, at)
        at += _FIXED.size + length
        yield Word(key, view, bytes(data[at - length : at]).decode("utf-8", "replace"))
