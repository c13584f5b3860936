"""The rule for integers of a named table: quantities are numbers, codes are categories.

The constants were chosen by cross-validation on public tables, see `benchmarks/quality/integers.py`.
"""

from __future__ import annotations

from weigh.features.inference.column_names import is_code_name, is_quantity_name

MAX_LEVELS = 40
MIN_LEVEL_ROWS = 8  # on average, if the name says nothing
MIN_CODE_ROWS = 3  # on average, if the name is that of a code


def is_code(n_levels: int, n_known: int, name: str) -> bool:
    """Whether integers with so many different values in `n_known` rows are codes rather than quantities.

    Two values are always a category. A name that says "quantity" or "code" decides, unless a code has too few
    rows to learn anything about its levels. Otherwise few values with enough rows each are codes.
    """
    if n_levels <= 2:
        return True
    if is_quantity_name(name):
        return False
    if is_code_name(name):
        return n_known >= MIN_CODE_ROWS * n_levels
    return n_levels <= MAX_LEVELS and n_known >= MIN_LEVEL_ROWS * n_levels
