from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

class Assembly:
    def __init__(self, rows: int) -> None: ...
    def add_codes(
        self,
        codes: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        numbers: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> None: ...
    def add_column(
        self,
        column: Annotated[NDArray[numpy.float64], {"shape": (None,), "device": "cpu", "writable": False}],
        number: int,
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
        numbers: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> None: ...
    def rows(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

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
    data: NDArray[numpy.uint8],
    kinds: Sequence[str],
    delimiter: str,
    quotes: bool,
    missing: Sequence[str],
    most: int,
) -> tuple[int, list[tuple[str, Any, Any]], tuple[str, int, int, int, int, bytes] | None]: ...
def cut_csv(
    data: NDArray[numpy.uint8], delimiter: str, quotes: bool, most: int, closed: bool
) -> tuple[int, int]: ...
def descend_gram(
    gram: NDArray[numpy.float64],
    cross: NDArray[numpy.float64],
    yy: float,
    l1: NDArray[numpy.float64],
    l2: NDArray[numpy.float64],
    tol: float,
    most: int,
    w: NDArray[numpy.float64],
    q: NDArray[numpy.float64],
) -> tuple[int, float]: ...

class Columns:
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
        places: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        count: int,
        threads: int,
    ) -> None: ...
    def __len__(self) -> int: ...

class ColumnSettings:
    def __init__(self, bias: bool, fine: bool, share: float, most: int, threads: int, seed: int) -> None: ...

def descend_columns(
    columns: Columns,
    which: NDArray[numpy.int32],
    l1: NDArray[numpy.float64],
    l2: NDArray[numpy.float64],
    h: NDArray[numpy.float64],
    u: NDArray[numpy.float64],
    q: NDArray[numpy.float64],
    settings: ColumnSettings,
    w: NDArray[numpy.float64],
) -> tuple[int, float]: ...

class Documents:
    @staticmethod
    def of_objects(values: object, missing: Sequence[str]) -> Documents: ...
    @overload
    @staticmethod
    def of_strings(
        offsets: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        valid: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        bit: int,
        missing: Sequence[str],
    ) -> Documents: ...
    @overload
    @staticmethod
    def of_strings(
        offsets: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        valid: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        bit: int,
        missing: Sequence[str],
    ) -> Documents: ...
    @staticmethod
    def of_views(
        views: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        buffers: Sequence[
            Annotated[
                NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
            ]
        ],
        valid: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ]
        | None,
        bit: int,
        missing: Sequence[str],
    ) -> Documents: ...
    @staticmethod
    def of_spans(
        begins: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        sizes: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        data: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        spilled: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        missing: Sequence[str],
    ) -> Documents: ...
    @staticmethod
    def of_lists(
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
    def odd(self) -> list[int]: ...
    @property
    def known(self) -> NDArray[numpy.uint8] | None: ...
    def __len__(self) -> int: ...

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
        spread: float,
        bias_spread: float,
        rounds: int,
        threads: int,
    ) -> None: ...
    def begin(
        self,
        scores: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        weights: Annotated[
            NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        bias: float,
    ) -> None: ...
    def run(
        self,
        order: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> float: ...
    def recentre(self, times: float) -> None: ...
    @property
    def bias(self) -> float: ...
    @property
    def share(self) -> float: ...
    def weights(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...
    def signed_alphas(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...
    def logits(self) -> Annotated[NDArray[numpy.float64], {"shape": (None,)}]: ...

def encode_keys(keys: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...
def encode_strings(
    offsets: NDArray[Any], text: NDArray[numpy.uint8], valid: NDArray[numpy.uint8] | None, bit: int
) -> tuple[NDArray[numpy.int32], list[str]]: ...
def encode_objects(values: NDArray[Any]) -> tuple[NDArray[numpy.int32], list[Any]]: ...
def are_plain(values: NDArray[Any], types: tuple[type, ...]) -> bool: ...

class GradientSettings:
    def __init__(self, rate: float, l2: float, bias: bool, columns: int) -> None: ...

def plain_gradient(
    examples: Examples,
    order: NDArray[numpy.int64] | None,
    settings: GradientSettings,
    rows: int,
    grows: bool,
    table: NDArray[numpy.float64],
    scale: float,
) -> tuple[float, float]: ...
def safe_gradient(
    examples: Examples,
    order: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ]
    | None,
    settings: GradientSettings,
    rows: int,
    grows: bool,
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

MAIL_MOST_FEATURES: int = 20000

def mail_prints(
    contents: list[bytes], pairs: str, characters: int, salt: int, threads: int
) -> list[bytes]: ...
def mail_identified(
    contents: list[bytes], pairs: str, characters: int, salt: int, threads: int
) -> list[tuple[bytes, bytes]]: ...
def mail_features(content: bytes, pairs: str, characters: int, salt: int) -> list[tuple[int, str, int]]: ...

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
    def learn(self, prints: list[bytes], spam: bytes) -> None: ...
    def unlearn(self, prints: list[bytes], spam: bytes) -> None: ...
    def judge(self, prints: list[bytes]) -> list[float]: ...
    def evidence(self, print: bytes) -> list[tuple[int, int, float]]: ...
    def image(self, note: bytes) -> bytes: ...

class Numbering:
    def __init__(self, buckets: int) -> None: ...
    def __len__(self) -> int: ...
    def numbers(
        self,
        text: Annotated[
            NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        offsets: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        grow: bool,
    ) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...
    def learn(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def join(self, other: Numbering) -> None: ...
    def names(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

class Places:
    def __init__(
        self,
        places: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> None: ...
    def __len__(self) -> int: ...
    def numbers(
        self,
        items: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        grow: bool,
    ) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...
    def places(self) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...

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
    def taken(
        self, places: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

class OnlineSettings:
    def __init__(
        self, rate: float, margin: float, relative: bool, separate: bool, bias: bool, mean: str, columns: int
    ) -> None: ...

def zeros(rows: int, columns: int) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
def kept_weights(
    table: Annotated[
        NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    settings: OnlineSettings,
    rows: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    ticks: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
def online_pass(
    examples: Examples,
    order: NDArray[numpy.int64] | None,
    settings: OnlineSettings,
    table: NDArray[numpy.float64],
    updates: NDArray[numpy.int64],
    lengths2: NDArray[numpy.float64],
    seen: int,
    measures: bool,
    radius2: float,
    recorded: bool,
) -> tuple[
    int,
    int,
    float,
    float,
    tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float64]],
]: ...
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
def sparse_selected(
    indptr: NDArray[numpy.int64],
    indices: NDArray[numpy.int32],
    values: NDArray[numpy.float64] | None,
    places: NDArray[numpy.int32],
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
    places: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    s: Annotated[NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}]
    | None,
    threads: int,
    out: Annotated[NDArray[numpy.float64], {"shape": (None, None), "order": "C", "device": "cpu"}],
) -> None: ...
def replay(
    run_indptr: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    run_indices: Annotated[
        NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    run_values: Annotated[
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
    lives: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    bias: bool,
    separate: bool,
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
@overload
def log_shares(
    counts: Annotated[
        NDArray[numpy.uint8], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
@overload
def log_shares(
    counts: Annotated[
        NDArray[numpy.uint16], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
@overload
def log_shares(
    counts: Annotated[
        NDArray[numpy.uint32], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...
@overload
def log_shares(
    counts: Annotated[
        NDArray[numpy.int64], {"shape": (None, None), "order": "C", "device": "cpu", "writable": False}
    ],
    pseudo: float,
    totals: Annotated[
        NDArray[numpy.float64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.float64], {"shape": (None, None)}]: ...

class ContextReader:
    def __init__(self, sets: Sequence[Sequence[str]], window: int, most: int) -> None: ...
    def read(self, piece: bytes, document: int, words: int, begin: int) -> int: ...
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
def extent(values: NDArray[numpy.float64]) -> tuple[float, bool, bool, bool]: ...
def carried(limbs: NDArray[numpy.int64], base: int) -> tuple[NDArray[numpy.int64], int]: ...
def read_numbers(
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

class TokenSettings:
    def __init__(
        self,
        unit: str,
        lower: bool,
        strip_accents: bool,
        min_length: int,
        low: int,
        high: int,
        stop_words: Sequence[bytes],
    ) -> None: ...

def split(documents: Documents, settings: TokenSettings) -> list[list[bytes]]: ...

UNICODE: str = "14.0.0"

def fold(text: bytes, lower: bool, strip_accents: bool) -> bytes: ...

class Vocabulary:
    def __init__(self, buckets: int) -> None: ...
    @staticmethod
    def of_buckets(
        places: Annotated[
            NDArray[numpy.int32], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
    ) -> Vocabulary: ...
    @staticmethod
    def of_names(
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
    def learn(
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

def sorted_order(
    text: Annotated[
        NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    offsets: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> Annotated[NDArray[numpy.int32], {"shape": (None,)}]: ...
def names_rise(
    text: Annotated[
        NDArray[numpy.uint8], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
    offsets: Annotated[
        NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
    ],
) -> bool: ...
def merged_names(
    text: NDArray[numpy.uint8],
    offsets: NDArray[numpy.int64],
    other_text: NDArray[numpy.uint8],
    other_offsets: NDArray[numpy.int64],
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]: ...
def shorter_names(
    text: NDArray[numpy.uint8],
    offsets: NDArray[numpy.int64],
    other_text: NDArray[numpy.uint8],
    other_offsets: NDArray[numpy.int64],
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...
def taken_names(
    text: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], order: NDArray[numpy.int32]
) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

class WordCounts:
    def __init__(self, tokens: TokenSettings, buckets: int, presence: bool, most: int) -> None: ...
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
    def join(
        self,
        other: WordCounts,
        places: Annotated[
            NDArray[numpy.int64], {"shape": (None,), "order": "C", "device": "cpu", "writable": False}
        ],
        n_classes: int,
    ) -> None: ...
    def table(
        self, places: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[Any]]: ...
