# What the stub generator cannot know: what is inside the tuples and lists of these functions.
weigh._core.encode_keys:
    \from numpy.typing import NDArray
    def encode_keys(keys: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...

weigh._core.encode_objects:
    \from typing import Any
    def encode_objects(values: NDArray[Any]) -> tuple[NDArray[numpy.int32], list[Any]]: ...

weigh._core.encode_strings:
    def encode_strings(
        offsets: NDArray[Any], text: NDArray[numpy.uint8], valid: NDArray[numpy.uint8] | None, bit: int
    ) -> tuple[NDArray[numpy.int32], list[str]]: ...

weigh._core.are_plain:
    def are_plain(values: NDArray[Any], types: tuple[type, ...]) -> bool: ...

weigh._core.class_sums:
    def class_sums(
        classes: NDArray[numpy.int32], n_classes: int, values: NDArray[numpy.float64], weights: NDArray[numpy.float64] | None
    ) -> tuple[NDArray[numpy.float64], tuple[NDArray[numpy.int64], int], tuple[NDArray[numpy.int64], int]]: ...

weigh._core.carried:
    def carried(limbs: NDArray[numpy.int64], base: int) -> tuple[NDArray[numpy.int64], int]: ...

weigh._core.parse_csv:
    \from collections.abc import Sequence
    def parse_csv(
        data: NDArray[numpy.uint8], kinds: Sequence[str], delimiter: str, quotes: bool, missing: Sequence[str], most: int
    ) -> tuple[int, list[tuple[str, Any, Any]], tuple[str, int, int, int, int, bytes] | None]: ...

weigh._core.cut_csv:
    def cut_csv(data: NDArray[numpy.uint8], delimiter: str, quotes: bool, most: int, closed: bool) -> tuple[int, int]: ...

weigh._core.read_numbers:
    def read_numbers(
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

weigh._core.Documents.known:
    @property
    def known(self) -> NDArray[numpy.uint8] | None: ...

weigh._core.split:
    def split(documents: Documents, settings: TokenSettings) -> list[list[bytes]]: ...

weigh._core.Vocabulary.find:
    def find(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.Vocabulary.learn:
    def learn(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.Vocabulary.names:
    def names(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.WordCounts.table:
    def table(
        self, places: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[Any]]: ...

weigh._core.merged_names:
    def merged_names(
        text: NDArray[numpy.uint8],
        offsets: NDArray[numpy.int64],
        other_text: NDArray[numpy.uint8],
        other_offsets: NDArray[numpy.int64],
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]: ...

weigh._core.shorter_names:
    def shorter_names(
        text: NDArray[numpy.uint8],
        offsets: NDArray[numpy.int64],
        other_text: NDArray[numpy.uint8],
        other_offsets: NDArray[numpy.int64],
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.taken_names:
    def taken_names(
        text: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], order: NDArray[numpy.int32]
    ) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.Assembly.rows:
    def rows(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.Numbering.names:
    def names(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...

weigh._core.Examples.taken:
    def taken(
        self, places: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.online_pass:
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

weigh._core.plain_gradient:
    def plain_gradient(
        examples: Examples,
        order: NDArray[numpy.int64] | None,
        settings: GradientSettings,
        rows: int,
        grows: bool,
        table: NDArray[numpy.float64],
        scale: float,
    ) -> tuple[float, float]: ...

weigh._core.Numbering.learn:
    def learn(
        self, documents: Documents, settings: TokenSettings
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.extent:
    def extent(values: NDArray[numpy.float64]) -> tuple[float, bool, bool, bool]: ...

weigh._core.sparse_selected:
    def sparse_selected(
        indptr: NDArray[numpy.int64],
        indices: NDArray[numpy.int32],
        values: NDArray[numpy.float64] | None,
        places: NDArray[numpy.int32],
        count: int,
        threads: int,
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

weigh._core.descend_gram:
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

weigh._core.descend_columns:
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

weigh._core.mail_prints:
    def mail_prints(contents: list[bytes], pairs: str, characters: int, salt: int, threads: int) -> list[bytes]: ...

weigh._core.mail_identified:
    def mail_identified(contents: list[bytes], pairs: str, characters: int, salt: int, threads: int) -> list[tuple[bytes, bytes]]: ...

weigh._core.mail_features:
    def mail_features(content: bytes, pairs: str, characters: int, salt: int) -> list[tuple[int, str, int]]: ...

weigh._core.MailLedger.learn$:
    def learn(self, prints: list[bytes], spam: bytes) -> None: ...

weigh._core.MailLedger.unlearn:
    def unlearn(self, prints: list[bytes], spam: bytes) -> None: ...

weigh._core.MailLedger.judge:
    def judge(self, prints: list[bytes]) -> list[float]: ...

weigh._core.MailLedger.evidence:
    def evidence(self, print: bytes) -> list[tuple[int, int, float]]: ...

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
