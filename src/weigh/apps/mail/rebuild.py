"""Rebuilding a damaged store from its intact files, and from mail."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from weigh._core import MailLedger
from weigh.advice import Step
from weigh.apps.mail.check import LOCK_TIMEOUT, check_archive, check_files, find_store
from weigh.apps.mail.folder import (
    ARCHIVE_FILE,
    JOURNAL_FILE,
    LEDGER_FILE,
    SETTINGS_FILE,
    WORDS_FILE,
    prepare_folder,
    remove_stale_files,
    translate_os_errors,
)
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.replay import latest_changes, learn_records
from weigh.apps.mail.settings import StoreSettings, create_store, read_settings
from weigh.apps.mail.storage import (
    NOT_LEARNED,
    LabelChange,
    LedgerSnapshot,
    SnapshotMetadata,
    check_ledger,
    count_labels,
    decode_changes,
    load_snapshot,
    save_snapshot,
)
from weigh.apps.mail.store import MailStore
from weigh.atomic_files import fsync_folder
from weigh.errors import DamagedJournal, FileError, ModelFileError
from weigh.journal.generation import Generation, MarkIndex, open_generation
from weigh.journal.journal import (
    Journal,
    WriterCache,
    read_acknowledged,
    write_acknowledged,
    write_lock,
)
from weigh.journal.storage import KEY_BYTES, Position, flush_to_disk, unpack_records
from weigh.result import Result, Section
from weigh.text import format_quantity

_DRAFT_FOLDER = "rebuild.draft"


@dataclass(frozen=True, repr=False)
class RebuildResult(Result):
    """What a rebuilt store contains.

    Attributes
    ----------
    folder : its folder
    damaged : the folder with the files that were replaced; empty if the store was intact
    hams, spams : numbers of messages that it has learned
    missing : number of messages that had been learned and were not found again; None if that is unknown
    lost_names : whether names of features, which only `strongest` needs, were damaged and are lost
    """

    folder: str
    damaged: str
    hams: int
    spams: int
    missing: int | None
    lost_names: bool = False

    def sections(self) -> list[Section]:
        """Return what was done in sentences."""
        if not self.damaged:
            return [Section("rebuilt", [f"{self.folder} is intact. Nothing was changed."])]
        counts = f"{format_quantity(self.hams, 'ham')} and {format_quantity(self.spams, 'spam')}"
        lines = [
            f"The store was rebuilt and has learned {counts}. {self._describe_loss()}",
            f"The damaged files are in {self.damaged}.",
        ]
        if self.lost_names:
            lines.insert(1, "The words of earlier mail are lost: only those of new mail can be listed.")
        return [Section("rebuilt", lines)]

    def _describe_loss(self) -> str:
        if self.missing is None:
            return "The journal was damaged: mail that was learned last may be missing, so learn it again."
        if not self.missing:
            return "No message is missing."
        return f"{format_quantity(self.missing, 'learned message')} could not be found again."


class DraftContents(NamedTuple):
    """How many messages of the old store a new one misses, None if unknown, and whether it lost names."""

    missing: int | None
    lost_names: bool


class ReadableJournal(NamedTuple):
    """What can be read of a journal: the marks of its keys, its records, and whether that is all of it."""

    file: Generation
    marks: MarkIndex
    end: Position
    changes: list[LabelChange]
    is_complete: bool


def rebuild_store(
    folder: str | os.PathLike[str] | None = None, learn: Callable[[MailStore], object] | None = None
) -> RebuildResult:
    """Replace a damaged store by one made from its intact files, and from mail if they are not enough.

    An intact ledger is kept, even if the names of its features are damaged and lost. Otherwise the archive of
    `logistic` and `perceptron` and the records of the journal are learned again, and `learn` is called with
    the new store to learn the mail that they do not contain. Without `learn`, nothing is changed if messages
    would be missing. Records after the first damage of the journal are dropped; `missing` is then None. The
    settings, with the secret salt, stay the same. The damaged files are kept in another folder.
    """
    path = find_store(folder)
    settings = read_settings(os.path.join(path, SETTINGS_FILE))
    if settings is None:
        raise ModelFileError(
            f"{os.path.join(path, SETTINGS_FILE)} is missing, and the store is useless without it.",
            hint="Restore it from a copy, or learn all mail again into another folder.",
        )
    draft = os.path.join(path, _DRAFT_FOLDER)
    with write_lock(os.path.join(path, JOURNAL_FILE), LOCK_TIMEOUT) as lock:
        # A rebuild that was killed leaves its draft.
        shutil.rmtree(draft, ignore_errors=True)
        if check_files(path).is_intact:
            return RebuildResult(path, "", *_count_learned(path), 0)
        try:
            with translate_os_errors(path, "written"), contextlib.ExitStack() as resources:
                journal = _read_journal(path, resources)
                contents = _write_draft(path, draft, settings, journal, learn)
                counts = _count_learned(draft)
                return RebuildResult(path, _install(path, draft, lock), *counts, *contents)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _count_learned(folder: str) -> tuple[int, int]:
    return count_labels(Journal(os.path.join(folder, JOURNAL_FILE)).marks())


def _read_journal(folder: str, resources: contextlib.ExitStack) -> ReadableJournal | None:
    """Read a journal up to its first damage; return None if even its table of keys is damaged."""
    path, cache = os.path.join(folder, JOURNAL_FILE), WriterCache()
    try:
        file = open_generation(path, os.O_RDONLY)
        if file is None:
            return None
        resources.callback(file.close)
        with contextlib.suppress(DamagedJournal):
            cache.catch_up(file)
        if cache.identity is None:
            return None
        records = []
        with contextlib.suppress(DamagedJournal):
            for group, _ in file.groups(file.header.start):
                records += group
        changes = decode_changes(records, folder)
    except FileError:
        return None
    is_complete = cache.end.offset >= read_acknowledged(path) and not _continues(file, cache.end)
    return ReadableJournal(file, cache.marks, cache.end, changes, is_complete)


def _continues(file: Generation, end: Position) -> bool:
    """Return whether damaged records, and not just a torn group, follow the readable ones."""
    try:
        return any(True for _ in file.groups(end))
    except DamagedJournal:
        return True


def _write_draft(
    folder: str,
    draft: str,
    settings: StoreSettings,
    journal: ReadableJournal | None,
    learn: Callable[[MailStore], object] | None,
) -> DraftContents:
    """Write the new store, and return what of the old one it misses."""
    kept = _keep_snapshot(folder, draft, settings, journal) if journal else None
    if not kept:
        shutil.rmtree(draft, ignore_errors=True)
        create_store(draft, settings)
        _learn_changes(draft, journal.changes if journal else [])
    store = MailStore(draft, settings)
    if learn:
        learn(store)
    store.fold()
    learned = _learned_keys(Journal(os.path.join(draft, JOURNAL_FILE)).marks())
    missing = len(_learned_keys(journal.marks) - learned) if journal else None
    if not learn and not kept and missing != 0:
        what = "the learned messages" if missing is None else format_quantity(missing, "learned message")
        raise ModelFileError(
            f"{folder}: what the store knew of {what} is damaged, and can only be learned again from the "
            "mail itself. Nothing was changed.",
            hint=("Give this mail: ", Step("mail to rebuild from", "rebuild_store(folder, learn=...).")),
        )
    is_known = journal is not None and journal.is_complete
    return DraftContents(missing if is_known else None, bool(kept and kept.lost_names))


def _learned_keys(marks: MarkIndex) -> set[bytes]:
    table, n_keys = marks.to_bytes()
    return {table[KEY_BYTES * i : KEY_BYTES * (i + 1)] for i in range(n_keys)}


class KeptSnapshot(NamedTuple):
    """A snapshot for the new store, and whether it lost the names of features."""

    ledger: MailLedger
    metadata: SnapshotMetadata
    lost_names: bool


def _keep_snapshot(
    folder: str, draft: str, settings: StoreSettings, journal: ReadableJournal
) -> KeptSnapshot | None:
    """Start the new store with the snapshot and the journal of the old one; return None if they are unusable.

    A damaged ledger is learned again from an intact archive.
    """
    try:
        kept = _intact_snapshot(folder, settings)
    except FileError:
        return None
    metadata = kept.metadata
    if not journal.file.contains(metadata.position):
        return None
    prepare_folder(draft)
    for sidecar, name in ((metadata.archive, ARCHIVE_FILE), (metadata.words, WORDS_FILE)):
        if sidecar.length:
            path = sidecar.file_name(os.path.join(folder, name))
            _copy_file(path, os.path.join(draft, os.path.basename(path)))
    settings.write(os.path.join(draft, SETTINGS_FILE))
    save_snapshot(draft, kept.ledger, metadata)
    journal.file.write_copy(os.path.join(draft, JOURNAL_FILE), journal.end)
    return kept if _is_intact_when_folded(draft, settings) else None


def _intact_snapshot(folder: str, settings: StoreSettings) -> KeptSnapshot:
    """Load a snapshot, without its names of features if they are damaged; raise if anything else is."""
    snapshot = load_snapshot(folder, settings.learner)
    metadata = snapshot.metadata
    with translate_os_errors(folder, "read"):
        metadata.archive.check(os.path.join(folder, ARCHIVE_FILE))
    ledger = _intact_ledger(folder, settings, snapshot)
    try:
        with translate_os_errors(folder, "read"):
            metadata.words.check(os.path.join(folder, WORDS_FILE))
    except FileError:
        return KeptSnapshot(ledger, metadata._replace(words=metadata.words.next_version()), True)
    return KeptSnapshot(ledger, metadata, False)


def _is_intact_when_folded(draft: str, settings: StoreSettings) -> bool:
    """Fold a new store, and return whether its ledger and its journal then have the same messages."""
    try:
        MailStore(draft, settings).fold()
    except FileError:
        return False
    return check_files(draft).is_intact


def _intact_ledger(folder: str, settings: StoreSettings, snapshot: LedgerSnapshot) -> MailLedger:
    """Return a stored ledger, or one learned from the archive if it is damaged or has other messages."""
    is_ordered = LEARNERS[settings.learner].is_ordered
    try:
        check_ledger(folder)
        if is_ordered:
            check_archive(folder, snapshot)
        return snapshot.ledger
    except FileError:
        if not is_ordered:
            raise
        ledger = MailLedger(settings.learner)
        learn_records(
            ledger, unpack_records(snapshot.metadata.archive.read(os.path.join(folder, ARCHIVE_FILE)))
        )
        return ledger


def _learn_changes(folder: str, changes: list[LabelChange]) -> None:
    """Learn the messages of journal records into a new store."""
    learned = [change._replace(old=NOT_LEARNED) for change in latest_changes(changes) if change.new]
    with Journal(os.path.join(folder, JOURNAL_FILE)).transaction() as transaction:
        transaction.append([change.record for change in learned])


def _install(folder: str, draft: str, lock: int) -> str:
    """Replace the files of a store by those of a draft, and return the folder with the replaced ones.

    If the machine stops in between, ledger and journal do not belong together, which every command reports.
    Rebuilding again, with the same mail if mail was given, puts that right.
    """
    damaged = next(path for n in itertools.count(1) if not os.path.exists(path := f"{folder}.damaged-{n}"))
    os.mkdir(damaged, 0o700)
    for entry in os.scandir(folder):
        if entry.is_file():
            _keep_file(entry.path, os.path.join(damaged, entry.name))
    # The kept names must be on disk before the first file is replaced.
    fsync_folder(damaged)
    fsync_folder(os.path.dirname(damaged))
    names = set(os.listdir(draft))
    sidecars = {name for name in names if name.split(".")[0] in (ARCHIVE_FILE, WORDS_FILE)}
    for name in (*sorted(sidecars), LEDGER_FILE):
        if name in names:
            os.replace(os.path.join(draft, name), os.path.join(folder, name))
    if LEDGER_FILE not in names:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, LEDGER_FILE))
    write_acknowledged(lock, read_acknowledged(os.path.join(draft, JOURNAL_FILE)))
    os.replace(os.path.join(draft, JOURNAL_FILE), os.path.join(folder, JOURNAL_FILE))
    remove_stale_files(folder, sidecars)
    fsync_folder(folder)
    return damaged


def _keep_file(path: str, copy: str) -> None:
    """Give a file that will be replaced a second name; copy one that is written in place."""
    if path.endswith(".lock"):
        _copy_file(path, copy)
        return
    try:
        os.link(path, copy)
    except OSError:
        # The file system has no hard links.
        _copy_file(path, copy)


def _copy_file(path: str, copy: str) -> None:
    """Copy a file, and flush the copy to disk."""
    shutil.copy2(path, copy)
    with open(copy, "rb") as file:
        flush_to_disk(file.fileno())
