"""The files of a store: ledger snapshot, archive and words files, and the store's journal records."""

from __future__ import annotations

import itertools
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from weigh._core import DamagedLedgerError, MailLedger
from weigh.apps.mail.features import FEATURE_COUNTS, FeatureExtractor
from weigh.apps.mail.folder import (
    ARCHIVE_FILE,
    LEDGER_FILE,
    REPAIR_ADVICE,
    WORDS_FILE,
    translate_os_errors,
    write_private_file,
)
from weigh.atomic_files import fsync_folder
from weigh.errors import ModelFileError
from weigh.journal.generation import MarkIndex
from weigh.journal.storage import JOURNAL_START, KEY_BYTES, JournalRecord, Position, flush_to_disk

_METADATA = struct.Struct("<QIIQIIQI")

# Marks of the journal: the label under which a message has been learned, if any.
NOT_LEARNED, HAM_MARK, SPAM_MARK = 0, 1, 2
MARK_BY_LABEL = {"ham": HAM_MARK, "spam": SPAM_MARK}

# Header of an entry in the words file: key, view and length of the name in bytes.
_ENTRY_HEADER = struct.Struct("<QBH")

_BLOCK_BYTES = 1 << 20


class SidecarFile(NamedTuple):
    """A version of an append-only file beside the ledger: its number, valid length and CRC-32."""

    number: int = 0
    length: int = 0
    checksum: int = 0

    def file_name(self, path: str) -> str:
        """Return the path of this version."""
        return f"{path}.{self.number}"

    def next_version(self) -> SidecarFile:
        """Return an empty file that replaces this one."""
        return SidecarFile(self.number + 1)

    def append(self, path: str, pieces: Iterable[bytes]) -> SidecarFile:
        """Write bytes after the valid ones, and flush them to disk."""
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

    def read(self, path: str) -> bytes:
        """Return the valid bytes; raise ModelFileError if they have changed since they were written."""
        if not self.length:
            return b""
        name = self.file_name(path)
        # Not mapped: the system would end the process if the file were truncated meanwhile.
        with open(name, "rb") as file:
            self._check_length(name, file.fileno())
            data = file.read(self.length)
        self._verify(name, zlib.crc32(data))
        return data

    def check(self, path: str) -> None:
        """Raise ModelFileError if the valid bytes have changed, without keeping them in memory."""
        if not self.length:
            return
        name = self.file_name(path)
        checksum, remaining = 0, self.length
        with open(name, "rb") as file:
            self._check_length(name, file.fileno())
            while block := file.read(min(remaining, _BLOCK_BYTES)):
                checksum = zlib.crc32(block, checksum)
                remaining -= len(block)
        self._verify(name, checksum)

    def _verify(self, name: str, checksum: int) -> None:
        if checksum != self.checksum:
            raise ModelFileError(f"{name} is damaged.", hint=REPAIR_ADVICE)

    def _check_length(self, name: str, descriptor: int) -> None:
        if os.fstat(descriptor).st_size < self.length:
            raise ModelFileError(f"{name} is truncated.", hint=REPAIR_ADVICE)


class SnapshotMetadata(NamedTuple):
    """The journal position that a ledger includes, and the versions of its sidecar files."""

    position: Position = JOURNAL_START
    archive: SidecarFile = SidecarFile()
    words: SidecarFile = SidecarFile()

    def pack(self) -> bytes:
        """Encode the metadata for the ledger file."""
        return _METADATA.pack(*self.position, *self.archive, *self.words)

    def check_files(self, folder: str) -> None:
        """Raise ModelFileError if a sidecar file is damaged; call before writing anything based on it."""
        with translate_os_errors(folder, "read"):
            for sidecar, name in ((self.archive, ARCHIVE_FILE), (self.words, WORDS_FILE)):
                sidecar.check(os.path.join(folder, name))


class LedgerSnapshot(NamedTuple):
    """A stored ledger, whose blocks are read and verified on demand; learning does not change its file."""

    ledger: MailLedger
    metadata: SnapshotMetadata


