"""Exact leave-one-out: each learned row scored by the model that never saw it.

A row takes away its own counts and nothing else, so that the model without it differs in its own
class and in the row's own values; what depends on neither is used as it stands. What can vanish with
a row does: a level or a word that no other row has says nothing about the row, or what a level never
seen says, and a class that no other row has gets the score −inf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import priors
from weigh.features.blocks import Floats
from weigh.model.bayes_counts import encode_labels
from weigh.model.class_prior import ClassPrior
from weigh.model.leaving.flags import add_flags
from weigh.model.leaving.leaving import Leaving
from weigh.model.leaving.levels import add_levels
from weigh.model.leaving.numbers import add_numbers
from weigh.model.leaving.words import add_words
from weigh.source import Chunk

if TYPE_CHECKING:
    from weigh.model.bayes import BayesModel

_ADD: dict[str, Any] = {
    "categorical": add_levels,
    "multinomial": add_words,
    "bernoulli": add_flags,
    "normal": add_numbers,
}


def scores(model: BayesModel, chunk: Chunk) -> Floats:
    """Return the scores [rows, classes] of learned rows, each by the model without it."""
    rows = leaving(model.counts, chunk)
    found = log_priors(model.class_belief, rows)
    if model.complement and len(model.classes) > 1:
        found[:] = 0.0
    blocks = model.schema.encode(chunk)
    for part, each, block in zip(model.schema.parts, model.distributions, blocks, strict=True):
        _ADD[part.kind.family](each, block, rows, found)
    found[rows.vanished, rows.classes[rows.vanished]] = -np.inf
    return found


def leaving(counts: Any, chunk: Chunk) -> Leaving:
    """Return what the rows of a labelled chunk take away from counts."""
    codes, labels = encode_labels(chunk)
    place = {label: at for at, label in enumerate(counts.classes)}
    # A class that the counts lack can only be that of rows without weight: they take nothing away.
    places = np.array([place.get(label, -1) for label in labels], dtype=np.int64)[codes]
    weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    is_known = places >= 0
    classes, weights = np.where(is_known, places, 0), np.where(is_known, weights, 0.0)
    stays = np.array([label in set(counts.declared) for label in counts.classes])
    gone = is_known & (counts.rows[classes] - weights == 0) & ~stays[classes]
    return Leaving(classes, weights, gone, counts.rows.dtype == np.float64)


def log_priors(belief: ClassPrior, rows: Leaving) -> Floats:
    """Return the logarithms [rows, classes] of the classes' prior probabilities without each row."""
    if isinstance(belief.given, str):
        found = np.zeros((rows.n_rows, len(belief.classes)))
        found[:] = np.log(1.0 / np.maximum(1, len(belief.classes) - rows.vanished))[:, None]
        return found
    if belief.is_stated:
        return np.tile(belief.logs, (rows.n_rows, 1))
    pseudo = np.array([float(a) for a in priors.concentration(belief.given, list(belief.classes))])
    counts = np.tile(belief.rows.astype(np.float64), (rows.n_rows, 1))
    counts[rows.own] -= rows.weights
    # A class that is gone has no pseudo-count either: below zero it has no share at all.
    counts[rows.vanished, rows.classes[rows.vanished]] = -1.0 - pseudo[rows.classes[rows.vanished]]
    with np.errstate(divide="ignore"):
        return np.log(np.nan_to_num(priors.estimates(counts, pseudo), nan=0.0))
