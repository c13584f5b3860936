"""Laws 7 and 9 for the perceptron: storage, chunks, threads and rereading do not change the model."""

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
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import weigh
from weigh.features import Schema
from weigh.learn import dataset
from weigh.model import parallel

law = settings(max_examples=40, derandomize=True, deadline=None, database=None)

N, LABEL = 60, "class"
WORDS = ["free money now", "see you at noon", "lunch at noon then", "money for nothing now", "an odd one out"]
SETTINGS: dict[str, dict[str, Any]] = {
    "averaged": {},
    "voted": {"keep": "voted"},
    "lazy, in order": {"keep": "lazy", "shuffle": False},
    "margin, one against the rest": {"keep": "last", "margin": 0.5, "multiclass": "one-vs-rest"},
    "units": {"scale": "unit", "record": True},
    "hashed": {"columns": {"body": weigh.Text(buckets=16, ngrams=(1, 2))}},
    "pruned": {"columns": {"body": weigh.Text(min_count=2, counts=False)}, "keep": "voted"},
}


def columns() -> dict[str, list[Any]]:
    """Return one column of every kind that all storages support; the kinds are inferred."""
    rng = np.random.default_rng(3)
    return {
        "colour": [None if i % 11 == 5 else ["red", "blue", "grün"][i * i % 3] for i in range(N)],
        "size": [None if i % 7 == 3 else x for i, x in enumerate((rng.normal(size=N) * 1e3).tolist())],
        "known": rng.integers(0, 2, N).tolist(),
        "shape": [["round", "square"][i // 2 % 2] for i in range(N)],
        "body": [f"{WORDS[i % 5]} number{i}" for i in range(N)],
        "year": rng.integers(1900, 2000, N).tolist(),
        LABEL: [["ham", "spam", "late"][0 if i < 30 else i % 3] for i in range(N)],
    }


def rows() -> list[dict[str, Any]]:
    table = columns()
    return [{name: values[i] for name, values in table.items()} for i in range(N)]


def model_bytes(data: Any, **settings: Any) -> bytes:
    return bytes(weigh.Perceptron(**settings).fit(data, LABEL).model_.to_bytes())


@pytest.fixture(params=SETTINGS, scope="module")
def fitted_settings(request: pytest.FixtureRequest) -> tuple[dict[str, Any], bytes]:
    """Return settings and the bytes of the model fitted with them."""
    settings = SETTINGS[request.param]
    return settings, model_bytes(columns(), **settings)


def chunked_arrow() -> pa.Table:
    whole = pa.table(columns())
    return pa.concat_tables([whole.slice(0, 7), whole.slice(7, 0), whole.slice(7, 31), whole.slice(38)])


def stream() -> pa.RecordBatchReader:
    whole = pa.table(columns())
    return pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=9))


TABLES: dict[str, Callable[[], Any]] = {
    "list of dicts": rows,
    "pandas": lambda: pd.DataFrame(columns()),
    "pandas categorical": lambda: pd.DataFrame(columns()).astype({"colour": "category", LABEL: "category"}),
    "polars": lambda: pl.DataFrame(columns()),
    "Arrow": lambda: pa.table(columns()),
    "Arrow in pieces": chunked_arrow,
    "Arrow stream": stream,
}


@pytest.mark.parametrize("storage", TABLES)
def test_tables_give_the_same_bytes(storage: str, fitted_settings: Any) -> None:
    settings, expected = fitted_settings
    assert model_bytes(TABLES[storage](), **settings) == expected


def json_lines(path: Path) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows()), encoding="utf-8")


FILES: dict[str, Callable[[Path], None]] = {
    "table.csv": lambda path: pd.DataFrame(columns()).to_csv(path, index=False),
    "table.parquet": lambda path: pq.write_table(pa.table(columns()), path, row_group_size=13),
    "table.jsonl": json_lines,
}


@pytest.mark.parametrize("name", FILES)
def test_files_give_the_same_bytes(name: str, fitted_settings: Any, tmp_path: Path) -> None:
    settings, expected = fitted_settings
    FILES[name](tmp_path / name)
    assert model_bytes(weigh.open(tmp_path / name, label=LABEL), **settings) == expected


