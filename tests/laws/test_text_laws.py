"""Laws for text and tokens, exact and hashed: merging, forgetting, threads, storage, evidence."""

from __future__ import annotations

import csv
import itertools
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from tests.laws.test_threads import Streamed
from weigh import errors
from weigh.engines import run
from weigh.learn import BayesTask

law = settings(max_examples=60, derandomize=True, deadline=None, database=None)

EXACT: dict[str, Any] = {
    "words": weigh.Text(),
    "presence": weigh.Text(counts=False),
    "pairs": weigh.Text(ngrams=(1, 2), min_length=1, lowercase=False),
    "characters": weigh.Text(chars=True, ngrams=(1, 3)),
    "within words": weigh.Text(False, chars="words", ngrams=(2, 4), strip_accents=True),
    "pruned": weigh.Text(min_count=2, max_words=4, stop_words="english"),
    "tokens": weigh.Tokens(),
    "token presence": weigh.Tokens(counts=False, min_count=2),
    "tf-idf": weigh.Text(weighting="tfidf", norm="l2", ngrams=(1, 2)),
    "pruned tf-idf": weigh.Text(weighting="log-tfidf", norm="l2", min_count=2, max_words=4),
    "shares": weigh.Text(norm="l1"),
    "log tokens": weigh.Tokens(weighting="log"),
}
HASHED: dict[str, Any] = {
    "buckets": weigh.Text(buckets=16, ngrams=(1, 2)),
    "presence in buckets": weigh.Text(counts=False, buckets=8),
    "characters in buckets": weigh.Text(chars="words", ngrams=(3, 3), buckets=2),
    "token buckets": weigh.Tokens(buckets=4),
    "tf-idf in buckets": weigh.Text(weighting="log-tfidf", norm="l2", buckets=16),
}
KINDS = EXACT | HASHED
WORDS = ["free", "Money", "noon", "ÉTÉ", "été", "naïve", "x1", "the", "中文", "a", "donau" * 5, "ΟΔΟΣ", "😀"]
Row = tuple[str | None, str]


def some_rows(labels: str = "ab", min_size: int = 1, max_size: int = 10) -> st.SearchStrategy[list[Row]]:
    texts = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
    return st.lists(
        st.tuples(st.none() | texts, st.sampled_from(labels)), min_size=min_size, max_size=max_size
    )


def table(rows: list[Row], kind: Any) -> dict[str, list[Any]]:
    is_text = isinstance(kind, weigh.Text)
    body = [text if text is None or is_text else text.split() for text, _ in rows]
    return {"body": body, "class": [label for _, label in rows]}


def fit_model(rows: list[Row], kind: Any, **settings: Any) -> Any:
    learner = weigh.NaiveBayes({"body": kind}, threads=1, **settings)
    return learner.fit(table(rows, kind), "class").model_


ANY = st.sampled_from(sorted(KINDS))


@law
@given(ANY, some_rows(), some_rows("bc"))
def test_merging_equals_fitting_all_rows(name: str, first: list[Row], second: list[Row]) -> None:
    kind = KINDS[name]
    a, b = fit_model(first, kind), fit_model(second, kind)
    whole = fit_model(first + second, kind).to_bytes()
    assert a.merge(b).to_bytes() == whole
    assert b.merge(a).to_bytes() == whole


