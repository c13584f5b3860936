"""A file that changes while it is read is refused; it never ends the process."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import weigh
from weigh.errors import SourceError
from weigh.source.base import Source
from weigh.source.files.text_files import open_text

# More than the 10,000 first rows, from which the types of the columns are inferred.
N_ROWS = 15_000
BLOCK = 1 << 14


def csv_rows(n_rows: int = N_ROWS) -> bytes:
    return b"x,y,label\n" + b"".join(b"%d,%d.25,%c\n" % (i, i % 7, b"ab"[i % 2]) for i in range(n_rows))


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def plain_csv(folder: Path) -> Source:
    return weigh.open(write(folder / "d.csv", csv_rows()), "label", block=BLOCK)


def packed_csv(folder: Path) -> Source:
    return weigh.open(write(folder / "d.csv.gz", gzip.compress(csv_rows(), 1)), "label")


def latin_csv(folder: Path) -> Source:
    return weigh.open(write(folder / "d.csv", csv_rows()), "label", encoding="latin-1", block=BLOCK)


def json_lines(folder: Path) -> Source:
    rows = b"".join(b'{"x": %d, "label": "%c"}\n' % (i, b"ab"[i % 2]) for i in range(N_ROWS))
    return weigh.open(write(folder / "d.jsonl", rows), "label", block=BLOCK)


def fasttext(folder: Path) -> Source:
    return weigh.open(
        write(folder / "d.ft", b"__label__a some words\n__label__b others\n" * N_ROWS), block=BLOCK
    )


def libsvm(folder: Path) -> Source:
    return weigh.open(write(folder / "d.svm", b"1 1:0.5 7:2\n-1 2:1\n" * N_ROWS), block=BLOCK)


SOURCES = [plain_csv, packed_csv, latin_csv, json_lines, fasttext, libsvm]


def read_rows(source: Source, n_chunks: int | None = None) -> int:
    n_rows = 0
    for number, reader in enumerate(source.chunk_readers()):
        if number == n_chunks:
            break
        n_rows += reader.read().n_rows
    return n_rows


@pytest.mark.parametrize(
    "new_size", [0, 100, -1, 1], ids=["emptied", "cut to 100", "cut by 1", "longer by 1"]
)
@pytest.mark.parametrize("open_source", SOURCES)
def test_a_file_that_changes_between_two_chunks_is_refused(
    tmp_path: Path, open_source: Callable[[Path], Source], new_size: int
) -> None:
    source = open_source(tmp_path)
    (path,) = tmp_path.iterdir()
    old_size = path.stat().st_size
    new_size = new_size if new_size in (0, 100) else old_size + new_size
    readers = source.chunk_readers()
    first = next(readers)
    os.truncate(path, new_size)
    with pytest.raises(SourceError) as raised:
        sum(reader.read().n_rows for reader in (first, *readers))
    assert str(raised.value) == (
        f"{path} changed while it was read: it had {old_size:,} bytes and now has {new_size:,}. "
        "Read it when no program writes to it, or read a copy."
    )
    assert raised.value.path == str(path)


@pytest.mark.parametrize("open_source", SOURCES)
def test_a_file_that_changes_between_two_passes_is_refused(
    tmp_path: Path, open_source: Callable[[Path], Source]
) -> None:
    source = open_source(tmp_path)
    assert read_rows(source) >= N_ROWS
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(SourceError, match="changed while it was read"):
        read_rows(source)


@pytest.mark.parametrize("open_source", [plain_csv, fasttext])
def test_chunks_taken_before_a_file_is_cut_can_still_be_parsed(
    tmp_path: Path, open_source: Callable[[Path], Source]
) -> None:
    source = open_source(tmp_path)
    readers = source.chunk_readers()
    taken = [next(readers) for _ in range(2)]
    (path,) = tmp_path.iterdir()
    os.truncate(path, 0)
    assert sum(reader.read().n_rows for reader in taken) == sum(reader.n_rows for reader in taken) > 0


TRUNCATE_WHILE_READING = """
import os, sys, weigh
path = sys.argv[1]
try:
    for number, reader in enumerate(weigh.open(path, "label").chunk_readers()):
        # Another program truncates the file after a window was taken and before it is parsed.
        if number == 1:
            os.truncate(path, 4096)
        reader.read()
except weigh.errors.SourceError as error:
    print(error)
"""


def test_truncating_a_file_whose_rows_are_being_parsed_does_not_end_the_process(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", csv_rows(4 * N_ROWS))
    run = subprocess.run(
        [sys.executable, "-c", TRUNCATE_WHILE_READING, path], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith(f"{path} changed while it was read: ")


def test_windows_share_memory_only_after_the_earlier_one_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(bytes(range(256)) * 2_000)
    with closing(open_text(path, "utf-8")) as text:
        first, second = (text.window(start, 200_000)[0][10:] for start in (0, 1))
        assert not np.shares_memory(first, second)
        assert (first[1:] == second[:-1]).all()
        address = first.__array_interface__["data"][0]
        del first
        assert text.window(3, 200_000)[0][10:].__array_interface__["data"][0] == address


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_file_that_cannot_be_decompressed_leaks_no_memory(tmp_path: Path, codec: str) -> None:
    packed = pa.compress(csv_rows(200), codec, asbytes=True)
    path = write(tmp_path / f"d.csv.{'zst' if codec == 'zstd' else codec}", packed[: len(packed) // 2])
    sizes = []
    for _ in range(60):
        with pytest.raises(SourceError, match="cannot be read"):
            weigh.open(path, "label")
        sizes.append(int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE"))
    assert sizes[-1] - sizes[9] < 20e6
