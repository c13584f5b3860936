"""Weights of classes: given, or the less the more rows a class has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Ints
from weigh.features.settings import finite
from weigh.learn.reading import EncodedRows
from weigh.model.tally import name_key


def check_class_weight(owner: str, given: Any) -> None:
    """Refuse class weights that are no weights."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    must = "None, 'balanced' or a mapping from class to a number above 0"
    if not isinstance(given, Mapping):
        raise errors.parameter(owner, "class_weight", must, given)
    for label, weight in given.items():
        if finite(owner, "class_weight", weight, must) <= 0:
            raise errors.parameter(owner, "class_weight", must, {label: weight})


def check_named_classes(owner: str, given: Any, classes: Collection[Any]) -> None:
    """Refuse weights of classes that do not exist."""
    beyond = [label for label in given if label not in classes] if isinstance(given, Mapping) else []
    if beyond:
        raise errors.ParameterError(
            f"{owner}: class_weight names the class {errors.listing(beyond)}; the rows have "
            f"{errors.listing(sorted(classes, key=name_key))}."
        )


def class_weights(
    owner: str, given: Any, classes: Sequence[Any], reading: EncodedRows, places: Ints
) -> Floats | None:
    """Return the weight of each class; "balanced" ones are the less the more rows a class has."""
    counts = np.zeros(len(classes))
    if isinstance(given, str):
        for chunk in reading.chunks():
            counts += np.bincount(places[chunk.codes], chunk.weights, minlength=len(classes))
    return weights_of(owner, given, classes, counts)


def weights_of(owner: str, given: Any, classes: Sequence[Any], counts: Floats) -> Floats | None:
    """Return the weight of each class, of which there are so many rows; None means one each."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        check_named_classes(owner, given, classes)
        return np.array([float(given.get(label, 1.0)) for label in classes])
    balanced: Floats = counts.sum() / (len(classes) * np.maximum(counts, 1e-300))
    return balanced
