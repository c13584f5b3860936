"""Models with feedback: counted again from the records of a journal, and carried over to another base."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from weigh import errors
from weigh.journal.storage import JournalRecord
from weigh.model.base import Model
from weigh.model.count_model import CountModel, not_from_counts_error
from weigh.serve.feedback.change import decode_records


def check_can_learn(model: Model, name: str) -> CountModel:
    """Return the model, or raise Unsupported if rows of it cannot be added and removed."""
    if not isinstance(model, CountModel):
        raise not_from_counts_error(model, name, "learn more rows")
    if not model.has_rows:
        raise errors.Unsupported(
            f"{name} is a model from stated numbers. It has no rows; fit one from rows instead."
        )
    if model.label is None:
        raise errors.Unsupported(
            f"{name} does not name its label column, so rows of feedback cannot say their label.",
            hint="Train it on a table with a label column.",
        )
    return model


def replay(model: CountModel, records: Iterable[JournalRecord], path: str) -> CountModel:
    """Return the model with the changes of the records of a journal."""
    kept = decode_records(records, path)
    # Counts do not depend on the order, and were checked before they were written.
    if kept.learned:
        model = model.plus_counts(model.count_batches(kept.learned, is_repeated=True))
    if kept.forgotten:
        model = model.minus_counts(model.count_batches(kept.forgotten, is_repeated=True))
    return model


def carry_over(
    folder: str, records: Iterable[JournalRecord], state: CountModel, old_base: CountModel, base: CountModel
) -> CountModel:
    """Return the new base with the feedback: its counts, plus those of the state beyond the old base."""
    try:
        base.check_mergeable(old_base)
    except errors.MergeError as error:
        raise _not_carried_over(folder, str(error.args[0])) from error
    # The new base may have functions of derived columns, which are not in files.
    counts = replay(base.with_counts(state.counts), records, folder).counts
    try:
        # Classes that the old base declares without rows are no feedback.
        return base.plus_counts(replace(counts, declared=())).minus_counts(old_base.counts)
    except errors.MergeError:
        reason = "It forgets rows that the old file had learned and the new one has not."
        raise _not_carried_over(folder, reason) from None


def _not_carried_over(folder: str, reason: str) -> errors.MergeError:
    return errors.MergeError(
        f"{folder}: the feedback cannot be carried over to the new file of the model. {reason} Nothing was "
        "changed.",
        hint="Serve the old file again, or move the folder away to begin without its feedback.",
    )
