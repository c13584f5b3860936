"""How many columns sparse data may have: the memory of a model is compared with the size of the data."""

from __future__ import annotations

import math
import os

from weigh import errors
from weigh.advice import Setting, Text
from weigh.features.schema import Schema
from weigh.source.base import Source

CELL_BYTES = 8  # a count or a weight
SEPARATE_COLUMN_BYTES = 6_000  # measured: statistics, distribution and term of a column that has its own
MAX_SMALL_MODEL_BYTES = 256 << 20  # allowed whatever the size of the data
MAX_BYTES_PER_ENTRY = 1 << 12  # allowed for each stored value
N_SCORE_TABLES = 8  # of Newton's method: scores, probabilities, their gradient and those of the line search
N_TABLES = 4  # measured: tables of counts and weights that a fit has in memory at its peak


def check_width(schema: Schema, source: Source) -> None:
    """Raise DataError if a model of the schema would be far larger than the sparse rows of the source."""
    check_shared_columns(source)
    kind = schema.kinds[0]
    if getattr(kind, "scale", None) == "unit":
        hint: Text = ("Leave out ", Setting("scale", "unit"), ", or hash the columns into fewer.")
    else:
        uses = " (how often words occur) or 'flag' (whether they occur), or hash the columns into fewer."
        hint = ("Use ", Setting("columns", "count"), uses)
    if not kind.shares_block:
        check_separate_columns(source.n_entries, source.width, hint)


def check_shared_columns(source: Source) -> None:
    """Raise DataError if one table of all columns would be far larger than the sparse rows of a source."""
    if not _is_affordable(source.n_entries, source.width, CELL_BYTES):
        hint = "Number the columns that occur from 0 on, or hash them into fewer."
        raise _too_wide_error(source.n_entries, source.width, CELL_BYTES, hint)


def check_separate_columns(n_entries: int | None, n_columns: int, hint: Text) -> None:
    """Raise DataError if separate statistics of every column would be far larger than the sparse rows."""
    if not allows_separate_columns(n_entries, n_columns):
        raise _too_wide_error(n_entries, n_columns, SEPARATE_COLUMN_BYTES, hint)


def allows_separate_columns(n_entries: int | None, n_columns: int) -> bool:
    """Whether a model may have separate statistics of every column; `n_entries` is None for dense rows."""
    return _is_affordable(n_entries, n_columns, SEPARATE_COLUMN_BYTES)


def _is_affordable(n_entries: int | None, n_columns: int, column_bytes: int) -> bool:
    # A column of dense rows has a value in every row.
    limit = math.inf if n_entries is None else max(MAX_SMALL_MODEL_BYTES, n_entries * MAX_BYTES_PER_ENTRY)
    return n_columns * column_bytes <= limit


def _too_wide_error(n_entries: int | None, n_columns: int, column_bytes: int, hint: Text) -> errors.DataError:
    return errors.DataError(
        f"The rows have {n_entries:,} values in {n_columns:,} columns, and a model of that many columns "
        f"needs at least {_format_bytes(n_columns * column_bytes)} of memory.",
        hint=hint,
    )


def check_table_memory(n_columns: int, n_outputs: int) -> None:
    """Raise DataError if tables [columns, outputs] cannot fit into the memory of the process."""
    needed = N_TABLES * CELL_BYTES * n_columns * n_outputs
    limit = memory_limit()
    if needed > limit:
        raise errors.DataError(
            f"A model of {n_columns:,} columns or words and {n_outputs:,} classes needs about "
            f"{_format_bytes(needed)} of memory, but this process may use {_format_bytes(limit)}. Hash the "
            f"columns into fewer, or train with fewer classes."
        )


def check_score_memory(n_rows: int, n_classes: int) -> None:
    """Raise DataError if the scores [rows, classes] of an exact fit do not fit into memory."""
    needed = N_SCORE_TABLES * CELL_BYTES * n_rows * n_classes
    limit = memory_limit()
    if needed > limit:
        raise errors.DataError(
            f"An exact fit of {n_rows:,} rows and {n_classes:,} classes needs at least "
            f"{_format_bytes(needed)} of memory for its scores, but this process may use "
            f"{_format_bytes(limit)}.",
            hint=(
                "Use ",
                Setting("method", "online"),
                ", which scores a row at a time, or fewer classes or rows.",
            ),
        )


def memory_limit() -> float:
    """Return the memory in bytes that this process may use at most."""
    try:
        limit = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
        import resource
    except (AttributeError, ImportError, OSError, ValueError):  # not on every platform
        return math.inf
    address_space = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit if address_space == resource.RLIM_INFINITY else min(limit, float(address_space))


def _format_bytes(n: float) -> str:
    return f"{n / 2**30:,.1f} GiB"