@law
@given(ANY, some_rows(), st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(name: str, rows: list[Row], rng: Any) -> None:
    shuffled = rng.sample(rows, len(rows))
    assert fit_model(shuffled, KINDS[name]).to_bytes() == fit_model(rows, KINDS[name]).to_bytes()


@law
@given(ANY, some_rows("abc", max_size=25), st.integers(1, 6))
def test_any_threads_and_chunks_give_the_same_bytes(name: str, rows: list[Row], size: int) -> None:
    whole = fit_model(rows, KINDS[name])
    source = Streamed(weigh.rows(table(rows, KINDS[name]), "class"), size)
    for threads in (1, 2, 5):
        assert run(BayesTask(whole.schema), source, threads=threads).to_bytes() == whole.to_bytes()


@law
@given(st.sampled_from(sorted(EXACT)), some_rows(), some_rows("bc"))
def test_forgetting_undoes_learning_exactly(name: str, kept: list[Row], forgotten: list[Row]) -> None:
    kind = EXACT[name]
    expected = fit_model(kept, kind).to_bytes()
    assert fit_model(kept + forgotten, kind).forget(table(forgotten, kind)).to_bytes() == expected
    learner = weigh.NaiveBayes({"body": kind}).fit(table(kept, kind), "class")
    learner.partial_fit(table(forgotten, kind), "class").forget(table(forgotten, kind), "class")
    assert learner.model_.to_bytes() == expected


@law
@given(st.sampled_from(sorted(HASHED)), some_rows(), some_rows("bc"))
def test_forgetting_hashed_text_restores_all_but_bucket_names(
    name: str, kept: list[Row], forgotten: list[Row]
) -> None:
    kind = HASHED[name]
    never, both = fit_model(kept, kind), fit_model(kept + forgotten, kind)
    after = both.forget(table(forgotten, kind))
    (meta, arrays), (other_meta, others) = after.to_store(), never.to_store()
    names = "part0.present.names" if not kind.counts else "part0.names"
    before = both.to_store()[0][names]
    used = [bool(other) for other in other_meta[names]]
    expected = [had if is_used else "" for had, is_used in zip(before, used, strict=True)]
    assert meta[names] == expected
    assert meta | {names: 0} == other_meta | {names: 0}
    assert arrays.keys() == others.keys()
    assert all(np.array_equal(arrays[key], others[key]) for key in arrays)
    rows = table(kept + forgotten, kind)
    np.testing.assert_array_equal(after.scores(rows), never.scores(rows))


@law
@given(ANY, some_rows())
def test_unlearned_rows_cannot_be_forgotten(name: str, rows: list[Row]) -> None:
    kind = KINDS[name]
    model = fit_model(rows, kind)
    before = model.to_bytes()
    with pytest.raises(errors.MergeError):
        model.forget(table([*rows, ("free", "a")], kind))
    assert model.to_bytes() == before


@law
@given(ANY, some_rows(), some_rows(), st.sampled_from([1.0, 0.25, weigh.Dirichlet(2.0)]))
def test_contributions_sum_to_the_score(name: str, rows: list[Row], new_rows: list[Row], prior: Any) -> None:
    kind = KINDS[name]
    model = fit_model(rows, kind, prior=prior)
    new_table = table(new_rows, kind)
    for evidence, scores in zip(model.explain(new_table), model.scores(new_table), strict=True):
        best = model.classes.index(evidence.verdict)
        against = 0.0 if evidence.runner_up is None else scores[model.classes.index(evidence.runner_up)]
        assert evidence.total == pytest.approx(scores[best] - against, abs=1e-9)
        assert math.fsum(row.nats for row in evidence.table) == pytest.approx(evidence.total, abs=1e-12)


@law
@given(ANY, some_rows(), some_rows())
def test_a_saved_model_loads_unchanged(name: str, rows: list[Row], new_rows: list[Row]) -> None:
    kind = KINDS[name]
    model = fit_model(rows, kind)
    back = save_and_load(model)
    assert back.to_bytes() == model.to_bytes()
    np.testing.assert_array_equal(back.scores(table(new_rows, kind)), model.scores(table(new_rows, kind)))


def save_and_load(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "text.weigh")
        return weigh.load(Path(folder) / "text.weigh")


@law
@given(ANY, some_rows("abc"))
def test_integer_weights_equal_repeated_rows(name: str, rows: list[Row]) -> None:
    kind = KINDS[name]
    weights = [k % 3 + 1 for k in range(len(rows))]
    learner = weigh.NaiveBayes({"body": kind}).fit(table(rows, kind), "class", sample_weight=weights)
    repeated = [row for row, n in zip(rows, weights, strict=True) for _ in range(n)]
    assert learner.model_.to_bytes() == fit_model(repeated, kind).to_bytes()


@pytest.mark.parametrize(
    ("counts", "lower", "strip", "chars", "ngrams", "buckets"),
    list(itertools.product(*[(True, False)] * 3, (False, True, "words"), ((1, 1), (2, 3)), (None, 8))),
)
def test_every_setting_of_text_is_verified(
    counts: bool, lower: bool, strip: bool, chars: Any, ngrams: tuple[int, int], buckets: int | None
) -> None:
    kind = weigh.Text(
        counts, lowercase=lower, strip_accents=strip, chars=chars, ngrams=ngrams, buckets=buckets,
        stop_words=["free"],
    )  # fmt: skip
    rows: list[Row] = [(" ".join(WORDS[i % 7 : i % 11]) + "  ok\t", "ab"[i % 2]) for i in range(25)]
    rows += [(None, "a"), ("", "b"), (" ".join(WORDS), "c")]
    check_verified(rows, kind)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_verified(name: str) -> None:
    rows: list[Row] = [(" ".join(WORDS[i % 7 : i % 13]), "ab"[i % 2]) for i in range(40)]
    check_verified([*rows, (None, "b")], KINDS[name])


def check_verified(rows: list[Row], kind: Any) -> None:
    model = fit_model(rows, kind)
    assert weigh.verify(model, table(rows, kind), "class").ok
    changed = [("noon free noon", rows[0][1]), *rows[1:]]
    assert not weigh.verify(model, table(changed, kind), "class").ok


BODIES = [" ".join(WORDS[i % 5 : i % 5 + 2 + i % 4]) + f" number{i}" for i in range(60)]
LABELS = ["ab"[i * i % 3 % 2] for i in range(60)]


def write(path: Path, body: list[Any]) -> None:
    rows = [{"body": text, "class": label} for text, label in zip(body, LABELS, strict=True)]
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["body", "class"], *(row.values() for row in rows)])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.table({"body": body, "class": LABELS}), path, row_group_size=7)


@pytest.mark.parametrize("name", KINDS)
def test_every_storage_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    is_text = isinstance(kind, weigh.Text)
    body: list[Any] = BODIES if is_text else [text.split() for text in BODIES]
    columns = {"body": body, "class": LABELS}
    learner = weigh.NaiveBayes({"body": kind})
    expected = learner.fit(columns, "class").model_.to_bytes()
    for data in (pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns)):
        assert learner.fit(data, "class").model_.to_bytes() == expected
    for ending in (".csv", ".jsonl", ".parquet") if is_text else (".jsonl", ".parquet"):
        write(tmp_path / f"rows{ending}", body)
        model = learner.fit(weigh.open(tmp_path / f"rows{ending}", label="class")).model_
        assert model.to_bytes() == expected
