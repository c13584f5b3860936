"""Checking all files of a store for damage."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from weigh.advice import Step
from weigh.apps.mail.folder import (
    ARCHIVE_FILE,
    JOURNAL_FILE,
    LEDGER_FILE,
    SETTINGS_FILE,
    WORDS_FILE,
    default_folder,
    translate_os_errors,
)
from weigh.apps.mail.replay import replay_journal
from weigh.apps.mail.settings import StoreSettings, read_settings
from weigh.apps.mail.storage import (
    HAM_MARK,
    SPAM_MARK,
    LedgerSnapshot,
    check_ledger,
    count_labels,
    load_snapshot,
    read_feature_names,
)
from weigh.errors import FileError, ModelFileError, WeighError
from weigh.journal.generation import MarkIndex, open_generation
from weigh.journal.journal import Journal, write_lock
from weigh.journal.storage import JOURNAL_START, unpack_records
from weigh.result import LINE_WIDTH, Result, Section, Table
from weigh.text import format_count, format_quantity, truncate

Item = TypeVar("Item")

LOCK_TIMEOUT = 30.0  # seconds


@dataclass(frozen=True)
class FileCheck:
    """What was checked, what it contains, and what is wrong with it; empty if nothing is."""

    name: str
    contents: str
    problem: str = ""


@dataclass(frozen=True, repr=False)
class StoreCheck(Result):
    """The checks of all files of a store."""

    folder: str
    is_intact: bool
    checks: tuple[FileCheck, ...]

    def sections(self) -> list[Section]:
        """Return a line per check, and the problems."""
        rows = [[each.name, "damaged" if each.problem else "intact", each.contents] for each in self.checks]
        table = Table(rows, left=3, indent="  ", has_header=False)
        problems = [each.problem for each in self.checks if each.problem]
        return [Section("checks", [table, *problems], truncate(f"Mail store {self.folder}", LINE_WIDTH))]


def check_store(folder: str | os.PathLike[str] | None = None) -> StoreCheck:
    """Verify the settings, every block of the ledger, all records of the journal, and that they agree."""
    path = find_store(folder)
    with write_lock(os.path.join(path, JOURNAL_FILE), LOCK_TIMEOUT):
        return check_files(path)


def find_store(folder: str | os.PathLike[str] | None) -> str:
    """Return the path of a store that may be damaged."""
    path = os.path.abspath(os.fspath(folder or default_folder()))
    if not any(os.path.exists(os.path.join(path, name)) for name in (SETTINGS_FILE, JOURNAL_FILE)):
        raise ModelFileError(
            f"{path}: there is no mail store.",
            hint=("Create one by learning mail: ", Step("new store", "MailStore.open(folder, create=True).")),
        )
    return path


def check_files(folder: str) -> StoreCheck:
    """Check the store in a folder; the caller holds its lock."""
    checks: list[FileCheck] = []

    def attempt(name: str, check: Callable[[], tuple[str, Item]]) -> Item | None:
        try:
            with translate_os_errors(folder, "read"):
                contents, item = check()
        except FileError as error:
            # Without its hint, which is the same for all.
            checks.append(FileCheck(name, "", str(WeighError(error.args[0]))))
            return None
        checks.append(FileCheck(name, contents))
        return item

    settings = attempt(SETTINGS_FILE, lambda: _check_settings(folder))
    marks = attempt(JOURNAL_FILE, lambda: _check_journal(folder))
    snapshot = attempt(LEDGER_FILE, lambda: _check_ledger(folder, settings))
    if snapshot and settings:
        archive, words = snapshot.metadata.archive, snapshot.metadata.words
        if archive.length:
            attempt(archive.file_name(ARCHIVE_FILE), lambda: check_archive(folder, snapshot))
        if words.length:
            attempt(words.file_name(WORDS_FILE), lambda: _check_words(folder, snapshot))
        if marks:
            attempt("agreement", lambda: _check_agreement(folder, settings, marks))
    return StoreCheck(folder, not any(each.problem for each in checks), tuple(checks))


def _format_labels(hams: int, spams: int) -> str:
    return f"{format_quantity(hams, 'ham')} and {format_quantity(spams, 'spam')}"


def _check_settings(folder: str) -> tuple[str, StoreSettings]:
    path = os.path.join(folder, SETTINGS_FILE)
    settings = read_settings(path)
    if settings is None:
        raise ModelFileError(f"{path} is missing.")
    return f"settings and key of a {settings.learner} store", settings


def _check_journal(folder: str) -> tuple[str, MarkIndex]:
    path = os.path.join(folder, JOURNAL_FILE)
    if not os.path.exists(path):
        raise ModelFileError(f"{path} is missing.")
    marks = Journal(path).marks()
    return f"labels of {_format_labels(*count_labels(marks))}", marks


def _check_ledger(folder: str, settings: StoreSettings | None) -> tuple[str, LedgerSnapshot | None]:
    path = os.path.join(folder, LEDGER_FILE)
    is_missing = not os.path.exists(path)
    if is_missing and _is_folded(folder):
        raise ModelFileError(f"{path} is missing.")
    check_ledger(folder)
    if settings is None:
        return "not written yet" if is_missing else "all blocks", None
    snapshot = load_snapshot(folder, settings.learner)
    if is_missing:
        return "not written yet", snapshot
    return f"{format_quantity(snapshot.ledger.features, 'feature')}, all blocks", snapshot


def _is_folded(folder: str) -> bool:
    """Return whether the journal says that a ledger was written; False if the journal is damaged."""
    with contextlib.suppress(FileError):
        file = open_generation(os.path.join(folder, JOURNAL_FILE), os.O_RDONLY)
        if file:
            with contextlib.closing(file):
                return file.header.snapshot_position != JOURNAL_START
    return False


def check_archive(folder: str, snapshot: LedgerSnapshot) -> tuple[str, None]:
    """Check that an archive is intact and has as many messages as its ledger; return their numbers."""
    data = snapshot.metadata.archive.read(os.path.join(folder, ARCHIVE_FILE))
    counts = Counter(record.mark for record in unpack_records(data))
    labels = counts[HAM_MARK], counts[SPAM_MARK]
    if labels != (snapshot.ledger.hams, snapshot.ledger.spams):
        raise ModelFileError(f"{folder}: the archive and the ledger do not belong together.")
    return _format_labels(*labels), None


def _check_words(folder: str, snapshot: LedgerSnapshot) -> tuple[str, None]:
    n_words = sum(1 for _ in read_feature_names(folder, snapshot.metadata.words))
    return f"{format_count(n_words)} names of features", None


def _check_agreement(folder: str, settings: StoreSettings, marks: MarkIndex) -> tuple[str, None]:
    """Check that ledger and journal together contain the messages that the journal has labels for."""
    state, _ = replay_journal(folder, settings.learner, Journal(os.path.join(folder, JOURNAL_FILE)))
    learned = state.ledger.hams, state.ledger.spams
    if learned != count_labels(marks):
        raise ModelFileError(
            f"{folder}: the ledger has learned {_format_labels(*learned)}, "
            f"but the journal has labels of {_format_labels(*count_labels(marks))}."
        )
    return "ledger and journal have the same messages", None