def load_snapshot(folder: str, learner: str) -> LedgerSnapshot:
    """Load the snapshot of a store; return an empty one if none has been written yet."""
    path = os.path.join(folder, LEDGER_FILE)
    with translate_os_errors(folder, "read"):
        if not os.path.exists(path):
            return LedgerSnapshot(MailLedger(learner), SnapshotMetadata())
        try:
            ledger = MailLedger.open(path)
            offset, checksum, *sidecars = _METADATA.unpack(ledger.note)
        except struct.error:
            raise unusable_ledger_error(folder, ValueError("it has no metadata of a store.")) from None
        except (ValueError, DamagedLedgerError) as error:
            raise unusable_ledger_error(folder, error) from error
    if ledger.learner != learner:
        raise ModelFileError(
            f"{path} belongs to the learner {ledger.learner!r}, but the settings say {learner!r}.",
            hint=REPAIR_ADVICE,
        )
    metadata = SnapshotMetadata(
        Position(offset, checksum), SidecarFile(*sidecars[:3]), SidecarFile(*sidecars[3:])
    )
    return LedgerSnapshot(ledger, metadata)


def save_snapshot(folder: str, ledger: MailLedger, metadata: SnapshotMetadata) -> None:
    """Replace the stored ledger."""
    # This reads, and so verifies, all blocks of the file that the ledger comes from.
    with translate_os_errors(folder, "read"):
        image = ledger.image(metadata.pack())
    with write_private_file(os.path.join(folder, LEDGER_FILE)) as file:
        file.write(image)


def check_ledger(folder: str) -> None:
    """Verify all blocks of a stored ledger, if there is one."""
    path = os.path.join(folder, LEDGER_FILE)
    with translate_os_errors(folder, "read"):
        try:
            if os.path.exists(path):
                MailLedger.check(path)
        except (ValueError, DamagedLedgerError) as error:
            raise unusable_ledger_error(folder, error) from error


def unusable_ledger_error(folder: str, error: Exception) -> ModelFileError:
    """Return the error for a ledger that cannot be used."""
    path = os.path.join(folder, LEDGER_FILE)
    return ModelFileError(f"{path} cannot be used: {error}", hint=REPAIR_ADVICE)


class LabelChange(NamedTuple):
    """A change of a message's mark, with its hashed features and, if the store keeps words, their names."""

    key: bytes
    old: int
    new: int
    hashed_features: bytes = b""
    words: bytes = b""

    @property
    def record(self) -> JournalRecord:
        """The journal record of the change; it includes the old mark, so that the change can be undone."""
        return JournalRecord(self.key, self.new, bytes([self.old]) + self.hashed_features + self.words)


def count_labels(marks: MarkIndex) -> tuple[int, int]:
    """Return the numbers of hams and spams among the marks of a journal."""
    table, n_keys = marks.to_bytes()
    codes = table[KEY_BYTES * n_keys :]
    return codes.count(HAM_MARK), codes.count(SPAM_MARK)


def resolve_old_marks(
    changes: Iterable[LabelChange], current_mark: Callable[[bytes], int]
) -> list[LabelChange]:
    """Fill in the mark that each message has just before its change; changes are applied in order."""
    marks: dict[bytes, int] = {}
    resolved = []
    for change in changes:
        old = marks[change.key] if change.key in marks else current_mark(change.key)
        marks[change.key] = change.new
        resolved.append(change._replace(old=old))
    return resolved


def decode_change(record: JournalRecord) -> LabelChange:
    """Decode a journal record; raise ValueError if it is not a record of a mail store."""
    payload = record.payload
    if len(payload) <= FEATURE_COUNTS.size or max(payload[0], record.mark) > SPAM_MARK:
        raise ValueError("a record is of another kind.")
    n_headers, n_body = FEATURE_COUNTS.unpack_from(payload, 1)
    end = 1 + FEATURE_COUNTS.size + 8 * (n_headers + n_body)
    if end > len(payload):
        raise ValueError("a record is cut short.")
    return LabelChange(record.key, payload[0], record.mark, payload[1:end], payload[end:])


