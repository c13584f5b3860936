"""One change that a client asks for: how it is checked, identified, and kept as records of the journal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from weigh import errors
from weigh.journal.storage import KEY_BYTES, JournalRecord, damaged_journal
from weigh.model.count_model import CountModel
from weigh.model.counts.bayes_counts import BayesCounts
from weigh.model.counts.count_table import canonical_order_key

Operation = Literal["learn", "forget"]

# Marks of the journal. A change has two records: the mark of its id says what was done, and the payload has
# the rows; the mark of its id together with its content recognises a repetition.
LEARNED_MARK, FORGOTTEN_MARK, CONTENT_MARK = 1, 2, 3
_MARKS: dict[str, int] = {"learn": LEARNED_MARK, "forget": FORGOTTEN_MARK}
_LABEL_TYPES = ("true or false", "a number", "text")  # by the first part of `canonical_order_key`


class Change(NamedTuple):
    """One request of a client.

    `id` is the client's key, under which the change is applied exactly once. Each row of JSON values has its
    label under the name of the label column. `who` is the name of the client, if it has one.
    """

    id: str
    operation: Operation
    rows: list[dict[str, Any]]
    who: str | None = None


class Outcome(NamedTuple):
    """What became of a change: `rows` applied now, `repeated` if the same id was applied before.

    With an `error` the change was refused as a whole, and nothing was written for it.
    """

    rows: int
    repeated: bool = False
    error: errors.WeighError | None = None


@dataclass(frozen=True)
class CheckedChange:
    """A change whose rows can be counted, with its keys and the rows as they are kept."""

    change: Change
    rows: list[dict[str, Any]]
    counts: BayesCounts
    id_key: bytes
    content_key: bytes

    @property
    def records(self) -> list[JournalRecord]:
        """The records of the journal; the order of the columns is kept."""
        payload = _to_json(self.rows).encode("ascii")
        return [
            JournalRecord(self.id_key, _MARKS[self.change.operation], payload),
            JournalRecord(self.content_key, CONTENT_MARK),
        ]


class KeptRows(NamedTuple):
    """The rows of changes in the journal, one batch per change."""

    learned: list[list[dict[str, Any]]]
    forgotten: list[list[dict[str, Any]]]


def check_change(change: Change, model: CountModel) -> CheckedChange:
    """Check and count a change; columns that the model does not read are left out.

    The rows are counted after a round trip through JSON, as they will be when the journal is replayed.
    """
    if not isinstance(change.id, str) or not change.id:
        raise errors.DataError("The id of a change must be a text of at least one character.")
    if change.operation not in _MARKS:
        raise errors.DataError(f"A change must be 'learn' or 'forget', got {change.operation!r}.")
    if not change.rows or not all(isinstance(row, dict) for row in change.rows):
        raise errors.DataError(
            "Feedback must be a list of at least one row, each a mapping of columns to values."
        )
    if not any(model.label in row for row in change.rows):
        raise errors.ColumnError(
            f"The rows lack their label, {model.label!r}; they have {errors.quote_names(change.rows[0])}."
        )
    rows = json.loads(_to_json(change.rows))
    id_key, content_key = _hash_change(change.id, change.operation, rows)
    kept = [_keep_row(row, model) for row in rows]
    return CheckedChange(change, kept, model.count_batches([kept]), id_key, content_key)


def decode_records(records: Iterable[JournalRecord], path: str) -> KeptRows:
    """Return the rows of the records of a journal; raise DamagedJournal for records of another kind."""
    kept = KeptRows([], [])
    batches = {LEARNED_MARK: kept.learned, FORGOTTEN_MARK: kept.forgotten}
    for record in records:
        if record.mark == CONTENT_MARK:
            continue
        try:
            rows = json.loads(record.payload)
            batches[record.mark].append(rows)
        except (KeyError, ValueError, RecursionError):
            raise damaged_journal(f"{path} is not a journal of feedback, or is damaged.") from None
    return kept


def hash_id(change_id: str) -> bytes:
    """Return the key of a client's id in the journal."""
    data = change_id.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=KEY_BYTES, person=b"id").digest()


def _hash_change(change_id: str, operation: str, rows: Sequence[dict[str, Any]]) -> tuple[bytes, bytes]:
    """Return the keys of an id, and of the id with its content; the order of the columns does not matter."""
    id_key = hash_id(change_id)
    content = json.dumps([operation, rows], sort_keys=True, separators=(",", ":")).encode("ascii")
    content_key = blake2b(content, digest_size=KEY_BYTES, key=id_key, person=b"content")
    return id_key, content_key.digest()


def _to_json(rows: Sequence[dict[str, Any]]) -> str:
    try:
        return json.dumps(rows, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise errors.DataError(
            f"The rows cannot be kept as JSON: {errors.first_line(error)}. Give texts, numbers, true, false, "
            "null, and lists of these; dates as text."
        ) from None


def _keep_row(row: dict[str, Any], model: CountModel) -> dict[str, Any]:
    """Return the columns of a row that the model reads, and its label as the type of the classes."""
    known = {*model.schema.names, model.label}
    # The fields of a nested value are columns of their own, which the model checks.
    kept = {name: value for name, value in row.items() if name in known or isinstance(value, dict)}
    if model.label in kept:
        kept[str(model.label)] = _convert_label(kept[str(model.label)], model.classes)
    return kept


def _convert_label(label: Any, classes: Sequence[Any]) -> Any:
    """Return a number as the type of the classes, because JSON may write 1.0 as 1; refuse other types."""
    if not classes or not isinstance(label, bool | int | float | str):
        return label
    class_types = {canonical_order_key(each)[0] for each in classes}
    label_type = canonical_order_key(label)[0]
    if label_type not in class_types:
        expected = " or ".join(_LABEL_TYPES[each] for each in sorted(class_types))
        raise errors.LabelError(
            f"The label {errors.one_line_repr(label)} is {_LABEL_TYPES[label_type]}, but the classes are "
            f"{errors.quote_names(classes)}. Give {expected}."
        )
    if (
        isinstance(label, int)
        and not isinstance(label, bool)
        and all(type(each) is float for each in classes)
    ):
        return float(label)
    return (
        int(label) if isinstance(label, float) and label.is_integer() and int in map(type, classes) else label
    )
