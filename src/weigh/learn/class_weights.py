"""Weights of classes: given, or the less the more rows a class has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Ints
from weigh.features.validation import check_finite
from weigh.learn.dataset import EncodedDataset
from weigh.model.counts.count_table import canonical_order_key


def check_class_weight(owner: str, given: Any) -> None:
    """Refuse class weights that are no weights."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    must = "None, 'balanced' or a mapping from class to a number above 0"
    if not isinstance(given, Mapping):
        raise errors.parameter_error(owner, "class_weight", must, given)
    for label, weight in given.items():
        if check_finite(owner, "class_weight", weight, must) <= 0:
            raise errors.parameter_error(owner, "class_weight", must, {label: weight})


def check_class_weight_labels(owner: str, given: Any, classes: Collection[Any]) -> None:
    """Refuse weights of classes that do not exist."""
    beyond = [label for label in given if label not in classes] if isinstance(given, Mapping) else []
    if beyond:
        raise errors.ParameterError(
            f"{owner}: class_weight names the class {errors.quote_names(beyond)}; the rows have "
            f"{errors.quote_names(sorted(classes, key=canonical_order_key))}."
        )


def dataset_class_weights(
    owner: str, given: Any, classes: Sequence[Any], reading: EncodedDataset, places: Ints
) -> Floats | None:
    """Return the weight of each class; "balanced" ones are the less the more rows a class has."""
    counts = np.zeros(len(classes))
    if isinstance(given, str):
        for chunk in reading.chunks():
            counts += np.bincount(places[chunk.targets], chunk.weights, minlength=len(classes))
    return compute_class_weights(owner, given, classes, counts)


def compute_class_weights(owner: str, given: Any, classes: Sequence[Any], counts: Floats) -> Floats | None:
    """Return the weight of each class, of which there are so many rows; None means one each."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        check_class_weight_labels(owner, given, classes)
        return np.array([float(given.get(label, 1.0)) for label in classes])
    balanced: Floats = counts.sum() / (len(classes) * np.maximum(counts, 1e-300))
    return balanced
