"""Leave-one-out scores of count models: each training row is scored by the model without it.

Every term subtracts a row's own value from the counts of its class, so that no model is fitted again. A new
distribution takes part by registering its `LeaveOneOutTerm` with `leave_one_out_term`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.model.leave_one_out import flags, levels, numbers, words  # they register their terms
from weigh.model.leave_one_out.base import LeaveOneOutTerm, LeftOutRows, leave_one_out_term
from weigh.priors.smoothing import estimate_probabilities, pseudo_counts
from weigh.source.chunk import Chunk

if TYPE_CHECKING:
    from weigh.model.naive_bayes import BayesModel

__all__ = [
    "flags",
    "leave_one_out_scores",
    "leave_one_out_terms",
    "left_out_rows",
    "levels",
    "log_class_priors",
    "numbers",
    "words",
]


def leave_one_out_terms(distributions: Sequence[Any]) -> list[LeaveOneOutTerm]:
    """Return the terms of the distributions; they serve all chunks of rows."""
    return [leave_one_out_term(distribution) for distribution in distributions]


def leave_one_out_scores(model: BayesModel, chunk: Chunk) -> Floats:
    """Return the scores [rows, classes] of training rows, each under the model without that row."""
    rows = left_out_rows(model.counts, chunk)
    scores = log_class_priors(model.class_distribution, rows)
    if model.complement and len(model.classes) > 1:
        scores[:] = 0.0
    for term, block in zip(model.leave_one_out_terms, model.schema.blocks(chunk), strict=True):
        term.add(block, rows, scores)
    scores[rows.leaves_class_empty, rows.classes[rows.leaves_class_empty]] = -np.inf
    return scores


def left_out_rows(counts: Any, chunk: Chunk) -> LeftOutRows:
    """Return the class index and the weight of each row of a labelled chunk."""
    codes, labels = encode_labels(chunk)
    index = {label: c for c, label in enumerate(counts.classes)}
    # Only rows without weight can have a class that is not in the counts; nothing is subtracted for them.
    classes = np.array([index.get(label, -1) for label in labels], dtype=np.int64)[codes]
    weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    is_known = classes >= 0
    classes, weights = np.where(is_known, classes, 0), np.where(is_known, weights, 0.0)
    is_declared = np.array([label in set(counts.declared) for label in counts.classes])
    leaves_empty = is_known & (counts.rows[classes] - weights == 0) & ~is_declared[classes]
    return LeftOutRows(classes, weights, leaves_empty, counts.rows.dtype == np.float64)


def log_class_priors(class_prior: ClassPrior, rows: LeftOutRows) -> Floats:
    """Return the log prior probabilities [rows, classes] of the classes without each row."""
    representatives, group_of_row = rows.groups
    scores = np.zeros((rows.n_rows, len(class_prior.classes)))
    _core.score_codes(group_of_row, _log_group_priors(class_prior, rows.select(representatives)), scores)
    return scores


def _log_group_priors(class_prior: ClassPrior, rows: LeftOutRows) -> Floats:
    n_classes = len(class_prior.classes)
    if isinstance(class_prior.prior, str):
        logs = np.zeros((rows.n_rows, n_classes))
        logs[:] = np.log(1.0 / np.maximum(1, n_classes - rows.leaves_class_empty))[:, None]
        return logs
    if class_prior.is_fixed:
        return np.tile(class_prior.log_probabilities, (rows.n_rows, 1))
    pseudo = np.array([float(a) for a in pseudo_counts(class_prior.prior, list(class_prior.classes))])
    counts = np.tile(class_prior.rows.astype(np.float64), (rows.n_rows, 1))
    counts[rows.class_positions] -= rows.weights
    # A class that disappears loses its pseudo-count too; a negative total is clipped to probability 0.
    empty = rows.leaves_class_empty
    counts[empty, rows.classes[empty]] = -1.0 - pseudo[rows.classes[empty]]
    with np.errstate(divide="ignore"):
        return np.log(np.nan_to_num(estimate_probabilities(counts, pseudo), nan=0.0))
