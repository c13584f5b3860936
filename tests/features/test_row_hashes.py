"""Row hashes depend on the values of a row only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

import weigh
from weigh import _core
from weigh.features.row_hashes import hash_features, hash_values
from weigh.features.schema import Schema
from weigh.source.memory.table import rows as rows_of

TABLE = {
    "age": [31.5, 0.0, None, 47.25],
    "town": ["Graz", "Linz", "Graz", None],
    "done": [True, False, True, True],
    "note": ["a fine day", '"wind", and so on', "rain äöü 日", "snow"],
}
KINDS = {"age": "number", "town": "category", "done": "flag", "note": "text"}


def hash_table(data: Any, columns: Any = KINDS) -> list[int]:
    source = rows_of(data)
    schema = weigh.NaiveBayes(columns=columns).fit(TABLE, ["a", "b", "a", "b"]).model_.schema
    return hash_source(schema, source)


def hash_source(schema: Schema, source: Any) -> list[int]:
    return [
        value
        for chunk in schema.chunks(source)
        for value in hash_features(schema, schema.encode(chunk), chunk.n_rows).tolist()
    ]


def reference_mix(key: int) -> int:
    mask = 2**64 - 1
    key ^= key >> 33
    key = key * 0xFF51AFD7ED558CCD & mask
    key ^= key >> 33
    key = key * 0xC4CEB9FE1A85EC53 & mask
    return key ^ (key >> 33)


def reference_number_hash(key: int, number: float) -> int:
    if number == 0:
        return 0
    bits = int(np.array([number]).view(np.uint64)[0]) if number == number else 0x7FF8 << 48
    key = key * 0x9E3779B97F4A7C15 % 2**64
    product = (bits ^ 0x9E3779B97F4A7C15) * (key ^ 0xC2B2AE3D27D4EB4F)
    return product % 2**64 ^ product >> 64


def test_every_storage_gives_the_same_hashes(tmp_path: Path) -> None:
    frame = pd.DataFrame(TABLE)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.astype({"town": "category"}).to_parquet(tmp_path / "t.parquet")
    expected = hash_table(TABLE)
    assert len(set(expected)) == 4
    for data in (
        frame,
        frame.astype({"town": "category"}),
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)],
        weigh.open(str(tmp_path / "t.parquet")),
        weigh.open(str(tmp_path / "t.csv")),
    ):
        assert hash_table(data) == expected


def test_the_order_of_the_columns_and_the_chunks_have_no_effect() -> None:
    frame = pd.DataFrame(TABLE)
    assert hash_table(frame[["note", "done", "age", "town"]]) == hash_table(frame)
    parts = [hash_table(frame.iloc[[i]]) for i in range(4)]
    assert [part for (part,) in parts] == hash_table(frame)


@pytest.mark.parametrize(
    ("column", "value"), [("age", 31.25), ("town", "Wien"), ("done", False), ("note", "a")]
)
def test_every_value_has_an_effect(column: str, value: Any) -> None:
    changed = {**TABLE, column: [value, *TABLE[column][1:]]}  # type: ignore[index]
    before, after = hash_table(TABLE), hash_table(changed)
    assert before[0] != after[0]
    assert before[1:] == after[1:]


def test_exchanged_values_of_two_columns_have_an_effect() -> None:
    schema = weigh.LinearRegression().fit({"a": [1.0, 2.5], "b": [2.0, 1.0]}, [0.0, 1.0]).model_.schema
    one, other = ({"a": [3.0], "b": [4.0]}, {"a": [4.0], "b": [3.0]})
    assert hash_source(schema, rows_of(one)) != hash_source(schema, rows_of(other))


def test_dense_and_sparse_rows_have_the_same_hashes() -> None:
    X = np.array([[0.0, 1.5, -2.0], [0.0, 0.0, 0.0], [3.0, -0.0, 0.5]])
    schema = weigh.LogisticRegression().fit(csr_matrix(X), [0, 1, 1]).model_.schema
    dense = weigh.LogisticRegression().fit(X, [0, 1, 1]).model_.schema
    expected = hash_source(schema, rows_of(csr_matrix(X)))
    for rows in (X, np.asfortranarray(X), X[:, ::-1].copy()[:, ::-1]):
        assert hash_source(dense, rows_of(rows)) == expected


def test_equal_numbers_and_labels_of_other_types_have_the_same_hashes() -> None:
    assert hash_values([1, 0, 2], 7).tolist() == hash_values([1.0, False, np.int64(2)], 7).tolist()
    assert hash_values(["1", "b"], 7).tolist() != hash_values([1, "b"], 7).tolist()
    assert hash_values(["ä"], 7).tolist() == hash_values([np.str_("ä")], 7).tolist()


def test_native_hashes_equal_the_reference() -> None:
    random = np.random.default_rng(0)
    matrix = np.where(random.random((50, 4)) < 0.5, 0.0, random.normal(size=(50, 4)))
    matrix[3, 1] = np.nan
    keys = random.integers(0, 2**63, 4, dtype=np.uint64)
    dense, sparse = np.zeros(50, np.uint64), np.zeros(50, np.uint64)
    _core.add_matrix_hashes(matrix, keys, 0, dense)
    csr = csr_matrix(matrix)
    indptr, indices = csr.indptr.astype(np.int64), csr.indices.astype(np.int32)
    _core.add_sparse_hashes(indptr, indices, csr.data, 4, keys, 0, sparse)
    expected = [
        sum(reference_number_hash(int(k), float(v)) for k, v in zip(keys, row, strict=True)) % 2**64
        for row in matrix
    ]
    assert dense.tolist() == sparse.tolist() == expected
    numbered = np.zeros(50, np.uint64)
    _core.add_matrix_hashes(matrix, None, 5, numbered)
    by_number = [
        sum(reference_number_hash(5 + j, float(v)) for j, v in enumerate(row)) % 2**64 for row in matrix
    ]
    assert numbered.tolist() == by_number
    finished = [reference_mix((value + 0x9E3779B97F4A7C15) % 2**64) for value in by_number]
    second = sum(reference_mix(value ^ 0xD6E8FEB86659FD93) for value in finished) % 2**64
    assert _core.finish_row_hashes(numbered) == (sum(finished) % 2**64, second)
    assert numbered.tolist() == finished


def test_arguments_of_the_native_code_are_checked() -> None:
    hashes = np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match="one hash per row"):
        _core.add_matrix_hashes(np.zeros((3, 1)), None, 0, hashes)
    with pytest.raises(ValueError, match="one key per column"):
        _core.add_matrix_hashes(np.zeros((2, 1)), np.zeros(2, np.uint64), 0, hashes)
    with pytest.raises(ValueError, match="one hash per row"):
        _core.add_text_hashes(_core.Documents.from_objects(np.array(["a"], object), []), 0, hashes)


def test_whole_numbers_beyond_the_range_of_floats_have_hashes() -> None:
    huge = hash_values([10**400, -(10**400), 10**400, 2.0**1000, 2**1000], 7)
    assert huge[0] == huge[2] != huge[1]
    assert huge[3] == huge[4]
