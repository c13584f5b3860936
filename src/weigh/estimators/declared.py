"""Classes that are named before any row has shown them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weigh import errors
from weigh.model.tally import name_key


def declared_classes(classes: Any) -> list[Any]:
    """Return the classes given to `partial_fit` as plain labels, checked."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise errors.parameter("partial_fit", "classes", "a list of labels", classes)
    declared = [label.item() if hasattr(label, "item") else label for label in classes]
    if not all(isinstance(label, (str, int, float)) and label == label for label in declared):
        raise errors.parameter(
            "partial_fit", "classes", "labels: strings, whole numbers or booleans", declared
        )
    return declared


def refuse_beyond(labels: Iterable[Any], declared: Sequence[Any]) -> None:
    """Refuse labels that are not among the declared classes."""
    beyond = sorted(set(labels) - set(declared), key=name_key)
    if beyond:
        raise errors.LabelError(
            f"y has the label {errors.listing(beyond)} that is not among the classes "
            f"{errors.listing(declared)}."
        )
