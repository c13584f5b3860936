"""Corrections change the suggested words and no other byte."""

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


def test_suggestions_are_applied_to_a_text() -> None:
    suggestions = speller().check(TEXT)
    assert speller().fixed(TEXT, suggestions) == FIXED
    assert speller().fixed(TEXT, suggestions[::-1]) == FIXED
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
def test_other_bytes_of_a_file_stay_unchanged(tmp_path: Path, encoding: str, mark: bytes) -> None:
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\xff\xfe\0\0": "utf-32-le"}.get(mark)
    codec = codec or encoding.removesuffix("-sig")
    path = tmp_path / "letter.txt"
    path.write_bytes(mark + TEXT.encode(codec))
    path.chmod(0o640)
    suggestions = speller().fix_file(path, encoding=encoding)
    assert [one.suggested for one in suggestions] == ["whether", "there"]
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
    suggestions = speller().check(TEXT, name=str(plain))
    assert speller().check_file(plain) == suggestions
    assert speller().check_file(packed) == [replace(one, name=str(packed)) for one in suggestions]


def error_message(path: Path, suggestions: list[Suggestion] | None = None, encoding: str = "utf-8") -> str:
    before, file = path.read_bytes(), read_decoded_file(path, encoding)
    suggestions = speller().check(file.text) if suggestions is None else suggestions
    with pytest.raises(errors.SourceError) as raised:
        write_corrections(file, suggestions)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    return str(raised.value).replace(str(path), path.name)


def test_compressed_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt.gz"
    path.write_bytes(gzip.compress(WRONG.encode()))
    assert error_message(path) == "letter.txt.gz is compressed and was not changed. Decompress it first."


def test_read_only_file_is_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(WRONG)
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert error_message(path) == "letter.txt is read-only. Nothing was changed."


def test_file_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(WRONG)
    file = read_decoded_file(path)
    path.write_text(WRONG + " More.")
    with pytest.raises(errors.SourceError, match="has changed since it was read"):
        write_corrections(file, speller().check(file.text))
    assert path.read_text() == WRONG + " More."
    assert os.listdir(tmp_path) == ["letter.txt"]


def test_ambiguous_encoding_raises(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    # In this encoding a letter may be encoded in base 64, but need not be.
    path.write_bytes(b"+AEk- didn't know weather to laugh or cry.")
    assert "utf-7 can encode the same text in several ways" in error_message(path, encoding="utf-7")


def test_word_that_cannot_be_encoded_raises(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(WRONG.encode("latin-1"))
    (suggestion,) = speller().check(WRONG)
    message = error_message(path, [replace(suggestion, suggested="they’re")], "latin-1")
    assert message.startswith("letter.txt: 'they’re' cannot be encoded in iso8859-1. Nothing was changed;")


def test_overlapping_suggestions_raise() -> None:
    (suggestion,) = speller().check(WRONG)
    with pytest.raises(errors.DataError, match=r"Two suggestions overlap at character 14: weather → whether"):
        speller().fixed(WRONG, [suggestion, suggestion])


def test_suggestions_for_another_text_raise() -> None:
    suggestions = speller().check(WRONG)
    with pytest.raises(
        errors.DataError, match=r"has ' weathe' at character 14, not 'weather': .* Check it again."
    ):
        speller().fixed(" " + WRONG, suggestions)


@pytest.mark.parametrize("raw", [b"I didn't know weather \xff", b"know weather \0 to"])
def test_checking_and_fixing_binary_files_raise_the_same_error(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(raw)
    with pytest.raises(errors.SourceError) as checked:
        speller().check_file(path)
    with pytest.raises(errors.SourceError) as fixed:
        speller().fix_file(path)
    assert str(checked.value) == str(fixed.value)
    assert path.read_bytes() == raw
