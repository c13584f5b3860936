"""Named arrays in one file: the safetensors layout, in a single canonical form.

A file is an 8-byte little-endian header length, a JSON header padded with spaces, and the data::

    {
        "__metadata__": {...},
        "counts": {"dtype": "I64", "shape": [2, 3], "data_offsets": [0, 48]},
        "~counts": {"dtype": "U8", "shape": [16], "data_offsets": [48, 64]},
    }

Arrays lie in the order of their names, each on a 64-byte boundary. Safetensors allows no holes, so
what lies between two arrays is an array too: ``~name`` holds the zeros that follow ``name``.
``__metadata__`` carries ``sha256`` of the data and ``sha256_header`` of the header without that
entry. They reveal damage and careless edits; they are no signature.

Equal content makes equal bytes. A reader therefore rebuilds the header from the names, types and
shapes it finds and accepts nothing else: gaps, overlaps, doubled keys and odd spellings all differ.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.errors import ModelFileError

ALIGNMENT = 64
MAX_HEADER_BYTES = 100_000_000
MAX_DIMENSIONS = 32
METADATA = "__metadata__"
PADDING_PREFIX = "~"
DATA_DIGEST_KEY = "sha256"
HEADER_DIGEST_KEY = "sha256_header"

DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype("?"),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
DTYPE_CODES = {dtype: code for code, dtype in DTYPES.items()}
SURROGATE = re.compile("[\ud800-\udfff]")

ArrayType = tuple[str, tuple[int, ...]]
Buffer = bytes | memoryview


def damaged_file_error(where: str, what: str) -> ModelFileError:
    """Word the refusal of a file that was a model once."""
    return ModelFileError(
        f"{where} is damaged: {what}. Copy it again from its origin, or save the model again."
    )


def foreign_file_error(where: str, why: str) -> ModelFileError:
    """Word the refusal of a file that never was a model."""
    return ModelFileError(
        f"{where} is not a weigh model: {why}. Give a file that a model's save() has written."
    )


def to_canonical_json(value: object) -> str:
    """Encode in the one spelling a value has: sorted, compact, never NaN, always valid UTF-8."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def from_canonical_json(text: str) -> Any:
    """Decode what `to_json` has written; any other spelling is a ValueError."""
    try:
        value = json.loads(text)
        if to_canonical_json(value) != text:
            raise ValueError("a key is doubled or a value is not in its plain form")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def serialize(metadata: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]) -> list[Buffer]:
    """The bytes of a file, in pieces: its beginning, then the arrays and their fillers."""
    plain = {_check_name(name): _to_little_endian(name, arrays[name]) for name in sorted(arrays)}
    layout, _ = _layout({name: (DTYPE_CODES[a.dtype], a.shape) for name, a in plain.items()})
    data: list[Buffer] = []
    for name, array in plain.items():
        data.append(array.reshape(-1).view(np.uint8).data)
        if PADDING_PREFIX + name in layout:
            data.append(bytes(-array.nbytes % ALIGNMENT))
    header = _format_header({**metadata, DATA_DIGEST_KEY: _sha256(data)}, layout)
    if len(header) > MAX_HEADER_BYTES:
        raise ModelFileError(
            f"The description of this model takes {len(header):,} bytes; a model file holds at "
            f"most {MAX_HEADER_BYTES:,}. Use fewer columns or levels."
        )
    return [len(header).to_bytes(8, "little") + header, *data]


def parse_header(where: str, raw: NDArray[np.uint8]) -> dict[str, Any]:
    """Parse the header of a file; what it says of the arrays is checked by `to_arrays`."""
    if len(raw) < 8:
        raise foreign_file_error(where, f"it has only {len(raw)} bytes")
    stop = _data_start(raw)
    if stop > MAX_HEADER_BYTES + 8:
        raise foreign_file_error(where, "it does not begin with the length of a header")
    if stop > len(raw):
        raise damaged_file_error(where, f"its header needs {stop:,} bytes, the file has {len(raw):,}")
    try:
        header = json.loads(raw[8:stop].tobytes().decode("utf-8"))
    except (ValueError, RecursionError):
        raise foreign_file_error(where, "its header is damaged or not JSON") from None
    metadata = header.get(METADATA) if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise foreign_file_error(where, "its header has no metadata")
    return dict(header)


