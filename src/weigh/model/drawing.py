"""Rows drawn from a naive Bayes model: class first, then each column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import errors

if TYPE_CHECKING:
    from weigh.model.bayes import BayesModel


def drawn_rows(model: BayesModel, n: int, seed: int, size: int) -> Iterator[dict[str, Any]]:
    """Yield n rows as dicts of columns, at most `size` rows at a time."""
    for name, value in (("n", n), ("size", size)):
        if not isinstance(value, int) or value < 1:
            raise errors.parameter("sample", name, "a whole number of at least 1", value)
    if model.stated and any(part.kind.family == "multinomial" for part in model.schema.parts):
        raise errors.Unsupported(
            "How many words a row has was not stated, so no rows can be drawn. Fit the model from rows, "
            "or use BayesModel.from_counts."
        )
    rng = np.random.default_rng(seed)
    for start in range(0, n, size):
        yield _drawn(model, rng, min(size, n - start))


def _drawn(model: BayesModel, rng: np.random.Generator, n: int) -> dict[str, Any]:
    codes = rng.choice(len(model.classes), size=n, p=np.exp(model.class_belief.logs)).astype(np.int32)
    columns: dict[str, Any] = {}
    for each in model.distributions:
        columns |= each.sample(rng, codes)
    return columns | {model.label or "class": model.labels[codes]}
