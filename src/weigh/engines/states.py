"""The states of a fold as bytes: the counts of some partitions, what to report about them, or an error.

The empty state has no rows. A state is a file in the format of model files with the counts of the task and,
under the key "pass", the odd cells of number columns and the warnings. An error replaces the state; of
several, that of the first partition remains.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Generic, TypeVar

import numpy as np

from weigh import errors
from weigh.deduplicated_warnings import collect_warnings
from weigh.features.inference.odd_cells import OddCellTally
from weigh.learn.task import FoldTask, RowJob
from weigh.model.file import store
from weigh.source.cells import OddCell
from weigh.source.chunk import Chunk
from weigh.source.partitioned.rows import PartitionReader

Counts = TypeVar("Counts")
Notes = list[Warning]

ERROR = b"error of a partition:"
KEY, NOTES = "pass", "pass.notes"
EMPTY = b""
STATE = "The state of a partition"


@dataclass(frozen=True)
class PassState(Generic[Counts]):
    """The counts of some partitions, their odd cells, and the warnings that were not issued yet."""

    counts: Counts
    cells: OddCellTally
    notes: Notes


@dataclass(frozen=True)
class PartitionCounter(Generic[Counts]):
    """Counts the rows of one partition; the engine sends it to its workers."""

    task: FoldTask[Counts]
    reader: PartitionReader
    engine: str

    def __call__(self, tables: Iterable[Any], number: int) -> bytes:
        """Return the state of a partition."""
        try:
            with collect_warnings() as notes:
                return self._count(tables, number, notes)
        except errors.WeighError as error:
            return ERROR + pickle.dumps((number, _in_partition(error, number, self.engine)))

    def _count(self, tables: Iterable[Any], number: int, notes: Notes) -> bytes:
        counter, n_rows = self.task.counter(), 0
        cells = OddCellTally(is_training=True)
        for table in tables:
            if not table.num_rows:
                continue
            source = self.reader.source(table)
            for reader in self.task.schema.chunk_readers(source, is_training=None):
                chunk = reader.read()
                chunk = replace(chunk, first_row=n_rows + chunk.first_row) if n_rows else chunk
                counter.add(chunk)
                cells.add(_with_places(chunk, number))
            n_rows += table.num_rows
        if not n_rows:
            return EMPTY
        return write_state(self.task, PassState(counter.counts(), cells, notes))


@dataclass(frozen=True)
class StateMerger(Generic[Counts]):
    """Merges states; the engine sends it to its workers."""

    task: FoldTask[Counts]

    def __call__(self, states: Sequence[bytes]) -> bytes:
        """Return the merged state; the order of the states is that of their partitions."""
        if error := first_error(states):
            return error
        full = [state for state in states if state]
        if len(full) < 2:
            return full[0] if full else EMPTY
        total = read_state(self.task, full[0])
        for state in full[1:]:
            other = read_state(self.task, state)
            total.cells.merge(other.cells)
            notes = _distinct_notes([*total.notes, *other.notes])
            total = PassState(self.task.merge(total.counts, other.counts), total.cells, notes)
        return write_state(self.task, total)


@dataclass(frozen=True)
class KeptCounter:
    """Sums what the workers keep of a partition; the engine sends it to them."""

    job: RowJob

    def __call__(self, states: Iterable[bytes], number: int) -> bytes:
        """Return the sums of a partition as bytes; its error, or that it has no rows, stays."""
        del number
        state = next(iter(states))
        if not state or state.startswith(ERROR):
            return state
        # The bytes have not left the workers, and every pass would compute their digest.
        return store.to_bytes(*self.job.count(store.from_bytes(state, STATE, check=False)))


@dataclass(frozen=True)
class KeptMerger:
    """Adds sums over what the workers keep; the engine sends it to them."""

    job: RowJob

    def __call__(self, states: Sequence[bytes]) -> bytes:
        """Return the sums of all states."""

        def merge(first: bytes, second: bytes) -> bytes:
            parts = store.from_bytes(first, STATE), store.from_bytes(second, STATE)
            return store.to_bytes(*self.job.merge(*parts))

        full = [state for state in states if state]
        return first_error(states) or (reduce(merge, full) if full else EMPTY)


def first_error(states: Sequence[bytes]) -> bytes:
    """Return the error of the first partition that has one, or the empty state."""
    failed = [state for state in states if state.startswith(ERROR)]
    return min(failed, key=lambda state: int(_read_error(state)[0]), default=EMPTY)


def write_state(task: FoldTask[Counts], state: PassState[Counts]) -> bytes:
    """Return a state as bytes."""
    meta, arrays = task.write_counts(state.counts)
    meta = {**meta, KEY: state.cells.to_json()}
    if state.notes:
        arrays = {**arrays, NOTES: np.frombuffer(pickle.dumps(state.notes), np.uint8)}
    return store.to_bytes(meta, arrays)


def read_state(task: FoldTask[Counts], state: bytes) -> PassState[Counts]:
    """Return the state that `write_state` wrote."""
    stored = store.from_bytes(state, STATE)
    notes = pickle.loads(stored.arrays[NOTES].tobytes()) if NOTES in stored.arrays else []
    return PassState(task.read_counts(stored), OddCellTally.from_json(stored.meta[KEY]), notes)


def raise_error(state: bytes) -> None:
    """Raise the error of a state if it is one."""
    if state.startswith(ERROR):
        raise _read_error(state)[1]


def _read_error(state: bytes) -> tuple[int, errors.WeighError]:
    number, error = pickle.loads(state[len(ERROR) :])
    return number, error


def _in_partition(error: errors.WeighError, number: int, engine: str) -> errors.WeighError:
    return type(error)((f"Partition {number:,} of the {engine} DataFrame (the first is 0): ", error))


def _distinct_notes(notes: Notes) -> Notes:
    """Return the first warning of each class about the same columns."""
    first: dict[Any, Warning] = {}
    for warning in notes:
        first.setdefault((type(warning), *map(str, columns_of(warning))), warning)
    return list(first.values())


def columns_of(warning: Warning) -> tuple[object, ...]:
    """Return the columns that a collected warning is about."""
    return tuple(vars(warning).get("columns", ()))


def _with_places(chunk: Chunk, number: int) -> Chunk:
    """Return a chunk whose odd cells name the partition as well."""
    counts = {
        name: replace(each, examples=tuple(_in_place(cell, number) for cell in each.examples))
        for name, each in chunk.cell_counts.items()
    }
    return replace(chunk, cell_counts=counts) if counts else chunk


def _in_place(cell: OddCell, number: int) -> OddCell:
    return replace(cell, locate=partial(_format_place, number, cell.row))


def _format_place(number: int, row: int) -> str:
    return f"partition {number:,} row {row:,}"
