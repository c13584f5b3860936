"""The folder of a store: where it is, what may lie in it, and how files are put there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

from weigh.apps.user_files import user_data_path
from weigh.atomic_files import atomic_write, error_reason
from weigh.errors import ModelFileError

SETTINGS_FILE, JOURNAL_FILE, LEDGER_FILE, ARCHIVE_FILE, WORDS_FILE = (
    "settings.json",
    "journal",
    "ledger",
    "archive",
    "words",
)

# The name of a draft of weigh.atomic_files.
_TEMPORARY_AFFIXES = (".weigh-", ".tmp")


def default_folder() -> str:
    """Where a person's store is: $WEIGH_MAIL, or weigh/mail in the folder for data of programs."""
    return user_data_path("WEIGH_MAIL", "mail")


@contextlib.contextmanager
def translate_os_errors(folder: str, doing: str) -> Iterator[None]:
    """Turn a refusal of the system into a sentence about the store."""
    try:
        yield
    except OSError as error:
        raise ModelFileError(f"{folder}: the mail store cannot be {doing}: {error_reason(error)}.") from error


def prepare_folder(folder: str) -> None:
    """Make a folder for a new store, which its owner alone may enter, or take an empty one."""
    with translate_os_errors(folder, "made"):
        os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        foreign = sorted(name for name in os.listdir(folder) if not _is_store_file(name))
        # Settings are written first: if they are there now, somebody has made a store in the meantime.
        if foreign and not os.path.exists(os.path.join(folder, SETTINGS_FILE)):
            raise ModelFileError(
                f"{folder} holds other files, such as {foreign[0]!r}, and no mail store. "
                "Give an empty folder, or one that does not exist yet."
            )
        os.chmod(folder, 0o700)


@contextlib.contextmanager
def write_private_file(path: str) -> Iterator[BinaryIO]:
    """A file that its owner alone may read, put in place as a whole."""
    with translate_os_errors(os.path.dirname(path), "written"), atomic_write(path) as file:
        os.chmod(file.fileno(), 0o600)
        yield file


def remove_stale_files(folder: str, current: set[str]) -> None:
    """Remove drafts of killed writers, and archives that no snapshot speaks of; only in a turn."""
    for name in os.listdir(folder):
        is_old = name.split(".")[0] in (ARCHIVE_FILE, WORDS_FILE) and name not in current
        if is_old or _is_temporary(name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def folder_size(folder: str) -> int:
    """Bytes of all files of a store."""
    size = 0
    with translate_os_errors(folder, "read"):
        for name in os.listdir(folder):
            # What others have just replaced is no part of it any more.
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(os.path.join(folder, name)).st_size
    return size


def _is_temporary(name: str) -> bool:
    return name.startswith(_TEMPORARY_AFFIXES[0]) and name.endswith(_TEMPORARY_AFFIXES[1])


def _is_store_file(name: str) -> bool:
    """Whether a name may be left of a store whose making was interrupted."""
    return _is_temporary(name) or name.split(".")[0] == JOURNAL_FILE
