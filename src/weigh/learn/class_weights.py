"""Class weights: given as a mapping, or balanced (inversely proportional to class frequency)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Ints
from weigh.learn.dataset import EncodedDataset
from weigh.model.counts.count_table import canonical_order_key


def check_class_weight_labels(owner: str, class_weight: Any, classes: Collection[Any]) -> None:
    """Raise ParameterError if a mapping names a class that does not exist; one of weight 0 need not."""
    weights = class_weight if isinstance(class_weight, Mapping) else {}
    unknown = [label for label, weight in weights.items() if weight and label not in classes]
    if unknown:
        raise errors.ParameterError(
            f"{owner}: class_weight names the class {errors.quote_names(unknown)}; the rows have "
            f"{errors.quote_names(sorted(classes, key=canonical_order_key))}."
        )


def zero_weight_classes(class_weight: Any) -> list[Any]:
    """Return the classes of weight zero, whose rows are left out."""
    weights = class_weight if isinstance(class_weight, Mapping) else {}
    return [label for label, weight in weights.items() if not weight]


def dataset_class_weights(
    owner: str, class_weight: Any, classes: Sequence[Any], dataset: EncodedDataset, class_indices: Ints
) -> Floats | None:
    """Return the weight of each class [C], or None for equal weights; "balanced" reads the data set once."""
    counts = np.zeros(len(classes))
    if isinstance(class_weight, str):
        for chunk in dataset.chunks():
            counts += np.bincount(class_indices[chunk.targets], chunk.weights, minlength=len(classes))
    return compute_class_weights(owner, class_weight, classes, counts)


def compute_class_weights(
    owner: str, class_weight: Any, classes: Sequence[Any], counts: Floats
) -> Floats | None:
    """Return the weight of each class [C]; None means that all weights are one.

    "balanced" gives n / (C · n_class), where `counts` are the total weights n_class.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        check_class_weight_labels(owner, class_weight, classes)
        return np.array([float(class_weight.get(label, 1.0)) for label in classes])
    has_rows = counts > 0
    balanced: Floats = np.divide(
        counts.sum(), len(classes) * counts, out=np.zeros(len(classes)), where=has_rows
    )
    return balanced


def weigh_rows(class_weights: Floats, codes: Ints, sample_weights: Floats | None) -> Floats:
    """Return the weight of each row times that of its class; raise DataError if one is out of range."""
    weights = class_weights[codes] * (1.0 if sample_weights is None else sample_weights)
    used = weights[weights > 0]
    smallest, largest = float(used.min(initial=1.0)), float(used.max(initial=1.0))
    if smallest < errors.MIN_WEIGHT or largest > errors.MAX_WEIGHT:
        weight = largest if largest > errors.MAX_WEIGHT else smallest
        raise errors.weight_range_error("A sample weight times the weight of its class", weight)
    return np.asarray(weights)
