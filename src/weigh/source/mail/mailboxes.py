"""`messages`: all messages that paths lead to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from weigh.source.mail.mbox import FileVanished, read_message_file
from weigh.source.mail.raw_message import RawMessage
from weigh.source.paths import (
    PathLike,
    check_readable,
    is_file,
    list_folder,
    printable_path,
    resolve_paths,
    unreadable_error,
)

USE_STDIN_ADVICE = ", not a file or a folder of mail. Send it to standard input and give '-' instead."


def messages(
    paths: PathLike | Sequence[PathLike], *, inside: bool = True, skipped: list[str] | None = None
) -> Iterator[RawMessage]:
    """The raw messages of files, folders and standard input, one after the other in bounded memory.

    What a path is, it tells itself: a folder with `cur` and `new` is a Maildir, one with `.mh_sequences` is
    of MH, any other one is a folder of files. A file that begins with "From " is an mbox, any other one is a
    message; both may be packed (gzip, bzip2, xz). Empty files hold nothing. "-" is standard input.

    Parameters
    ----------
    paths : a path, a pattern or a list of such
    inside : whether folders within plain folders are read too; mailboxes within a Maildir or a folder of MH
        are mailboxes of their own and never are
    skipped : a list to which the names of pipes, devices and dangling links in folders are added
    """
    found = resolve_paths(paths)
    # All of them before the first message: who learns from the first shall not stumble over the second.
    for path in found:
        if not path.is_dir():
            check_readable(path, USE_STDIN_ADVICE)
    return chain.from_iterable(messages_at(path, inside, skipped) for path in found)


def messages_at(path: Path, inside: bool = True, skipped: list[str] | None = None) -> Iterator[RawMessage]:
    """The messages of one file or folder."""
    if path.is_dir():
        return _walk_messages(os.fspath(path), inside, [] if skipped is None else skipped)
    return _read_named_file(path)


def _read_named_file(path: Path) -> Iterator[RawMessage]:
    try:
        yield from read_message_file(os.fspath(path), printable_path(str(path)))
    except FileVanished as error:
        raise unreadable_error(path, error) from error


def _walk_messages(folder: str, inside: bool, skipped: list[str]) -> Iterator[RawMessage]:
    """The messages of a folder; links to folders are not followed, so that none can lead back."""
    # A stack and no recursion: folders may be nested as deeply as paths are long.
    waiting = [_list_mailbox(folder)]
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif entry.dir_entry.is_dir(follow_symlinks=False):
            if inside and not entry.is_single_message:
                waiting.append(_list_mailbox(entry.dir_entry.path))
        elif is_file(entry.dir_entry):
            place = printable_path(entry.dir_entry.path)
            try:
                yield from read_message_file(
                    entry.dir_entry.path, place, at=entry.at, single=entry.is_single_message
                )
            except FileVanished:
                # Mail programs rename and remove files at any moment.
                skipped.append(place)
        else:
            skipped.append(printable_path(entry.dir_entry.path))


def is_mailbox(folder: PathLike) -> bool:
    """Whether a folder is a mailbox as a whole, and not one of files and folders."""
    return is_maildir(folder) or is_mh_folder(folder)


def _list_mailbox(folder: str) -> Iterator[MailboxEntry]:
    try:
        if is_maildir(folder):
            return iter(list(list_maildir(folder)))
        if is_mh_folder(folder):
            return iter(list(list_mh_folder(folder)))
        return map(MailboxEntry, list_folder(folder))
    except OSError as error:
        raise unreadable_error(printable_path(folder), error) from error


class MailboxEntry(NamedTuple):
    """A file or a folder in a folder: when its message came, and whether it is one message for sure."""

    dir_entry: os.DirEntry[str]
    at: float | None = None
    is_single_message: bool = False


_DELIVERY_TIME = re.compile(r"(\d{1,11})(?:\.M(\d{1,6})(?!\d)|\.)")


def is_maildir(folder: PathLike) -> bool:
    """Whether a folder is a Maildir: `cur` and `new` make one, `tmp` may have gone astray."""
    return all(os.path.isdir(os.path.join(folder, name)) for name in ("cur", "new"))


def list_maildir(folder: str) -> Iterator[MailboxEntry]:
    """The files of `cur`, then those of `new`; `tmp` holds what is not delivered yet."""
    for name in ("cur", "new"):
        for entry in list_folder(os.path.join(folder, name)):
            yield MailboxEntry(entry, delivery_time(entry.name), is_single_message=True)


def delivery_time(name: str) -> float | None:
    """When a message was delivered, by its file's name; None if that does not begin with a time."""
    found = _DELIVERY_TIME.match(name)
    return None if found is None else int(found[1]) + int(found[2] or 0) / 1e6


def is_mh_folder(folder: PathLike) -> bool:
    """Whether a folder is of MH; numbers alone would not tell it from other folders."""
    return os.path.isfile(os.path.join(folder, ".mh_sequences"))


def list_mh_folder(folder: str) -> Iterator[MailboxEntry]:
    """The numbered files by their numbers; others are drafts, removed messages and notes."""
    numbered = [entry for entry in list_folder(folder) if is_message_number(entry.name)]
    for entry in sorted(numbered, key=lambda entry: int(entry.name)):
        yield MailboxEntry(entry, is_single_message=True)


def is_message_number(name: str) -> bool:
    """Whether a name is a message's number."""
    return name.isascii() and name.isdigit() and len(name) < 20
