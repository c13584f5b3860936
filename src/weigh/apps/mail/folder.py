"""The folder of a store: where it is, what may lie in it, and how files are put there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

from weigh.apps.places import own_place
from weigh.errors import ModelFileError
from weigh.replacing import reason, replaced

SETTINGS, JOURNAL, LEDGER, ARCHIVE, WORDS = "settings.json", "journal", "ledger", "archive", "words"

# The name of a draft of weigh.replacing.
_DRAFT = (".weigh-", ".tmp")


def default_folder() -> str:
    """Where a person's store is: $WEIGH_MAIL, or weigh/mail in the folder for data of programs."""
    return own_place("WEIGH_MAIL", "mail")


@contextlib.contextmanager
def telling(folder: str, doing: str) -> Iterator[None]:
    """Turn a refusal of the system into a sentence about the store."""
    try:
        yield
    except OSError as error:
        raise ModelFileError(f"{folder}: the mail store cannot be {doing}: {reason(error)}.") from error


def prepared(folder: str) -> None:
    """Make a folder for a new store, which its owner alone may enter, or take an empty one."""
    with telling(folder, "made"):
        os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        foreign = sorted(name for name in os.listdir(folder) if not _is_ours(name))
        # Settings are written first: if they are there now, somebody has made a store in the meantime.
        if foreign and not os.path.exists(os.path.join(folder, SETTINGS)):
            raise ModelFileError(
                f"{folder} holds other files, such as {foreign[0]!r}, and no mail store. "
                "Give an empty folder, or one that does not exist yet."
            )
        os.chmod(folder, 0o700)


@contextlib.contextmanager
def private(path: str) -> Iterator[BinaryIO]:
    """A file that its owner alone may read, put in place as a whole."""
    with telling(os.path.dirname(path), "written"), replaced(path) as file:
        os.chmod(file.fileno(), 0o600)
        yield file


def swept(folder: str, current: set[str]) -> None:
    """Remove drafts of killed writers, and archives that no snapshot speaks of; only in a turn."""
    for name in os.listdir(folder):
        is_old = name.split(".")[0] in (ARCHIVE, WORDS) and name not in current
        if is_old or _is_draft(name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def size_of(folder: str) -> int:
    """Bytes of all files of a store."""
    size = 0
    with telling(folder, "read"):
        for name in os.listdir(folder):
            # What others have just replaced is no part of it any more.
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(os.path.join(folder, name)).st_size
    return size


def _is_draft(name: str) -> bool:
    return name.startswith(_DRAFT[0]) and name.endswith(_DRAFT[1])


def _is_ours(name: str) -> bool:
    """Whether a name may be left of a store whose making was interrupted."""
    return _is_draft(name) or name.split(".")[0] == JOURNAL
