# What the stub generator cannot know: what is inside the tuples and lists of these functions.
weigh._core.encode_keys:
    \from numpy.typing import NDArray
    def encode_keys(keys: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]:
        \doc

weigh._core.encode_objects:
    \from typing import Any
    def encode_objects(values: list[Any]) -> tuple[NDArray[numpy.int32], list[Any]]:
        \doc

weigh._core.exponents:
    def exponents(values: NDArray[numpy.float64]) -> tuple[bool, int, int, bool]:
        \doc