@pytest.mark.parametrize("size", [1, 7, 59])
@pytest.mark.parametrize("cores", [1, 4])
def test_chunks_and_threads_give_the_same_bytes(
    size: int, cores: int, fitted_settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, expected = fitted_settings
    monkeypatch.setattr(Schema, "chunk_rows", size)
    monkeypatch.setattr(parallel, "available_cores", lambda: cores)
    assert model_bytes(columns(), **settings) == expected
    FILES["table.csv"](tmp_path / "table.csv")
    assert model_bytes(weigh.open(tmp_path / "table.csv", label=LABEL), **settings) == expected


@pytest.mark.parametrize("size", [7, 1000])
def test_rereading_rows_in_every_pass_gives_the_same_bytes(
    size: int, fitted_settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = fitted_settings[0] | {"shuffle": False}
    expected = model_bytes(columns(), **settings)
    monkeypatch.setattr(Schema, "chunk_rows", size)
    monkeypatch.setattr(dataset, "MAX_CACHED_BYTES", 0)
    FILES["table.csv"](tmp_path / "table.csv")
    assert model_bytes(weigh.open(tmp_path / "table.csv", label=LABEL), **settings) == expected


def test_reread_rows_are_shuffled_within_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, in_order = model_bytes(columns(), max_iter=2), model_bytes(columns(), max_iter=2, shuffle=False)
    monkeypatch.setattr(Schema, "chunk_rows", 20)
    monkeypatch.setattr(dataset, "MAX_CACHED_BYTES", 0)
    FILES["table.csv"](tmp_path / "table.csv")
    found = [model_bytes(weigh.open(tmp_path / "table.csv", label=LABEL), max_iter=2) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] not in (expected, in_order)


def test_dense_and_sparse_matrices_give_the_same_bytes(fitted_settings: Any) -> None:
    settings = {name: value for name, value in fitted_settings[0].items() if name not in ("columns", "scale")}
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.5)
    y = rng.integers(0, 3, 40)
    learner = weigh.Perceptron(**settings)
    expected = learner.fit(X, y).model_.to_bytes()
    csr = sparse.csr_matrix(X)
    zeros = sparse.csr_matrix((X.ravel(), np.tile(np.arange(6), 40), np.arange(0, 241, 6)), shape=X.shape)
    backward = sparse.csr_matrix(
        (X[:, ::-1].ravel(), np.tile(np.arange(6)[::-1], 40), np.arange(0, 241, 6)), shape=X.shape
    )
    halves = sparse.csr_matrix(
        (np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(6), 40), 2), np.arange(0, 481, 12)),
        shape=X.shape,
    )
    same = (X.tolist(), np.asfortranarray(X), csr, csr.tocsc(), csr.tocoo(), zeros, backward, halves)
    for data in same:
        assert learner.fit(data, y).model_.to_bytes() == expected
        np.testing.assert_array_equal(learner.decision_function(data), learner.decision_function(X))


def test_a_sparse_file_equals_its_matrix(fitted_settings: Any, tmp_path: Path) -> None:
    settings = {name: value for name, value in fitted_settings[0].items() if name != "columns"}
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (30, 5)) * 0.5, rng.integers(0, 3, 30)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row) if x)
        for row, label in zip(X, y, strict=True)
    ]
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    found = weigh.Perceptron(**settings).fit(weigh.open(tmp_path / "rows.svm"))
    expected = weigh.Perceptron(**settings).fit(X, y)
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    assert found.certificate_ == expected.certificate_
    (tmp_path / "narrow.svm").write_text("0 1:1\n1 2:2\n")
    narrow = np.array([[1.0, 0, 0, 0, 0], [0, 2.0, 0, 0, 0]])
    np.testing.assert_array_equal(
        found.decision_function(weigh.open(tmp_path / "narrow.svm")), expected.decision_function(narrow)
    )


@pytest.mark.parametrize("columns", ["auto", {"c": "category"}])
@pytest.mark.parametrize(
    ("first", "second", "same"),
    [("1", "x", ["1", "01", "1", "2.0"]), ("1", "2", [1, 1, 1, 2])],
)
def test_digits_in_a_file_match_the_levels_of_training(
    columns: Any, first: str, second: str, same: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "train.csv").write_text(
        "c,d,y\n" + f"{first},a,no\n{first},b,no\n{second},a,yes\n{second},b,yes\n"
    )
    (tmp_path / "new.csv").write_text("c,d\n1,a\n01,b\n1,b\n2.0,a\n")
    learner = weigh.Perceptron("last", columns=columns).fit(weigh.open(tmp_path / "train.csv", label="y"))
    found = learner.decision_function(weigh.open(tmp_path / "new.csv"))
    expected = learner.decision_function({"c": same, "d": ["a", "b", "b", "a"]})
    np.testing.assert_array_equal(found, expected)


