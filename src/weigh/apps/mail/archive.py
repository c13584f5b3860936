"""All prints in the order of learning, for learners that cannot take one back without the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from weigh.apps.mail.change import HAM, NONE, SPAM, Change
from weigh.apps.mail.extent import Extent
from weigh.apps.mail.folder import ARCHIVE
from weigh.journal import Record
from weigh.journal.record import packed, unpacked

# From how many messages of one kind on, with hardly one of the other between them, their order does harm.
_RUN = 64
_HARDLY = 8


def is_lopsided(marks: Counter[int]) -> bool:
    """Whether messages are so many and so nearly all of one kind that the other would be forgotten."""
    fewer, more = sorted((marks[HAM], marks[SPAM]))
    return more >= _RUN and fewer * _HARDLY < more


def last_changes(changes: Iterable[Change]) -> list[Change]:
    """The last change of every message, in the order of these."""
    last: dict[bytes, Change] = {}
    for change in changes:
        last.pop(change.key, None)
        last[change.key] = change
    return list(last.values())


def touches(changes: Iterable[Change]) -> bool:
    """Whether any of the messages was learned before these changes, and is therefore in the archive."""
    first: dict[bytes, int] = {}
    for change in changes:
        first.setdefault(change.key, change.old)
    return any(first.values())


def remaining(folder: str, extent: Extent, changes: Sequence[Change]) -> Iterator[Record]:
    """The messages that are learned after some changes, in order: archived ones, then changed ones."""
    last = last_changes(changes)
    gone = {change.key for change in last}
    for record in unpacked(extent.read(os.path.join(folder, ARCHIVE))):
        if record.key not in gone:
            yield record
    yield from learned(last)


def learned(changes: Iterable[Change]) -> Iterator[Record]:
    """What changes leave as learned, for an archive."""
    return (Record(each.key, each.new, each.print) for each in changes if each.new != NONE)


def mixed(folder: str, extent: Extent, changes: Sequence[Change]) -> tuple[list[Record], Extent]:
    """The messages that are learned after some changes as if dealt by lot, and an archive of them so."""
    records = sorted(remaining(folder, extent, changes), key=lambda record: record.key)
    return records, extent.next().grown(os.path.join(folder, ARCHIVE), _pieces(records))


def archived(folder: str, extent: Extent, changes: Sequence[Change]) -> Extent:
    """Bring the archive up to date: grown, or written anew if something in it has changed."""
    path = os.path.join(folder, ARCHIVE)
    if touches(changes):
        return extent.next().grown(path, _pieces(remaining(folder, extent, changes)))
    return extent.grown(path, _pieces(learned(last_changes(changes))))


def _pieces(records: Iterable[Record]) -> Iterator[bytes]:
    for record in records:
        yield from packed(record)
