"""Words of texts: the same from every storage, and what happens to those that are missing or odd."""

from __future__ import annotations

import csv
import itertools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from tests.splitting import split, split_all
from tests.texts import MULTILINGUAL
from weigh import errors
from weigh.features.names import NameArray
from weigh.features.words import TextBlock, encode_texts, encode_tokens
from weigh.judge.verification.recount import tokenise_text as plainly
from weigh.source.chunk import ListColumn, TextColumn

# What every storage can hold: no half pairs, which no encoding knows, and a few missing texts.
WHOLE = [text for text in MULTILINGUAL if text.isascii() or "\\ud" not in ascii(text)]
GAPPY: list[Any] = [None if i % 5 == 3 else text for i, text in enumerate(WHOLE)]
KIND = weigh.Text(ngrams=(1, 2), min_length=1)


def expected(texts: list[Any], kind: weigh.Text = KIND) -> list[list[str]]:
    return [[] if text is None else sorted(plainly(text, kind)) for text in texts]


def as_texts(texts: list[Any]) -> TextColumn:
    """Every other text lies among the spilled ones."""
    pieces = [(text or "").encode() for text in texts]
    sizes = np.array([-1 if text is None else len(p) for text, p in zip(texts, pieces, strict=True)])
    data, spilled, begins = bytearray(), bytearray(), []
    for i, piece in enumerate(pieces):
        into = spilled if i % 2 else data
        begins.append(~len(into) if i % 2 else len(into))
        into += piece
    held = (np.frombuffer(bytes(each), np.uint8) for each in (data, spilled))
    return TextColumn(np.array(begins), sizes, *held)


def sliced(texts: list[Any], storage: Any) -> Any:
    return pa.array(["before", None, *texts, "behind"], storage).slice(2, len(texts))


STORAGES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "object array": lambda texts: np.array(texts, dtype=object),
    "strided object array": lambda texts: np.repeat(np.array(texts, dtype=object), 3)[1::3],
    "Arrow string": lambda texts: sliced(texts, pa.string()),
    "Arrow large_string": lambda texts: sliced(texts, pa.large_string()),
    "Arrow string_view": lambda texts: sliced(texts, pa.string_view()),
    "Arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "Arrow chunks": lambda texts: pa.chunked_array([texts[:5], [], texts[5:]], pa.string()),
    "Series of objects": lambda texts: pd.Series(texts, dtype=object, index=range(7, 7 + len(texts))),
    "Series of str": lambda texts: pd.Series(texts, dtype="str"),
    "Series of nullable strings": lambda texts: pd.Series(texts, dtype="string"),
    "Series of Arrow strings": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "polars Series": lambda texts: pl.Series("text", texts, dtype=pl.String),
    "frame": lambda texts: pd.DataFrame({"text": texts}),
    "polars frame": lambda texts: pl.DataFrame({"text": texts}),
    "table": lambda texts: pa.table({"text": texts}),
    "dict": lambda texts: {"text": texts},
}


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("texts", [WHOLE, GAPPY], ids=["whole", "with gaps"])
def test_every_storage_gives_the_same_words(storage: str, texts: list[Any]) -> None:
    found = split_all(STORAGES[storage](texts), KIND)
    assert [sorted(row) for row in found] == expected(texts)


def test_an_array_of_fixed_width_gives_the_same_words() -> None:
    # NumPy drops the nulls at the end of a string of fixed width.
    texts = [text.rstrip("\0") for text in WHOLE]
    found = split_all(np.array(texts, dtype=np.str_), KIND)
    assert [sorted(row) for row in found] == expected(texts)


@pytest.mark.parametrize("texts", [WHOLE, GAPPY], ids=["whole", "with gaps"])
def test_text_spans_in_a_buffer_give_the_same_words(texts: list[Any]) -> None:
    block = encode_texts(as_texts(texts), "body", KIND, [])
    assert known(block, len(texts)) == [text is not None for text in texts]
    assert rows_of(block) == [sorted(set(row)) for row in expected(texts)]


