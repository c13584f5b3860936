"""Several files as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.engines import run
from weigh.errors import DataError, ParameterError
from weigh.learn import BayesTask, ThresholdTask
from weigh.source import open
from weigh.source.chunk import to_pylist


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def column(source: weigh.source.Source, name: str, size: int = 1000) -> list[Any]:
    return [value for chunk in source.chunks(size=size) for value in to_pylist(chunk.columns[name])]


def long_files() -> list[str]:
    rng = np.random.default_rng(3)
    names = []
    for k in range(3):
        rows = zip(
            rng.integers(0, 5, 30_000), rng.normal(size=30_000), rng.integers(0, 2, 30_000), strict=True
        )
        names.append(write(f"{k}.csv", "c,x,y\n" + "".join(f"{c},{x:.3f},{y}\n" for c, x, y in rows)))
    return names


def test_files_in_a_row_are_the_rows_of_all_of_them():
    paths = [write("a.csv", "n,c\n1,x\n2,y\n"), write("b.csv", "c,n\nz,3\n")]
    source = open(paths)
    assert (column(source, "n"), column(source, "c")) == ([1, 2, 3], ["x", "y", "z"])
    assert column(open(paths, "n"), "c", size=1) == ["x", "y", "z"]


def test_a_list_of_one_file_is_that_file():
    assert column(open([write("a.csv", "n\n1\n")]), "n") == [1]


def test_a_column_that_is_text_in_one_file_is_text_in_all():
    source = open([write("a.csv", "c\n1\n02\n"), write("b.csv", "c\nx\n")])
    assert column(source, "c") == ["1", "02", "x"]


def test_rows_are_numbered_through_all_files_also_when_pieces_are_made_out_of_order():
    pieces = list(open(long_files()).pieces(size=7_000))
    chunks = [piece() for piece in reversed(pieces)][::-1]
    ends = np.cumsum([chunk.n_rows for chunk in chunks]).tolist()
    assert [chunk.first_row for chunk in chunks] == [0, *ends[:-1]]
    assert ends[-1] == 90_000


@pytest.mark.parametrize("threads", [1, 4])
def test_a_model_of_several_files_is_the_model_of_one_with_all_rows(threads):
    paths = long_files()
    texts = [Path(path).read_text() for path in paths]
    whole = write("whole.csv", texts[0] + "".join(text.partition("\n")[2] for text in texts[1:]))
    one, several = (open(path, "y") for path in (whole, paths))
    models = [run(BayesTask.over(source), source, threads=threads) for source in (one, several)]
    assert models[0].to_bytes() == models[1].to_bytes()


def test_files_of_other_columns_are_refused_by_name():
    with pytest.raises(DataError, match=r"^a.csv and b.csv do not have the same columns: .* has 'k'"):
        open([write("a.csv", "n\n1\n"), write("b.csv", "n,k\n1,2\n")])


def test_an_empty_list_of_files_is_refused():
    with pytest.raises(ParameterError, match="path"):
        open([])


def test_a_threshold_of_several_files_is_the_same_for_any_number_of_threads():
    source = open(long_files(), "y")
    models = [run(ThresholdTask.over(source), source, threads=threads) for threads in (1, 4)]
    assert models[0].to_bytes() == models[1].to_bytes()
