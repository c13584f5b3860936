"""A check of class priors that needs the classes of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

from weigh.advice import Setting
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.count_table import canonical_order_key
from weigh.parameters import ClassPriors
from weigh.source.base import Source

MAX_EXAMPLE_CLASSES = 6


def check_class_prior(owner: str, class_prior: Any, source: Source) -> None:
    """Raise ParameterError for probabilities that do not name their classes; show how to name them."""
    if not isinstance(class_prior, Sized) or isinstance(class_prior, str | Mapping):
        return
    error = ClassPriors().error(owner, "class_prior", class_prior)
    labels = sorted(encode_labels(source.prefix())[1], key=canonical_order_key)
    uniform = Setting("class_prior", "uniform")
    if len(labels) <= MAX_EXAMPLE_CLASSES:
        example = Setting("class_prior", dict(zip(labels, _shares(class_prior, len(labels)), strict=True)))
        error.hint = ("Name the classes, as in ", example, ", or give ", uniform, ".")
    else:
        error.hint = ("Name the classes in a mapping, or give ", uniform, ".")
    raise error


def _shares(probabilities: Any, n: int) -> list[float]:
    """Return the given probabilities if there is a number for each of the n classes, else equal ones."""
    try:
        shares = [round(float(p), 6) for p in probabilities]
    except (TypeError, ValueError):
        shares = []
    return shares if len(shares) == n else [round(1 / n, 6)] * n
