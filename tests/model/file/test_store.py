"""Model files: round trips, canonical bytes, and the rejection of damaged or hostile files."""

from __future__ import annotations

import builtins
import hashlib
import json
import math
import os
import pickle
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from weigh.errors import DataError, ModelFileError
from weigh.features import NameArray
from weigh.model.file import store, tensors
from weigh.model.file.store import FileContent, Name

META: dict[str, Any] = {"kind": "bayes", "prior": 1.0, "columns": ["größe", "漢字"], "none": None}
ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "counts": np.arange(6, dtype=np.int64).reshape(2, 3),
    "flags": np.array([True, False, True]),
    "Zero": np.array(0.1),
}
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (5,), (2, 3), (0, 4), (4, 0, 2), (3, 1, 2)]

relaxed_settings = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a model.weigh"


def assert_same(stored: FileContent, meta: object, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    assert stored.meta == meta
    assert stored.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert stored.arrays[name].dtype == array.dtype
        assert stored.arrays[name].shape == array.shape
        assert stored.arrays[name].tobytes() == array.tobytes()


def read_error(path: Path, content: bytes | bytearray, check: bool = True) -> str:
    """Write the content to the path and return the message of the error raised when it is read."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        store.read(path, check)
    assert str(path) in str(caught.value)
    return str(caught.value)


def canonical_json(value: object) -> bytes:
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()


def forge_file(layout: dict[str, Any], data: bytes, **metadata: str) -> bytes:
    """Return the bytes of a file with any layout and correct digests, as an attacker would create it."""
    header: dict[str, Any] = dict(layout)
    digest = hashlib.sha256(data).hexdigest()
    plain = {"format": "weigh", "version": "2", "content": "{}", "sha256": digest, **metadata}
    header["__metadata__"] = plain
    header_digest = hashlib.sha256(canonical_json(header)).hexdigest()
    header["__metadata__"] = {**plain, "sha256_header": header_digest}
    text = canonical_json(header)
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + data


def header_entry(dtype: Any, shape: Any, start: Any, stop: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_shape_survives_a_round_trip(path: Path, dtype: str) -> None:
    values = np.random.default_rng(0).integers(0, 2, 64)
    arrays = {f"a{i}": values[: math.prod(s)].astype(dtype).reshape(s) for i, s in enumerate(SHAPES)}
    store.write(path, META, arrays)
    assert_same(store.read(path), META, arrays)


def test_special_floats_keep_their_bits(path: Path) -> None:
    arrays = {"x": np.array([np.nan, -0.0, np.inf, 5e-324]), "i": np.array([-(2**63), 2**63 - 1])}
    store.write(path, {}, arrays)
    assert_same(store.read(path), {}, arrays)


def test_a_file_may_be_empty(path: Path) -> None:
    store.write(path, {}, {})
    assert_same(store.read(path), {}, {})
    assert load_file(path) == {}


def test_strides_byte_order_and_boolean_bytes_do_not_change_the_file() -> None:
    table = np.arange(12.0).reshape(3, 4)
    flags = np.array([0, 1, 1], np.uint8)
    plain = store.to_bytes({}, {"t": table, "f": flags.astype(bool)})
    odd = np.array([0, 7, 255], np.uint8).view(bool)
    for other in (np.asfortranarray(table), table.astype(">f8"), np.repeat(table, 2, 1)[:, ::2]):
        assert store.to_bytes({}, {"f": odd, "t": other}) == plain


def test_the_order_of_mappings_does_not_change_the_file(path: Path) -> None:
    backwards = dict(reversed(ARRAYS.items()))
    expected = store.to_bytes(META, ARRAYS)
    assert store.to_bytes(dict(reversed(META.items())), backwards) == expected
    store.write(path, META, backwards)
    assert path.read_bytes() == expected
    assert store.to_bytes({**META, "prior": 2.0}, ARRAYS) != expected


def test_rewriting_a_file_gives_the_same_bytes(path: Path) -> None:
    store.write(path, META, ARRAYS)
    before = path.read_bytes()
    stored = store.read(path)
    store.write(path, stored.meta, stored.arrays)
    assert path.read_bytes() == before
    assert_same(stored, META, ARRAYS)


def test_the_safetensors_library_can_read_a_model_file(path: Path) -> None:
    store.write(path, META, ARRAYS)
    theirs = {name: array for name, array in load_file(path).items() if name[0] != "~"}
    assert_same(FileContent(META, theirs, ""), META, ARRAYS)
    with safe_open(path, framework="np") as handle:
        metadata = handle.metadata()
    assert (metadata["format"], metadata["version"]) == ("weigh", "2")
    assert json.loads(metadata["content"]) == META


def test_arrays_are_aligned_and_read_only(path: Path) -> None:
    store.write(path, META, ARRAYS)
    for array in store.read(path).arrays.values():
        assert array.ctypes.data % 64 == 0
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_reading_imports_no_heavy_library(path: Path) -> None:
    store.write(path, META, ARRAYS)
    code = (
        "import sys; from weigh.model.file import store; store.read(sys.argv[1]);"
        "print({'scipy', 'sklearn', 'pyarrow', 'pandas', 'pickle'} & {*sys.modules} - {*before})"
    )
    code = "import sys, numpy; before = [*sys.modules]; " + code
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"


def test_a_truncated_file_is_rejected(path: Path) -> None:
    content = store.to_bytes(META, ARRAYS)
    for length in range(len(content)):
        read_error(path, content[:length], check=length % 2 == 0)


def test_a_file_with_trailing_bytes_is_rejected(path: Path) -> None:
    content = store.to_bytes(META, ARRAYS)
    for tail in (b"\0", bytes(64), content):
        assert "its header promises" in read_error(path, content + tail)


def test_any_changed_byte_is_detected(path: Path) -> None:
    content = bytearray(store.to_bytes(META, ARRAYS))
    for i in range(len(content)):
        for flip in (1 << i % 8, 0xFF):
            content[i] ^= flip
            read_error(path, content)
            content[i] ^= flip


def test_a_changed_header_is_detected_even_without_check(path: Path) -> None:
    content = bytearray(store.to_bytes(META, ARRAYS))
    start = 8 + int.from_bytes(content[:8], "little")
    for i in range(start):
        content[i] ^= 0x01
        read_error(path, content, check=False)
        content[i] ^= 0x01


def test_the_data_digest_is_verified_unless_it_is_left_out(path: Path) -> None:
    content = bytearray(store.to_bytes({}, {"x": np.zeros(8)}))
    content[-1] ^= 1
    assert "do not match their digest" in read_error(path, content)
    assert store.read(path, check=False).arrays["x"][-1] != 0


@pytest.fixture(params=["read", "mapped"])
def access(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read files of a few hundred bytes, or map them like large ones."""
    if request.param == "mapped":
        monkeypatch.setattr(store, "MAX_BYTES_READ", 8)
    return str(request.param)


def test_every_flipped_bit_of_the_data_is_detected_however_the_file_is_read(path: Path, access: str) -> None:
    content = bytearray(store.to_bytes({}, {"x": np.arange(40.0)}))
    start = 8 + int.from_bytes(content[:8], "little")
    for i in range(start, len(content)):
        content[i] ^= 1 << i % 8
        assert "do not match their digest" in read_error(path, content)
        content[i] ^= 1 << i % 8


def test_a_file_is_read_or_mapped_with_the_same_result(path: Path, access: str) -> None:
    store.write(path, META, ARRAYS)
    stored = store.read(path)
    assert_same(stored, META, ARRAYS)
    assert not any(array.flags.writeable for array in stored.arrays.values())


def test_arrays_of_small_files_outlive_truncation_in_place(path: Path) -> None:
    arrays = {"x": np.arange(10_000.0)}
    store.write(path, META, arrays)
    stored = store.read(path)
    os.truncate(path, 4096)
    assert_same(stored, META, arrays)


def test_a_file_that_shrinks_while_it_is_read_is_reported(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = store.to_bytes(META, ARRAYS)
    path.write_bytes(content)
    real = os.fstat

    def fstat_then_truncate(descriptor: int) -> os.stat_result:
        result = real(descriptor)
        os.truncate(path, 64)
        return result

    monkeypatch.setattr(os, "fstat", fstat_then_truncate)
    with pytest.raises(ModelFileError, match="it became shorter while it was read"):
        store.read(path)


def test_other_files_are_reported_as_not_a_weigh_model(path: Path, tmp_path: Path) -> None:
    save_file({"a": np.zeros(3)}, tmp_path / "theirs", metadata={"format": "np"})
    theirs = (tmp_path / "theirs").read_bytes()
    for content in (
        b"",
        b"{}",
        pickle.dumps({"a": np.zeros(3)}),
        b"a,b,spam\n1,2,yes\n",
        (4).to_bytes(8, "little") + b"null",
        (2).to_bytes(8, "little") + b"\xff\xff",
        (400_000).to_bytes(8, "little") + b"[" * 400_000,
        theirs,
        (2).to_bytes(8, "little") + b"{}",
        (23).to_bytes(8, "little") + b'{"__metadata__":{"a":1}}'[:23],
    ):
        assert " is not a weigh model: " in read_error(path, content)


def test_a_later_format_version_is_reported(path: Path) -> None:
    message = read_error(path, forge_file({"new": {"dtype": "BF16"}}, b"", version="3"))
    assert "was written by a later version of weigh (format 3; this is 2)" in message
    for version in ("0", "", "-2", "²", "1.0"):
        assert "is damaged" in read_error(path, forge_file({}, b"", version=version))


HOSTILE: dict[str, tuple[dict[str, Any], bytes]] = {
    "unknown dtype": ({"a": header_entry("F16", [32], 0, 64)}, bytes(64)),
    "dtype is a list": ({"a": header_entry([], [32], 0, 64)}, bytes(64)),
    "header_entry is a number": ({"a": 1}, b""),
    "header_entry without offsets": ({"a": {"dtype": "U8", "shape": [64]}}, bytes(64)),
    "header_entry with more keys": ({"a": {**header_entry("U8", [64], 0, 64), "run": "x"}}, bytes(64)),
    "negative length": ({"a": header_entry("U8", [-64], 0, 64)}, bytes(64)),
    "two negative lengths": ({"a": header_entry("U8", [-8, -8], 0, 64)}, bytes(64)),
    "fractional length": ({"a": header_entry("U8", [64.0], 0, 64)}, bytes(64)),
    "true as a length": ({"a": header_entry("U8", [True, 64], 0, 64)}, bytes(64)),
    "shape is text": ({"a": header_entry("U8", "64", 0, 64)}, bytes(64)),
    "product beyond 64 bits": ({"a": header_entry("U8", [2**32, 2**32, 64], 0, 64)}, bytes(64)),
    "empty with lengths beyond 64 bits": ({"a": header_entry("U8", [0, 2**70], 0, 0)}, b""),
    "empty with a product beyond 64 bits": ({"a": header_entry("F64", [0, 2**62, 2**62], 0, 0)}, b""),
    "length of a thousand digits": ({"a": header_entry("U8", [10**4000] * 9, 0, 64)}, bytes(64)),
    "too many dimensions": ({"a": header_entry("U8", [1] * 63 + [64], 0, 64)}, bytes(64)),
    "span shorter than shape": ({"a": header_entry("F64", [9], 0, 64)}, bytes(64)),
    "span longer than shape": ({"a": header_entry("F64", [7], 0, 64)}, bytes(64)),
    "backward span": ({"a": header_entry("U8", [64], 64, 0)}, bytes(64)),
    "before the data": ({"a": header_entry("U8", [64], -64, 0)}, bytes(64)),
    "beyond the file": ({"a": header_entry("U8", [64], 64, 128)}, bytes(64)),
    "larger than the file": ({"a": header_entry("U8", [2**40], 0, 2**40)}, bytes(64)),
    "offsets are floats": ({"a": header_entry("U8", [64], 0.0, 64.0)}, bytes(64)),
    "overlap": ({"a": header_entry("U8", [64], 0, 64), "b": header_entry("U8", [64], 0, 64)}, bytes(64)),
    "gap": ({"a": header_entry("U8", [64], 0, 64), "b": header_entry("U8", [64], 128, 192)}, bytes(192)),
    "out of order": (
        {"a": header_entry("U8", [64], 64, 128), "b": header_entry("U8", [64], 0, 64)},
        bytes(128),
    ),
    "padding missing": ({"a": header_entry("U8", [3], 0, 3)}, bytes(3)),
    "padding without an array": ({"~a": header_entry("U8", [64], 0, 64)}, bytes(64)),
    "data without an array": ({}, bytes(64)),
    "boolean with the byte 2": ({"a": header_entry("BOOL", [64], 0, 64)}, bytes([2] * 64)),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_layout_with_correct_digests_is_rejected(path: Path, case: str) -> None:
    for check in (True, False):
        assert " is damaged: " in read_error(path, forge_file(*HOSTILE[case]), check)


def test_forge_file_can_write_a_valid_file(path: Path) -> None:
    good = {"a": header_entry("F64", [8], 0, 64)}
    path.write_bytes(forge_file(good, bytes(64)))
    assert_same(store.read(path), {}, {"a": np.zeros(8)})
    assert path.read_bytes() == store.to_bytes({}, {"a": np.zeros(8)})


NOT_CANONICAL = ["", "{", "[]", "3", '{"a":1,"a":2}', '{"a": 1}', '{"b":1,"a":2}', '{"a":NaN}']
TOO_LARGE = ['{"a":1e999}', "[" * 200_000, '{"a":' + "9" * 5000 + "}"]


@pytest.mark.parametrize("content", [*NOT_CANONICAL, *TOO_LARGE])
def test_metadata_that_is_not_canonical_json_is_rejected(path: Path, content: str) -> None:
    assert "its description" in read_error(path, forge_file({}, b"", content=content))


def test_duplicate_keys_in_the_header_are_rejected(path: Path) -> None:
    raw = forge_file({"a": header_entry("U8", [64], 0, 64)}, bytes(64))
    stop = 8 + int.from_bytes(raw[:8], "little")
    text = raw[8:stop].rstrip()
    header = json.loads(text)
    for key, value in header.items():
        with_duplicate = text[:-1] + b"," + canonical_json({key: value})[1:]
        with_duplicate += b" " * (-(8 + len(with_duplicate)) % 64)
        assert json.loads(with_duplicate) == header
        read_error(path, len(with_duplicate).to_bytes(8, "little") + with_duplicate + bytes(64))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
    | st.sampled_from(["F64", "U8", "BOOL", "weigh", "1", 2**63, -1, 64]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets", "a", "~a"]), inner),
    max_leaves=12,
)  # fmt: skip


@relaxed_settings
@given(st.dictionaries(st.sampled_from(["a", "b", "~a", "__metadata__"]), json_values), st.binary())
def test_a_random_header_raises_a_model_file_error(path: Path, header: dict[str, Any], data: bytes) -> None:
    text = json.dumps(header).encode()
    read_error(path, len(text).to_bytes(8, "little") + text + data)


tensor_entries = st.builds(
    header_entry,
    st.sampled_from(["F64", "U8", "BOOL", "I32", "F8"]),
    st.lists(st.integers(-1, 9) | st.just(2**62), max_size=3),
    st.integers(-1, 130),
    st.integers(-1, 130),
)


@relaxed_settings
@given(
    st.dictionaries(st.sampled_from(["a", "b", "c", "~a", "~b"]), tensor_entries | json_values),
    st.sampled_from([0, 1, 64, 128]),
)
def test_a_random_layout_is_rejected_or_canonical(path: Path, layout: dict[str, Any], size: int) -> None:
    try:
        content = forge_file(layout, bytes(size))
    except (ValueError, UnicodeEncodeError):
        return
    path.write_bytes(content)
    try:
        stored = store.read(path)
    except ModelFileError:
        return
    assert store.to_bytes(stored.meta, stored.arrays) == content


@relaxed_settings
@given(st.binary(max_size=200))
def test_random_bytes_are_rejected(path: Path, content: bytes) -> None:
    read_error(path, content)


def test_reading_a_missing_file_a_folder_or_a_pipe_gives_different_errors(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"There is no file .*nowhere"):
        store.read(tmp_path / "nowhere")
    with pytest.raises(ModelFileError, match="is a folder"):
        store.read(tmp_path)
    with pytest.raises(ModelFileError, match="cannot be read"):
        store.read("a\0b")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is not an ordinary file"):
        store.read(tmp_path / "pipe")


def test_writing_to_a_folder_a_pipe_or_below_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match="is a folder"):
        store.write(tmp_path, META, ARRAYS)
    with pytest.raises(ModelFileError, match="cannot be written: Not a directory"):
        store.write(tmp_path / "file" / "m.weigh", META, ARRAYS)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is not an ordinary file"):
        store.write(tmp_path / "pipe", META, ARRAYS)
    with pytest.raises(ModelFileError, match="cannot be written"):
        store.write(tmp_path / "a\0b", META, ARRAYS)
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


def raise_on_call(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_args: object, **_keywords: object) -> NoReturn:
        raise error

    return fail


@pytest.mark.parametrize("step", ["chmod", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_only_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    store.write(path, META, ARRAYS)
    before = path.read_bytes()
    monkeypatch.setattr(os, step, raise_on_call(error))
    expected = ModelFileError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        store.write(path, {}, {"other": np.zeros(3)})
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(path, META, ARRAYS)
    before = path.read_bytes()
    real = builtins.open

    class FullDisk:
        def __init__(self, file: int) -> None:
            self.handle = real(file, "wb")

        def __enter__(self) -> FullDisk:
            return self

        def __exit__(self, *_: object) -> None:
            self.handle.close()

        def writelines(self, parts: list[bytes]) -> None:
            self.handle.write(parts[0])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(builtins, "open", lambda file, _mode: FullDisk(file))
    with pytest.raises(ModelFileError, match="No space left on device"):
        store.write(path, {}, {"other": np.zeros(3)})
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_cannot_be_synced_is_not_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def fsync_files_only(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync_files_only)
    store.write(path, META, ARRAYS)
    assert_same(store.read(path), META, ARRAYS)


def test_permissions_follow_the_old_file_or_the_umask(path: Path) -> None:
    before = os.umask(0o027)
    try:
        store.write(path, META, ARRAYS)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o444, 0o666):
            path.chmod(mode)
            store.write(path, META, ARRAYS)
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


def test_writing_through_a_link_keeps_the_link(path: Path, tmp_path: Path) -> None:
    store.write(path, {}, {})
    link = tmp_path / "link"
    link.symlink_to(path)
    store.write(link, META, ARRAYS)
    assert link.is_symlink()
    assert_same(store.read(path), META, ARRAYS)


def test_arrays_stay_valid_after_their_file_is_replaced_or_removed(path: Path) -> None:
    store.write(path, META, ARRAYS)
    stored = store.read(path)
    store.write(path, {}, {"other": np.ones(9)})
    path.unlink()
    assert_same(stored, META, ARRAYS)


@pytest.mark.parametrize("dtype", ["O", "U3", "f2", "c16", "M8[s]", "V4"])
def test_arrays_of_unsupported_dtypes_are_not_written(path: Path, dtype: str) -> None:
    with pytest.raises(ModelFileError, match="cannot hold array 'a' of type"):
        store.write(path, {}, {"a": np.zeros(2, dtype)})
    assert not path.exists()


@pytest.mark.parametrize("name", ["", "__metadata__", "~a", "\ud800", '"', "a\\b", "a\nb"])
def test_arrays_with_reserved_names_are_not_written(name: str) -> None:
    with pytest.raises(ModelFileError, match="cannot hold an array named"):
        store.to_bytes({}, {name: np.zeros(2)})


def deeply_nested() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(100_000):
        value = {"a": value}
    return value


UNSUPPORTED_METADATA: dict[str, Callable[[], dict[Any, Any]]] = {
    "nan": lambda: {"a": math.nan},
    "set": lambda: {"a": {1}},
    "bytes": lambda: {"a": b""},
    "huge": lambda: {"a": 10**5000},
    "surrogate pair": lambda: {"\ud83d\ude00": 1},
    "mixed keys": lambda: {1: 0, "1": 0},
    "deeply nested": deeply_nested,
}


@pytest.mark.parametrize("case", UNSUPPORTED_METADATA)
def test_metadata_that_json_cannot_represent_is_not_written(case: str) -> None:
    with pytest.raises(ModelFileError, match="cannot hold this description"):
        store.to_bytes(UNSUPPORTED_METADATA[case](), {})


def test_a_header_above_the_limits_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "MAX_HEADER_BYTES", 1000)
    with pytest.raises(ModelFileError, match="at most 1,000 bytes"):
        store.to_bytes({"a": "x" * 1000}, {})
    monkeypatch.setattr(tensors, "MAX_HEADER_BYTES", 10_000)
    monkeypatch.setattr(tensors, "MAX_HEADER_VALUES", 100)
    with pytest.raises(ModelFileError, match="at most 10,000 bytes and 100 values"):
        store.to_bytes({"a": [1] * 100}, {})


def test_a_header_above_the_limits_is_refused_before_it_is_parsed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = forge_file({}, b"", content='{"a":"' + "x" * 10_000 + '"}')
    crowded = forge_file({}, b"", content='{"a":[' + "1," * 100 + "1]}")
    monkeypatch.setattr(tensors, "MAX_HEADER_BYTES", 10_000)
    monkeypatch.setattr(tensors, "MAX_HEADER_VALUES", 100)
    monkeypatch.setattr(json, "JSONDecoder", raise_on_call(AssertionError("parsed")))
    assert "it does not begin with the length of a header" in read_error(path, long)
    message = read_error(path, crowded)
    assert "its header has 108 values, and a model file holds at most 100" in message


def test_lone_surrogates_in_metadata_survive_a_round_trip(path: Path) -> None:
    meta = {"\udc80": ["\ud800", "a\udfff\ud800b", "\\ud800"]}
    store.write(path, meta, ARRAYS)
    assert store.read(path).meta == meta
    load_file(path)


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=6)


@relaxed_settings
@given(st.lists(texts))
def test_packed_names_survive_a_round_trip(values: list[str]) -> None:
    names = NameArray.from_strings(values)
    assert (names.text.dtype.name, names.offsets.dtype.name) == ("uint8", "int64")
    assert len(names.offsets) == len(values) + 1
    assert list(store.check_names(names.text, names.offsets)) == values


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("é", [0, 1, 2]), ("é", [0]), ("é", []), ("é", [0, 3]), ("é", [0, 1]), ("é", [1, 2]),
        ("abc", [0, 2, 1, 3]), ("abc", [0, -1, 3]), ("abc", [0, 2**40, 3]), ("abc", [[0, 3]]),
        ("abc", [0.0, 3.0]),
    ],
)  # fmt: skip
def test_damaged_packed_names_are_rejected(text: str, offsets: list[Any]) -> None:
    raw = np.frombuffer(text.encode(), np.uint8)
    numbers = np.array(offsets, None if offsets else np.int64)
    with pytest.raises(ModelFileError, match=r"m.weigh is damaged"):
        store.check_names(raw, numbers, "m.weigh")


