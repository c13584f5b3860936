"""Identifiers: columns whose values name or number the rows, so that nothing can be learned from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from weigh.features.inference.column_names import is_id_name, is_quantity_name

MIN_VALUES = 100  # fewer values may be distinct by chance
MIN_DISTINCT_SHARE = 0.9
MIN_CODE_SHARE = 0.99  # of the values are codes in groups
MAX_INSPECTED_VALUES = 200
MIN_CODE_LENGTH = 8  # without blanks
_GROUPED_CODE = re.compile(r"[0-9A-Z]{1,8}(?:[ \u00a0-][0-9A-Z]{1,8})+")
MAX_GAP_FACTOR = 2  # numbers of rows may have gaps, such as those of the rows of a test set


def is_nearly_distinct(n_distinct: int, n_known: int) -> bool:
    """Whether a column has so many different values that each occurs about once."""
    return n_known >= MIN_VALUES and n_distinct >= MIN_DISTINCT_SHARE * n_known


def is_row_number(distinct: Collection[int], name: str) -> bool:
    """Whether integers that are nearly all distinct identify the rows: by their name, or by numbering them.

    A number of the rows takes most integers of its range, or has equal steps. Measured quantities that are
    nearly distinct have a much wider range: random values that fill half of their range repeat each other.
    """
    if is_id_name(name):
        return True
    # A name of one letter is a variable, such as x or t.
    return len(name) != 1 and not is_quantity_name(name) and _is_progression(distinct)


def are_grouped_codes(values: Sequence[Any]) -> bool:
    """Whether values are codes in groups, such as the IBAN 'DE12 3456 7890': capitals, and mostly digits.

    Codes have one length or few patterns, unlike texts in capitals.
    """
    sample = values[:: -(-len(values) // MAX_INSPECTED_VALUES) or 1]
    texts = [value.strip() for value in sample if isinstance(value, str)]
    codes = [text for text in texts if _GROUPED_CODE.fullmatch(text) and _is_long_code(text)]
    if not codes or len(codes) < MIN_CODE_SHARE * len(sample):
        return False
    patterns = {re.sub("[A-Z]", "A", re.sub("[0-9]", "0", code)) for code in codes}
    return len({len(code) for code in codes}) == 1 or len(patterns) <= max(3, len(codes) // 10)


def _is_long_code(text: str) -> bool:
    n_digits, n_chars = sum(map(str.isdigit, text)), sum(map(str.isalnum, text))
    return n_chars >= MIN_CODE_LENGTH and 2 * n_digits >= n_chars


def _is_progression(distinct: Collection[int]) -> bool:
    low, high = min(distinct), max(distinct)
    if high - low < MAX_GAP_FACTOR * len(distinct):
        return True
    step, remainder = divmod(high - low, len(distinct) - 1)
    return remainder == 0 and all((value - low) % step == 0 for value in distinct)