MAILS = [("free money now now", "spam"), ("see you at noon", "ham"), ("money for lunch", "spam"), ("", "ham")]


@pytest.mark.parametrize(
    "kind",
    [weigh.Text(), weigh.Text(counts=False, ngrams=(1, 2)), weigh.Text(buckets=8), weigh.Text(min_count=2)],
)
@pytest.mark.parametrize("keep", ["averaged", "voted"])
def test_texts_in_lists_frames_files_and_folders_give_the_same_model(
    kind: Any, keep: str, tmp_path: Path
) -> None:
    texts, labels = [text for text, _ in MAILS], [label for _, label in MAILS]
    table = {"text": texts, "label": labels}
    pd.DataFrame(table).to_csv(tmp_path / "mails.csv", index=False)
    for at, (text, label) in enumerate(sorted(MAILS, key=lambda mail: mail[1])):
        (tmp_path / "mails" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "mails" / label / f"{at}.txt").write_text(text)

    def weights(learner: weigh.Perceptron) -> Any:
        model = learner.model_.keep("last") if keep == "voted" else learner.model_
        return model.features, np.asarray(model.coef).tolist(), float(model.intercept)

    def learned(data: Any, y: Any = None) -> weigh.Perceptron:
        return weigh.Perceptron(keep, shuffle=False, columns={"text": kind}).fit(data, y)

    expected = learned(table, "label")
    assert learner_bytes(learned(pd.DataFrame(table), "label")) == learner_bytes(expected)
    assert weights(learned(weigh.open(tmp_path / "mails.csv", label="label"))) == weights(expected)
    alone = weigh.Perceptron(keep, shuffle=False, columns=kind).fit(texts, labels)
    assert weights(alone)[1:] == weights(expected)[1:]
    folder = learned(weigh.open(tmp_path / "mails"))
    in_order = sorted(MAILS, key=lambda mail: mail[1])
    again = {"text": [text for text, _ in in_order], "label": [label for _, label in in_order]}
    assert weights(folder) == weights(learned(again, "label"))


def learner_bytes(learner: weigh.Perceptron) -> bytes:
    return bytes(learner.model_.to_bytes())


@pytest.mark.filterwarnings("ignore::weigh.errors.UnlikeScales")
@law
@given(
    seed=st.integers(0, 2**31 - 1),
    keep=st.sampled_from(["last", "averaged", "lazy", "voted"]),
    classes=st.integers(2, 4),
    size=st.integers(1, 12),
)
def test_random_tables_give_the_same_bytes_in_any_chunks(
    seed: int, keep: str, classes: int, size: int
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(classes, 40))
    words = rng.choice(["free", "money", "noon", "lunch", "été"], (n, 4))
    table = {
        "n": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) * 10.0 ** rng.integers(-5, 5, n)),
        "c": [None if k == 4 else "abcd"[k] for k in rng.integers(0, 5, n)],
        "t": [" ".join(row) for row in words],
        "y": (np.arange(n) % classes).tolist(),
    }
    assume(len({level for level in table["c"] if level}) != 2)
    kinds = {"n": "number", "c": "category", "t": weigh.Text(buckets=4) if seed % 2 else "text"}
    learner = weigh.Perceptron(keep, columns=kinds, random_state=seed, max_iter=3)
    expected = learner.fit(table, "y").model_.to_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Schema, "chunk_rows", size)
        assert learner.fit(pa.table(table), "y").model_.to_bytes() == expected


def test_only_the_seed_determines_the_order() -> None:
    same = [model_bytes(columns(), random_state=seed, max_iter=2) for seed in (3, np.int64(3), 3)]
    assert len(set(same)) == 1
    assert len({model_bytes(columns(), random_state=seed, max_iter=2) for seed in range(5)}) == 5
    drawn = [
        model_bytes(columns(), random_state=np.random.RandomState(seed), max_iter=2) for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len({model_bytes(columns(), random_state=seed, shuffle=False) for seed in range(3)}) == 1