def decode_changes(records: Iterable[JournalRecord], folder: str) -> list[LabelChange]:
    """Decode the journal records of the store in a folder."""
    try:
        return [decode_change(record) for record in records]
    except ValueError as error:
        raise ModelFileError(
            f"{folder}: the journal cannot be used: {error}",
            hint=REPAIR_ADVICE,
        ) from error


def feature_keys(messages: Iterable[bytes]) -> set[int]:
    """Return all keys of messages given by their hashed features."""
    return {key for hashed in messages for key in _unpack_keys(hashed)}


def restrict_to_keys(change: LabelChange, keys: set[int]) -> LabelChange:
    """Return a change with only those of its features whose keys are given."""
    n_headers, _ = FEATURE_COUNTS.unpack_from(change.hashed_features)
    all_keys = _unpack_keys(change.hashed_features)
    kept = [key for key in all_keys if key in keys]
    n_kept_headers = sum(key in keys for key in all_keys[:n_headers])
    counts = FEATURE_COUNTS.pack(n_kept_headers, len(kept) - n_kept_headers)
    return change._replace(hashed_features=counts + struct.pack(f"<{len(kept)}Q", *kept))


def _unpack_keys(hashed: bytes) -> tuple[int, ...]:
    return struct.unpack_from(f"<{len(hashed) // 8 - 1}Q", hashed, FEATURE_COUNTS.size)


class FeatureName(NamedTuple):
    """The key, view (0 headers, 1 body) and readable name of a feature."""

    key: int
    view: int
    name: str

    def pack(self) -> bytes:
        """Encode the entry for the words file."""
        name = self.name.encode("utf-8", "surrogatepass")[: 1 << 15]
        return _ENTRY_HEADER.pack(self.key, self.view, len(name)) + name

    @property
    def hashed_features(self) -> bytes:
        """The hashed features of a message with only this feature."""
        return FEATURE_COUNTS.pack(self.view == 0, self.view == 1) + struct.pack("<Q", self.key)


def encode_feature_names(features: FeatureExtractor, content: bytes) -> bytes:
    """Encode the names of a message's features."""
    return b"".join(
        FeatureName(each.key, each.view, each.name).pack() for each in features.named_features(content)
    )


def read_feature_names(folder: str, words: SidecarFile) -> Iterator[FeatureName]:
    """Read the words file of a store."""
    return _decode_feature_names(words.read(os.path.join(folder, WORDS_FILE)))


def update_feature_names(
    folder: str, words: SidecarFile, changes: Sequence[LabelChange], before: MailLedger, now: MailLedger
) -> SidecarFile:
    """Append new names to the words file, or rewrite it if some features no longer occur in any message.

    `before` is the ledger that matches the current words file, `now` the one with the changes.
    """
    path = os.path.join(folder, WORDS_FILE)
    new: dict[int, FeatureName] = {}
    removed: set[int] = set()
    for change in changes:
        known = {key for _, key, _ in before.evidence(change.hashed_features)}
        new.update((name.key, name) for name in _decode_feature_names(change.words) if name.key not in known)
        if change.old:
            remaining = {key for _, key, _ in now.evidence(change.hashed_features)}
            removed |= feature_keys([change.hashed_features]) - remaining
    added = (name.pack() for name in new.values() if name.key not in removed)
    if not removed:
        return words.append(path, added) if new else words
    kept = (name.pack() for name in read_feature_names(folder, words) if name.key not in removed)
    return words.next_version().append(path, itertools.chain(kept, added))


def _decode_feature_names(data: bytes) -> Iterator[FeatureName]:
    offset = 0
    while offset < len(data):
        key, view, length = _ENTRY_HEADER.unpack_from(data, offset)
        offset += _ENTRY_HEADER.size + length
        yield FeatureName(key, view, data[offset - length : offset].decode("utf-8", "replace"))
