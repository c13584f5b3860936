"""The column to predict: its kind, and the learners that suit it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from weigh.cli.notation import write_option

if TYPE_CHECKING:
    from weigh.source.base import Source

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


def predicts_numbers(source: Source, kinds: Sequence[str]) -> bool:
    """Return whether the labels are measurements, as the kind of the label column or its values say."""
    from weigh.learn.target_type import find_measurements

    kind, _ = _split_label_kind(source.label, kinds)
    if kind is not None:
        return kind in ("number", "value")
    return find_measurements(source) is not None


def explain_numbers(source: Source, kinds: Sequence[str]) -> str | None:
    """Return why numbers are predicted and what to do if they are classes; None if the user said so."""
    from weigh.advice import set_kind
    from weigh.learn.target_type import find_measurements

    found = find_measurements(source)
    if found is None or _split_label_kind(source.label, kinds)[0] is not None:
        return None
    advice = write_option(set_kind(str(source.label), "category"))
    return f"{found.describe(source.label)}, so numbers are predicted. If they are classes, say so: {advice}."


def _split_label_kind(label: str | None, kinds: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    prefix = f"{label}="
    of_label = [text.removeprefix(prefix) for text in kinds if text.startswith(prefix)]
    others = tuple(text for text in kinds if not text.startswith(prefix))
    return (of_label[-1] if of_label else None), others


def _check_classes(source: Source, *, is_number: bool) -> None:
    """Raise LabelError if the labels are measurements: fractions, or very many integers or texts."""
    from weigh import errors
    from weigh.advice import set_kind
    from weigh.learn.target_type import find_measurements

    found = find_measurements(source, is_number=is_number)
    if found is not None:
        raise errors.LabelError(
            f"{found.describe(source.label)}, and a classifier would treat each as a class.",
            hint=(
                f"To predict numbers, use --learner {REGRESSION}. If they are classes, say so: ",
                set_kind(str(source.label), "category"),
                ".",
            ),
        )
