"""Selected rows of any source equal the rows of a table that has only these."""

from __future__ import annotations

import functools
import operator
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from weigh.features.inference.odd_cells import CellReader
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


ODD_ROWS = [3, 90, 91, 14_999, 15_003, 20_001]


def write_odd_cells(folder, name: str = "t.csv") -> str:
    """Write a column that is mostly missing, with odd cells in a few rows."""
    cells = [f"o{k}" if k in ODD_ROWS else str(k / 4) if k % 20 == 0 else "" for k in range(N)]
    path = folder / name
    path.write_text("x,y\n" + "".join(f"{cell},{'ab'[k % 2]}\n" for k, cell in enumerate(cells)))
    return str(path)


@pytest.mark.parametrize("kinds", [{"x": "number"}, None], ids=["parsed", "converted"])
def test_missing_and_odd_cells_of_selected_rows_are_counted(kinds, tmp_path) -> None:
    source = weigh.open(write_odd_cells(tmp_path), "y", strings=() if kinds else ["x"])
    mask = np.arange(N) % 3 == 0
    reader = CellReader(["x"], {}, ())
    chunks = [reader.convert(chunk) for chunk in SelectedRows(source, mask).chunks(kinds, 4_000)]
    total = functools.reduce(operator.add, (each.cell_counts["x"] for each in chunks if each.cell_counts))
    odd = [row for row in ODD_ROWS if mask[row]]
    n_known = sum(k % 20 == 0 for k in range(0, N, 3))
    assert (total.n_odd, total.n_missing) == (len(odd), int(mask.sum()) - n_known - len(odd))
    assert [(cell.row, cell.value) for cell in total.examples] == [(k, f"o{k}") for k in odd[:3]]
    if kinds:
        assert [cell.place for cell in total.examples] == [f"line {k + 2:,}" for k in odd[:3]]


def test_a_mostly_empty_number_can_be_learned_from_selected_rows(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,z,y\n" + "".join(f"{k if k % 20 == 0 else ''},{k / 2},{k % 2}\n" for k in range(400)))
    source = SelectedRows(weigh.open(path, "y"), np.arange(400) % 4 == 0)
    assert weigh.NaiveBayes().fit(source).model_.schema.kinds == [weigh.Number(shape="auto")] * 2


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_an_odd_cell_of_several_files_is_named_with_its_file(suffix: str, tmp_path) -> None:
    cells = [str(k / 4) for k in range(300)]
    paths = [str(tmp_path / f"{name}.{suffix}") for name in "ab"]
    for path in paths:
        values = [*cells[:210], "odd", *cells[211:]] if path == paths[1] else cells
        if suffix == "csv":
            lines = ["x,y", *(f"{value},{'st'[k % 2]}" for k, value in enumerate(values))]
        else:
            lines = [f'{{"x": "{value}", "y": "{"st"[k % 2]}"}}' for k, value in enumerate(values)]
        Path(path).write_text("\n".join(lines) + "\n")
    place = "line 212" if suffix == "csv" else "row 210"
    source = weigh.open(paths, "y", drop_missing_labels=True)
    learner = weigh.NaiveBayes(columns={"x": "number"})
    with pytest.warns(weigh.errors.OddCells, match=re.escape(f"'odd' ({paths[1]} {place})")):
        learner.fit(SelectedRows(source, np.arange(600) % 5 == 0))
