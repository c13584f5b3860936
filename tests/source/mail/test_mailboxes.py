"""Tests of mailboxes, compared with the standard library and by example."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import mailbox
import os
import socket
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.errors import SourceError
from weigh.source.mail import RawMessage, batches, messages
from weigh.source.mail.mbox import read_message_file, unquote_from_lines

# Lines that begin with From, quoted or not, and arbitrary bytes; an mbox has no other special syntax.
LINES = st.sampled_from(
    [b"From ann Thu Aug 22 12:36:23 2002", b">From", b">From x", b">>From y", b"", b"A: 1"]
)
TEXTS = st.one_of(
    st.lists(LINES, max_size=6).map(b"\n".join),
    st.binary(max_size=60).map(lambda data: data.replace(b"\r", b"")),
)
MAILS = st.lists(TEXTS.map(lambda text: b"Subject: x\n\n" + text), min_size=1, max_size=5)


def contents(path: str) -> list[bytes]:
    return [each.content for each in messages(path)]


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_an_mbox_has_the_messages_that_mailbox_reads(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "box"))
        box = mailbox.mbox(path)
        for mail in mails:
            box.add(mail)
        box.flush()
        # The standard library does not remove the '>' that it inserted.
        expected = [unquote_from_lines(box.get_bytes(key)) for key in box.iterkeys()]
        box.close()
        assert contents(path) == expected
        assert len(expected) == len(mails)


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_a_maildir_has_the_messages_that_mailbox_reads(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        box = mailbox.Maildir(str(Path(folder, "m")))
        for at, mail in enumerate(mails):
            message = mailbox.MaildirMessage(mail)
            message.set_subdir("cur" if at % 2 else "new")
            box.add(message)
        result = list(messages(str(Path(folder, "m"))))
        assert sorted(each.content for each in result) == sorted(map(box.get_bytes, box.iterkeys()))
        assert all(each.at is not None and each.at > 1e9 for each in result)


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_an_mh_folder_has_the_messages_that_mailbox_reads(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "mh"))
        box = mailbox.MH(path)
        for mail in mails * 3:
            box.add(mail)
        box.set_sequences({"unseen": [1]})
        assert contents(path) == [box.get_bytes(key) for key in box.iterkeys()]


LINE = b"From ann@example.org Thu Aug 22 12:36:23 2002\n"
AT = 1_030_019_783.0
BOX = LINE + b"A: 1\n\none\n\n" + LINE + b"A: 2\n\ntwo\n"


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(files: dict[str, bytes]) -> None:
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def places(paths: Any, **options: Any) -> list[str]:
    return [each.place for each in messages(paths, **options)]


def error_message(paths: Any) -> str:
    with pytest.raises(SourceError) as caught:
        list(messages(paths))
    return str(caught.value)


def test_mixed_paths_are_read_in_order() -> None:
    write_files({"b.eml": b"B: 1\n\nx", "box": BOX, "d/z.eml": b"Z: 1\n", "d/a": BOX, "d/c/1": b"C: 1\n"})
    assert list(messages(["box", Path("d"), "b.eml"])) == [
        RawMessage(b"A: 1\n\none\n", "box, message 1", AT),
        RawMessage(b"A: 2\n\ntwo\n", "box, message 2", AT),
        RawMessage(b"A: 1\n\none\n", "d/a, message 1", AT),
        RawMessage(b"A: 2\n\ntwo\n", "d/a, message 2", AT),
        RawMessage(b"C: 1\n", "d/c/1"),
        RawMessage(b"Z: 1\n", "d/z.eml"),
        RawMessage(b"B: 1\n\nx", "b.eml"),
    ]
    assert places("d", inside=False) == ["d/a, message 1", "d/a, message 2", "d/z.eml"]
    assert places("*.eml") == ["b.eml"]


def test_hidden_and_empty_files_contain_no_message() -> None:
    write_files({"d/.x": b"A: 1\n", "d/.git/y": b"A: 1\n", "d/empty": b"", "d/z": b"A: 1\n", "empty": b""})
    assert places(["d", "empty"]) == ["d/z"]


def test_a_maildir_gives_delivered_messages_with_their_times() -> None:
    write_files(
        {
            "m/cur/1030019783.M500000P7.host:2,S": b"A: 1\n",
            "m/cur/1030019784.7_1.host:2,": BOX,
            "m/cur/odd": b"A: 3\n",
            "m/cur/sub/9.a": b"no message\n",
            "m/new/5.a": b"A: 4\n",
            "m/tmp/6.a": b"not yet\n",
            "m/.Junk/cur/7.a": b"another mailbox\n",
            "m/Sent/cur/8.a": b"another mailbox\n",
            "m/dovecot.index": b"no message",
        }
    )
    Path("m/.Junk/new").mkdir()
    assert [(each.content[:4], each.at) for each in messages("m")] == [
        (b"A: 1", AT + 0.5),
        (b"From", AT + 1),
        (b"A: 3", None),
        (b"A: 4", 5.0),
    ]
    assert places("m/.Junk") == ["m/.Junk/cur/7.a"]


def test_an_mh_folder_gives_its_numbered_files_in_order() -> None:
    names = ["1", "10", "2", ",3", "draft", "sub/4", "²"]
    write_files({f"mh/{name}": f"A: {name}\n".encode() for name in names})
    assert places("mh") == ["mh/,3", "mh/1", "mh/10", "mh/2", "mh/draft", "mh/sub/4", "mh/²"]
    write_files({"mh/.mh_sequences": b"cur: 2\n", "mh/5/6": b"another mailbox\n"})
    assert places("mh") == ["mh/1", "mh/2", "mh/10"]


def test_mailboxes_in_a_plain_folder_are_found() -> None:
    write_files(
        {"all/m/cur/1.a": b"A: 1\n", "all/mh/.mh_sequences": b"", "all/mh/7": b"A: 1\n", "all/mh/x": b""}
    )
    Path("all/m/new").mkdir()
    assert places("all") == ["all/m/cur/1.a", "all/mh/7"]
    assert places("all", inside=False) == []


@pytest.mark.parametrize("packing", [gzip, bz2, lzma])
@pytest.mark.parametrize("content", [b"A: 1\n\nx\n", BOX, b""])
def test_compressed_files_are_recognised_by_content(content: bytes, packing: Any) -> None:
    write_files({"plain": content, "d/packed": packing.compress(content)})
    plain, compressed = list(messages("plain")), list(messages("d"))
    assert [(each.content, each.at) for each in compressed] == [(each.content, each.at) for each in plain]


@pytest.mark.parametrize("content", [b"A: 1\n\nx\n", BOX, b"", gzip.compress(BOX, mtime=0)])
def test_standard_input_is_read_like_a_file(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files({"file": content})
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    expected = [(each.content, each.at) for each in messages("file")]
    result = list(messages("-"))
    assert [(each.content, each.at) for each in result] == expected
    assert all(each.place.startswith("standard input") for each in result)


def test_damaged_files_are_reported() -> None:
    complete = gzip.compress(BOX + os.urandom(4_000))
    write_files({"cut.gz": complete[:-200], "bad.gz": b"\x1f\x8bnonsense"})
    assert error_message("bad.gz") == "bad.gz cannot be read: Unknown compression method."
    assert error_message("cut.gz") == (
        "cut.gz cannot be read: Compressed file ended before the end-of-stream marker was reached."
    )


def test_a_compressed_message_that_is_too_long_is_an_error() -> None:
    write_files({"bomb.gz": gzip.compress(bytes(1 << 22)), "box.gz": gzip.compress(LINE + bytes(1 << 22))})
    message = "is longer than 100,000 bytes once decompressed. Decompress the file first if it is mail."
    for name, place in (("bomb.gz", "bomb.gz"), ("box.gz", "box.gz, message 1")):
        with pytest.raises(SourceError) as caught:
            list(read_message_file(name, name, max_bytes=100_000))
        assert str(caught.value) == f"{place} {message}"


@pytest.mark.parametrize(("size", "max_bytes"), [(3 << 20, 2 << 20), (3 << 20, 1_000), (5_000, 1_000)])
def test_a_long_message_is_truncated(size: int, max_bytes: int) -> None:
    content = os.urandom(100).replace(b"\n", b"x") * (size // 100)
    write_files({"long": b"x" + content, "short": b"x" + content[: max_bytes - 1]})
    (only,) = read_message_file("long", "long", max_bytes=max_bytes)
    assert (only.content, only.length) == (b"x" + content[: max_bytes - 1], len(content) + 1)
    (complete,) = read_message_file("short", "short", max_bytes=max_bytes)
    assert (complete.content, complete.omitted_bytes) == (b"x" + content[: max_bytes - 1], 0)


def test_special_files_in_folders_are_skipped_and_listed() -> None:
    write_files({"d/z": b"A: 1\n"})
    os.mkfifo("d/pipe")
    os.symlink("circle", "d/circle")
    os.symlink("nowhere", "d/dangling")
    os.symlink("..", "d/up")
    os.symlink("/dev/zero", "d/zero")
    os.symlink("../d/z", "d/y")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("d/socket")
        skipped: list[str] = []
        assert places("d", skipped=skipped) == ["d/y", "d/z"]
        assert skipped == ["d/circle", "d/dangling", "d/pipe", "d/socket", "d/up", "d/zero"]
        assert error_message("d/socket").startswith(
            "d/socket is not a regular file, not a file or a folder of mail."
        )
    assert error_message("d/pipe") == (
        "d/pipe is a pipe, not a file or a folder of mail. Send it to standard input and give '-' instead."
    )
    assert error_message("d/circle").startswith(
        "d/circle cannot be opened: Too many levels of symbolic links"
    )


def test_all_paths_are_checked_before_the_first_message_is_read() -> None:
    write_files({"a": b"A: 1\n"})
    with pytest.raises(SourceError, match=r"^There is no file missing\.$"):
        messages(["a", "missing"])


def test_a_file_that_vanishes_while_its_folder_is_read_is_skipped() -> None:
    write_files({f"m/cur/{at}.a": b"A: 1\n" for at in range(3)})
    Path("m/new").mkdir()
    skipped: list[str] = []
    result = messages("m", skipped=skipped)
    assert next(result).place == "m/cur/0.a"
    os.rename("m/cur/1.a", "m/cur/1.a:2,S")
    os.unlink("m/cur/2.a")
    os.mkfifo("m/cur/2.a")
    assert (list(result), skipped) == ([], ["m/cur/1.a", "m/cur/2.a"])


def test_an_unreadable_folder_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_permission_error(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    Path("d").mkdir()
    monkeypatch.setattr(os, "scandir", raise_permission_error)
    assert error_message("d") == "d cannot be read: Permission denied."


def test_file_names_of_any_bytes_can_be_printed() -> None:
    Path("d").mkdir()
    Path(os.fsdecode(b"d/\xff\n")).write_bytes(b"A: 1\n")
    assert places("d") == ["d/\\udcff\\n"]


def test_repr_of_a_message_omits_its_content() -> None:
    assert repr(RawMessage(b"A: 1\n", "box", 2.0)) == "RawMessage(place='box', at=2.0, omitted_bytes=0)"


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 100), st.integers(1, 9))
def test_batches_end_at_the_byte_or_row_limit(sizes: list[int], max_bytes: int, rows: int) -> None:
    result = [RawMessage(b"x" * size, "x") for size in sizes]
    groups = list(batches(result, bytes=max_bytes, rows=rows))
    assert [each for group in groups for each in group] == result
    assert all(0 < len(group) <= rows for group in groups)
    assert all(sum(len(each.content) for each in group[:-1]) < max_bytes for group in groups)
    assert all(
        len(group) == rows or sum(len(each.content) for each in group) >= max_bytes for group in groups[:-1]
    )
