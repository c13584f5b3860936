"""The journal itself, for writers and readers."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

from weigh.errors import CutJournal, LostPlace, parameter
from weigh.journal.generation import opened
from weigh.journal.lock import locked, require_locks
from weigh.journal.record import START, Position, Record
from weigh.journal.turn import Known, Turn

State = TypeVar("State")

# Looking again, ten times at most, spans the moment between a writer's cut and its next group.
_TRIES = 10


class Journal:
    """Records on the disk that outlive their writer, each key changing its mark exactly once.

    Several processes and threads may write, one at a time::

        journal = Journal("learned.journal")
        with journal.writing() as turn:
            new = turn.append([Record(key, 1, payload)])

    After the turn the records are on the disk; if the process is killed before, all of them are or none. A
    record whose key has its mark already is not written, so that doing something twice counts once. Readers
    need no lock::

        for record in journal.records(since=position):
            ...

    A state that is made of the records, a model say, is kept as a snapshot with the position that it
    includes. `turn.fold` writes one and frees the journal of its records, and `state` reads the two
    together.

    Beside the file are its locks (`.lock`, `.queue`), which stay there for ever, and for a moment the draft
    of a new generation (`.new`). `patience` is how many seconds a writer waits for its turn.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 30.0) -> None:
        if not patience >= 0:
            raise parameter("Journal", "patience", "a number of seconds, 0 or more", patience)
        # Locks and drafts belong beside the file, and not beside a link to it.
        self.path = os.path.realpath(path)
        self._patience = patience
        self._known = Known()
        require_locks(self.path)

    def __repr__(self) -> str:
        return f"Journal({self.path!r})"

    @contextlib.contextmanager
    def writing(self) -> Iterator[Turn]:
        """A turn to write, once all others are through with theirs; an exception in it appends nothing."""
        with locked(self.path, self._patience), contextlib.closing(Turn(self.path, self._known)) as turn:
            if turn.cut:
                warnings.warn(
                    f"{self.path}: the last {turn.cut:,} bytes were not whole and were cut. A writer was "
                    "stopped there, or the disk has lost them; what they held has to be given again.",
                    CutJournal,
                    stacklevel=3,
                )
            yield turn
            turn.commit()

    @property
    def position(self) -> Position:
        """The end of the last whole group."""
        file = opened(self.path, os.O_RDONLY)
        if file is None:
            return START
        with contextlib.closing(file):
            end = file.header.folded
            for _, after in file.groups(end, _TRIES):
                end = after
            return end

    def records(self, since: Position = START) -> Iterator[Record]:
        """All records after a position, of whole groups only; LostPlace if some of them are gone."""
        for records, _ in self.groups(since):
            yield from records

    def groups(self, since: Position = START) -> Iterator[tuple[list[Record], Position]]:
        """The records of each group after a position, together with the position after the group."""
        file = opened(self.path, os.O_RDONLY)
        if file is None:
            if since != START:
                raise LostPlace(
                    f"{self.path}: there is no journal, but a snapshot of one. Restore it from a copy."
                )
            return
        with contextlib.closing(file):
            yield from file.groups(since, _TRIES)

    def state(
        self,
        load: Callable[[], tuple[State, Position]],
        add: Callable[[State, list[Record]], State],
        held: tuple[State, Position] | None = None,
    ) -> tuple[State, Position]:
        """The state that the snapshot and the records after it make up, and the position that it includes.

        `load` gives the snapshot and the position stored in it, or an empty state and START if there is
        none yet; `add` gives the state after some more records. Between the two a writer may fold, and drop
        records that the snapshot just loaded does not have; then the newer snapshot is loaded. Whoever asks
        again and again passes what it holds, and only reads what is new::

            state, position = journal.state(load, add)
            state, position = journal.state(load, add, held=(state, position))
        """
        lost = None
        while True:
            state, position = begun = held or load()
            try:
                for records, after in self.groups(position):
                    state, position = add(state, records), after
                return state, position
            except LostPlace:
                # Snapshots are written before records are dropped, so a second look must find a later one.
                if held is None and begun[1] == lost:
                    raise
                lost = None if held else begun[1]
                held = None
