"""Rows that no class of a naive Bayes model can have, and what rules each class out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weigh import errors
from weigh.source import Chunk

if TYPE_CHECKING:
    from weigh.model.bayes import BayesModel


def ruled_out(model: BayesModel, chunk: Chunk, row: int) -> errors.ImpossibleEvidence:
    """Word the error of a row that no class can have, naming the columns that rule each out."""
    blocks = model.schema.encode(chunk)
    causes = []
    for c, label in enumerate(model.classes):
        pairs = zip(model.terms, blocks, strict=True)
        found = (f for term, block in pairs for f in term.contributions(block, row))
        names = [f"{f.feature}={f.value}" for f in found if np.isneginf(f.logs[c])]
        causes.append(f"{label!r} by {errors.listing(names)}" if names else f"{label!r} by its prior")
    return errors.ImpossibleEvidence(
        f"Row {chunk.first_row + row:,} has probability 0 in every class: {'; '.join(causes[:8])}. Such "
        f"values never occurred there in training; a prior above 0 (prior=1) gives them a share."
    )
