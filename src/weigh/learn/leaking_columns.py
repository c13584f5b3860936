"""A warning for columns that have a value in the rows of one class only: they may come from the outcome."""

from __future__ import annotations

from weigh import errors
from weigh.advice import set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Mask
from weigh.features.columns import encode_column
from weigh.features.kinds import Skip
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.source.base import Source
from weigh.source.selected_rows import is_missing_row

MIN_ROWS = 100
MIN_CELLS = 10  # both present and missing
# The area under the ROC curve of the question "has it a value?" alone. Reasons why a value is missing that
# are known beforehand, such as a test that was not made, are rarely as close to the outcome.
MIN_AREA = 0.95


def warn_of_leaking_columns(source: Source, schema: Schema) -> None:
    """Warn if whether a column of a named table has a value nearly tells the class."""
    if not source.named or all(isinstance(kind, BagOfWordsKind | Skip) for kind in schema.kinds):
        return  # the first texts would be read again
    rows = source.prefix()
    if rows.labels is None or rows.n_rows < MIN_ROWS:
        return
    codes, labels = encode_column(rows.labels, "")
    for name, kind in zip(schema.names, schema.kinds, strict=True):
        column = rows.columns.get(name)
        if column is None or isinstance(kind, Skip):
            continue
        is_present = ~is_missing_row(column)
        n_present = int(is_present.sum())
        if min(n_present, rows.n_rows - n_present) < MIN_CELLS:
            continue
        for code, label in enumerate(labels):
            _check_presence(name, label, codes == code, is_present)


def _check_presence(name: str, label: object, is_class: Mask, is_present: Mask) -> None:
    if not 0 < is_class.sum() < len(is_class):
        return
    inside, outside = float(is_present[is_class].mean()), float(is_present[~is_class].mean())
    if (1 + inside - outside) / 2 < MIN_AREA:
        return
    warn(
        errors.LeakingColumns(
            f"Column {name!r} has a value in {100 * inside:.3g} % of the rows of class {label!r} and in "
            f"{100 * outside:.3g} % of the others, so it nearly tells the class. Is it known at the time of "
            "the prediction?",
            hint=("If not, use ", set_kind(name, "skip"), "."),
        ),
        [name],
    )
