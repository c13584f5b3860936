"""Tests of mail as rows of a table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.source.conftest import read
from weigh.errors import LabelError, SourceError
from weigh.source import open
from weigh.source.mail.mail_source import size_category

LINE = b"From ann@example.org Thu Aug 22 12:36:23 2002\n"
HAM = b"From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: lunch\n\nsee you at noon\n"
SPAM = b"From: shop@example.net\nSubject: buy\nSubject: now\n\ncheap pills at http://pills.example.net/now\n"


@pytest.fixture(autouse=True)
def mails(working_folder: Path) -> None:
    files = {
        "mails/ham/inbox": LINE + HAM + b"\n" + LINE + HAM,
        "mails/ham/more/1.eml": HAM,
        "mails/spam/cur/1.a": SPAM,
        "mails/spam/new/2.a": SPAM,
        "mails/README": b"no mail",
        "one.eml": SPAM,
        "two.mbox": LINE + HAM + b"\n" + LINE + SPAM,
    }
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def error_message(path: str, **options: Any) -> str:
    with pytest.raises(SourceError) as caught:
        open(path, **options)
    return str(caught.value)


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_every_message_is_a_row_labelled_by_its_folder(size: int, block: int) -> None:
    source = open("mails", format="mail", block=block)
    assert source.names == ("from", "to", "subject", "text", "hosts", "flags", "size")
    assert source.label == "label"
    for _ in range(2):
        rows = read(source, size)
        assert [row["label"] for row in rows] == ["ham", "ham", "ham", "spam", "spam"]
        assert [row["row"] for row in rows] == [0, 1, 2, 3, 4]
        assert [row["text"].strip() for row in rows[:3]] == ["see you at noon"] * 3
        assert sum(reader.n_rows for reader in source.chunk_readers(size=size)) == 5


def test_the_columns_describe_a_message() -> None:
    (row,) = read(open("one.eml"))
    assert (row["from"], row["to"], row["subject"]) == ("shop@example.net", None, "buy")
    assert row["hosts"] == ["pills.example.net"]
    assert row["size"] == "up to 1 kB"
    assert row["label"] is None
    kinds = dict(open("one.eml").kinds)
    assert kinds == {
        **dict.fromkeys(["from", "to", "subject", "text"], "text"),
        "hosts": "tokens",
        "flags": "tokens",
        "size": "category",
    }


def test_sizes_are_rounded_up_to_powers_of_two() -> None:
    lengths = [0, 1, 1_024, 1_025, 2_048, 2_049, 4_097, 1 << 21]
    assert [size_category(length).split()[2] for length in lengths] == [
        "1",
        "1",
        "1",
        "2",
        "2",
        "4",
        "8",
        "2,048",
    ]


def test_mail_is_detected_by_suffix_or_as_a_maildir() -> None:
    assert [row["subject"] for row in read(open("two.mbox"))] == ["lunch", "buy"]
    assert [row["subject"] for row in read(open(["one.eml", "two.mbox"]))] == ["buy", "lunch", "buy"]
    assert [row["subject"] for row in read(open("mails/spam"))] == ["buy", "buy"]
    assert [row["subject"] for row in read(open("mails/ham/inbox", format="mail"))] == ["lunch", "lunch"]


def test_any_learner_can_be_trained_on_mail() -> None:
    for learner in (weigh.NaiveBayes(), weigh.LogisticRegression()):
        fitted = learner.fit(open("mails", format="mail", label="kind"))
        assert fitted.predict(open("two.mbox")).tolist() == ["ham", "spam"]


def test_mail_without_classes_has_no_labels() -> None:
    with pytest.raises(LabelError, match=r"^The label is missing in 2 of the first 2 rows"):
        weigh.NaiveBayes().fit(open("two.mbox"))


def test_a_path_without_messages_is_an_error() -> None:
    Path("empty/ham").mkdir(parents=True)
    Path("empty.mbox").touch()
    assert error_message("empty", format="mail") == "empty holds no messages."
    assert error_message("empty.mbox") == "empty.mbox holds no messages."
    assert error_message("none.eml") == "There is no file none.eml."


def test_reading_messages_imports_no_table_libraries() -> None:
    heavy = {"pyarrow", "email", "gzip", "scipy", "weigh.source.files.open_files"}
    script = f"import sys, weigh.source.mail; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
