"""The column to predict: its kind, and the learners that suit it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from weigh.source.base import Source

MANY_CLASSES = 20  # numbers are measurements above this, and above one in so many rows
REGRESSION = "linear"


def prepare_target(
    source: Source, kinds: Sequence[str], learners: Iterable[str]
) -> tuple[Source, tuple[str, ...]]:
    """Return the source and the kinds of its other columns, after checking that the learners suit the label.

    The kind category says that numbers are classes, which are then read as texts.
    """
    is_regression = REGRESSION in learners
    kind, others = _split_label_kind(source.label, kinds)
    if kind not in (None, "category", "number", "value"):
        raise click.BadParameter(
            f"{source.label!r} is the label; its kind is category or number, not {kind}.",
            param_hint="'--kind'",
        )
    if kind == "category":
        if is_regression:
            raise click.BadParameter(
                f"--learner {REGRESSION} predicts numbers, and {source.label}=category says that they are "
                f"classes. Leave one of both out.",
                param_hint="'--kind'",
            )
        return source.with_storage({str(source.label): "string"}), others
    if not is_regression:
        _check_classes(source, is_number=kind is not None)
    return source, others


def _split_label_kind(label: str | None, kinds: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    prefix = f"{label}="
    of_label = [text.removeprefix(prefix) for text in kinds if text.startswith(prefix)]
    others = tuple(text for text in kinds if not text.startswith(prefix))
    return (of_label[-1] if of_label else None), others


def _check_classes(source: Source, *, is_number: bool) -> None:
    """Raise LabelError if the labels are measurements: fractions, or very many integers or texts."""
    from weigh import errors
    from weigh.advice import set_kind
    from weigh.features.label_numbers import detect_label_numbers
    from weigh.source.chunk import to_pylist

    rows = source.prefix().labels
    labels: list[Any] = to_pylist(rows)
    numbers = {label for label in labels if isinstance(label, int | float) and label == label}
    # A few texts may be names of classes although they look like fractions.
    has_fractions = any(number != round(number) for number in numbers if math.isfinite(number))
    found = detect_label_numbers(rows, source.missing, source.number_format) if labels else None
    written = ""
    if found is not None:
        numbers = set(found.numbers[found.fits].tolist())
        example = next(label for label in labels if isinstance(label, str) and label not in source.missing)
        written, has_fractions = f", written as text such as {errors.one_line_repr(example)}", False
    are_many = len(numbers) > max(MANY_CLASSES, len(labels) / MANY_CLASSES)
    if numbers and (is_number or has_fractions or are_many):
        raise errors.LabelError(
            f"{source.label!r} has {len(numbers):,} distinct numbers in the first {len(labels):,} rows"
            f"{written}, and a classifier would treat each as a class.",
            hint=(
                f"To predict numbers, use --learner {REGRESSION}. If they are classes, say so: ",
                set_kind(str(source.label), "category"),
                ".",
            ),
        )
