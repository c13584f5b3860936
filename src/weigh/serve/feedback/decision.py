"""Which changes of a group are applied: ids that are known, and rows that were never learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from weigh import errors
from weigh.model.count_model import CountModel
from weigh.model.counts.bayes_counts import BayesCounts
from weigh.serve.feedback.change import CheckedChange, Outcome

Checked = CheckedChange | Outcome  # an Outcome says why the change is not applied


def decide(
    group: Sequence[Checked], mark: Callable[[bytes], int], current_model: Callable[[], CountModel]
) -> list[Checked]:
    """Return each change if it is to be applied, otherwise its outcome.

    `mark` returns the mark of a key of the journal. The model is needed only if a change forgets rows.
    """
    first: dict[bytes, CheckedChange] = {}
    for each in group:
        if isinstance(each, CheckedChange) and not mark(each.id_key):
            first.setdefault(each.id_key, each)
    refused = _refuse_unlearned(list(first.values()), current_model)

    def outcome(each: Checked) -> Checked:
        if isinstance(each, Outcome):
            return each
        if each.id_key not in first:
            return Outcome(0, repeated=True) if mark(each.content_key) else _other_content(each)
        if first[each.id_key].content_key != each.content_key:
            return _other_content(each)
        if each.id_key in refused:
            return Outcome(0, error=refused[each.id_key])
        return each if first[each.id_key] is each else Outcome(0, repeated=True)

    return [outcome(each) for each in group]


def _other_content(change: CheckedChange) -> Outcome:
    message = (
        f"The id {errors.one_line_repr(change.change.id)} was used before, for other rows or another "
        "operation. Nothing was changed. Use a new id for every change, and the same one only to repeat it."
    )
    return Outcome(0, error=errors.DataError(message))


def _refuse_unlearned(
    changes: Sequence[CheckedChange], current_model: Callable[[], CountModel]
) -> dict[bytes, errors.WeighError]:
    """Return the errors of changes that forget rows which were not learned at that time, by id."""
    forgotten = [each.counts for each in changes if each.change.operation == "forget"]
    if not forgotten:
        return {}
    model = current_model()
    try:
        # If all can be forgotten before anything is learned, they can in every order.
        model.minus_counts(reduce(BayesCounts.plus, forgotten))
    except errors.MergeError:
        return _refuse_in_order(changes, model)
    return {}


def _refuse_in_order(changes: Sequence[CheckedChange], model: CountModel) -> dict[bytes, errors.WeighError]:
    refused: dict[bytes, errors.WeighError] = {}
    for each in changes:
        try:
            is_learned = each.change.operation == "learn"
            model = model.plus_counts(each.counts) if is_learned else model.minus_counts(each.counts)
        except errors.MergeError as error:
            refused[each.id_key] = error
    return refused
