"""Every row takes a short path: the first rows are read once, and each chunk is encoded once."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import weigh
from weigh.cli.main import app
from weigh.features.schema import Schema
from weigh.source import base
from weigh.source.base import ChunkReader, Source
from weigh.source.chunk import Chunk, to_pylist
from weigh.source.files import arrow_formats, csv
from weigh.source.files.folder import FolderSource

LEARNERS: dict[str, Callable[[], Any]] = {
    "naive Bayes": weigh.NaiveBayes,
    "joint Bayes": weigh.JointBayes,
    "perceptron": weigh.Perceptron,
    "logistic regression": weigh.LogisticRegression,
    "linear regression": weigh.LinearRegression,
    "threshold": weigh.Threshold,
}
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")


def some_columns(n: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    sky, warm = rng.choice(["sun", "rain", "fog"], n), rng.normal(15.0, 5.0, n).round(2)
    return {"sky": sky, "warm": warm, "wind": rng.integers(0, 9, n), "play": (warm > 15).astype(int)}


class CountedSource(Source):
    """The rows of another source; counts how often its first rows and all its rows are read."""

    def __init__(self, inner: Source) -> None:
        self.inner, self.reads = inner, collections.Counter[str]()
        self.names, self.width, self.named, self.label = inner.names, inner.width, inner.named, inner.label
        self.n_rows = inner.n_rows

    def chunk_readers(self, kinds: Any = None, size: int = 65_536) -> Iterator[ChunkReader]:
        self.reads["passes"] += 1
        return self.inner.chunk_readers(kinds, size)

    def _read_prefix(self, n: int, kinds: Any) -> Any:
        self.reads["prefixes"] += 1
        return self.inner.prefix(n, kinds)

    def with_label(self, name: str) -> Source:
        return CountedSource(self.inner.with_label(name))


# The means and standard deviations of numbers must be known before the first update.
N_PASSES = {"perceptron": 2}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_reads_the_first_rows_once_and_all_rows_once(name: str) -> None:
    source = CountedSource(weigh.rows(some_columns(), "play"))
    LEARNERS[name]().fit(source)
    assert source.reads == {"prefixes": 1, "passes": N_PASSES.get(name, 1)}


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_opens_a_file_once_for_its_first_rows_and_once_for_all(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = write_table(tmp_path / f"days.{suffix}"), []
    for module, name_of_open in [(csv, "open_text"), (arrow_formats, "_open_arrow_stream")]:
        plain = getattr(module, name_of_open)
        monkeypatch.setattr(
            module, name_of_open, lambda *given, plain=plain: opened.append(given[0]) or plain(*given)
        )
    LEARNERS[name]().fit(weigh.open(path, "play"))
    assert opened == [path] * (1 + N_PASSES.get(name, 1))


def write_table(path: Path) -> Path:
    import pandas as pd

    table = pd.DataFrame(some_columns())
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("name", ["with_label", "with_missing", "with_storage"])
def test_other_columns_and_types_have_their_own_first_rows(name: str, tmp_path: Path) -> None:
    source = weigh.open(write_table(tmp_path / "days.csv"), "play")
    source.prefix()
    change = {"with_label": "sky", "with_missing": ["fog"], "with_storage": {"play": "string"}}[name]
    other = getattr(source, name)(change)
    fresh = getattr(weigh.open(tmp_path / "days.csv", "play"), name)(change)
    for n in (3, 10_000):
        assert values(other.prefix(n)) == values(fresh.prefix(n)) != values(source.prefix(n))


@pytest.mark.parametrize("columns", [{"a": "number"}, {"a": "number", "b": "number"}])
def test_a_text_among_stated_numbers_is_reported_with_its_line(columns: Any, tmp_path: Path) -> None:
    lines = [f"{'oops' if i == 150 else 1.5 * i},{i * i},{i % 2}" for i in range(300)]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,y", *lines, ""]))
    with pytest.warns(weigh.errors.OddCells, match="'oops' \\(line 152\\)"):
        weigh.NaiveBayes(columns=columns).fit(weigh.open(tmp_path / "a.csv", "y"))


def test_first_rows_are_read_again_only_if_there_may_be_more() -> None:
    source = CountedSource(weigh.rows(some_columns(), "play"))
    assert [source.prefix(n).n_rows for n in (100, 250, 10_000, 20_000, 7)] == [100, 200, 200, 200, 7]
    assert source.reads == {"prefixes": 2}


def test_large_first_rows_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    source = CountedSource(weigh.rows(some_columns(), "play"))
    monkeypatch.setattr(base, "MAX_KEPT_BYTES", 1_000)
    assert [source.prefix(n).n_rows for n in (100, 100, 3, 3)] == [100, 100, 3, 3]
    assert source.reads == {"prefixes": 3}


def test_texts_count_with_their_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(1_000 * label)
    source = weigh.open(tmp_path)
    monkeypatch.setattr(base, "MAX_KEPT_BYTES", 5_000)
    assert source.prefix() is not source.prefix()
    monkeypatch.setattr(base, "MAX_KEPT_BYTES", 10_000)
    assert source.prefix() is source.prefix()


def values(chunk: Chunk) -> dict[str, list[Any]]:
    columns = {**chunk.columns, "the labels": chunk.labels}
    return {name: to_pylist(column) for name, column in columns.items()}


def test_a_folder_of_texts_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        for i in range(30):
            (tmp_path / label / f"{i}.txt").write_text(f"{label} {i}")
    read, plain = [], FolderSource._read_text
    monkeypatch.setattr(FolderSource, "_read_text", lambda self, file: read.append(file) or plain(self, file))
    weigh.NaiveBayes().fit(weigh.open(tmp_path))
    assert len(read) == len(set(read)) == 60


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = write_table(tmp_path / "days.csv").read_bytes()
    monkeypatch.chdir(tmp_path)
    arguments = ["fit", "-", "--format", "csv", "--label", "play", "-o", "days.weigh"]
    arguments += ["--learner", "naive-bayes"]
    done = CliRunner().invoke(app, arguments, input=content)
    assert done.exit_code == 0, done.output
    assert sum(weigh.load("days.weigh").counts.rows) == 200


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows of all chunks that were encoded."""
    n_rows: list[int] = []
    plain = Schema.encode
    monkeypatch.setattr(
        Schema, "encode", lambda schema, chunk: n_rows.append(chunk.n_rows) or plain(schema, chunk)
    )
    return n_rows