def known(block: TextBlock, rows: int) -> list[bool]:
    return [True] * rows if block.known is None else block.known.tolist()


def rows_of(block: TextBlock) -> list[list[str]]:
    """The distinct words of every row, sorted."""
    found = block.to_sparse()
    names = list(found.names)
    ends = found.rows.indptr.tolist()
    return [sorted(names[k] for k in found.rows.indices[a:b]) for a, b in itertools.pairwise(ends)]


def write(path: Path, texts: list[str]) -> None:
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["text"], *([text] for text in texts)])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    else:
        pq.write_table(pa.table({"text": texts}), path)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_every_file_gives_the_same_words(ending: str, tmp_path: Path) -> None:
    # In a CSV an empty cell is missing; neither it nor an empty text has words.
    path = tmp_path / f"texts{ending}"
    write(path, WHOLE)
    assert [sorted(row) for row in split_all(weigh.open(path), KIND)] == expected(WHOLE)


def test_lone_surrogates_are_kept() -> None:
    text = "half\ud800 \udc00pair"
    assert split(text, weigh.Text(chars=True)) == list(text)
    assert split(text, weigh.Text()) == ["half", "pair"]


def test_markers_of_missing_values_are_not_texts() -> None:
    for column in (
        np.array(["NA", "one two", "NA two", "été"], dtype=object),
        pa.array(["NA", "one two", "NA two", "été"]),
        as_texts(["NA", "one two", "NA two", "été"]),
    ):
        block = encode_texts(column, "body", KIND, ["NA", "été", 7])
        assert known(block, 4) == [False, True, True, False]
        assert rows_of(block) == [[], ["one", "one two", "two"], ["na", "na two", "two"], []]


def test_one_row_of_a_block_is_that_row() -> None:
    for column in (np.array(GAPPY, dtype=object), pa.array(GAPPY), as_texts(GAPPY)):
        block = encode_texts(column, "body", KIND, [])
        rows = rows_of(block)
        for i in range(block.n_rows):
            one = block.row(i)
            assert known(one, 1) == [GAPPY[i] is not None]
            assert rows_of(one) == [rows[i]]


@pytest.mark.parametrize("texts", [WHOLE, GAPPY], ids=["whole", "with gaps"])
def test_a_block_survives_pickling(texts: list[Any]) -> None:
    for column in (np.array(texts, dtype=object), pa.array(texts), as_texts(texts)):
        block = encode_texts(column, "body", KIND, [])
        copy = pickle.loads(pickle.dumps(block))
        assert known(copy, len(texts)) == known(block, len(texts))
        assert rows_of(copy) == rows_of(block)


LISTS: list[Any] = [["A b", "c"], [], None, ["c", "c", "中"], ["", "x" * 40]]


def as_lists(rows: list[Any]) -> ListColumn:
    flat = NameArray.from_strings([name for row in rows for name in row or ()])
    texts = TextColumn(flat.offsets[:-1], np.diff(flat.offsets), flat.text)
    indptr = np.cumsum([0, *(len(row or ()) for row in rows)])
    return ListColumn(indptr, texts, None, np.array([row is not None for row in rows]))


LIST_STORAGES: dict[str, Callable[[list[Any]], Any]] = {
    "dict": lambda rows: {"tags": rows},
    "pandas": lambda rows: pd.DataFrame({"tags": rows}),
    "polars": lambda rows: pl.DataFrame({"tags": rows}),
    "Arrow": lambda rows: pa.table({"tags": rows}),
    "Arrow slice": lambda rows: pa.table({"tags": [["before"], *rows, ["behind"]]}).slice(1, len(rows)),
    "Arrow large_list": lambda rows: pa.table({"tags": pa.array(rows, pa.large_list(pa.large_string()))}),
}


@pytest.mark.parametrize("storage", LIST_STORAGES)
def test_lists_of_every_storage_give_the_same_names(storage: str) -> None:
    found = split_all(LIST_STORAGES[storage](LISTS), weigh.Tokens())
    assert found == [row or [] for row in LISTS]