def test_packed_names_that_are_not_utf8_are_rejected() -> None:
    raw = np.array([0xFF, 0xFE], np.uint8)
    with pytest.raises(ModelFileError, match="is not UTF-8"):
        store.check_names(raw, np.array([0, 2]))


def round_trip_names(path: Path, names: list[Name]) -> list[Name]:
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    meta: dict[str, Any] = {}
    store.write_names(arrays, meta, "classes", names)
    store.write(path, meta, arrays)
    load_file(path)
    return store.read_names(store.read(path), "classes")


def type_and_value(name: Name) -> tuple[type, str]:
    """Return a key in which NaN equals itself, -0.0 differs from 0.0, and integers may have any size."""
    return type(name), hex(name) if isinstance(name, int) else repr(name)


scalars = st.booleans() | st.integers() | st.floats() | texts


@relaxed_settings
@given(st.lists(scalars, max_size=8) | st.lists(texts, min_size=65, max_size=80))
def test_names_keep_their_types(path: Path, names: list[Name]) -> None:
    back = round_trip_names(path, names)
    assert [type_and_value(name) for name in back] == [type_and_value(name) for name in names]


def test_extreme_names_keep_their_types(path: Path) -> None:
    names: list[Name] = [True, 1, 1.0, "1", "True", 0, False, -0.0, 2**53 + 1, -(2**64), 10**4999, 10**9999]
    names += [math.inf, -math.inf, math.nan, 0.1, 5e-324, "", "\ud83d\ude00", "😀", "\udcff"]
    back = round_trip_names(path, names)
    assert [type_and_value(name) for name in back] == [type_and_value(name) for name in names]


