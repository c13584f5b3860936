# Signatures that the stub generator cannot infer: the element types of tuples and lists.
weigh._core.encode_keys:
    \from numpy.typing import NDArray
    def encode_keys(keys: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...

weigh._core.encode_objects:
    \from typing import Any
    def encode_objects(values: NDArray[Any]) -> tuple[NDArray[numpy.int32], list[Any]]: ...

weigh._core.encode_strings:
    def encode_strings(
        offsets: NDArray[Any], text: NDArray[numpy.uint8], validity: NDArray[numpy.uint8] | None, bit_offset: int
    ) -> tuple[NDArray[numpy.int32], list[str]]: ...

weigh._core.have_exact_types:
    def have_exact_types(values: NDArray[Any], types: tuple[type, ...]) -> bool: ...

weigh._core.class_sums:
    def class_sums(
        classes: NDArray[numpy.int32], n_classes: int, values: NDArray[numpy.float64], weights: NDArray[numpy.float64] | None
    ) -> tuple[NDArray[numpy.float64], tuple[NDArray[numpy.int64], int], tuple[NDArray[numpy.int64], int]]: ...

weigh._core.count_cells:
    def count_cells(
        classes: NDArray[numpy.int32], n_classes: int, values: NDArray[numpy.float64], weights: NDArray[numpy.float64] | None
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.count_coarse_cells:
    def count_coarse_cells(
        values: NDArray[numpy.float64], max_cells: int
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64]]: ...

weigh._core.add_cells:
    \from typing import overload
    @overload
    def add_cells(
        cells: NDArray[numpy.int32], counts: NDArray[numpy.float64], other_cells: NDArray[numpy.int32], other_counts: NDArray[numpy.float64], subtracts: bool
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    @overload
    def add_cells(
        cells: NDArray[numpy.int32], counts: NDArray[numpy.int64], other_cells: NDArray[numpy.int32], other_counts: NDArray[numpy.int64], subtracts: bool
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...

weigh._core.compare_shapes:
    def compare_shapes(
        centres: NDArray[numpy.float64], counts: NDArray[numpy.float64], has_own_spread: bool, has_shared_spread: bool, is_zero_inflated: bool, has_nonpositive: bool, has_negative: bool, floor: float, zero_strength: float, min_log_deviation: float, max_groups: int, bin_numbers: NDArray[numpy.int32], strengths: NDArray[numpy.int32]
    ) -> list[tuple[int, bool, bool, int, int, float]]: ...

weigh._core.measure_association:
    def measure_association(
        codes: NDArray[numpy.int32], levels: NDArray[numpy.int32], classes: NDArray[numpy.int32], n_classes: int, weights: NDArray[numpy.float64]
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...

weigh._core.rank_within_classes:
    def rank_within_classes(
        values: NDArray[numpy.float64], classes: NDArray[numpy.int32], n_classes: int, n_bins: int, min_bin_rows: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.propagate_carries:
    def propagate_carries(limbs: NDArray[numpy.int64], base: int) -> tuple[NDArray[numpy.int64], int]: ...

weigh._core.parse_csv:
    \from collections.abc import Sequence
    def parse_csv(
        data: NDArray[numpy.uint8], kinds: Sequence[str], delimiter: str, quotes: bool, missing: Sequence[str], formats: Sequence[tuple[str, str, Sequence[str], bool, Sequence[str], Sequence[str]]], max_records: int
    ) -> tuple[int, list[tuple[str, Any, Any]], tuple[str, int, int, int, int, bytes] | None]: ...

weigh._core.parse_number_texts:
    def parse_number_texts(
        texts: list[str], format: tuple[str, str, Sequence[str], bool, Sequence[str], Sequence[str]]
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint8]]: ...

weigh._core.scan_csv_records:
    def scan_csv_records(data: NDArray[numpy.uint8], delimiter: str, quotes: bool, max_records: int, at_end: bool) -> tuple[int, int]: ...

weigh._core.parse_numbers:
    def parse_numbers(
        data: NDArray[numpy.uint8], begins: NDArray[numpy.int64], ends: NDArray[numpy.int64]
    ) -> NDArray[numpy.float64]: ...

weigh._core.scan_svmlight:
    def scan_svmlight(
        data: NDArray[numpy.uint8], begins: NDArray[numpy.int64], ends: NDArray[numpy.int64]
    ) -> tuple[int, int, bool]: ...

weigh._core.parse_svmlight:
    def parse_svmlight(
        data: NDArray[numpy.uint8], begins: NDArray[numpy.int64], ends: NDArray[numpy.int64], base: int, width: int
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        tuple[str, int] | None,
    ]: ...

weigh._core.Documents.present:
    @property
    def present(self) -> NDArray[numpy.uint8] | None: ...

weigh._core.tokenize:
    def tokenize(documents: Documents, settings: TokenSettings) -> list[list[bytes]]: ...

weigh._core.Vocabulary.find$:
    def find(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.Vocabulary.find_unsorted:
    def find_unsorted(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.Vocabulary.find_or_add:
    def find_or_add(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.Vocabulary.names:
    def names(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.WordCounts.table:
    def table(
        self, class_map: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[Any]]: ...

weigh._core.WeightedWordCounts.table:
    def table(
        self, class_map: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64]]: ...

weigh._core.merge_names:
    def merge_names(
        text: NDArray[numpy.uint8],
        offsets: NDArray[numpy.int64],
        other_text: NDArray[numpy.uint8],
        other_offsets: NDArray[numpy.int64],
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]: ...

weigh._core.select_shorter_names:
    def select_shorter_names(
        text: NDArray[numpy.uint8],
        offsets: NDArray[numpy.int64],
        other_text: NDArray[numpy.uint8],
        other_offsets: NDArray[numpy.int64],
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.take_names:
    def take_names(
        text: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], order: NDArray[numpy.int32]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.CsrBuilder.build:
    def build(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.NameIndexer.names:
    def names(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.Examples.select:
    def select(
        self, indices: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.perceptron_pass:
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

weigh._core.sgd_pass:
    def sgd_pass(
        examples: Examples,
        order: NDArray[numpy.int64] | None,
        settings: SgdSettings,
        n_rows: int,
        rows_grow: bool,
        table: NDArray[numpy.float64],
        scale: float,
    ) -> tuple[float, float]: ...

weigh._core.NameIndexer.index_tokens:
    def index_tokens(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.add_matrix_hashes:
    def add_matrix_hashes(
        matrix: NDArray[numpy.float64],
        keys: NDArray[numpy.uint64] | None,
        first: int,
        hashes: NDArray[numpy.uint64],
    ) -> None: ...

weigh._core.add_sparse_hashes:
    def add_sparse_hashes(
        indptr: NDArray[numpy.int64],
        indices: NDArray[numpy.int32],
        values: NDArray[numpy.float64] | None,
        width: int,
        keys: NDArray[numpy.uint64] | None,
        first: int,
        hashes: NDArray[numpy.uint64],
    ) -> None: ...

weigh._core.add_text_hashes:
    def add_text_hashes(documents: Documents, key: int, hashes: NDArray[numpy.uint64]) -> None: ...

weigh._core.finish_row_hashes:
    def finish_row_hashes(hashes: NDArray[numpy.uint64]) -> tuple[int, int]: ...

weigh._core.scan_values:
    def scan_values(values: NDArray[numpy.float64]) -> tuple[float, bool, bool, bool]: ...

weigh._core.sparse_select_columns:
    def sparse_select_columns(
        indptr: NDArray[numpy.int64],
        indices: NDArray[numpy.int32],
        values: NDArray[numpy.float64] | None,
        index_map: NDArray[numpy.int32],
        count: int,
        threads: int,
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.coordinate_descent_gram:
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

weigh._core.coordinate_descent_columns:
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

weigh._core.read_mail:
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

weigh._core.MAIL_FLAGS:
    MAIL_FLAGS: tuple[str, ...]

weigh._core.hash_mail_features$:
    def hash_mail_features(contents: list[bytes], pairs: str, characters: int, salt: int, threads: int) -> list[bytes]: ...

weigh._core.hash_mail_features_with_ids:
    def hash_mail_features_with_ids(contents: list[bytes], pairs: str, characters: int, salt: int, threads: int) -> list[tuple[bytes, bytes]]: ...

weigh._core.extract_mail_features:
    def extract_mail_features(content: bytes, pairs: str, characters: int, salt: int) -> tuple[list[tuple[int, str, int]], bytes]: ...

weigh._core.MailLedger.learn$:
    def learn(self, hashed_features: list[bytes], spam: bytes) -> None: ...

weigh._core.MailLedger.unlearn:
    def unlearn(self, hashed_features: list[bytes], spam: bytes) -> None: ...

weigh._core.MailLedger.judge:
    def judge(self, hashed_features: list[bytes]) -> list[float]: ...

weigh._core.MailLedger.evidence:
    def evidence(self, hashed_features: bytes) -> list[tuple[int, int, float]]: ...

weigh._core.ContextReader.columns:
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
