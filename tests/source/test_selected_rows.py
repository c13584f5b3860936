"""Selected rows of any source equal the rows of a table that has only these."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from weigh.source.base import Source
from weigh.source.chunk import to_pylist
from weigh.source.memory.table import rows
from weigh.source.selected_rows import SelectedRows

N = 25_000
TABLE = {
    "number": [k / 4 if k % 9 else None for k in range(N)],
    "word": [f"w{k % 13}" for k in range(N)],
    "tokens": [[f"t{k % 5}"] * (k % 3) for k in range(N)],
    "y": ["ab"[k % 2] for k in range(N)],
}
MASK = np.random.default_rng(0).random(N) < 0.3


def write(kind: str, folder) -> Source:
    columns = {name: values for name, values in TABLE.items() if kind == "parquet" or name != "tokens"}
    if kind == "parquet":
        pq.write_table(pa.table(columns), folder / "t.parquet")
    elif kind == "csv":
        lines = (
            ",".join("" if v is None else str(v) for v in row) for row in zip(*columns.values(), strict=True)
        )
        (folder / "t.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    else:
        return rows(columns, "y")
    return weigh.open(folder / f"t.{kind}", "y")


@pytest.mark.parametrize("kind", ["csv", "parquet", "memory"])
def test_selected_rows_are_the_rows_of_the_mask(kind: str, tmp_path) -> None:
    source = SelectedRows(write(kind, tmp_path), MASK)
    chunks = list(source.chunks(size=4_000))
    numbers = [chunk.row_number(i) for chunk in chunks for i in range(chunk.n_rows)]
    assert numbers == np.flatnonzero(MASK).tolist()
    for name in source.names:
        found = [value for chunk in chunks for value in to_pylist(chunk.columns[name])]
        expected = [value for value, is_selected in zip(TABLE[name], MASK, strict=True) if is_selected]
        assert [None if value != value else value for value in found] == expected
    labels = [value for chunk in chunks for value in to_pylist(chunk.labels)]
    assert labels == np.array(TABLE["y"])[MASK].tolist()


def test_a_model_of_selected_rows_equals_one_of_a_smaller_table(tmp_path) -> None:
    part = {name: [v for v, m in zip(TABLE[name], MASK, strict=True) if m] for name in ("word", "y")}
    source = SelectedRows(rows({name: TABLE[name] for name in ("word", "y")}, "y"), MASK)
    model = weigh.NaiveBayes().fit(source).model_
    assert model.to_bytes() == weigh.NaiveBayes().fit(part, "y").model_.to_bytes()


def test_sparse_rows_and_matrices_are_selected() -> None:
    matrix = np.arange(12.0).reshape(4, 3)
    mask = np.array([True, False, False, True])
    (dense,) = SelectedRows(rows(matrix), mask).chunks()
    assert dense.columns["x2"].tolist() == [2.0, 11.0]
    from scipy.sparse import csr_matrix

    (sparse,) = SelectedRows(rows(csr_matrix(matrix)), mask).chunks()
    assert sparse.sparse is not None
    assert sparse.sparse.to_dense().tolist() == matrix[mask].tolist()
