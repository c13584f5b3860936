"""Arrow arrays as the few types that readers of chunks must know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weigh.errors import ColumnError
from weigh.source.values import complex_data

Convert = Callable[[Any], Any]


def converter(name: str, kind: Any) -> Convert:
    """How to hand over arrays of one Arrow type.

    Booleans, integers, floats, strings, dictionaries of these and lists of strings stay as they
    are; times become ISO text, decimals numbers, durations seconds, an all-missing column text.
    The function for any other type raises, so that a skipped column does no harm.
    """
    import pyarrow.types as t

    if t.is_dictionary(kind):
        return _dictionary(name, kind)
    for is_kind, convert in _rules():
        if is_kind(kind):
            return convert
    if _is_list(kind):
        return _list(name, kind)
    if t.is_run_end_encoded(kind):
        inner = converter(name, kind.value_type)
        return lambda array: inner(_compute().run_end_decode(array))
    if hasattr(kind, "storage_type"):
        inner = converter(name, kind.storage_type)
        return lambda array: inner(array.storage)
    if t.is_binary(kind) or t.is_large_binary(kind) or t.is_binary_view(kind):
        return lambda array: _decoded(name, array)
    return _refusal(name, kind)


def _rules() -> list[tuple[Callable[[Any], bool], Convert]]:
    import pyarrow as pa
    import pyarrow.types as t

    return [
        (_is_ready, _same),
        (t.is_float16, lambda array: array.cast(pa.float32())),
        (t.is_decimal, lambda array: array.cast(pa.float64())),
        (t.is_duration, _seconds),
        (t.is_temporal, _iso_text),
        (t.is_null, lambda array: array.cast(pa.string())),
    ]


def _is_ready(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(
        t.is_float64(kind)
        or t.is_string(kind)
        or t.is_large_string(kind)
        or t.is_string_view(kind)
        or t.is_integer(kind)
        or t.is_boolean(kind)
        or t.is_float32(kind)
    )


def _same(array: Any) -> Any:
    return array


def _compute() -> Any:
    import pyarrow.compute

    return pyarrow.compute


def _iso_text(array: Any) -> Any:
    """Times as ISO text, the same for every resolution they may be stored in."""
    import pyarrow as pa

    text = array.cast(pa.string())
    replace = _compute().replace_substring_regex
    text = replace(text, r"^(\d+-\d+-\d+) ", r"\1T")
    text = replace(text, r"(\.\d*?)0+($|[+Z-])", r"\1\2")
    text = replace(text, r"\.($|[+Z-])", r"\1")
    return replace(text, r"([+-]\d\d)(\d\d)$", r"\1:\2")


def _seconds(array: Any) -> Any:
    import pyarrow as pa

    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit]
    return _compute().divide(array.cast(pa.int64()).cast(pa.float64(), safe=False), per_second)


def _dictionary(name: str, kind: Any) -> Convert:
    """Keep a dictionary of ready values; rebuild one whose values must change."""
    if _is_ready(kind.value_type):
        return _same
    inner = converter(name, kind.value_type)

    def convert(array: Any) -> Any:
        return type(array).from_arrays(array.indices, inner(array.dictionary))

    return convert


def _is_list(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(
        t.is_list(kind)
        or t.is_large_list(kind)
        or t.is_fixed_size_list(kind)
        or t.is_list_view(kind)
        or t.is_large_list_view(kind)
    )


def _list(name: str, kind: Any) -> Convert:
    """Lists of strings are tokens; lists of anything else have no reading here."""
    import pyarrow as pa
    import pyarrow.types as t

    inner = kind.value_type
    ready = t.is_string(inner) or t.is_large_string(inner)
    if not (ready or t.is_string_view(inner) or t.is_null(inner)):
        return _refusal(name, kind)
    if ready and (t.is_list(kind) or t.is_large_list(kind)):
        return _same
    wanted = pa.large_list(pa.large_string())
    return lambda array: array.cast(wanted)


def _decoded(name: str, array: Any) -> Any:
    import pyarrow as pa

    try:
        return array.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        raise ColumnError(
            f"Column {name!r} holds bytes that are not UTF-8 text. Decode them, or skip the column."
        ) from None


def _refusal(name: str, kind: Any) -> Convert:
    def refuse(_: Any) -> Any:
        if "complex" in str(kind):
            raise complex_data(name)
        raise ColumnError(
            f"Column {name!r} is of Arrow type {kind}, which has no reading as a category, number "
            f"or text. Take out the parts you need as columns of their own, or skip the column."
        )

    return refuse
