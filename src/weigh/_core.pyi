from collections.abc import Sequence
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
def parse_csv(
    data: NDArray[numpy.uint8], kinds: Sequence[str], delimiter: str, missing: Sequence[str], most: int
) -> tuple[int, list[tuple[str, Any, Any]], tuple[str, int, int, int, int, bytes] | None]: ...
def cut_csv(data: NDArray[numpy.uint8], delimiter: str, most: int, closed: bool) -> tuple[int, int]: ...
def encode_keys(keys: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...
def encode_strings(
    offsets: NDArray[Any], text: NDArray[numpy.uint8], valid: NDArray[numpy.uint8] | None, bit: int
) -> tuple[NDArray[numpy.int32], list[str]]: ...
def encode_objects(values: NDArray[Any]) -> tuple[NDArray[numpy.int32], list[Any]]: ...
def are_plain(values: NDArray[Any], types: tuple[type, ...]) -> bool: ...
def score_codes(
    codes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    table: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
def score_linear(
    values: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
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
) -> None: ...
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
) -> None: ...
def class_sums(
    classes: NDArray[numpy.int32],
    n_classes: int,
    values: NDArray[numpy.float64],
    weights: NDArray[numpy.float64] | None,
) -> tuple[NDArray[numpy.float64], tuple[NDArray[numpy.int64], int], tuple[NDArray[numpy.int64], int]]: ...
def carried(limbs: NDArray[numpy.int64], base: int) -> tuple[NDArray[numpy.int64], int]: ...
