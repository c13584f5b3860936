from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import weigh
from tests.source.conftest import ErrorReader, read
from weigh.source import open
from weigh.source.chunk import TextColumn

pytestmark = pytest.mark.usefixtures("working_folder")


def test_texts_are_spans_of_the_read_buffer() -> None:
    Path("a.ft").write_text("__label__x one\n__label__y two\n")
    chunk = open("a.ft").prefix()
    column = chunk.columns["text"]
    assert isinstance(column, TextColumn)
    assert (column.starts.tolist(), column.sizes.tolist()) == ([11, 26], [3, 3])
    assert not column.data.flags.owndata


def test_the_column_is_declared_as_text() -> None:
    Path("a.ft").write_text("__label__x one\n__label__y two\n")
    source = open("a.ft")
    assert (source.names, source.named, dict(source.kinds)) == (("text",), True, {"text": "text"})
    assert weigh.NaiveBayes().fit(source).predict({"text": "two"}).tolist() == ["y"]


@pytest.mark.parametrize("name", ["a.ft", "a.fasttext", "a.txt", "a.txt.gz"])
def test_the_format_is_detected_by_suffix_or_first_word(name: str) -> None:
    import gzip

    line = b"\xef\xbb\xbf__label__x one\n"
    Path(name).write_bytes(gzip.compress(line) if name.endswith("gz") else line)
    assert read(open(name)) == [{"text": "one", "label": "x", "weight": 1.0, "row": 0}]


def test_the_format_of_other_text_files_is_unknown(read_error: ErrorReader) -> None:
    assert read_error("a.txt", "one two\n")[0].startswith("The ending of a.txt does not tell its format.")


def test_a_missing_text_file_is_reported() -> None:
    with pytest.raises(weigh.errors.SourceError, match=r"^There is no file none.txt.$"):
        open("none.txt")


def test_labels_equal_those_of_a_plain_loop() -> None:
    random = Random(1)
    words = ["a", "__label", "x__label__y", "_", "", "longer", "é" * 30]
    lines, expected = [], []
    for _ in range(3000):
        label = random.choice(["", "x", "é", "l" * random.randint(1, 60)])
        text = " ".join(random.choices(words, k=random.randint(0, 5))).strip(" ")
        head = f"__label__{label}" if label else "f"
        lines.append(head + random.choice([" ", "\t", "   "]) + text)
        expected.append((label or None, text if label else lines[-1].rstrip()))
    Path("a.ft").write_text("\n".join(lines))
    result = [(row["label"], row["text"].rstrip()) for row in read(open("a.ft", block=500))]
    assert result == expected


def test_a_skipped_text_is_omitted() -> None:
    Path("a.ft").write_text("__label__x one\n")
    chunk = open("a.ft").prefix(kinds={"text": "skip"})
    assert (chunk.columns, chunk.n_rows) == ({}, 1)


def test_markers_are_missing_labels() -> None:
    Path("a.ft").write_text("__label__? one\n__label__x two\n__label__ three\n")
    source = open("a.ft", missing="?")
    assert [row["label"] for row in read(source)] == [None, "x", None]
    assert source.missing == ("?",)
    assert [row["label"] for row in read(open("a.ft").with_missing(["x"]))] == ["?", None, None]


def test_several_labels_are_reported_with_their_line(read_error: ErrorReader) -> None:
    message = "a.ft, line 2 has several labels; a classifier learns one. Write one label per line."
    assert read_error("a.ft", "__label__x one\n__label__x __label__y two\n") == (message, 2)
    assert read_error("a.ft", "__label__x one\n__label__x two __label__y\n") == (message, 2)


def test_a_label_after_other_words_is_reported_with_its_line(read_error: ErrorReader) -> None:
    message = "a.ft, line 2 has its label after other words. Write the label first."
    assert read_error("a.ft", "__label__x one\ntwo __label__y\n") == (message, 2)


def test_a_file_without_labels_can_be_predicted_but_not_fitted() -> None:
    Path("a.ft").write_text("__label__x one\n__label__y two\n")
    Path("new.ft").write_text("two\none\n")
    learner = weigh.NaiveBayes().fit(open("a.ft"))
    assert learner.predict(open("new.ft")).tolist() == ["y", "x"]
    with pytest.raises(weigh.errors.LabelError, match="The label is missing in 2 of the first 2 rows"):
        weigh.NaiveBayes().fit(open("new.ft"))


def test_a_missing_label_column_is_reported() -> None:
    Path("a.ft").write_text("__label__x one\n")
    with pytest.raises(
        weigh.errors.SourceError, match=r"^a.ft has no column 'topic'; it has 'label', 'text'.$"
    ):
        open("a.ft").with_label("topic")
    assert np.array_equal(open("a.ft").with_label("text").names, ("label",))
