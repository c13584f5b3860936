"""Checking all files of a store, and rebuilding a damaged one."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from weigh._core import MailLedger
from weigh.advice import Step
from weigh.apps.mail.folder import (
    ARCHIVE_FILE,
    JOURNAL_FILE,
    LEDGER_FILE,
    SETTINGS_FILE,
    WORDS_FILE,
    default_folder,
    remove_stale_files,
    translate_os_errors,
)
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.replay import latest_changes, learn_records, mismatch_error, replay_journal
from weigh.apps.mail.settings import StoreSettings, create_store, read_settings
from weigh.apps.mail.storage import (
    HAM_MARK,
    NOT_LEARNED,
    SPAM_MARK,
    LabelChange,
    SidecarFile,
    SnapshotMetadata,
    check_ledger,
    decode_changes,
    load_snapshot,
    read_feature_names,
    save_snapshot,
)
from weigh.apps.mail.store import MailStore
from weigh.atomic_files import fsync_folder
from weigh.errors import FileError, ModelFileError, WeighError
from weigh.journal.generation import MarkIndex, open_generation
from weigh.journal.journal import Journal, write_acknowledged, write_lock
from weigh.journal.storage import JournalRecord, Position, unpack_records
from weigh.result import LINE_WIDTH, Result, Section, Table
from weigh.text import format_count, format_quantity, truncate

Item = TypeVar("Item")

_DRAFT_FOLDER = "rebuild.draft"
_LOCK_TIMEOUT = 30.0


@dataclass(frozen=True)
class FileCheck:
    """A file of a store, what was checked, and what is wrong with it, empty if nothing is."""

    name: str
    checked: str
    problem: str = ""


@dataclass(frozen=True, repr=False)
class StoreCheck(Result):
    """The checks of all files of a store."""

    folder: str
    files: tuple[FileCheck, ...]
    is_intact: bool

    def sections(self) -> list[Section]:
        """Return a line per file, and the problems."""
        rows = [[each.name, each.checked, "damaged" if each.problem else "intact"] for each in self.files]
        table = Table(rows, left=3, indent="  ", has_header=False)
        problems = [each.problem for each in self.files if each.problem]
        title = truncate(f"Mail store {self.folder}", LINE_WIDTH)
        return [Section("files", [table, *problems, *(["The store is intact."] * self.is_intact)], title)]


@dataclass(frozen=True, repr=False)
class RebuildResult(Result):
    """What a rebuilt store contains.

    Attributes
    ----------
    folder : its folder
    damaged : the folder with the files that were replaced; empty if the store was intact
    hams, spams : numbers of messages that it has learned
    missing : number of messages that had been learned and are lost; None if that is unknown
    """

    folder: str
    damaged: str
    hams: int
    spams: int
    missing: int | None

    def sections(self) -> list[Section]:
        """Return what was done in sentences."""
        if not self.damaged:
            return [Section("rebuilt", [f"{self.folder} is intact. Nothing was changed."])]
        counts = f"{format_quantity(self.hams, 'ham')} and {format_quantity(self.spams, 'spam')}"
        return [
            Section(
                "rebuilt",
                [
                    f"The store was rebuilt with {counts}. {self._describe_loss()}",
                    f"The damaged files are in {self.damaged}; remove it when you no longer need it.",
                ],
            )
        ]

    def _describe_loss(self) -> str:
        if self.missing is None:
            return "The journal is damaged, so it is unknown which messages had been learned before."
        if not self.missing:
            return "No message is known to be missing."
        were = "was" if self.missing == 1 else "were"
        return f"{format_quantity(self.missing, 'message')} that had been learned {were} not found: learn more mail."


def check_store(folder: str | os.PathLike[str] | None = None) -> StoreCheck:
    """Verify every block of the ledger, every record of the journal and all other files of a store."""
    path = os.path.abspath(os.fspath(folder or default_folder()))
    _require_store(path)
    with write_lock(os.path.join(path, JOURNAL_FILE), _LOCK_TIMEOUT):
        return _check_files(path)


def rebuild_store(
    folder: str | os.PathLike[str] | None = None, learn: Callable[[MailStore], object] | None = None
) -> RebuildResult:
    """Replace a damaged store by one that is made from its intact files, and from mail if these are not enough.

    The snapshot is kept if it is intact. Otherwise the archive of `logistic` and `perceptron`, and what the
    journal has, are learned again; `learn` is called with the new store to learn everything else. The settings,
    including the secret salt, stay the same. Without `learn`, the store is only replaced if no message that the
    journal knows is missing.
    """
    path = os.path.abspath(os.fspath(folder or default_folder()))
    settings = _require_store(path)
    if settings is None:
        raise ModelFileError(f"{path}: the settings of the mail store are missing.")
    draft = os.path.join(path, _DRAFT_FOLDER)
    with write_lock(os.path.join(path, JOURNAL_FILE), _LOCK_TIMEOUT) as lock:
        if _check_files(path).is_intact:
            hams, spams = _count_marks(Journal(os.path.join(path, JOURNAL_FILE)).marks())
            return RebuildResult(path, "", hams, spams, 0)
        shutil.rmtree(draft, ignore_errors=True)
        try:
            with translate_os_errors(path, "written"):
                return _rebuild(path, draft, settings, learn, lock)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _require_store(folder: str) -> StoreSettings | None:
    """Return the settings of a store, None if they are damaged; raise ModelFileError if there is no store."""
    if not os.path.exists(os.path.join(folder, SETTINGS_FILE)) and not os.path.exists(
        os.path.join(folder, JOURNAL_FILE)
    ):
        raise ModelFileError(
            f"{folder}: there is no mail store.",
            hint=("Create one by learning mail: ", Step("new store", "MailStore.open(folder, create=True).")),
        )
    return None
