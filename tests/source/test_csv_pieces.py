"""CSV files cut into blocks: the pieces that threads share are the rows of the file."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from weigh.errors import SourceError
from weigh.source import open
from weigh.source.chunk import to_pylist


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_pieces_may_be_made_in_any_order_and_thread(tmp_path: Path, name: str) -> None:
    text = b"a,b,c\n" + b"".join(b'%d,%d.5,"v\n%d"\n\r\n' % (i, i, i % 7) for i in range(60_000))
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    source = open(tmp_path / name, "c")
    pieces = list(source.pieces({"a": "number"}))
    with ThreadPoolExecutor(2) as pool:
        chunks = list(pool.map(lambda piece: piece(), reversed(pieces)))[::-1]
    assert len(chunks) > 2
    firsts = [sum(chunk.n_rows for chunk in chunks[:k]) for k in range(len(chunks))]
    assert [chunk.first_row for chunk in chunks] == firsts
    read = {at: [v for chunk in chunks for v in to_pylist(chunk.columns[at])] for at in ("a", "b")}
    assert read == {"a": list(range(60_000)), "b": [i + 0.5 for i in range(60_000)]}
    assert [v for chunk in chunks for v in to_pylist(chunk.labels)] == [f"v\n{i % 7}" for i in range(60_000)]


def test_a_row_may_be_longer_than_the_blocks_of_a_short_file(tmp_path: Path) -> None:
    row, long = b"1,x\n", b'1,"' + b"x" * 500_000 + b'"\n'
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n" + row * 12_000 + long + row * 10)
    assert sum(chunk.n_rows for chunk in open(path).chunks()) == 12_011


def test_an_error_in_a_piece_is_told_with_its_true_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n" + b'1,"x\n"\n' * 400_000 + b"z,x\n")
    with pytest.raises(SourceError, match="line 800,002, column 'a': 'z' is not a number"):
        [piece() for piece in open(path).pieces({"a": "number"})]
