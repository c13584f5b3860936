"""Law 9: the model does not depend on how its table is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import weigh

N = 60
LABEL = "class"
WORDS = ["free money now", "see you at noon", "lunch at noon then", "money for nothing now", "an odd one out"]


def columns() -> dict[str, list[Any]]:
    """Return one column of every kind that all storages support; the kinds are inferred."""
    rng = np.random.default_rng(3)
    sizes = (rng.normal(size=N) * 10.0 ** rng.integers(-30, 30, N)).tolist()
    sizes[0], sizes[1], sizes[2] = 0.1, -0.0, 1e300
    return {
        "colour": [None if i % 11 == 5 else ["red", "blue", "grün"][i * i % 3] for i in range(N)],
        "grade": rng.integers(1, 5, N).tolist(),
        "known": (rng.random(N) < 0.4).tolist(),
        "year": rng.integers(1900, 2000, N).tolist(),
        "size": [None if i % 7 == 3 else size for i, size in enumerate(sizes)],
        "body": [f"{WORDS[i % 5]} number{i}" for i in range(N)],
        LABEL: [["ham", "spam", "late"][0 if i < 30 else i % 3] for i in range(N)],
    }


def rows() -> list[dict[str, Any]]:
    table = columns()
    return [{name: values[i] for name, values in table.items()} for i in range(N)]


def structured() -> Any:
    table = columns()
    sizes = [np.nan if size is None else size for size in table["size"]]
    kinds = [("colour", object), ("grade", int), ("known", bool), ("year", int), ("size", float)]
    array = np.zeros(N, dtype=[*kinds, ("body", object), (LABEL, object)])
    for name, values in (table | {"size": sizes}).items():
        array[name] = values
    return array


def categorical() -> pd.DataFrame:
    frame = pd.DataFrame(columns())
    return frame.astype({"colour": "category", "grade": "category", LABEL: "category"})


def chunked_arrow() -> pa.Table:
    whole = pa.table(columns())
    return pa.concat_tables([whole.slice(0, 7), whole.slice(7, 0), whole.slice(7, 31), whole.slice(38)])


def dictionary_arrow() -> pa.Table:
    whole = pa.table(columns())
    for index, name in ((0, "colour"), (6, LABEL)):
        whole = whole.set_column(index, name, whole[name].dictionary_encode())
    return whole


NAMED: dict[str, Callable[[], Any]] = {
    "dict of lists": columns,
    "dict of arrays": lambda: {name: pd.Series(values).to_numpy() for name, values in columns().items()},
    "list of dicts": rows,
    "structured array": structured,
    "pandas": lambda: pd.DataFrame(columns()),
    "pandas objects": lambda: pd.DataFrame(columns()).astype(object),
    "pandas nullable": lambda: pd.DataFrame(columns()).convert_dtypes(),
    "pandas on Arrow": lambda: pd.DataFrame(columns()).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categorical": categorical,
    "pandas with an odd index": lambda: pd.DataFrame(columns(), index=[f"r{i}" for i in range(N)]),
    "polars": lambda: pl.DataFrame(columns()),
    "polars categorical": lambda: pl.DataFrame(columns()).with_columns(pl.col("colour").cast(pl.Categorical)),
    "Arrow": lambda: pa.table(columns()),
    "Arrow in chunks": chunked_arrow,
    "Arrow dictionaries": dictionary_arrow,
    "Arrow batch": lambda: pa.RecordBatch.from_pydict(columns()),
    "Arrow stream": lambda: pa.RecordBatchReader.from_batches(
        pa.table(columns()).schema, pa.table(columns()).to_batches(max_chunksize=9)
    ),
}


@pytest.fixture(scope="module")
def expected() -> bytes:
    return model_bytes(columns())


def model_bytes(data: Any, **settings: Any) -> bytes:
    learner = weigh.NaiveBayes(**settings)
    return bytes(learner.fit(data, LABEL).model_.to_bytes())


@pytest.mark.parametrize("storage", NAMED)
def test_named_tables_give_the_same_bytes(storage: str, expected: bytes) -> None:
    assert model_bytes(NAMED[storage]()) == expected


def csv(path: Path) -> None:
    pd.DataFrame(columns()).astype({"known": str}).replace(
        {"known": {"True": "true", "False": "false"}}
    ).to_csv(path, index=False)


def json_lines(path: Path) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows()), encoding="utf-8")


FILES: dict[str, Callable[[Path], None]] = {
    "table.csv": csv,
    "table.csv.gz": csv,
    "table.tsv": lambda path: pd.DataFrame(columns()).to_csv(path, index=False, sep="\t"),
    "table.parquet": lambda path: pq.write_table(pa.table(columns()), path, row_group_size=13),
    "table.jsonl": json_lines,
}


@pytest.mark.parametrize("name", FILES)
def test_files_give_the_same_bytes(name: str, tmp_path: Path, expected: bytes) -> None:
    FILES[name](tmp_path / name)
    assert model_bytes(weigh.open(tmp_path / name, label=LABEL)) == expected


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl"])
def test_files_in_small_blocks_give_the_same_bytes(name: str, tmp_path: Path, expected: bytes) -> None:
    FILES[name](tmp_path / name)
    assert (
        model_bytes(
            weigh.open(tmp_path / name, label=LABEL, block=400),
            columns=weigh.NaiveBayes().fit(columns(), LABEL).schema_,
        )
        == expected
    )


@pytest.mark.parametrize("storage", NAMED)
def test_scores_do_not_depend_on_the_storage(storage: str) -> None:
    model = weigh.NaiveBayes().fit(columns(), LABEL).model_
    np.testing.assert_array_equal(model.scores(NAMED[storage]()), model.scores(columns()))


def written_numbers() -> dict[str, list[Any]]:
    """Return columns whose numbers, flags, dates and codes are written as text."""
    n = 400
    return {
        "odd": ["oops" if i == 300 else f"{i * 1.5}" for i in range(n)],
        "price": [f"${i * 1.5:,.2f}" for i in range(n)],
        "share": [f"{i % 97}.5%" for i in range(n)],
        "length": [f"{i * 37.25:.2f}".replace(".", ",") for i in range(n)],
        "padded": [f" {i * 0.5} " for i in range(n)],
        "unknown": ["nan" if i % 9 == 0 else f"{i * 0.5}" for i in range(n)],
        "member": [("yes", "No ")[i // 3 % 2] for i in range(n)],
        "since": [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.{2020 + i % 4}" for i in range(n)],
        "place": [f"{i % 37 * 2_600 + 67:05d}" for i in range(n)],
        LABEL: ["ab"[i * 7 % 5 % 2] for i in range(n)],
    }


def write_numbers(path: Path) -> Any:
    frame = pd.DataFrame(written_numbers())
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return weigh.open(path, LABEL)


WRITTEN: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: write_numbers(folder / "t.csv"),
    "parquet": lambda folder: write_numbers(folder / "t.parquet"),
    "json": lambda folder: write_numbers(folder / "t.jsonl"),
    "pandas": lambda _: pd.DataFrame(written_numbers()),
    "pandas categorical": lambda _: pd.DataFrame(written_numbers()).astype("category"),
    "polars": lambda _: pl.DataFrame(written_numbers()),
    "Arrow": lambda _: pa.table(written_numbers()),
    "list of dicts": lambda _: pd.DataFrame(written_numbers()).to_dict("records"),
}


@pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers", "ignore::weigh.errors.DependentColumns")
@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.LogisticRegression])
@pytest.mark.parametrize("storage", WRITTEN)
def test_numbers_in_text_give_the_same_model(storage: str, learner: Any, tmp_path: Path) -> None:
    odd = "1 of 400 cells is not a number and is treated as missing: 'oops'"
    with pytest.warns(weigh.errors.OddCells, match=odd):
        expected = learner().fit(written_numbers(), LABEL).model_
    assert len(expected.schema.readings) == 4
    with pytest.warns(weigh.errors.OddCells, match=odd):
        model = learner().fit(WRITTEN[storage](tmp_path), LABEL).model_
    assert model.to_bytes() == expected.to_bytes()


def matrix() -> Any:
    rng = np.random.default_rng(5)
    return rng.poisson(0.5, (N, 9)).astype(np.float64)


LABELS = [["a", "b", "c"][i % 3] for i in range(N)]
BARE: dict[str, Callable[[Any], Any]] = {
    "floats": np.asarray,
    "Fortran order": np.asfortranarray,
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "rows backwards twice": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "32-bit floats": lambda x: x.astype(np.float32),
    "big-endian floats": lambda x: x.astype(">f8"),
    "objects": lambda x: x.astype(object),
    "lists": lambda x: x.tolist(),
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "csr with explicit zeros": lambda x: explicit_zeros(x),
    "csr with doubled entries": lambda x: duplicate_entries(x),
    "csr of 64-bit indices": lambda x: wide_indices(x),
}


def explicit_zeros(dense: Any) -> Any:
    return sparse.csr_matrix(
        (dense.ravel(), np.tile(np.arange(9), N), np.arange(0, 9 * N + 1, 9)), shape=dense.shape
    )


def duplicate_entries(dense: Any) -> Any:
    rows, cols = np.nonzero(dense)
    values = dense[rows, cols]
    twice = (np.concatenate([values - 1, np.ones_like(values)]), (np.tile(rows, 2), np.tile(cols, 2)))
    return sparse.coo_matrix(twice, shape=dense.shape)


def wide_indices(dense: Any) -> Any:
    matrix_64 = sparse.csr_matrix(dense)
    matrix_64.indices, matrix_64.indptr = (
        matrix_64.indices.astype(np.int64),
        matrix_64.indptr.astype(np.int64),
    )
    return matrix_64


@pytest.mark.parametrize("kind", ["count", "flag", "number", "category", weigh.Number(bins=(0.5, 1.5))])
@pytest.mark.parametrize("storage", BARE)
def test_bare_matrices_give_the_same_bytes(storage: str, kind: Any) -> None:
    learner = weigh.NaiveBayes(columns=kind)
    expected = learner.fit(matrix(), LABELS).model_
    model = learner.fit(BARE[storage](matrix()), LABELS).model_
    assert model.to_bytes() == expected.to_bytes()
    np.testing.assert_allclose(model.scores(BARE[storage](matrix())), expected.scores(matrix()), rtol=1e-12)


LABEL_FORMS: dict[str, Callable[[], Any]] = {
    "list": lambda: LABELS,
    "tuple": lambda: tuple(LABELS),
    "array": lambda: np.array(LABELS),
    "objects": lambda: np.array(LABELS, dtype=object),
    "series": lambda: pd.Series(LABELS, index=range(5, N + 5)),
    "categorical": lambda: pd.Series(LABELS, dtype="category"),
    "polars": lambda: pl.Series(LABELS),
    "Arrow": lambda: pa.array(LABELS),
    "Arrow chunks": lambda: pa.chunked_array([LABELS[:7], LABELS[7:]]),
    "Arrow dictionary": lambda: pa.array(LABELS).dictionary_encode(),
}


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_labels_of_any_storage_give_the_same_bytes(form: str) -> None:
    expected = weigh.NaiveBayes().fit(matrix(), LABELS).model_.to_bytes()
    assert weigh.NaiveBayes().fit(matrix(), LABEL_FORMS[form]()).model_.to_bytes() == expected
