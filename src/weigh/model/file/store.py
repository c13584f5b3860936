"""Read and write model files: one safetensors file with JSON metadata and without code.

`write` replaces a file atomically or leaves it unchanged. `read` checks the header, the layout and the digest
of the data; the digest takes about 1 ms per megabyte, less than building the model. Files of up to
`MAX_BYTES_READ` are read. Larger ones are mapped, so that processes share their pages. A mapped file must not
be truncated or rewritten in place while its arrays are in use; `write` never does this, it replaces the file.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.atomic_files import StrPath, atomic_write, error_reason, file_mode
from weigh.errors import DataError, ModelFileError, WeighError
from weigh.features.names import NameArray
from weigh.model.file import tensors
from weigh.model.file.tensors import Buffer, foreign_file_error
from weigh.model.file.tensors import damaged_file_error as damaged_file_error

FORMAT = "weigh"
VERSION = 2
READABLE_VERSIONS = (1, 2)
MAX_BYTES_READ = 64 * 2**20
MAX_INLINE_NAMES = 64
MAX_JSON_INT = 2**53

Name = str | int | float | bool


@dataclass(frozen=True, eq=False)
class FileContent:
    """The content of a model file: JSON metadata and read-only arrays."""

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    path: str


def to_bytes(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes that `write` would write; equal content gives equal bytes."""
    return b"".join(_serialize(meta, arrays))


