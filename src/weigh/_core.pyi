from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

def measure_association(
    codes: NDArray[numpy.int32],
    levels: NDArray[numpy.int32],
    classes: NDArray[numpy.int32],
    n_classes: int,
    weights: NDArray[numpy.float64],
) -> tuple[
    NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]
]: ...
def log_arrangements(
    codes: Annotated[
        NDArray[numpy.int32], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    levels: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    n_classes: int,
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...
def rank_within_classes(
    values: NDArray[numpy.float64],
    classes: NDArray[numpy.int32],
    n_classes: int,
    n_bins: int,
    min_bin_rows: int,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...

class CsrBuilder:
    def __init__(self, rows: int) -> None: ...
    def add_codes(
        self,
        codes: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        features: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> None: ...
    def add_column(
        self,
        column: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
        feature: int,
    ) -> None: ...
    def add_entries(
        self,
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
        features: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> None: ...
    def build(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

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
@overload
def smoothed_log_probabilities(
    counts: Annotated[
        NDArray[numpy.uint8], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudocount: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
@overload
def smoothed_log_probabilities(
    counts: Annotated[
        NDArray[numpy.uint16], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudocount: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
@overload
def smoothed_log_probabilities(
    counts: Annotated[
        NDArray[numpy.uint32], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudocount: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
@overload
def smoothed_log_probabilities(
    counts: Annotated[
        NDArray[numpy.int64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudocount: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
def parse_csv(
    data: NDArray[numpy.uint8],
    kinds: Sequence[str],
    delimiter: str,
    quotes: bool,
    missing: Sequence[str],
    formats: Sequence[tuple[str, str, Sequence[str], bool, Sequence[str], Sequence[str]]],
    max_records: int,
) -> tuple[int, list[tuple[str, Any, Any]], tuple[str, int, int, int, int, bytes] | None]: ...
def parse_number_texts(
    texts: list[str], format: tuple[str, str, Sequence[str], bool, Sequence[str], Sequence[str]]
) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint8]]: ...
def scan_csv_records(
    data: NDArray[numpy.uint8], delimiter: str, quotes: bool, max_records: int, at_end: bool
) -> tuple[int, int]: ...
def coordinate_descent_gram(
    gram: NDArray[numpy.float64],
    cross: NDArray[numpy.float64],
    yy: float,
    l1: NDArray[numpy.float64],
    l2: NDArray[numpy.float64],
    tol: float,
    max_sweeps: int,
    w: NDArray[numpy.float64],
    q: NDArray[numpy.float64],
) -> tuple[int, float]: ...

class ColumnSubset:
    def __init__(
        self,
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
        index_map: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        count: int,
        threads: int,
    ) -> None: ...
    def __len__(self) -> int: ...

class CoordinateDescentSettings:
    def __init__(
        self,
        bias: bool,
        double_precision: bool,
        gain_tolerance: float,
        max_sweeps: int,
        threads: int,
        seed: int,
    ) -> None: ...

def coordinate_descent_columns(
    columns: ColumnSubset,
    active: NDArray[numpy.int32],
    l1: NDArray[numpy.float64],
    l2: NDArray[numpy.float64],
    h: NDArray[numpy.float64],
    u: NDArray[numpy.float64],
    q: NDArray[numpy.float64],
    settings: CoordinateDescentSettings,
    w: NDArray[numpy.float64],
) -> tuple[int, float]: ...

class Documents:
    @staticmethod
    def from_objects(values: object, missing: Sequence[str]) -> Documents: ...
    @overload
    @staticmethod
    def from_strings(
        offsets: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        validity: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        bit_offset: int,
        missing: Sequence[str],
    ) -> Documents: ...
    @overload
    @staticmethod
    def from_strings(
        offsets: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        validity: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        bit_offset: int,
        missing: Sequence[str],
    ) -> Documents: ...
    @staticmethod
    def from_string_views(
        views: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        buffers: Sequence[
            Annotated[
                NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
            ]
        ],
        validity: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        bit_offset: int,
        missing: Sequence[str],
    ) -> Documents: ...
    @staticmethod
    def from_spans(
        begins: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        sizes: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        data: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        unescaped: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        missing: Sequence[str],
    ) -> Documents: ...
    @staticmethod
    def from_token_lists(
        names: Documents,
        indptr: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        values: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
    ) -> Documents: ...
    @property
    def invalid_rows(self) -> list[int]: ...
    @property
    def present(self) -> NDArray[numpy.uint8] | None: ...
    def __len__(self) -> int: ...

def to_json_fields(
    values: Annotated[NDArray[numpy.float64], {"shape": (None, None), "device": "cpu", "writable": False}],
    keys: Sequence[str],
) -> list[str]: ...
def leave_out_gaussian(
    values: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    moments: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    min_ratio: float,
    irregular: Annotated[NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu"}],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
def leave_out_shared_gaussian(
    values: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    moments: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    min_ratio: float,
    variance: float,
    is_given: bool,
    irregular: Annotated[NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu"}],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
@overload
def leave_out_words(
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
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    counts: Annotated[
        NDArray[numpy.uint8], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    word_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    class_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    logs: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    min_count: float,
    irregular: Annotated[NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu"}],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
@overload
def leave_out_words(
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
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    counts: Annotated[
        NDArray[numpy.uint16], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    word_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    class_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    logs: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    min_count: float,
    irregular: Annotated[NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu"}],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
@overload
def leave_out_words(
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
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    counts: Annotated[
        NDArray[numpy.uint32], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    word_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    class_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    logs: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    min_count: float,
    irregular: Annotated[NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu"}],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
@overload
def leave_out_words(
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
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    weights: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    counts: Annotated[
        NDArray[numpy.int64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    word_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    class_totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    logs: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    min_count: float,
    irregular: Annotated[NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu"}],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
def score_own_class(
    indptr: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    indices: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    classes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    table: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    own_table: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...

class LogisticDual:
    def __init__(
        self,
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
        width: int,
        y: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        offset: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        prior_variance: float,
        bias_prior_variance: float,
        syncs_per_pass: int,
        threads: int,
    ) -> None: ...
    def warm_start(
        self,
        scores: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        bias: float,
    ) -> None: ...
    def run_pass(
        self,
        order: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> float: ...
    def recentre_bias_prior(self, factor: float) -> None: ...
    @property
    def bias(self) -> float: ...
    @property
    def subproblem_scale(self) -> float: ...
    def weights(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...
    def signed_alphas(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...
    def logits(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...

def encode_keys(keys: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...
def encode_strings(
    offsets: NDArray[Any], text: NDArray[numpy.uint8], validity: NDArray[numpy.uint8] | None, bit_offset: int
) -> tuple[NDArray[numpy.int32], list[str]]: ...
def encode_objects(values: NDArray[Any]) -> tuple[NDArray[numpy.int32], list[Any]]: ...
def have_exact_types(values: NDArray[Any], types: tuple[type, ...]) -> bool: ...

class SgdSettings:
    def __init__(self, rate: float, l2: float, bias: bool, columns: int) -> None: ...

def sgd_pass(
    examples: Examples,
    order: NDArray[numpy.int64] | None,
    settings: SgdSettings,
    n_rows: int,
    rows_grow: bool,
    table: NDArray[numpy.float64],
    scale: float,
) -> tuple[float, float]: ...
def implicit_sgd_pass(
    examples: Examples,
    order: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ]
    | None,
    settings: SgdSettings,
    n_rows: int,
    rows_grow: bool,
    table: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
    steps: int,
) -> float: ...
def read_mail(
    raw: bytes, text_bytes: int
) -> tuple[
    tuple[tuple[str, str], ...],
    tuple[tuple[str, str, str, str, str, int, int, str], ...],
    str,
    str,
    tuple[tuple[str, str, str, tuple[str, ...]], ...],
    tuple[str, ...],
    tuple[tuple[str, str], ...],
    tuple[str, ...],
]: ...

MAIL_FLAGS: tuple[str, ...]

MAIL_MAX_FEATURES: int = 20000

def hash_mail_features(
    contents: list[bytes], pairs: str, characters: int, salt: int, threads: int
) -> list[bytes]: ...
def hash_mail_features_with_ids(
    contents: list[bytes], pairs: str, characters: int, salt: int, threads: int
) -> list[tuple[bytes, bytes]]: ...
def extract_mail_features(
    content: bytes, pairs: str, characters: int, salt: int
) -> tuple[list[tuple[int, str, int]], bytes]: ...

class DamagedLedgerError(Exception):
    pass

class MailLedger:
    def __init__(self, learner: str) -> None: ...
    @staticmethod
    def open(path: str) -> MailLedger: ...
    @staticmethod
    def check(path: str) -> None: ...
    @property
    def learner(self) -> str: ...
    @property
    def hams(self) -> int: ...
    @property
    def spams(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def note(self) -> bytes: ...
    def learn(self, hashed_features: list[bytes], spam: bytes) -> None: ...
    def unlearn(self, hashed_features: list[bytes], spam: bytes) -> None: ...
    def judge(self, hashed_features: list[bytes]) -> list[float]: ...
    def evidence(self, hashed_features: bytes) -> list[tuple[int, int, float]]: ...
    def image(self, note: bytes) -> bytes: ...

class NameIndexer:
    def __init__(self, buckets: int) -> None: ...
    def __len__(self) -> int: ...
    def index(
        self,
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        offsets: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        grow: bool,
    ) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...
    def index_tokens(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def merge(self, other: NameIndexer) -> None: ...
    def names(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

class IndexCompactor:
    def __init__(
        self,
        mapping: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> None: ...
    def __len__(self) -> int: ...
    def compact(
        self,
        items: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        grow: bool,
    ) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...
    def mapping(self) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...

def count_cells(
    classes: NDArray[numpy.int32],
    n_classes: int,
    values: NDArray[numpy.float64],
    weights: NDArray[numpy.float64] | None,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
def count_coarse_cells(
    values: NDArray[numpy.float64], max_cells: int
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64]]: ...
@overload
def add_cells(
    cells: NDArray[numpy.int32],
    counts: NDArray[numpy.float64],
    other_cells: NDArray[numpy.int32],
    other_counts: NDArray[numpy.float64],
    subtracts: bool,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
@overload
def add_cells(
    cells: NDArray[numpy.int32],
    counts: NDArray[numpy.int64],
    other_cells: NDArray[numpy.int32],
    other_counts: NDArray[numpy.int64],
    subtracts: bool,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...
def compare_shapes(
    centres: NDArray[numpy.float64],
    counts: NDArray[numpy.float64],
    has_own_spread: bool,
    has_shared_spread: bool,
    is_zero_inflated: bool,
    has_nonpositive: bool,
    has_negative: bool,
    floor: float,
    zero_strength: float,
    min_log_deviation: float,
    max_groups: int,
    bin_numbers: NDArray[numpy.int32],
    strengths: NDArray[numpy.int32],
) -> list[tuple[int, bool, bool, int, int, float]]: ...
def equal_mass_bins(
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    n_bins: int,
) -> Annotated[NDArray[numpy.int64], {"shape": (None,)}]: ...

class Examples:
    def __init__(self) -> None: ...
    def add(
        self,
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
        labels: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        width: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def select(
        self, indices: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

class PerceptronSettings:
    def __init__(
        self,
        rate: float,
        margin: float,
        relative_margin: bool,
        one_vs_rest: bool,
        bias: bool,
        average: str,
        columns: int,
    ) -> None: ...

def zeros(rows: int, columns: int) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
def final_weights(
    table: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    settings: PerceptronSettings,
    rows: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    steps: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
def perceptron_pass(
    examples: Examples,
    order: NDArray[numpy.int64] | None,
    settings: PerceptronSettings,
    table: NDArray[numpy.float64],
    updates: NDArray[numpy.int64],
    squared_norms: NDArray[numpy.float64],
    examples_seen: int,
    track_radius: bool,
    radius2: float,
    record_updates: bool,
) -> tuple[
    int,
    int,
    float,
    float,
    tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]],
]: ...
def add_perceptron_votes(
    update_indptr: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    update_indices: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    update_values: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    plus: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    minus: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    amounts: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    survival_counts: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    bias: bool,
    one_vs_rest: bool,
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
    width: int,
    votes: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...

class SoftmaxDual:
    def __init__(
        self,
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
        width: int,
        classes: int,
        y: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        offset: Annotated[
            NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        prior_variance: float,
        bias_prior_variance: float,
        syncs_per_pass: int,
        threads: int,
    ) -> None: ...
    def warm_start(
        self,
        probabilities: Annotated[
            NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
        ],
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
        ],
        bias: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> None: ...
    def run_pass(
        self,
        order: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> float: ...
    def recentre_bias_prior(self, factor: float) -> None: ...
    @property
    def subproblem_scale(self) -> float: ...
    def weights(self) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
    def bias(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...
    def gaps(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...
    def probabilities(self) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...

def sparse_times(
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
    threads: int,
    out: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
def sparse_transposed_times(
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
    threads: int,
    out: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
def sparse_squared_times(
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
    s: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    threads: int,
    out: Annotated[NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu"}],
) -> None: ...
def sparse_select_columns(
    indptr: NDArray[numpy.int64],
    indices: NDArray[numpy.int32],
    values: NDArray[numpy.float64] | None,
    index_map: NDArray[numpy.int32],
    count: int,
    threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
def sparse_weighted_gram(
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
    index_map: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    s: Annotated[NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}]
    | None,
    threads: int,
    out: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
def add_matrix_hashes(
    matrix: NDArray[numpy.float64],
    keys: NDArray[numpy.uint64] | None,
    first: int,
    hashes: NDArray[numpy.uint64],
) -> None: ...
def add_code_hashes(
    codes: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    by_code: Annotated[
        NDArray[numpy.uint64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    hashes: Annotated[NDArray[numpy.uint64], {"shape": (None,), "order": "C", "device": "cpu"}],
) -> None: ...
def add_sparse_hashes(
    indptr: NDArray[numpy.int64],
    indices: NDArray[numpy.int32],
    values: NDArray[numpy.float64] | None,
    width: int,
    keys: NDArray[numpy.uint64] | None,
    first: int,
    hashes: NDArray[numpy.uint64],
) -> None: ...
def add_text_hashes(documents: Documents, key: int, hashes: NDArray[numpy.uint64]) -> None: ...
def finish_row_hashes(hashes: NDArray[numpy.uint64]) -> tuple[int, int]: ...
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
    mean_residual: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    inverse_std: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    constant: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...

class ContextReader:
    def __init__(self, sets: Sequence[Sequence[str]], window: int, max_occurrences: int) -> None: ...
    def read(self, chunk: bytes, document: int, words_before: int, bytes_before: int) -> int: ...
    def columns(
        self, set: int
    ) -> tuple[
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.int64],
        NDArray[numpy.int32],
    ]: ...
    def stride(self, set: int) -> int: ...
    def names(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.uint8], {"shape": (None,)}],
        Annotated[NDArray[numpy.int64], {"shape": (None,)}],
    ]: ...

def class_sums(
    classes: NDArray[numpy.int32],
    n_classes: int,
    values: NDArray[numpy.float64],
    weights: NDArray[numpy.float64] | None,
) -> tuple[NDArray[numpy.float64], tuple[NDArray[numpy.int64], int], tuple[NDArray[numpy.int64], int]]: ...
def scan_values(values: NDArray[numpy.float64]) -> tuple[float, bool, bool, bool]: ...
def propagate_carries(limbs: NDArray[numpy.int64], base: int) -> tuple[NDArray[numpy.int64], int]: ...
def parse_numbers(
    data: NDArray[numpy.uint8], begins: NDArray[numpy.int64], ends: NDArray[numpy.int64]
) -> NDArray[numpy.float64]: ...
def scan_svmlight(
    data: NDArray[numpy.uint8], begins: NDArray[numpy.int64], ends: NDArray[numpy.int64]
) -> tuple[int, int, bool]: ...
def parse_svmlight(
    data: NDArray[numpy.uint8],
    begins: NDArray[numpy.int64],
    ends: NDArray[numpy.int64],
    base: int,
    width: int,
) -> tuple[
    NDArray[numpy.float64],
    NDArray[numpy.int64],
    NDArray[numpy.int32],
    NDArray[numpy.float64],
    tuple[str, int] | None,
]: ...
def natural_log(x: float) -> float: ...
def weigh_rows(
    indptr: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    indices: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    values: Annotated[NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu"}],
    idf: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ]
    | None,
    takes_logs: bool,
    norm: str,
) -> None: ...

class WeightedWordCounts:
    def __init__(self, tokens: TokenSettings, buckets: int, takes_logs: bool, norm: str) -> None: ...
    def add(
        self,
        documents: Documents,
        classes: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        n_classes: int,
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
    ) -> None: ...
    def merge(
        self,
        other: WeightedWordCounts,
        class_map: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        n_classes: int,
    ) -> None: ...
    def table(
        self, class_map: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64]]: ...

class TokenSettings:
    def __init__(
        self,
        unit: str,
        lower: bool,
        strip_accents: bool,
        min_length: int,
        min_n: int,
        max_n: int,
        stop_words: Sequence[bytes],
    ) -> None: ...

def tokenize(documents: Documents, settings: TokenSettings) -> list[list[bytes]]: ...

UNICODE_VERSION: str = "14.0.0"

def fold(text: bytes, lower: bool, strip_accents: bool) -> bytes: ...

class Vocabulary:
    def __init__(self, buckets: int) -> None: ...
    @staticmethod
    def from_buckets(
        index_map: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> Vocabulary: ...
    @staticmethod
    def from_names(
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        offsets: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> Vocabulary: ...
    def __len__(self) -> int: ...
    def find(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def find_unsorted(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def indices(
        self,
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        offsets: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...
    def find_or_add(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def score(
        self,
        documents: Documents,
        settings: TokenSettings,
        table: Annotated[
            NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
        ],
        scores: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
    ) -> None: ...
    def names(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

def argsort_names(
    text: Annotated[
        NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    offsets: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...
def are_names_sorted(
    text: Annotated[
        NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    offsets: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> bool: ...
def merge_names(
    text: NDArray[numpy.uint8],
    offsets: NDArray[numpy.int64],
    other_text: NDArray[numpy.uint8],
    other_offsets: NDArray[numpy.int64],
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]: ...
def select_shorter_names(
    text: NDArray[numpy.uint8],
    offsets: NDArray[numpy.int64],
    other_text: NDArray[numpy.uint8],
    other_offsets: NDArray[numpy.int64],
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...
def take_names(
    text: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], order: NDArray[numpy.int32]
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

class WordCounts:
    def __init__(self, tokens: TokenSettings, buckets: int, presence: bool, max_count: int) -> None: ...
    def add(
        self,
        documents: Documents,
        classes: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        n_classes: int,
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
    ) -> None: ...
    def merge(
        self,
        other: WordCounts,
        class_map: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        n_classes: int,
    ) -> None: ...
    def table(
        self, class_map: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[Any]]: ...
