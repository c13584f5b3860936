"""`messages`: all messages that paths lead to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from weigh.source.mail.entry import Entry
from weigh.source.mail.file import Gone, messages_of_file
from weigh.source.mail.maildir import entries_of_maildir, is_maildir
from weigh.source.mail.mh import entries_of_mh, is_mh
from weigh.source.mail.stored import Stored
from weigh.source.paths import PathLike, check_readable, entries, is_file, meant, printable, unreadable

PIPE_IT = ", not a file or a folder of mail. Send it to standard input and give '-' instead."


def messages(
    paths: PathLike | Sequence[PathLike], *, inside: bool = True, skipped: list[str] | None = None
) -> Iterator[Stored]:
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
    found = meant(paths)
    # All of them before the first message: who learns from the first shall not stumble over the second.
    for path in found:
        if not path.is_dir():
            check_readable(path, PIPE_IT)
    return chain.from_iterable(messages_at(path, inside, skipped) for path in found)


def messages_at(path: Path, inside: bool = True, skipped: list[str] | None = None) -> Iterator[Stored]:
    """The messages of one file or folder."""
    if path.is_dir():
        return _messages_below(os.fspath(path), inside, [] if skipped is None else skipped)
    return _of_named_file(path)


def _of_named_file(path: Path) -> Iterator[Stored]:
    try:
        yield from messages_of_file(os.fspath(path), printable(str(path)))
    except Gone as error:
        raise unreadable(path, error) from error


def _messages_below(folder: str, inside: bool, skipped: list[str]) -> Iterator[Stored]:
    """The messages of a folder; links to folders are not followed, so that none can lead back."""
    # A stack and no recursion: folders may be nested as deeply as paths are long.
    waiting = [_listed(folder)]
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif entry.found.is_dir(follow_symlinks=False):
            if inside and not entry.single:
                waiting.append(_listed(entry.found.path))
        elif is_file(entry.found):
            place = printable(entry.found.path)
            try:
                yield from messages_of_file(entry.found.path, place, at=entry.at, single=entry.single)
            except Gone:
                # Mail programs rename and remove files at any moment.
                skipped.append(place)
        else:
            skipped.append(printable(entry.found.path))


def is_mailbox(folder: PathLike) -> bool:
    """Whether a folder is a mailbox as a whole, and not one of files and folders."""
    return is_maildir(folder) or is_mh(folder)


def _listed(folder: str) -> Iterator[Entry]:
    try:
        if is_maildir(folder):
            return iter(list(entries_of_maildir(folder)))
        if is_mh(folder):
            return iter(list(entries_of_mh(folder)))
        return map(Entry, entries(folder))
    except OSError as error:
        raise unreadable(printable(folder), error) from error
