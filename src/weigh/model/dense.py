"""Rows of a regression with all their zeros, in the order of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats
from weigh.model.term_store import Learned


def dense_rows(terms: Sequence[Learned], blocks: Sequence[Any], n: int) -> Floats:
    """Return the features [n, features] of n rows, as their weights were learned."""
    assembly, first = _core.CsrBuilder(n), 0
    for term, block in zip(terms, blocks, strict=True):
        term.put_rows(assembly, block, first)
        first += len(term.features().names)
    indptr, indices, values = assembly.build()
    dense = np.zeros((n, first))
    dense[np.repeat(np.arange(n), np.diff(indptr)), indices] = values
    return dense
