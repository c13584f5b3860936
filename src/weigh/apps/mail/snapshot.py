"""The ledger on the disk, and what it includes."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.extent import Extent
from weigh.apps.mail.folder import ARCHIVE, LEDGER, WORDS, private, telling
from weigh.errors import ModelFileError
from weigh.journal import START, Position

_NOTE = struct.Struct("<QIIQIIQI")


class Note(NamedTuple):
    """How far into the journal a ledger goes, and what counts of the files beside it."""

    position: Position = START
    archive: Extent = Extent()
    words: Extent = Extent()

    def packed(self) -> bytes:
        """The note as the ledger's file has it."""
        return _NOTE.pack(*self.position, *self.archive, *self.words)

    def require_files(self, folder: str) -> None:
        """Refuse damaged files beside the ledger, before anything is written that depends on them."""
        with telling(folder, "read"):
            for extent, name in ((self.archive, ARCHIVE), (self.words, WORDS)):
                extent.read(os.path.join(folder, name))


class Snapshot(NamedTuple):
    """A ledger that was stored, in memory: what is learned from here on does not reach its file."""

    ledger: MailLedger
    note: Note


def load(folder: str, learner: str) -> Snapshot:
    """The snapshot of a store, an empty one if nothing was folded yet."""
    path = os.path.join(folder, LEDGER)
    with telling(folder, "read"):
        if not os.path.exists(path):
            return Snapshot(MailLedger(learner), Note())
        try:
            ledger = MailLedger.open(path)
            offset, link, *extents = _NOTE.unpack(ledger.note)
        except struct.error:
            raise _unusable(path, ValueError("it has no note of a store.")) from None
        except ValueError as error:
            raise _unusable(path, error) from error
    if ledger.learner != learner:
        raise ModelFileError(
            f"{path} was learned by {ledger.learner!r}, and the settings beside it say {learner!r}. "
            "Restore the whole folder from a copy."
        )
    return Snapshot(ledger, Note(Position(offset, link), Extent(*extents[:3]), Extent(*extents[3:])))


def save(folder: str, ledger: MailLedger, note: Note) -> None:
    """Put a ledger in place of the one on the disk, which it was made from.

    Readers look only at as much of a ledger as they need; whoever makes another of it looks at all.
    """
    path = os.path.join(folder, LEDGER)
    with telling(folder, "read"):
        try:
            if os.path.exists(path):
                MailLedger.check(path)
        except ValueError as error:
            raise _unusable(path, error) from error
    with private(path) as file:
        file.write(ledger.image(note.packed()))


def _unusable(path: str, error: Exception) -> ModelFileError:
    return ModelFileError(f"{path} cannot be used: {error} Restore the whole folder from a copy.")
