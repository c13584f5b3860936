"""The rules that choose a learner without a comparison; they need no scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weigh import errors
from weigh.features.columns import is_missing
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind
from weigh.learn import BayesTask
from weigh.model.counts.bayes_counts import missing_labels_error
from weigh.source.base import Source
from weigh.source.chunk import Column, to_pylist
from weigh.source.selected_rows import is_missing_row
from weigh.text import format_quantity
from weigh.trials.choice_candidates import CLASS_LEARNERS, NUMBER_LEARNERS, list_variants
from weigh.trials.choice_result import LearnerChoice, UntriedLearner

FEW_ROWS = 20  # with fewer, held-out losses are mostly noise
MOSTLY_TEXT = 0.5  # share of the characters
TEXT_ROWS = 1_000  # whose characters are counted


def count_labels(source: Source, is_regression: bool) -> tuple[int, list[int]]:
    """Return the number of rows, and how often the labels occur, most frequent first.

    Numbers are counted only until two of them differ, which shows that not all are equal. Raises LabelError
    if labels are missing.
    """
    n_rows, counts = 0, Counter[Any]()
    for chunk in source.chunks(dict.fromkeys(source.names, "skip")):
        n_rows += chunk.n_rows
        if chunk.labels is None:
            continue
        is_missing_label = is_missing_row(chunk.labels)
        if is_missing_label.any():
            raise missing_labels_error(chunk, is_missing_label)
        if not (is_regression and len(counts) > 1):
            counts.update(to_pylist(chunk.labels))
    return n_rows, [count for _, count in counts.most_common()]


def explain_rule(
    n_variants: int, n_rows: int, counts: Sequence[int], is_regression: bool, text_share: float = 0.0
) -> str | None:
    """Return why the first variant is chosen without a comparison, or None."""
    if len(counts) == 1:
        return "all targets are equal" if is_regression else "there is a single class"
    if n_variants == 1:
        return "no other learner was tried"
    if text_share > MOSTLY_TEXT:
        return (
            f"{100 * text_share:.0f} % of the characters are text: it counts words in one pass, "
            "and curves are for numbers"
        )
    if n_rows < FEW_ROWS:
        return f"{format_quantity(n_rows, 'row')} are too few to compare learners, and it is the simplest"
    if not is_regression and counts[1] < 2:
        return "only one class has two rows or more"
    return None


def choose_by_rules(
    source: Source,
    n_rows: int,
    counts: Sequence[int],
    *,
    is_regression: bool,
    columns: Any,
    missing: Any,
    parameters: Mapping[str, Mapping[str, Any]],
    excluded: Mapping[str, str],
) -> LearnerChoice | None:
    """Return the choice of the simplest learner, or None if it takes a comparison."""
    learners = NUMBER_LEARNERS if is_regression else CLASS_LEARNERS
    if learners[0] in excluded or not counts:
        return None
    variants = {name: list(list_variants(name, parameters.get(name, {}))) for name in learners}
    first = variants[learners[0]][0]
    try:
        task = _task_class(first.learner).for_source(source, columns, missing=missing, **first.parameters)
    except errors.WeighError:
        return None  # the comparison can do without it
    share = 0.0 if is_regression else text_share(source, task.schema)
    n_variants = sum(len(each) for name, each in variants.items() if name not in excluded)
    reason = explain_rule(n_variants, n_rows, counts, is_regression, share)
    if reason is None:
        return None
    others = [name for name in learners if name in excluded]
    return LearnerChoice.of(
        first,
        reason,
        columns=columns,
        missing=missing,
        is_regression=is_regression,
        untried=[UntriedLearner(variants[name][0].name, excluded[name]) for name in others],
        rows=n_rows,
    )


def _task_class(learner: str) -> Any:
    if learner != "linear":
        return BayesTask
    # Imported on use: counting needs no solvers.
    from weigh.learn.linear_regression import LinearTask

    return LinearTask


def text_share(source: Source, schema: Schema) -> float:
    """Return the share of the characters in the cells of the first rows that columns of text hold."""
    texts = {
        name
        for group in schema.column_groups
        if isinstance(group.kind, BagOfWordsKind)
        for name in group.names
    }
    used = {name for group in schema.column_groups for name in group.names} | set(schema.dates)
    rows = source.prefix().slice(0, TEXT_ROWS)
    counts = {name: _count_characters(column) for name, column in rows.columns.items() if name in used}
    total = sum(counts.values())
    return sum(counts.get(name, 0) for name in texts) / total if total else 0.0


def _count_characters(column: Column) -> int:
    return sum(len(str(value)) for value in to_pylist(column) if not is_missing(value))