def write(path: StrPath, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a model file atomically and durably; if this fails, the old file is unchanged."""
    parts = _serialize(meta, arrays)
    try:
        mode = file_mode(path)
        if mode is not None:
            _check_regular_file(os.path.realpath(path), mode)
        with atomic_write(path, creates_folders=True) as handle:
            handle.writelines(parts)
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"{os.fspath(path)} cannot be written: {error_reason(error)}. "
            "Check that its folder may be written to, and that the disk has room."
        ) from error


def read(path: StrPath, check: bool = True) -> FileContent:
    """Read a model file; `check` says whether to verify the digest of the data."""
    where = os.fspath(path)
    try:
        raw = _read_bytes(where)
    except FileNotFoundError:
        raise ModelFileError(
            f"There is no file {where}. Check its name, or save a model there first."
        ) from None
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"{where} cannot be read: {error_reason(error)}. Check its name and its permissions."
        ) from error
    return _parse(raw, where, check)


def from_bytes(data: bytes, where: str, check: bool = True) -> FileContent:
    """Return the content that `to_bytes` wrote; `where` names the data in messages."""
    return _parse(np.frombuffer(data, np.uint8), where, check)


def _parse(raw: NDArray[np.uint8], where: str, check: bool) -> FileContent:
    header = tensors.parse_header(where, raw)
    metadata = header.metadata
    _check_version(where, metadata)
    arrays = tensors.parse_arrays(where, raw, header, check)
    try:
        meta = tensors.from_canonical_json(metadata.get("content", ""))
    except ValueError as error:
        raise damaged_file_error(where, f"its description cannot be read, {error}") from None
    if not isinstance(meta, dict):
        raise damaged_file_error(where, "its description is not a mapping")
    return FileContent(meta, arrays, where)


@contextlib.contextmanager
def report_damage(where: str) -> Iterator[None]:
    """Report whatever goes wrong while the content of a file is interpreted as damage of the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (WeighError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as cause:
        reason = f"its description is incomplete or contradictory ({cause})"
        raise damaged_file_error(where, reason) from cause
    except (MemoryError, RecursionError) as cause:
        raise damaged_file_error(where, "its description is too large or nested too deeply") from cause


def check_names(text: NDArray[Any], offsets: NDArray[Any], where: str = "The list of names") -> NameArray:
    """Return packed names from a file after checking them; `where` begins the error message."""
    if text.dtype != np.uint8 or offsets.dtype != np.int64 or (text.ndim, offsets.ndim) != (1, 1):
        raise damaged_file_error(where, "the arrays of a list of names have the wrong type")
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(text):
        raise damaged_file_error(where, "the offsets of a list of names do not span its text")
    if (offsets[1:] < offsets[:-1]).any():
        raise damaged_file_error(where, "the offsets of a list of names go backwards")
    try:
        str(text.data, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise damaged_file_error(where, "a list of names is not UTF-8") from None
    starts = offsets[offsets < len(text)]
    if ((text[starts] & 0xC0) == 0x80).any():
        raise damaged_file_error(where, "a list of names splits a UTF-8 character")
    return NameArray(text, offsets)


def read_array(
    stored: FileContent, name: str, shape: Sequence[int | None], dtypes: Sequence[type[np.generic]]
) -> NDArray[Any]:
    """Return an array after checking its type and its shape, in which None is any length."""
    array = stored.arrays.get(name)
    if array is None or array.ndim != len(shape) or array.dtype.type not in dtypes:
        raise damaged_file_error(stored.path, f"its table {name!r} is missing or of the wrong type")
    if any(wanted not in (None, length) for wanted, length in zip(shape, array.shape, strict=True)):
        raise damaged_file_error(stored.path, f"its table {name!r} has the wrong shape")
    return array


def write_names(
    arrays: MutableMapping[str, NDArray[Any]],
    meta: MutableMapping[str, Any],
    key: str,
    values: Iterable[Name],
) -> None:
    """Add names of classes, levels or words: long lists of strings as arrays, others as JSON."""
    names = [value.item() if isinstance(value, np.generic) else value for value in values]
    if len(names) > MAX_INLINE_NAMES and all(isinstance(name, str) for name in names):
        write_packed_names(arrays, meta, key, NameArray.from_strings(map(str, names)))
    else:
        meta[key] = [name_to_json(name) for name in names]


def write_packed_names(
    arrays: MutableMapping[str, NDArray[Any]], meta: MutableMapping[str, Any], key: str, names: NameArray
) -> None:
    """Add packed names: long lists as arrays, others as JSON."""
    if len(names) > MAX_INLINE_NAMES:
        arrays[f"{key}.text"], arrays[f"{key}.offsets"] = names.text, names.offsets
    else:
        meta[key] = [name_to_json(name) for name in names]


def read_names(stored: FileContent, key: str) -> list[Name]:
    """Return the names that `write_names` added, with their types and in the same order."""
    try:
        if key not in stored.meta:
            return [*_read_packed_arrays(stored, key)]
        return [name_from_json(value) for value in stored.meta[key]]
    except (KeyError, TypeError, ValueError):
        raise damaged_file_error(stored.path, f"it has no list of names {key!r}") from None


def read_packed_names(stored: FileContent, key: str) -> NameArray:
    """Return the names that `write_packed_names` added."""
    if key not in stored.meta and f"{key}.text" in stored.arrays:
        return _read_packed_arrays(stored, key)
    names = read_names(stored, key)
    if not all(isinstance(name, str) for name in names):
        raise damaged_file_error(stored.path, f"its list of names {key!r} has names that are not strings")
    return NameArray.from_strings(map(str, names))


def _read_packed_arrays(stored: FileContent, key: str) -> NameArray:
    return check_names(stored.arrays[f"{key}.text"], stored.arrays[f"{key}.offsets"], stored.path)


def read_distinct_names(stored: FileContent, key: str) -> list[Name]:
    """Return the names that `write_names` added; they must be distinct and not NaN."""
    names = read_names(stored, key)
    if len(set(names)) < len(names) or any(name != name for name in names):
        raise damaged_file_error(stored.path, f"its list of names {key!r} has duplicate or NaN entries")
    return names


def _serialize(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> list[Buffer]:
    try:
        content = tensors.to_canonical_json(meta)
        tensors.from_canonical_json(content)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"A model file cannot hold this description: {error}.") from error
    metadata = {"format": FORMAT, "version": str(VERSION), "content": content}
    return tensors.serialize(metadata, arrays)


def _check_version(where: str, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise foreign_file_error(where, "it is a safetensors file of another program")
    version = metadata.get("version", "")
    if version in map(str, READABLE_VERSIONS):
        return
    if version.isascii() and version.isdecimal() and int(version[:9]) > VERSION:
        raise ModelFileError(
            f"{where} was written by a later version of weigh (format {version[:9]}; this is "
            f"{VERSION}). Upgrade weigh to read it."
        )
    raise damaged_file_error(where, f"its format version {version[:9]!r} does not exist")


def _read_bytes(where: str) -> NDArray[np.uint8]:
    """Return the bytes of a file, read-only and aligned: a copy if it is small, else a map."""
    # Check before opening: opening a pipe would wait for a writer.
    _check_regular_file(where, os.stat(where).st_mode)
    with open(where, "rb") as handle:
        size = os.fstat(handle.fileno()).st_size
        if size == 0:
            raise foreign_file_error(where, "it is empty")
        if size > MAX_BYTES_READ:
            return np.frombuffer(mmap.mmap(handle.fileno(), size, access=mmap.ACCESS_READ), np.uint8)
        copy = mmap.mmap(-1, size)
        if handle.readinto(copy) < size:
            raise damaged_file_error(where, "it became shorter while it was read")
        return np.frombuffer(memoryview(copy).toreadonly(), np.uint8)


def _check_regular_file(where: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise ModelFileError(f"{where} is a folder. Give the name of a model file in it.")
    if not stat.S_ISREG(mode):
        raise ModelFileError(f"{where} is not an ordinary file. Give the name of a model file.")


def name_to_json(name: object) -> Any:
    """Return a name as JSON, wrapped in an object where plain JSON would lose information."""
    match name:
        case bool():
            return name
        case int():
            return name if abs(name) <= MAX_JSON_INT else {"int": hex(name)}
        case float():
            return name if math.isfinite(name) else {"float": repr(name)}
        case str():
            if tensors.SURROGATE.search(name):
                return {"text": name.encode("utf-8", "surrogatepass").hex()}
            return name
    raise DataError(f"A name must be a string, a number or a boolean, got {name!r}.")


def name_from_json(value: object) -> Name:
    """Return the name that `name_to_json` wrote."""
    match value:
        case bool() | int() | float() | str():
            return value
        case {"int": str(digits)}:
            return int(digits, 16)
        case {"float": str(number)}:
            return float(number)
        case {"text": str(digits)}:
            return bytes.fromhex(digits).decode("utf-8", "surrogatepass")
    raise ValueError(value)
