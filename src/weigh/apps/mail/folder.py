"""The folder of a store: its location, the names of its files, and how they are written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

from weigh.advice import Step
from weigh.apps.user_files import user_data_path
from weigh.atomic_files import atomic_write, error_reason, is_draft, remove_stale_drafts
from weigh.errors import ModelFileError

SETTINGS_FILE = "settings.json"
JOURNAL_FILE = "journal"
LEDGER_FILE = "ledger"
ARCHIVE_FILE = "archive"
WORDS_FILE = "words"

# What to do about damaged files.
REPAIR_ADVICE = (
    "Restore the whole folder from a copy, or rebuild the store: ",
    Step("rebuild store", "weigh.apps.mail.rebuild.rebuild_store(folder)."),
)


def default_folder() -> str:
    """Return the folder of the user's store: $WEIGH_MAIL, or weigh/mail in the user data folder."""
    return user_data_path("WEIGH_MAIL", "mail")


@contextlib.contextmanager
def translate_os_errors(folder: str, action: str) -> Iterator[None]:
    """Raise operating system errors as errors of the store; `action` is "created", "read" or "written"."""
    try:
        yield
    except OSError as error:
        raise ModelFileError(
            f"{folder}: the mail store cannot be {action}: {error_reason(error)}."
        ) from error


def prepare_folder(folder: str) -> None:
    """Create a folder for a new store that only its owner may enter, or accept an empty one."""
    with translate_os_errors(folder, "created"):
        os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        foreign = sorted(name for name in os.listdir(folder) if not _is_store_file(name))
        # Settings are written first: if they exist now, another process has just created a store.
        if foreign and not os.path.exists(os.path.join(folder, SETTINGS_FILE)):
            raise ModelFileError(
                f"{folder} contains other files, such as {foreign[0]!r}, but no mail store. "
                "Give an empty folder, or one that does not exist yet."
            )
        os.chmod(folder, 0o700)


@contextlib.contextmanager
def write_private_file(path: str) -> Iterator[BinaryIO]:
    """Write a file atomically that only its owner may read."""
    with translate_os_errors(os.path.dirname(path), "written"), atomic_write(path) as file:
        os.chmod(file.fileno(), 0o600)
        yield file


def remove_stale_files(folder: str, current: set[str]) -> None:
    """Remove temporary files of killed writers and sidecar files not in `current`; needs the write lock."""
    remove_stale_drafts(folder)
    for name in os.listdir(folder):
        if name.split(".")[0] in (ARCHIVE_FILE, WORDS_FILE) and name not in current:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def folder_size(folder: str) -> int:
    """Return the total size of a store's files in bytes."""
    size = 0
    with translate_os_errors(folder, "read"):
        for name in os.listdir(folder):
            # Another process may replace a file at any time.
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(os.path.join(folder, name)).st_size
    return size


def _is_store_file(name: str) -> bool:
    """Return whether a file may come from a store whose creation was interrupted."""
    return is_draft(name) or name.split(".")[0] == JOURNAL_FILE
