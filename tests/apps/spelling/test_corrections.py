"""Fixing: the words that were suggested, and no other byte."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.apps.spelling.example_speller import speller
from weigh import errors
from weigh.apps.spelling.corrections import read_decoded_file, write_corrections
from weigh.apps.spelling.suggestions import Suggestion

WRONG = "I didn't know weather to laugh or cry."
RIGHT = "I didn't know whether to laugh or cry."
TEXT = f"“Æ” says:\r\n{WRONG}\r\n\r\nWe went their to sing, é.\r\ttail  "
FIXED = TEXT.replace("weather", "whether").replace("their", "there")


def test_a_text_is_fixed_by_its_suggestions() -> None:
    found = speller().check(TEXT)
    assert speller().fixed(TEXT, found) == FIXED
    assert speller().fixed(TEXT, found[::-1]) == FIXED
    assert speller().fixed(TEXT, []) == TEXT


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-8-sig", b"\xef\xbb\xbf"),
        ("UTF8", b"\xef\xbb\xbf"),
        ("cp1252", b""),
        ("utf-16", b"\xff\xfe"),
        ("utf-16", b"\xfe\xff"),
        ("utf-16-be", b""),
        ("utf-32", b"\xff\xfe\0\0"),
        ("gb18030", b""),
    ],
)
def test_a_file_keeps_all_other_bytes(tmp_path: Path, encoding: str, mark: bytes) -> None:
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\xff\xfe\0\0": "utf-32-le"}.get(mark)
    codec = codec or encoding.removesuffix("-sig")
    path = tmp_path / "letter.txt"
    path.write_bytes(mark + TEXT.encode(codec))
    path.chmod(0o640)
    found = speller().fix_file(path, encoding=encoding)
    assert [one.suggested for one in found] == ["whether", "there"]
    assert path.read_bytes() == mark + FIXED.encode(codec)
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["letter.txt"]


def test_a_file_without_suggestions_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(RIGHT)
    before = path.stat()
    assert speller().fix_file(path) == []
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_checking_a_file_equals_checking_its_text(tmp_path: Path) -> None:
    plain, packed = tmp_path / "letter.txt", tmp_path / "letter.txt.gz"
    plain.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    packed.write_bytes(gzip.compress(TEXT.encode()))
    found = speller().check(TEXT, name=str(plain))
    assert speller().check_file(plain) == found
    assert speller().check_file(packed) == [replace(one, name=str(packed)) for one in found]


def told(path: Path, found: list[Suggestion] | None = None, encoding: str = "utf-8") -> str:
    before, file = path.read_bytes(), read_decoded_file(path, encoding)
    suggestions = speller().check(file.text) if found is None else found
    with pytest.raises(errors.SourceError) as refused:
        write_corrections(file, suggestions)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    return str(refused.value).replace(str(path), path.name)


def test_a_packed_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt.gz"
    path.write_bytes(gzip.compress(WRONG.encode()))
    assert told(path) == "letter.txt.gz is packed and stays as it is. Unpack it first."


def test_a_file_that_may_not_be_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(WRONG)
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert told(path) == "letter.txt may not be written to. Nothing was changed."


def test_a_file_that_has_changed_since_stays(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(WRONG)
    file = read_decoded_file(path)
    path.write_text(WRONG + " More.")
    with pytest.raises(errors.SourceError, match="has changed since it was read"):
        write_corrections(file, speller().check(file.text))
    assert path.read_text() == WRONG + " More."
    assert os.listdir(tmp_path) == ["letter.txt"]


def test_an_encoding_in_which_other_bytes_would_change_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    # A letter may be written in base 64 in this encoding, though it need not.
    path.write_bytes(b"+AEk- didn't know weather to laugh or cry.")
    assert "utf-7 has several ways to write a text" in told(path, encoding="utf-7")


def test_a_word_that_the_encoding_lacks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(WRONG.encode("latin-1"))
    (found,) = speller().check(WRONG)
    message = told(path, [replace(found, suggested="they’re")], "latin-1")
    assert message.startswith("letter.txt: 'they’re' cannot be written in iso8859-1. Nothing was changed;")


def test_suggestions_that_overlap_are_refused() -> None:
    (found,) = speller().check(WRONG)
    with pytest.raises(errors.DataError, match=r"Two suggestions overlap at character 14: weather → whether"):
        speller().fixed(WRONG, [found, found])


def test_suggestions_for_another_text_are_refused() -> None:
    found = speller().check(WRONG)
    with pytest.raises(errors.DataError, match=r"stands ' weathe', and not 'weather': .* Check it again."):
        speller().fixed(" " + WRONG, found)


@pytest.mark.parametrize("raw", [b"I didn't know weather \xff", b"know weather \0 to"])
def test_what_is_no_text_is_refused_alike_whether_checked_or_fixed(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(raw)
    with pytest.raises(errors.SourceError) as checked:
        speller().check_file(path)
    with pytest.raises(errors.SourceError) as fixed:
        speller().fix_file(path)
    assert str(checked.value) == str(fixed.value)
    assert path.read_bytes() == raw