def parse_arrays(
    where: str, raw: NDArray[np.uint8], header: Mapping[str, Any], check: bool
) -> dict[str, NDArray[Any]]:
    """Views of the arrays in a file, once all is as `to_parts` would have written it."""
    metadata = header[METADATA]
    kinds = {
        name: _parse_array_type(where, name, entry, len(raw))
        for name, entry in header.items()
        if name != METADATA and not name.startswith(PADDING_PREFIX)
    }
    layout, size = _layout(kinds)
    start = _data_start(raw)
    unsealed = {key: value for key, value in metadata.items() if key != HEADER_DIGEST_KEY}
    if _format_header(unsealed, layout) != raw[8:start].tobytes():
        raise damaged_file_error(where, "its header does not match its own digest or layout")
    if start + size != len(raw):
        raise damaged_file_error(where, f"it has {len(raw):,} bytes, its header promises {start + size:,}")
    data = raw[start:]
    if check and _sha256([data.data]) != metadata.get(DATA_DIGEST_KEY):
        raise damaged_file_error(where, "its data do not match their digest")
    return {
        name: _view_array(where, name, data[slice(*layout[name]["data_offsets"])], kind)
        for name, kind in kinds.items()
    }


def _data_start(raw: NDArray[np.uint8]) -> int:
    return 8 + int.from_bytes(raw[:8].tobytes(), "little")


def _sha256(pieces: Iterable[Buffer]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _layout(kinds: Mapping[str, ArrayType]) -> tuple[dict[str, dict[str, Any]], int]:
    """The header's entries, fillers included, and the size of the data."""
    entries: dict[str, dict[str, Any]] = {}
    at = 0
    for name in sorted(kinds):
        code, shape = kinds[name]
        end = at + math.prod(shape) * DTYPES[code].itemsize
        entries[name] = {"dtype": code, "shape": list(shape), "data_offsets": [at, end]}
        at = end + -end % ALIGNMENT
        if at > end:
            filler = {"dtype": "U8", "shape": [at - end], "data_offsets": [end, at]}
            entries[PADDING_PREFIX + name] = filler
    return entries, at


def _format_header(metadata: Mapping[str, str], layout: Mapping[str, Any]) -> bytes:
    """The header with its own digest, padded so that the data start on a boundary."""
    seal = _sha256([to_canonical_json({METADATA: metadata, **layout}).encode()])
    text = to_canonical_json({METADATA: {**metadata, HEADER_DIGEST_KEY: seal}, **layout}).encode()
    return text + b" " * (-(8 + len(text)) % ALIGNMENT)


def _check_name(name: str) -> str:
    if not name or name == METADATA or name.startswith(PADDING_PREFIX) or SURROGATE.search(name):
        raise ModelFileError(f"A model file cannot hold an array named {name!r}.")
    return name


def _to_little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array in C order and little-endian, one byte value per truth value."""
    dtype = array.dtype.newbyteorder("<") if array.dtype.kind in "biuf" else array.dtype
    if dtype not in DTYPE_CODES or array.ndim > MAX_DIMENSIONS:
        raise ModelFileError(
            f"A model file cannot hold array {name!r} of type {array.dtype} with {array.ndim} "
            f"dimensions; it holds truth values, integers, float32 and float64."
        )
    if dtype.kind == "b":
        return np.asarray(array.view(np.uint8) != 0, order="C")
    return np.asarray(array, dtype=dtype, order="C")


def _parse_array_type(where: str, name: str, entry: object, most: int) -> ArrayType:
    """Type and shape of one array, as its header entry states them."""
    match entry:
        case {"dtype": str(code), "shape": list(shape)} if code in DTYPES:
            if (
                len(shape) <= MAX_DIMENSIONS
                and all(type(length) is int and length >= 0 for length in shape)
                and math.prod(shape) * DTYPES[code].itemsize <= most
            ):
                return code, tuple(shape)
    raise damaged_file_error(where, f"array {name!r} has no type and shape that fit the file")


def _view_array(where: str, name: str, span: NDArray[np.uint8], kind: ArrayType) -> NDArray[Any]:
    code, shape = kind
    if code == "BOOL" and (span > 1).any():
        raise damaged_file_error(where, f"array {name!r} holds truth values other than 0 and 1")
    try:
        return span.view(DTYPES[code]).reshape(shape)
    except (ValueError, OverflowError):
        raise damaged_file_error(where, f"array {name!r} has an impossible shape") from None
