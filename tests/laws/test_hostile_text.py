"""Law 10 for text: invalid UTF-8, lone surrogates, huge and empty texts."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from tests.splitting import split
from weigh import errors

law = settings(max_examples=40, derandomize=True, deadline=None, database=None)
PIECES = [
    b"caf\xc3\xa9",
    b"caf\xe9",
    b"\xff\xfe",
    b"\xe4\xb8",
    b"\xf0\x9f\x98",
    b"\x80",
    b"\xc0\x80",
    b"\0",
    b"ok",
    b" ",
]


def unchecked_strings(pieces: list[bytes]) -> Any:
    """Return Arrow strings of bytes that were not checked to be UTF-8."""
    return pa.array(pieces, pa.binary()).view(pa.string())


def random_bytes(seed: int, rows: int) -> list[bytes]:
    rng = random.Random(seed)
    strings = [b"".join(rng.choices(PIECES, k=rng.randint(0, 9))) for _ in range(rows)]
    return strings + [bytes(rng.choices(range(256), k=rng.randint(0, 90))) for _ in range(rows)]


@pytest.mark.parametrize(
    "kind", [weigh.Text(), weigh.Text(chars=True), weigh.Text(False, buckets=16)], ids=str
)
def test_invalid_utf8_is_read_with_replacement_characters(kind: weigh.Text, tmp_path: Path) -> None:
    raw = random_bytes(1, 60)
    # Python replaces the three bytes of an encoded surrogate one by one, so they are removed here.
    raw = [piece.replace(b"\xed", b"") for piece in raw]
    y = ["ab"[i % 2] for i in range(len(raw))]
    learner = weigh.NaiveBayes({"body": kind})
    expected = learner.fit({"body": [piece.decode("utf-8", "replace") for piece in raw]}, y).model_
    for binary, storage in (
        (pa.binary(), pa.string()),
        (pa.large_binary(), pa.large_string()),
        (pa.binary_view(), pa.string_view()),
    ):
        table = pa.table({"body": pa.array(raw, binary).view(storage)})
        model = learner.fit(table, y).model_
        assert model.to_bytes() == expected.to_bytes()
        np.testing.assert_array_equal(model.scores(table), expected.scores(table))
        assert [e.verdict for e in model.explain(table)] == model.predict(table).tolist()
    expected.save(tmp_path / "bytes.weigh")
    assert weigh.load(tmp_path / "bytes.weigh").to_bytes() == expected.to_bytes()


def test_kind_inference_refuses_invalid_utf8() -> None:
    rows = pa.table({"body": unchecked_strings([b"one \xff%d two" % i for i in range(50)]), "y": [0, 1] * 25})
    with pytest.raises(errors.WeighError):
        weigh.NaiveBayes().fit(rows, "y")


def test_lists_of_invalid_utf8_are_refused() -> None:
    names = unchecked_strings([b"ab\xff", b"\x80", b"cc"])
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), names)
    with pytest.raises(errors.WeighError):
        weigh.NaiveBayes({"tags": "tokens"}).fit(pa.table({"tags": lists, "y": [0, 1]}), "y")


@law
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=8))
def test_random_bytes_in_a_file_are_read_or_refused(lines: list[bytes]) -> None:
    rows = b"".join(b'"%s",%d\n' % (line.replace(b'"', b'""'), i % 2) for i, line in enumerate(lines))
    learner = weigh.NaiveBayes({"body": weigh.Text(chars=True)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.csv"
        path.write_bytes(b"body,y\n" + rows)
        if not all(map(is_utf8, lines)):
            with pytest.raises(errors.SourceError, match="is not UTF-8 text"):
                learner.fit(weigh.open(path, label="y", encoding="utf-8"))
            return
        model = learner.fit(weigh.open(path, label="y", encoding="utf-8")).model_
    # An empty cell is missing and, like an empty text, contributes nothing.
    plain = {"body": [line.decode() or None for line in lines], "y": [i % 2 for i in range(len(lines))]}
    assert model.to_bytes() == learner.fit(plain, "y").model_.to_bytes()


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


SURROGATES = ["a\ud800b", "\udfff cc\udc00", "\ud83d\ude00", "whole 😀"]


@pytest.mark.parametrize(
    "kind", [weigh.Text(chars=True, ngrams=(1, 2)), weigh.Text(), weigh.Tokens()], ids=str
)
def test_lone_surrogates_are_learned_explained_and_saved(kind: Any, tmp_path: Path) -> None:
    body: list[Any] = SURROGATES if isinstance(kind, weigh.Text) else [list(text) for text in SURROGATES]
    rows = {"body": body, "y": ["\ud800", "b", "\ud800", "b"]}
    model = weigh.NaiveBayes({"body": kind}).fit(rows, "y").model_
    explanations = model.explain(rows)
    assert [evidence.verdict for evidence in explanations] == model.predict(rows).tolist()
    assert all("nats" in str(evidence) for evidence in explanations)
    model.save(tmp_path / "halves.weigh")
    back = weigh.load(tmp_path / "halves.weigh")
    assert back.to_bytes() == model.to_bytes()
    np.testing.assert_array_equal(back.scores(rows), model.scores(rows))
    assert weigh.verify(model, rows, "y").ok


def test_null_characters_are_ordinary_characters() -> None:
    assert split("a\0b", weigh.Text(chars=True)) == ["a", "\0", "b"]
    assert split("one\0two", weigh.Text()) == ["one", "two"]
    rows = {"body": ["aa\0aa", "aa\0\0"], "tags": [["x\0"], ["x"]], "y": [0, 1]}
    model = weigh.NaiveBayes({"body": weigh.Text(chars=True), "tags": "tokens"}).fit(rows, "y").model_
    assert list(model.counts.parts[0].names) == ["\0", "a"]
    assert list(model.counts.parts[1].names) == ["x", "x\0"]
    assert model.predict(rows).tolist() == [0, 1]


KINDS: list[Any] = [weigh.Text(), weigh.Text(False), weigh.Text(buckets=4), weigh.Text(False, buckets=4)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("body", [["", ""], [None, None], [" . ", None]], ids=str)
def test_empty_texts_predict_the_class_prior(kind: Any, body: list[Any]) -> None:
    model = weigh.NaiveBayes({"body": kind}).fit({"body": body, "y": ["a", "b"]}, "y").model_
    np.testing.assert_array_equal(model.predict_proba({"body": [None]}), [[0.5, 0.5]])
    if kind.counts:
        np.testing.assert_array_equal(model.predict_proba({"body": ["", "unheard word"]}), [[0.5, 0.5]] * 2)
    assert len(model.explain({"body": ["unheard", None]})) == 2
    assert weigh.verify(model, {"body": body, "y": ["a", "b"]}, "y").ok


def test_a_huge_word_is_an_ordinary_word() -> None:
    huge = "é" * 5_000_000
    for kind in (weigh.Text(), weigh.Text(buckets=8)):
        rows = {"body": [huge, "small"], "y": ["a", "b"]}
        model = weigh.NaiveBayes({"body": kind}).fit(rows, "y").model_
        assert model.predict(rows).tolist() == ["a", "b"]
    assert split(f"{huge} x", weigh.Text(min_length=5_000_000)) == [huge]
    assert split(f"{huge} x", weigh.Text(min_length=5_000_001)) == []


def test_very_long_ngrams_are_extracted() -> None:
    words = [f"w{k}" for k in range(10_002)]
    assert split(" ".join(words), weigh.Text(ngrams=(10_000, 10_000))) == [
        " ".join(words[start : start + 10_000]) for start in range(3)
    ]
    text = "".join(chr(0x4E00 + k) for k in range(10_002))
    assert split(text, weigh.Text(chars=True, ngrams=(10_000, 10_000))) == [
        text[start : start + 10_000] for start in range(3)
    ]
    short = " ".join(words[:60])
    assert len(split(short, weigh.Text(ngrams=(1, 10_000)))) == 60 * 61 // 2


LARGE_DOCUMENT_PROGRAM = """
import resource, sys, time
import weigh
words = " ".join(f"w{k % 50_000}" for k in range(200_000))
text = (words * (100_000_000 // len(words) + 1))[:100_000_000]
settings = {"plain": {}, "presence": {"counts": False}, "buckets": {"buckets": 2**16}}[sys.argv[1]]
weigh.NaiveBayes(weigh.Text()).fit(["one", "two"], [0, 1])
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
nb = weigh.NaiveBayes(weigh.Text(**settings)).fit([text, "unlike"], ["a", "b"])
assert nb.predict([text]).tolist() == ["a"]
assert nb.explain([text])[0].verdict == "a"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, time.monotonic() - start)
"""


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["plain", "presence", "buckets"])
def test_a_document_of_100_megabytes_needs_bounded_memory_and_time(settings: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", LARGE_DOCUMENT_PROGRAM, settings], capture_output=True, text=True, check=True
    )
    kilobytes, seconds = map(float, result.stdout.split())
    assert kilobytes < 6 * 100_000
    assert seconds < 60