@pytest.mark.parametrize("name", sorted(LEARNERS.keys() - {"joint Bayes"}))
def test_predicting_and_explaining_encode_every_chunk_once(name: str, encoded: list[int]) -> None:
    model = LEARNERS[name]().fit(some_columns(), "play").model_
    for use in (model.predict, model.explain):
        encoded.clear()
        use(some_columns(50))
        assert encoded == [50], use


@pytest.mark.parametrize("name", ["naive Bayes", "logistic regression", "perceptron"])
def test_calibrated_models_encode_and_score_every_chunk_once(
    name: str, encoded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = LEARNERS[name]().fit(some_columns(), "play")
    encoded.clear()
    model = weigh.calibrate(fitted, some_columns(100), "play")
    assert encoded == [100]
    encoded.clear()
    scored, inner = [], type(model.uncalibrated)
    plain = inner.score_rows
    monkeypatch.setattr(inner, "score_rows", lambda *given: scored.append(given[1].n_rows) or plain(*given))
    model.explain(some_columns(50))
    assert encoded == scored == [50]


@pytest.mark.parametrize("options", [(), ("--worked",), ("--latex",), ("--flip",), ("--most", "1", "--json")])
def test_the_command_explain_encodes_its_row_once(
    options: tuple[str, ...], encoded: list[int], tmp_path: Path
) -> None:
    path, model = write_table(tmp_path / "days.csv"), tmp_path / "days.weigh"
    weigh.NaiveBayes().fit(weigh.open(path, "play")).model_.save(model)
    encoded.clear()
    done = CliRunner().invoke(app, ["explain", str(model), str(path), "--row", "7", *options])
    assert done.exit_code == 0, done.output
    assert encoded == [1]


def test_evaluating_encodes_every_chunk_once(encoded: list[int]) -> None:
    for name in sorted(LEARNERS.keys() - {"joint Bayes"}):
        model = LEARNERS[name]().fit(some_columns(), "play").model_
        encoded.clear()
        weigh.evaluate(model, some_columns(50), label="play")
        assert encoded == [50], name
