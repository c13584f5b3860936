"""Reading documents: paths, folders, encodings, compression and pieces."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh import errors
from weigh.apps.spelling import documents as documents_module
from weigh.apps.spelling.documents import ExcludePatterns, read_documents
from weigh.errors import SourceError


def read(paths: object, **options: object) -> dict[str, bytes]:
    return {found.name: b"".join(found.pieces) for found in read_documents(paths, **options)}  # type: ignore[arg-type]


def test_folder_is_read_recursively_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_text("third")
    (tmp_path / "a.txt").write_text("first")
    (tmp_path / "b" / "a.md").write_text("second `code`")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / ".hidden").write_text("never")
    os.symlink(tmp_path, tmp_path / "b" / "round")
    os.symlink("nowhere", tmp_path / "dangling")
    skipped: list[str] = []
    found = read(tmp_path, skipped=skipped)
    assert list(found.values()) == [b"first", b"second \x1a\x1a\x1a\x1a\x1a\x1a", b"third"]
    assert list(found) == [str(tmp_path / name) for name in ("a.txt", "b/a.md", "b/c.txt")]
    assert skipped == [f"{tmp_path / name}: not a file" for name in ("b/round", "dangling")]


def test_unreadable_subfolder_is_skipped_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "locked/b.txt", "z.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Words.")
    scandir = os.scandir

    def locked_scandir(folder: str):
        if folder.endswith("locked"):
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", locked_scandir)
    skipped: list[str] = []
    assert [Path(each.name).name for each in read_documents(tmp_path, skipped=skipped)] == ["a.txt", "z.txt"]
    assert skipped == [f"{tmp_path / 'locked'}: cannot be read: Permission denied"]
    with pytest.raises(SourceError, match="locked cannot be read: Permission denied"):
        list(read_documents(tmp_path / "locked"))


def test_other_files_in_folders_are_skipped_and_recorded(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.py").write_text("code")
    (tmp_path / "c.json").write_text("{}")
    (tmp_path / "d.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "e.txt").write_bytes(b"caf\xe9")
    (tmp_path / "f.gz").write_bytes(b"not packed")
    skipped: list[str] = []
    assert list(read(tmp_path, skipped=skipped).values()) == [b"text"]
    assert [entry.removeprefix(f"{tmp_path}/") for entry in skipped] == [
        "b.py: source code, not prose",
        "c.json: data, not prose",
        "d.png: line 1 is not UTF-8 text",
        "e.txt: line 1 is not UTF-8 text",
        "f.gz: cannot be read: Not a gzipped file (b'no')",
    ]
    # The list is optional.
    assert len(read(tmp_path)) == 1


def test_named_data_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("their,there")
    assert list(read(tmp_path / "a.csv").values()) == [b"their,there"]


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst", "lz4", "txt"])
def test_compressed_texts_are_decompressed(tmp_path: Path, ending: str) -> None:
    text = "\ufeffWhether their `code` is there.\n".encode()
    with pa.BufferOutputStream() as kept:
        if ending in ("zst", "lz4"):
            with pa.CompressedOutputStream(kept, {"zst": "zstd", "lz4": "lz4"}[ending]) as stream:
                stream.write(text)
            data = kept.getvalue().to_pybytes()
        else:
            data = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "txt": bytes}[ending](text)
    file = tmp_path / f"a.md.{ending}"
    file.write_bytes(data)
    assert read(file) == {str(file): b"Whether their \x1a\x1a\x1a\x1a\x1a\x1a is there.\n"}


def test_other_encodings_are_converted_to_utf8(tmp_path: Path) -> None:
    for encoding in ("latin-1", "utf-16", "cp1252"):
        (tmp_path / "a.txt").write_text("café’s" if encoding != "latin-1" else "café's", encoding)
        (found,) = read(tmp_path / "a.txt", encoding=encoding).values()
        assert found.decode().replace("’", "'") == "café's"


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"their `x y`"))))
    assert read("-") == {"standard input": b"their \x1a\x1a\x1a\x1a\x1a"}


def test_glob_patterns_and_lists_are_accepted(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.md"):
        (tmp_path / name).write_text(name)
    assert list(read(str(tmp_path / "*.txt")).values()) == [b"a.txt", b"b.txt"]
    assert list(read([tmp_path / "c.md", str(tmp_path / "a.*")]).values()) == [b"c.md", b"a.txt"]


def test_missing_files_are_detected_before_reading(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(SourceError, match="There is no file"):
        read_documents([tmp_path / "a.txt", tmp_path / "b.txt"])


def test_empty_files_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbf")
    assert read([tmp_path / "a.txt", tmp_path / "b.txt"]) == {}


@settings(max_examples=100, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(["a", "é", "€", "𝄞", " ", "\n", "\n\n", "\r\n", "\r\n\r\n"]), max_size=80
    ).map("".join),
    piece=st.integers(8, 20),
)
def test_pieces_are_whole_characters_and_concatenate_to_the_text(text: str, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents_module, "MAX_PIECE_BYTES", piece)
        pieces = list(documents_module.split_into_pieces([text.encode()]))
    assert b"".join(pieces) == text.encode()
    for each in pieces:
        each.decode()
        assert 0 < len(each) <= piece


def test_piece_ends_after_a_paragraph_a_line_or_a_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_module, "MAX_PIECE_BYTES", 12)
    ends = {
        b"aaaaaaa\n\nb\nc dddd": b"aaaaaaa\n\n",
        b"aaaaaaa\r\n\r\nb\nc d": b"aaaaaaa\r\n\r\n",
        b"aaaaaaa\nb c dddd": b"aaaaaaa\n",
        b"aaaaaaa bcccccccc": b"aaaaaaa ",
        b"aaaaaaaaaaaaaaaaa": b"a" * 12,
        b"aaaaaaaaaaa\xc3\xa9aaaa": b"a" * 11,
        b"\xa9" * 20: b"\xa9" * 12,
    }
    assert {
        text: text[: documents_module._find_piece_end(text, documents_module.MAX_PIECE_BYTES)]
        for text in ends
    } == ends


def test_long_line_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"their " * (2 << 20))
    (found,) = read_documents(file)
    sizes = [len(piece) for piece in found.pieces]
    assert sum(sizes) == 6 * (2 << 20)
    assert max(sizes) <= documents_module.MAX_PIECE_BYTES
    assert all(size % 6 == 0 for size in sizes)


def test_fence_across_pieces_is_masked(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"before\n\n```\n" + b"hidden text\n\n" * 500_000 + b"```\n\nafter\n")
    (found,) = read(file).values()
    assert found.replace(b"\x1a", b"").split() == [b"before", b"after"]


def test_file_in_a_folder_is_read_up_to_binary_data(tmp_path: Path) -> None:
    start = b"their text\n\n" * (6 << 17)
    (tmp_path / "a.txt").write_bytes(start + b"\0")
    skipped: list[str] = []
    (found,) = read(tmp_path, skipped=skipped).values()
    assert start.startswith(found)
    assert len(found) > documents_module.MAX_PIECE_BYTES // 2
    assert skipped == [f"{tmp_path / 'a.txt'}: is a binary file: it has NUL bytes (skipped from there on)"]
    with pytest.raises(SourceError, match="NUL bytes"):
        read(tmp_path / "a.txt")


def test_undecodable_names_are_printable(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9\n.txt")).write_text("their")
    ((name, text),) = read(tmp_path).items()
    assert name.isprintable()
    assert text == b"their"


@pytest.mark.parametrize(
    ("pattern", "path", "is_excluded"),
    [
        ("venv", "a/venv", True),
        ("venv/", "a/venv", True),
        ("**/venv/**", "a/venv", True),
        ("venv", "a/venvs", False),
        ("CHANGELOG*", "docs/CHANGELOG.md", True),
        ("CHANGELOG", "docs/CHANGELOG.md", False),
        ("docs/old", "/home/me/docs/old", True),
        ("docs/old", "docs/older", False),
        ("./docs/*.md", "docs/a.md", True),
        ("docs*", "docs/a.md", False),
        ("a/b/c", "b/c", False),
    ],
)
def test_pattern_matches_the_end_of_a_path(pattern: str, path: str, is_excluded: bool) -> None:
    assert ExcludePatterns([pattern])(path) is is_excluded


def test_named_file_is_excluded_with_its_folder() -> None:
    assert ExcludePatterns(["venv"]).excludes("a/venv/b.md")
    assert ExcludePatterns(["a"]).excludes("./a/b.md")
    assert not ExcludePatterns(["b"]).excludes("a/b.md")
    # The folders of an absolute path do not count.
    assert not ExcludePatterns(["home"]).excludes("/home/me/b.md")
    assert ExcludePatterns(["b.md"]).excludes("/home/me/b.md")


@pytest.mark.parametrize("pattern", ["", "/", "**", "./"])
def test_pattern_that_matches_everything_raises(pattern: str) -> None:
    with pytest.raises(errors.ParameterError, match="read_documents: exclude must be patterns of names"):
        read_documents([], exclude=[pattern])