def test_numpy_scalars_become_plain_names(path: Path) -> None:
    names: list[Any] = [np.int64(3), np.bool_(True), np.float32(0.5), np.str_("a")]
    back = round_trip_names(path, names)
    assert [(type(n), n) for n in back] == [(int, 3), (bool, True), (float, 0.5), (str, "a")]


def test_only_long_lists_of_strings_become_arrays() -> None:
    words: list[Name] = [f"w{i}" for i in range(65)]
    for names, expected in ((words, 2), (words[:64], 0), ([*words, 1], 0), ([], 0)):
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        meta: dict[str, Any] = {}
        store.write_names(arrays, meta, "words", names)
        assert (len(arrays), len(meta)) == (expected, 0 if expected else 1)


@pytest.mark.parametrize("name", [None, b"a", (1, 2), 1j])
def test_names_of_other_types_are_rejected(name: Any) -> None:
    with pytest.raises(DataError, match="must be a string, a number or a boolean"):
        store.write_names({}, {}, "classes", [name])


@pytest.mark.parametrize("value", [None, 3, [None], [[]], [{"int": "x"}], [{"text": "ff"}], [{}]])
def test_damaged_names_are_rejected(value: Any) -> None:
    with pytest.raises(ModelFileError, match=r"m.weigh is damaged.*'classes'"):
        store.read_names(FileContent({"classes": value}, {}, "m.weigh"), "classes")
    with pytest.raises(ModelFileError, match=r"m.weigh is damaged.*'classes'"):
        store.read_names(FileContent({}, {}, "m.weigh"), "classes")