def test_list_spans_in_a_buffer_give_the_same_names() -> None:
    block = encode_tokens(as_lists(LISTS), "tags", weigh.Tokens(), [])
    assert known(block, 5) == [True, True, False, True, True]
    assert rows_of(block) == [sorted(set(row or ())) for row in LISTS]
    assert [rows_of(block.row(i))[0] for i in range(5)] == rows_of(block)
    assert rows_of(pickle.loads(pickle.dumps(block))) == rows_of(block)


def test_a_list_of_texts_trains_and_explains_by_word() -> None:
    nb = weigh.NaiveBayes().fit(
        ["free money now", "lunch at noon", "free free lunch"], ["spam", "ham", "spam"]
    )
    evidence = nb.explain(["free free unheard lunch"])[0]
    assert [(row.feature, row.value) for row in evidence.table] == [
        ("class prior", ""),
        ("text: free", "× 2"),
        ("text: lunch", "× 1"),
    ]


def test_rare_words_are_pruned_at_the_end_and_not_in_the_counts() -> None:
    texts, y = ["good good rare", "bad bad", "good bad"], [1, 0, 1]
    kind = weigh.Text(min_count=2)
    first = weigh.NaiveBayes(kind).partial_fit(texts[:2], y[:2]).partial_fit(texts[2:], y[2:])
    assert first.model_.distributions[0].words == ["bad", "good"]
    assert first.model_.counts.parts[0].names == ["bad", "good", "rare"]
    first.partial_fit(["rare once more"], [0])
    assert "rare" in first.model_.distributions[0].words


def test_tokens_are_counted_as_they_are() -> None:
    nb = weigh.NaiveBayes({"tags": weigh.Tokens(counts=False)})
    nb.fit({"tags": [["A b", "c"], ["c", "c"]], "y": [0, 1]}, "y")
    assert nb.model_.counts.parts[0].present.names == ["A b", "c"]
    assert nb.model_.counts.parts[0].present.table.tolist() == [[1, 1], [0, 1]]


def test_a_missing_text_is_neither_present_nor_absent() -> None:
    nb = weigh.NaiveBayes({"body": weigh.Text(counts=False)})
    nb.fit({"body": ["one two", None, "two three", "one"], "y": [0, 0, 1, 1]}, "y")
    assert nb.model_.counts.parts[0].known.tolist() == [[1], [2]]
    prior = np.log([0.5, 0.5])
    assert np.allclose(nb.model_.scores({"body": [None]}), prior)


TEXT_ERROR = (
    "Column 'body' contains text, but one value is 3. Convert it to a string, or give the column another "
    "kind, such as columns={'body': 'category'}."
)
LIST_ERROR = "Column 'tags' contains lists of tokens, but one value is {}. Give every row a list of strings."


def test_a_value_that_is_not_text_is_reported() -> None:
    with pytest.raises(errors.ColumnError) as told:
        weigh.NaiveBayes({"body": "text"}).fit({"body": ["a b", 3], "y": [0, 1]}, "y")
    assert str(told.value) == TEXT_ERROR


@pytest.mark.parametrize("odd", [[1], ["a", None], 7, "plain"])
def test_a_value_that_is_not_a_list_of_names_is_reported(odd: Any) -> None:
    with pytest.raises(errors.ColumnError) as told:
        weigh.NaiveBayes({"tags": "tokens"}).fit({"tags": [["a"], odd], "y": [0, 1]}, "y")
    assert str(told.value) == LIST_ERROR.format(repr(odd))


def test_a_text_has_no_ngrams_longer_than_itself() -> None:
    runs = split("one two three", weigh.Text(ngrams=(2, 10**12)))
    assert sorted(runs) == ["one two", "one two three", "two three"]


def test_texts_are_unaffected_by_changes_of_their_array() -> None:
    given = np.array([f"word{i} other{i}" for i in range(1000)], dtype=object)
    block = weigh.Text().encode({"text": given}, ["text"], ())
    expected = block.to_sparse().names
    given[:] = None
    assert list(block.to_sparse().names) == list(expected)
