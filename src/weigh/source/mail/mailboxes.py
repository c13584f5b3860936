"""`messages`: reading the messages of files, Maildirs, MH folders and plain folders."""

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
    resolve_paths,
    unreadable_error,
)
from weigh.text import escape_control_characters

USE_STDIN_ADVICE = ", not a file or a folder of mail. Send it to standard input and give '-' instead."


def messages(
    paths: PathLike | Sequence[PathLike], *, inside: bool = True, skipped: list[str] | None = None
) -> Iterator[RawMessage]:
    """Read the raw messages of files, folders and standard input in bounded memory.

    A folder with `cur` and `new` is a Maildir, one with `.mh_sequences` an MH folder, and any other folder a
    folder of files. A file that begins with "From " is an mbox, and any other file one message; both may be
    compressed (gzip, bzip2, xz). Empty files contain no message. "-" is standard input.

    Parameters
    ----------
    paths : a path, a pattern or a list of them
    inside : whether to read subfolders of plain folders; subfolders of a Maildir or MH folder are separate
        mailboxes and are never read
    skipped : a list to which the names of pipes, devices and dangling links in folders are added
    """
    resolved = resolve_paths(paths)
    # Check all paths before the first message, so that training does not stop halfway at a bad path.
    for path in resolved:
        if not path.is_dir():
            check_readable(path, USE_STDIN_ADVICE)
    return chain.from_iterable(messages_at(path, inside, skipped) for path in resolved)


def messages_at(path: Path, inside: bool = True, skipped: list[str] | None = None) -> Iterator[RawMessage]:
    """Read the messages of one file or folder."""
    if path.is_dir():
        return _walk_messages(os.fspath(path), inside, [] if skipped is None else skipped)
    return _read_named_file(path)


def _read_named_file(path: Path) -> Iterator[RawMessage]:
    try:
        yield from read_message_file(os.fspath(path), escape_control_characters(str(path)))
    except FileVanished as error:
        raise unreadable_error(path, error) from error


def _walk_messages(folder: str, inside: bool, skipped: list[str]) -> Iterator[RawMessage]:
    """Yield the messages of a folder; links to folders are not followed, which prevents cycles."""
    # A stack instead of recursion, because folders may be nested very deeply.
    stack = [_list_mailbox(folder)]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
        elif entry.dir_entry.is_dir(follow_symlinks=False):
            if inside and not entry.is_single_message:
                stack.append(_list_mailbox(entry.dir_entry.path))
        elif is_file(entry.dir_entry):
            place = escape_control_characters(entry.dir_entry.path)
            try:
                yield from read_message_file(
                    entry.dir_entry.path, place, at=entry.at, is_single=entry.is_single_message
                )
            except FileVanished:
                # Mail programs may rename and remove files at any time.
                skipped.append(place)
        else:
            skipped.append(escape_control_characters(entry.dir_entry.path))


def is_mailbox(folder: PathLike) -> bool:
    """Whether a folder is a Maildir or an MH folder."""
    return is_maildir(folder) or is_mh_folder(folder)


def _list_mailbox(folder: str) -> Iterator[MailboxEntry]:
    try:
        if is_maildir(folder):
            return iter(list(list_maildir(folder)))
        if is_mh_folder(folder):
            return iter(list(list_mh_folder(folder)))
        return map(MailboxEntry, list_folder(folder))
    except OSError as error:
        raise unreadable_error(escape_control_characters(folder), error) from error


class MailboxEntry(NamedTuple):
    """An entry of a folder, its delivery time if known, and whether it cannot be an mbox."""

    dir_entry: os.DirEntry[str]
    at: float | None = None
    is_single_message: bool = False


_DELIVERY_TIME = re.compile(r"(\d{1,11})(?:\.M(\d{1,6})(?!\d)|\.)")


def is_maildir(folder: PathLike) -> bool:
    """Whether a folder is a Maildir: it has `cur` and `new`; `tmp` may be absent."""
    return all(os.path.isdir(os.path.join(folder, name)) for name in ("cur", "new"))


def list_maildir(folder: str) -> Iterator[MailboxEntry]:
    """Yield the files of `cur`, then of `new`; those in `tmp` are not delivered yet."""
    for name in ("cur", "new"):
        for entry in list_folder(os.path.join(folder, name)):
            yield MailboxEntry(entry, delivery_time(entry.name), is_single_message=True)


def delivery_time(name: str) -> float | None:
    """Parse the delivery time from a Maildir file name; returns None if it does not begin with a time."""
    match = _DELIVERY_TIME.match(name)
    return None if match is None else int(match[1]) + int(match[2] or 0) / 1e6


def is_mh_folder(folder: PathLike) -> bool:
    """Whether a folder is an MH folder; numbered files alone would be ambiguous."""
    return os.path.isfile(os.path.join(folder, ".mh_sequences"))


def list_mh_folder(folder: str) -> Iterator[MailboxEntry]:
    """Yield the numbered files in order; other files are drafts, deleted messages and notes."""
    numbered = [entry for entry in list_folder(folder) if is_message_number(entry.name)]
    for entry in sorted(numbered, key=lambda entry: int(entry.name)):
        yield MailboxEntry(entry, is_single_message=True)


def is_message_number(name: str) -> bool:
    """Whether a file name is a message number."""
    return name.isascii() and name.isdigit() and len(name) < 20
