from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.source.conftest import read
from weigh.errors import SourceError
from weigh.source import open

FILES = {
    "mails/ham/b.txt": b"see you soon",
    "mails/ham/a/2.txt": "grüße".encode(),
    "mails/ham/a/10.txt": b"",
    "mails/ham/.hidden": b"no row",
    "mails/ham/.git/config": b"no row",
    "mails/.trash/x.txt": b"no row",
    "mails/spam/x.txt.gz": gzip.compress(b"buy now"),
    "mails/spam/y.eml": b"\xef\xbb\xbfcheap\0",
    "mails/README": b"no row",
    "mails/empty/.keep": b"",
}
ROWS = [("ham", ""), ("ham", "grüße"), ("ham", "see you soon"), ("spam", "buy now"), ("spam", "cheap\0")]


@pytest.fixture(autouse=True)
def mails(working_folder: Path) -> None:
    for name, content in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def error_message(path: str, **options: Any) -> tuple[str, str]:
    with pytest.raises(SourceError) as caught:
        read(open(path, **options))
    return str(caught.value), caught.value.path


@pytest.mark.parametrize("block", [1, 12, 1 << 20])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_every_file_is_a_row_labelled_by_its_folder(size: int, block: int) -> None:
    source = open("mails", block=block)
    assert (source.names, source.label, dict(source.kinds)) == (("text",), "label", {"text": "text"})
    assert source.n_rows == 5
    for _ in range(2):
        rows = read(source, size)
        assert [(row["label"], row["text"]) for row in rows] == ROWS
        assert [row["row"] for row in rows] == [0, 1, 2, 3, 4]
        assert source.bytes_read == source.bytes_total
        assert sum(reader.n_rows for reader in source.chunk_readers(size=size)) == 5
    assert source.bytes_total == sum(len(FILES[name]) for name in FILES if FILES[name] != b"no row")


def test_files_are_read_about_a_block_at_a_time() -> None:
    assert [chunk.n_rows for chunk in open("mails", block=15).chunks()] == [3, 1, 1]


def test_a_chunk_is_read_only_when_its_reader_is_called() -> None:
    Path("mails/ham/b.txt").write_bytes(b"\xe9")
    pieces = list(open("mails").chunk_readers())
    with pytest.raises(SourceError, match=r"^mails/ham/b.txt, line 1 is not UTF-8 text\."):
        pieces[0].read()


def test_prefix_does_not_affect_progress() -> None:
    source = open("mails")
    assert source.prefix(2).n_rows == 2
    assert source.bytes_read == 0
    assert source.prefix(kinds={"text": "skip"}).columns == {}


def test_the_label_column_can_be_named() -> None:
    assert open("mails", label="class").label == "class"
    assert weigh.NaiveBayes().fit(open("mails", label="class")).model_.label == "class"


def test_labels_can_be_read_as_strings_or_numbers() -> None:
    os.rename("mails/ham", "mails/1")
    source = open("mails", missing="spam")
    assert [row["label"] for row in read(source)] == ["1", "1", "1", None, None]
    assert [row["label"] for row in read(source.with_storage({"label": "mixed"}))] == [1, 1, 1, None, None]


def test_a_folder_without_files_is_not_a_class() -> None:
    assert weigh.NaiveBayes().fit(open("mails")).model_.classes == ["ham", "spam"]


def test_an_unreadable_folder_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_permission_error(path: str) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", raise_permission_error)
    assert error_message("mails")[0] == "mails cannot be read: [Errno 13] Permission denied: 'mails'."


@pytest.mark.skipif(os.name == "nt", reason="names of files are text there")
def test_a_folder_name_that_is_not_utf8_is_reported() -> None:
    try:
        os.mkdir(b"mails/\xff")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    assert error_message("mails")[0] == "The folder '\\udcff' in mails is not named in UTF-8. Rename it."


def test_several_folders_are_one_table() -> None:
    rows = read(open(["mails", "mails/"]))
    assert [(row["label"], row["text"]) for row in rows] == ROWS + ROWS
    assert [row["row"] for row in rows] == list(range(10))


def test_a_file_in_another_encoding_is_reported_with_advice() -> None:
    Path("mails/spam/z.txt").write_bytes("eins\nfür alle".encode("latin-1"))
    message = "mails/spam/z.txt, line 2 is not UTF-8 text. Give encoding='cp1252' if it is that."
    assert error_message("mails") == (message, "mails/spam/z.txt")
    assert read(open("mails", encoding="latin-1"))[-1]["text"] == "eins\nfür alle"


def test_a_truncated_compressed_file_is_reported() -> None:
    Path("mails/spam/x.txt.gz").write_bytes(gzip.compress(b"buy now" * 100)[:-9])
    assert error_message("mails")[0].startswith("mails/spam/x.txt.gz cannot be read: Compressed file ended")


def test_a_file_longer_than_32_mb_needs_a_larger_block() -> None:
    with Path("mails/spam/z.txt").open("wb") as file:
        file.truncate((32 << 20) + 1)
    message = "mails/spam/z.txt is longer than 33,554,432 bytes. Give block= the size of the longest file."
    assert error_message("mails") == (message, "mails/spam/z.txt")
    assert len(read(open("mails", block=33 << 20))[-1]["text"]) == (32 << 20) + 1


def test_links_to_folders_are_not_followed() -> None:
    os.symlink("..", "mails/ham/again")
    assert open("mails").n_rows == 5


def test_a_folder_without_classes_is_reported() -> None:
    message = "mails/spam is a folder without a folder per class."
    assert error_message("mails/spam") == (
        f"{message} To read the messages in it, give format='mail'.",
        "mails/spam",
    )
    Path("mails/spam/y.eml").unlink()
    assert error_message("mails/spam") == (message, "mails/spam")
    Path("tables").mkdir()
    Path("tables/b.csv.gz").write_bytes(b"")
    message = (
        "tables is a folder without a folder per class. To read the files in it as one table, give "
        "'tables/*.csv.gz'."
    )
    assert error_message("tables") == (message, "tables")
    os.makedirs("hollow/class")
    assert error_message("hollow") == ("The folders in hollow hold no files.", "hollow")


def test_files_and_folders_are_not_confused() -> None:
    message = "mails/README is a file. Give a folder that holds a folder per class."
    assert error_message("mails/README", format="folder") == (message, "mails/README")
    assert error_message("mails", format="csv") == ("mails is a folder, not a file.", "mails")
    assert error_message("none", format="folder") == ("There is no file none.", "none")


def test_an_unknown_encoding_is_reported() -> None:
    assert error_message("mails", encoding="latin-99")[0].startswith("mails: 'latin-99' is not an encoding")
