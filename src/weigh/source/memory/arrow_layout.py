"""Checks that the offsets, views and codes of an Arrow array stay within its buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.errors import ColumnError, first_line

_INLINE_BYTES = 12  # shorter texts are stored in the view itself


def check_layout(name: str, array: Any) -> None:
    """Raise ColumnError if an Arrow array or chunked array refers to values outside its buffers.

    Arrow's routines do not look: they would return the content of other memory or end the process. The usual
    layouts are checked with NumPy, several times faster than by Arrow, which judges the others and those that
    look wrong, such as the undefined views of missing values.
    """
    import pyarrow as pa

    for chunk in array.chunks if hasattr(array, "chunks") else [array]:
        if _is_sound(chunk):
            continue
        try:
            # As binary data, because text that is not UTF-8 is reported where it is read.
            chunk.view(_binary_form(chunk.type)).validate(full=True)
        except pa.ArrowException as error:
            raise ColumnError(
                f"Column {name!r} is damaged: {first_line(error)}. Build the array again from its values."
            ) from error


def _is_sound(array: Any) -> bool:
    """Whether a quick check shows that all values are within the buffers."""
    import pyarrow.types as t

    arrow_type = array.type
    if t.is_primitive(arrow_type) or t.is_null(arrow_type):
        return True
    if t.is_dictionary(arrow_type):
        return _has_codes_below(array.indices, len(array.dictionary)) and _is_sound(array.dictionary)
    if t.is_string(arrow_type) or t.is_binary(arrow_type):
        return _has_ascending_offsets(array, np.int32, _size(array.buffers()[2]))
    if t.is_large_string(arrow_type) or t.is_large_binary(arrow_type):
        return _has_ascending_offsets(array, np.int64, _size(array.buffers()[2]))
    if t.is_list(arrow_type):
        return _has_ascending_offsets(array, np.int32, len(array.values)) and _is_sound(array.values)
    if t.is_large_list(arrow_type):
        return _has_ascending_offsets(array, np.int64, len(array.values)) and _is_sound(array.values)
    if t.is_string_view(arrow_type) or t.is_binary_view(arrow_type):
        return _has_views_in_buffers(array)
    return False


def _has_codes_below(indices: Any, n_values: int) -> bool:
    if indices.null_count:
        indices = indices.drop_null()
    codes = indices.to_numpy(zero_copy_only=False)
    return not len(codes) or (int(codes.min()) >= 0 and int(codes.max()) < n_values)


def _has_ascending_offsets(array: Any, dtype: Any, n_values: int) -> bool:
    buffer = array.buffers()[1]
    if not len(array):
        return True
    offsets = np.frombuffer(buffer, dtype)[array.offset : array.offset + len(array) + 1]
    is_ascending = bool((offsets[1:] >= offsets[:-1]).all())
    return is_ascending and int(offsets[0]) >= 0 and int(offsets[-1]) <= n_values


def _has_views_in_buffers(array: Any) -> bool:
    _, views, *buffers = array.buffers()
    if not len(array):
        return True
    # A view of a long text is its size, its first bytes, the number of its buffer and its place in there.
    fields = np.frombuffer(views, np.int32).reshape(-1, 4)[array.offset : array.offset + len(array)]
    sizes = np.ascontiguousarray(fields[:, 0])
    is_long = sizes > _INLINE_BYTES
    if int(sizes.min()) < 0 or not is_long.any():
        return int(sizes.min()) >= 0
    # Products with the mask are faster than a selection of the long texts; the others become empty texts.
    sizes, numbers, starts = sizes * is_long, fields[:, 2] * is_long, fields[:, 3] * is_long
    if int(numbers.min()) < 0 or int(numbers.max()) >= len(buffers) or int(starts.min()) < 0:
        return False
    ends = np.array([_size(buffer) for buffer in buffers])
    # Most buffers have one size, so comparing with the smallest saves a lookup per text.
    return bool((starts <= ends.min() - sizes).all() or (starts <= ends[numbers] - sizes).all())


def _size(buffer: Any) -> int:
    return 0 if buffer is None else int(buffer.size)


def _binary_form(arrow_type: Any) -> Any:
    """Return the type with all strings replaced by binary data, and extensions by their storage."""
    import pyarrow as pa
    import pyarrow.types as t

    if isinstance(arrow_type, pa.BaseExtensionType):
        return _binary_form(arrow_type.storage_type)
    simple = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }
    if arrow_type in simple:
        return simple[arrow_type]
    if t.is_dictionary(arrow_type):
        return pa.dictionary(arrow_type.index_type, _binary_form(arrow_type.value_type), arrow_type.ordered)
    if t.is_fixed_size_list(arrow_type):
        return pa.list_(_binary_form(arrow_type.value_type), arrow_type.list_size)
    list_types = {
        "list": pa.list_,
        "large_list": pa.large_list,
        "list_view": pa.list_view,
        "large_list_view": pa.large_list_view,
    }
    make_list = list_types.get(str(arrow_type).partition("<")[0])
    return arrow_type if make_list is None else make_list(_binary_form(arrow_type.value_type))
