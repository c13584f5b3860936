"""Loops that touch every value: counting, encoding, exact sums, scoring."""

from typing import Annotated, Any

import numpy
from numpy.typing import NDArray

def count_codes(
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    codes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    table: Annotated[NDArray[numpy.int64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None:
    """Add one to table[class, code] for every row."""

def count_weighted_codes(
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    codes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    table: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None:
    """Add its weight to table[class, code] for every row."""

def count_sparse(
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    indptr: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    indices: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    values: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ]
    | None,
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ]
    | None,
    table: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None:
    """Add weight × value to table[class, index] for every entry."""

def encode_keys(keys: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]:
    """
    Return (codes, distinct keys in order of first appearance) of 64-bit keys.
    """

def encode_objects(values: list[Any]) -> tuple[NDArray[numpy.int32], list[Any]]:
    """
    Return (codes, distinct values in order of first appearance); None and NaN get -1.
    """

def score_codes(
    codes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    table: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None:
    """Add table[code] to every row's scores."""

def score_linear(
    values: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None:
    """Add value × weights to every row's scores."""

def score_sparse(
    indptr: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    indices: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    values: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ]
    | None,
    table: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None:
    """Add value × table[index] to every row's scores, for every entry."""

def score_gaussian(
    values: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
    mean: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    steepness: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    constant: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None:
    """Add constant − ½ ((value − mean) · steepness)² to every row's scores."""

def exponents(values: NDArray[numpy.float64]) -> tuple[bool, int, int, bool]:
    """
    Return (any finite non-zero value, lowest bit, bit above the highest, any infinity).
    """

def add_sums(
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    values: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ]
    | None,
    first: Annotated[NDArray[numpy.int64], {"shape": (None, None), "order": "C", "device": "cpu"}],
    first_base: int,
    second: Annotated[NDArray[numpy.int64], {"shape": (None, None), "order": "C", "device": "cpu"}],
    second_base: int,
) -> None:
    """Add w·x to first and w·x² to second, without rounding."""
