"""Hashes of encoded rows, equal for equal values in any storage and any order of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import _core
from weigh.features.blocks import CategoryBlock, DenseBlock, NumberBlock, NumberedNames, SparseBlock
from weigh.features.schema import Schema
from weigh.features.words import TextBlock

Hashes = npt.NDArray[np.uint64]

LABEL_KEY = 1
MISSING_KEY = 0x517CC1B727220A95  # added to the key of a column for its missing cells
MASK = 2**64 - 1


def hash_features(schema: Schema, blocks: Sequence[Any], n_rows: int) -> Hashes:
    """Return the sum of the hashes of each row's cells, one block per column group of the schema."""
    hashes = np.zeros(n_rows, dtype=np.uint64)
    for group, block in zip(schema.column_groups, blocks, strict=True):
        _add_block(block, group.names, hashes)
    return hashes


def add_label_hashes(labels: Sequence[Any], codes: npt.NDArray[Any] | None, hashes: Hashes) -> None:
    """Add the hashes of the labels; with codes, the label of row i is labels[codes[i]]."""
    by_label = hash_values(labels, LABEL_KEY)
    if codes is None:
        hashes += by_label
    else:
        _core.add_code_hashes(codes, np.append(by_label, np.uint64(0)), hashes)


def add_target_hashes(targets: npt.NDArray[np.float64], hashes: Hashes) -> None:
    """Add the hashes of the targets of a regression."""
    _core.add_matrix_hashes(targets[:, None], None, LABEL_KEY, hashes)


MAX_INTEGER = 2**1023


def hash_values(values: Sequence[Any], key: int) -> Hashes:
    """Return the hashes of strings and numbers; equal numbers of different types have equal hashes."""
    hashes, array = np.zeros(len(values), dtype=np.uint64), np.empty(len(values), dtype=object)
    if {*map(type, values)} != {str}:
        # Whole numbers beyond the range of floats are hashed as texts.
        values = [hex(v) if isinstance(v, int) and abs(v) > MAX_INTEGER else v for v in values]
    array[:] = values
    documents = _core.Documents.from_objects(array, [])
    if len(documents.invalid_rows) < len(values):
        _core.add_text_hashes(documents, key, hashes)
    if documents.invalid_rows:
        numbers = np.zeros(len(documents.invalid_rows), dtype=np.uint64)
        _core.add_matrix_hashes(array[documents.invalid_rows].astype(np.float64)[:, None], None, key, numbers)
        hashes[documents.invalid_rows] = numbers
    return hashes


def _add_block(block: Any, names: Sequence[str], hashes: Hashes) -> None:
    match block:
        case CategoryBlock():
            key = _column_key(names[0])
            # The last entry is that of the code -1.
            missing = np.array([(key + MISSING_KEY) & MASK], dtype=np.uint64)
            _core.add_code_hashes(
                block.codes, np.concatenate([hash_values(block.levels, key), missing]), hashes
            )
        case NumberBlock():
            _core.add_matrix_hashes(block.values[:, None], None, _column_key(names[0]), hashes)
        case DenseBlock():
            keys, first = _keys_or_start(block.names)
            _core.add_matrix_hashes(block.matrix, keys, first, hashes)
        case SparseBlock():
            _add_sparse_block(block, hashes)
        case TextBlock():
            key = _column_key(names[0])
            _core.add_text_hashes(block.documents, key, hashes)
            _add_unknown_rows(block.known, key, hashes)


def _add_sparse_block(block: SparseBlock, hashes: Hashes, offset: int = 0) -> None:
    keys, first = _keys_or_start(block.names)
    keys = None if keys is None else keys + np.uint64(offset)
    _core.add_sparse_hashes(*block.rows.csr, block.rows.width, keys, (first + offset) & MASK, hashes)
    if block.missing is not None:
        _add_sparse_block(block.missing, hashes, MISSING_KEY)


def _add_unknown_rows(known: npt.NDArray[np.bool_] | None, key: int, hashes: Hashes) -> None:
    # A row without a list of tokens differs from one with an empty list.
    if known is not None:
        hashes[~known] += np.uint64((key + MISSING_KEY) & MASK)


def _keys_or_start(names: Sequence[str]) -> tuple[Hashes | None, int]:
    """Return the keys of columns by name; numbered columns have the number of the first instead."""
    return (None, names.start) if isinstance(names, NumberedNames) else (_column_keys(names), 0)


def _column_keys(names: Sequence[str]) -> Hashes:
    return hash_values(list(names), 0)


@lru_cache(maxsize=1024)
def _column_key(name: str) -> int:
    return int(_column_keys([name])[0])
