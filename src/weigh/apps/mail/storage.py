"""The ledger on the disk, and what it includes."""

from __future__ import annotations

import itertools
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from weigh._core import MailLedger
from weigh.apps.mail.features import FeatureExtractor
from weigh.apps.mail.folder import (
    ARCHIVE_FILE,
    LEDGER_FILE,
    WORDS_FILE,
    translate_os_errors,
    write_private_file,
)
from weigh.atomic_files import fsync_folder
from weigh.errors import ModelFileError
from weigh.journal import JOURNAL_START, JournalRecord, Position
from weigh.journal.storage import flush_to_disk


class SidecarFile(NamedTuple):
    """The number of a file, how many of its bytes count, and their CRC-32."""

    number: int = 0
    length: int = 0
    checksum: int = 0

    def file_name(self, path: str) -> str:
        """The name of the file, beside others of the same kind."""
        return f"{path}.{self.number}"

    def next_version(self) -> SidecarFile:
        """An empty file in place of this one."""
        return SidecarFile(self.number + 1)

    def append(self, path: str, pieces: Iterable[bytes]) -> SidecarFile:
        """Write bytes after those that count, and have them on the disk."""
        name, checksum = self.file_name(path), self.checksum
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        with open(descriptor, "r+b") as file:
            self._check_length(name, descriptor)
            file.truncate(self.length)
            file.seek(self.length)
            for piece in pieces:
                file.write(piece)
                checksum = zlib.crc32(piece, checksum)
            file.flush()
            flush_to_disk(descriptor)
            length = file.tell()
        fsync_folder(os.path.dirname(name))
        return SidecarFile(self.number, length, checksum)

    def read(self, path: str) -> mmap.mmap | bytes:
        """The bytes that count, or a refusal if they are not those that were written."""
        if not self.length:
            return b""
        name = self.file_name(path)
        with open(name, "rb") as file:
            self._check_length(name, file.fileno())
            mapped = mmap.mmap(file.fileno(), self.length, access=mmap.ACCESS_READ)
        if zlib.crc32(mapped) != self.checksum:
            raise ModelFileError(f"{name} is damaged. Restore the whole folder from a copy.")
        return mapped

    def _check_length(self, name: str, descriptor: int) -> None:
        if os.fstat(descriptor).st_size < self.length:
            raise ModelFileError(f"{name} is cut short. Restore the whole folder from a copy.")


_METADATA = struct.Struct("<QIIQIIQI")


class SnapshotMetadata(NamedTuple):
    """How far into the journal a ledger goes, and what counts of the files beside it."""

    position: Position = JOURNAL_START
    archive: SidecarFile = SidecarFile()
    words: SidecarFile = SidecarFile()

    def pack(self) -> bytes:
        """The note as the ledger's file has it."""
        return _METADATA.pack(*self.position, *self.archive, *self.words)

    def check_files(self, folder: str) -> None:
        """Refuse damaged files beside the ledger, before anything is written that depends on them."""
        with translate_os_errors(folder, "read"):
            for extent, name in ((self.archive, ARCHIVE_FILE), (self.words, WORDS_FILE)):
                extent.read(os.path.join(folder, name))


class LedgerSnapshot(NamedTuple):
    """A ledger that was stored, in memory: what is learned from here on does not reach its file."""

    ledger: MailLedger
    metadata: SnapshotMetadata


def load_snapshot(folder: str, learner: str) -> LedgerSnapshot:
    """The snapshot of a store, an empty one if nothing was folded yet."""
    path = os.path.join(folder, LEDGER_FILE)
    with translate_os_errors(folder, "read"):
        if not os.path.exists(path):
            return LedgerSnapshot(MailLedger(learner), SnapshotMetadata())
        try:
            ledger = MailLedger.open(path)
            offset, link, *extents = _METADATA.unpack(ledger.note)
        except struct.error:
            raise _unusable_file_error(path, ValueError("it has no note of a store.")) from None
        except ValueError as error:
            raise _unusable_file_error(path, error) from error
    if ledger.learner != learner:
        raise ModelFileError(
            f"{path} was learned by {ledger.learner!r}, and the settings beside it say {learner!r}. "
            "Restore the whole folder from a copy."
        )
    return LedgerSnapshot(
        ledger, SnapshotMetadata(Position(offset, link), SidecarFile(*extents[:3]), SidecarFile(*extents[3:]))
    )


def save_snapshot(folder: str, ledger: MailLedger, note: SnapshotMetadata) -> None:
    """Put a ledger in place of the one on the disk, which it was made from.

    Readers look only at as much of a ledger as they need; whoever makes another of it looks at all.
    """
    path = os.path.join(folder, LEDGER_FILE)
    with translate_os_errors(folder, "read"):
        try:
            if os.path.exists(path):
                MailLedger.check(path)
        except ValueError as error:
            raise _unusable_file_error(path, error) from error
    with write_private_file(path) as file:
        file.write(ledger.image(note.pack()))


def _unusable_file_error(path: str, error: Exception) -> ModelFileError:
    return ModelFileError(f"{path} cannot be used: {error} Restore the whole folder from a copy.")


# Marks of the journal, which stand for labels: a message has been learned as one of them, or not at all.
NOT_LEARNED, HAM_MARK, SPAM_MARK = 0, 1, 2
MARK_BY_LABEL = {"ham": HAM_MARK, "spam": SPAM_MARK}

