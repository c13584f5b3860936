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
        data: NDArray[numpy.uint8], kinds: Sequence[str], delimiter: str, missing: Sequence[str], most: int
    ) -> tuple[int, list[tuple[str, Any, Any]], tuple[str, int, int, int, int, bytes] | None]: ...

weigh._core.cut_csv:
    def cut_csv(data: NDArray[numpy.uint8], delimiter: str, most: int, closed: bool) -> tuple[int, int]: ...