# How a print begins: how many keys it has of the headers, and how many of the body.
FEATURE_COUNTS = struct.Struct("<II")


class LabelChange(NamedTuple):
    """A message that had one mark and gets another, its print, and its words if the store keeps them."""

    key: bytes
    old: int
    new: int
    hashed_features: bytes = b""
    words: bytes = b""

    @property
    def record(self) -> JournalRecord:
        """The change for the journal; it says itself what has to be undone."""
        return JournalRecord(self.key, self.new, bytes([self.old]) + self.hashed_features + self.words)


def resolve_old_marks(changes: Iterable[LabelChange], mark: Callable[[bytes], int]) -> list[LabelChange]:
    """Changes with the marks that messages have when it is their turn; `mark` tells the present ones."""
    marks: dict[bytes, int] = {}
    found = []
    for key, _, new, print, words in changes:
        old = marks[key] if key in marks else mark(key)
        marks[key] = new
        found.append(LabelChange(key, old, new, print, words))
    return found


def decode_change(record: JournalRecord) -> LabelChange:
    """The change that a record tells of; ValueError if it is no such record."""
    payload = record.payload
    if len(payload) <= FEATURE_COUNTS.size or max(payload[0], record.mark) > SPAM_MARK:
        raise ValueError("a record is of another kind.")
    headers, body = FEATURE_COUNTS.unpack_from(payload, 1)
    end = 1 + FEATURE_COUNTS.size + 8 * (headers + body)
    if end > len(payload):
        raise ValueError("a record is cut short.")
    return LabelChange(record.key, payload[0], record.mark, payload[1:end], payload[end:])


def decode_changes(records: Iterable[JournalRecord], folder: str) -> list[LabelChange]:
    """The changes that records of a store tell of, or a refusal."""
    try:
        return [decode_change(record) for record in records]
    except ValueError as error:
        raise ModelFileError(
            f"{folder}: the journal cannot be used: {error} Restore the whole folder from a copy."
        ) from error


def feature_keys(prints: Iterable[bytes]) -> set[int]:
    """The keys of some prints."""
    return {key for print in prints for key in _unpack_keys(print)}


def restrict_to_keys(change: LabelChange, keys: set[int]) -> LabelChange:
    """A change without the keys that are not asked for."""
    headers, _ = FEATURE_COUNTS.unpack_from(change.hashed_features)
    all_keys = _unpack_keys(change.hashed_features)
    found = [key for key in all_keys if key in keys]
    of_headers = sum(key in keys for key in all_keys[:headers])
    views = FEATURE_COUNTS.pack(of_headers, len(found) - of_headers)
    return change._replace(hashed_features=views + struct.pack(f"<{len(found)}Q", *found))


def _unpack_keys(print: bytes) -> tuple[int, ...]:
    return struct.unpack_from(f"<{len(print) // 8 - 1}Q", print, FEATURE_COUNTS.size)


_ENTRY_HEADER = struct.Struct("<QBH")


class FeatureName(NamedTuple):
    """A key, the view that it belongs to (0 headers, 1 body), and how people read it."""

    key: int
    view: int
    name: str

    def pack(self) -> bytes:
        """The word as it is stored."""
        name = self.name.encode("utf-8", "surrogatepass")[: 1 << 15]
        return _ENTRY_HEADER.pack(self.key, self.view, len(name)) + name

    @property
    def hashed_features(self) -> bytes:
        """The print of a message that has this feature and no other."""
        return FEATURE_COUNTS.pack(self.view == 0, self.view == 1) + struct.pack("<Q", self.key)


def encode_feature_names(features: FeatureExtractor, content: bytes) -> bytes:
    """The words of a message, as they are stored."""
    return b"".join(
        FeatureName(each.key, each.view, each.name).pack() for each in features.named_features(content)
    )


def read_feature_names(folder: str, extent: SidecarFile) -> Iterator[FeatureName]:
    """The words that a store keeps."""
    return _decode_feature_names(extent.read(os.path.join(folder, WORDS_FILE)))


def update_feature_names(
    folder: str, extent: SidecarFile, changes: Sequence[LabelChange], before: MailLedger, now: MailLedger
) -> SidecarFile:
    """Bring the words up to date: grown, or written anew without those that no message has any more.

    `before` is the ledger whose words are there, `now` the one with the changes.
    """
    path = os.path.join(folder, WORDS_FILE)
    new: dict[int, FeatureName] = {}
    gone: set[int] = set()
    for change in changes:
        known = {key for _, key, _ in before.evidence(change.hashed_features)}
        new.update((word.key, word) for word in _decode_feature_names(change.words) if word.key not in known)
        if change.old:
            gone |= feature_keys([change.hashed_features]) - {
                key for _, key, _ in now.evidence(change.hashed_features)
            }
    coming = (word.pack() for word in new.values() if word.key not in gone)
    if not gone:
        return extent.append(path, coming) if new else extent
    left = (word.pack() for word in read_feature_names(folder, extent) if word.key not in gone)
    return extent.next_version().append(path, itertools.chain(left, coming))


def _decode_feature_names(data: bytes | mmap.mmap) -> Iterator[FeatureName]:
    at = 0
    while at < len(data):
        key, view, length = _ENTRY_HEADER.unpack_from(data, at)
        at += _ENTRY_HEADER.size + length
        yield FeatureName(key, view, data[at - length : at].decode("utf-8", "replace"))
