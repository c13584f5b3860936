"""Mailboxes that the standard library writes: the messages are those that it reads."""

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

# Lines that begin with From, quoted or not, and all bytes; a mailbox has no other signs of its own.
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
def test_an_mbox_holds_the_same_messages(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "box"))
        box = mailbox.mbox(path)
        for mail in mails:
            box.add(mail)
        box.flush()
        # The standard library leaves the '>' that it has put there.
        expected = [unquote_from_lines(box.get_bytes(key)) for key in box.iterkeys()]
        box.close()
        assert contents(path) == expected
        assert len(expected) == len(mails)


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_a_maildir_holds_the_same_messages(mails: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        box = mailbox.Maildir(str(Path(folder, "m")))
        for at, mail in enumerate(mails):
            message = mailbox.MaildirMessage(mail)
            message.set_subdir("cur" if at % 2 else "new")
            box.add(message)
        found = list(messages(str(Path(folder, "m"))))
        assert sorted(each.content for each in found) == sorted(map(box.get_bytes, box.iterkeys()))
        assert all(each.at is not None and each.at > 1e9 for each in found)


@settings(deadline=None, max_examples=30)
@given(MAILS)
def test_a_folder_of_mh_holds_the_same_messages(mails: list[bytes]) -> None:
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
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(files: dict[str, bytes]) -> None:
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def places(paths: Any, **options: Any) -> list[str]:
    return [each.place for each in messages(paths, **options)]


def refusal(paths: Any) -> str:
    with pytest.raises(SourceError) as caught:
        list(messages(paths))
    return str(caught.value)


def test_a_mix_of_paths_is_read_in_the_order_given() -> None:
    written({"b.eml": b"B: 1\n\nx", "box": BOX, "d/z.eml": b"Z: 1\n", "d/a": BOX, "d/c/1": b"C: 1\n"})
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


def test_hidden_and_empty_files_hold_no_message() -> None:
    written({"d/.x": b"A: 1\n", "d/.git/y": b"A: 1\n", "d/empty": b"", "d/z": b"A: 1\n", "empty": b""})
    assert places(["d", "empty"]) == ["d/z"]


def test_a_maildir_gives_what_is_delivered_with_its_time() -> None:
    written(
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


def test_a_folder_of_mh_gives_its_numbered_files_by_their_numbers() -> None:
    names = ["1", "10", "2", ",3", "draft", "sub/4", "²"]
    written({f"mh/{name}": f"A: {name}\n".encode() for name in names})
    assert places("mh") == ["mh/,3", "mh/1", "mh/10", "mh/2", "mh/draft", "mh/sub/4", "mh/²"]
    written({"mh/.mh_sequences": b"cur: 2\n", "mh/5/6": b"another mailbox\n"})
    assert places("mh") == ["mh/1", "mh/2", "mh/10"]


def test_mailboxes_in_a_plain_folder_are_found() -> None:
    written({"all/m/cur/1.a": b"A: 1\n", "all/mh/.mh_sequences": b"", "all/mh/7": b"A: 1\n", "all/mh/x": b""})
    Path("all/m/new").mkdir()
    assert places("all") == ["all/m/cur/1.a", "all/mh/7"]
    assert places("all", inside=False) == []


@pytest.mark.parametrize("packing", [gzip, bz2, lzma])
@pytest.mark.parametrize("content", [b"A: 1\n\nx\n", BOX, b""])
def test_packed_files_are_unpacked_whatever_they_are_called(content: bytes, packing: Any) -> None:
    written({"plain": content, "d/packed": packing.compress(content)})
    plain, packed = list(messages("plain")), list(messages("d"))
    assert [(each.content, each.at) for each in packed] == [(each.content, each.at) for each in plain]


@pytest.mark.parametrize("content", [b"A: 1\n\nx\n", BOX, b"", gzip.compress(BOX, mtime=0)])
def test_standard_input_is_read_like_a_file(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    written({"file": content})
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    expected = [(each.content, each.at) for each in messages("file")]
    found = list(messages("-"))
    assert [(each.content, each.at) for each in found] == expected
    assert all(each.place.startswith("standard input") for each in found)


def test_damage_is_told() -> None:
    whole = gzip.compress(BOX + os.urandom(4_000))
    written({"cut.gz": whole[:-200], "bad.gz": b"\x1f\x8bnonsense"})
    assert refusal("bad.gz") == "bad.gz cannot be read: Unknown compression method."
    assert refusal("cut.gz") == (
        "cut.gz cannot be read: Compressed file ended before the end-of-stream marker was reached."
    )


def test_a_packed_message_without_end_is_refused() -> None:
    written({"bomb.gz": gzip.compress(bytes(1 << 22)), "box.gz": gzip.compress(LINE + bytes(1 << 22))})
    message = "is longer than 100,000 bytes once decompressed. Decompress the file first if it is mail."
    for name, place in (("bomb.gz", "bomb.gz"), ("box.gz", "box.gz, message 1")):
        with pytest.raises(SourceError) as caught:
            list(read_message_file(name, name, max_bytes=100_000))
        assert str(caught.value) == f"{place} {message}"


@pytest.mark.parametrize(("size", "most"), [(3 << 20, 2 << 20), (3 << 20, 1_000), (5_000, 1_000)])
def test_of_a_long_message_the_first_bytes_are_read(size: int, most: int) -> None:
    content = os.urandom(100).replace(b"\n", b"x") * (size // 100)
    written({"long": b"x" + content, "short": b"x" + content[: most - 1]})
    (only,) = read_message_file("long", "long", max_bytes=most)
    assert (only.content, only.length) == (b"x" + content[: most - 1], len(content) + 1)
    (whole,) = read_message_file("short", "short", max_bytes=most)
    assert (whole.content, whole.omitted_bytes) == (b"x" + content[: most - 1], 0)


def test_what_is_no_file_is_passed_over_in_folders_and_counted() -> None:
    written({"d/z": b"A: 1\n"})
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
        assert refusal("d/socket").startswith(
            "d/socket is not a regular file, not a file or a folder of mail."
        )
    assert refusal("d/pipe") == (
        "d/pipe is a pipe, not a file or a folder of mail. Send it to standard input and give '-' instead."
    )
    assert refusal("d/circle").startswith("d/circle cannot be opened: Too many levels of symbolic links")


def test_all_paths_are_looked_for_before_the_first_message_is_read() -> None:
    written({"a": b"A: 1\n"})
    with pytest.raises(SourceError, match=r"^There is no file missing\.$"):
        messages(["a", "missing"])


def test_a_file_that_goes_while_its_folder_is_read_is_passed_over() -> None:
    written({f"m/cur/{at}.a": b"A: 1\n" for at in range(3)})
    Path("m/new").mkdir()
    skipped: list[str] = []
    found = messages("m", skipped=skipped)
    assert next(found).place == "m/cur/0.a"
    os.rename("m/cur/1.a", "m/cur/1.a:2,S")
    os.unlink("m/cur/2.a")
    os.mkfifo("m/cur/2.a")
    assert (list(found), skipped) == ([], ["m/cur/1.a", "m/cur/2.a"])


def test_a_folder_that_may_not_be_listed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    Path("d").mkdir()
    monkeypatch.setattr(os, "scandir", denied)
    assert refusal("d") == "d cannot be read: Permission denied."


def test_names_of_any_bytes_can_be_printed() -> None:
    Path("d").mkdir()
    Path(os.fsdecode(b"d/\xff\n")).write_bytes(b"A: 1\n")
    assert places("d") == ["d/\\udcff\\n"]


def test_a_message_does_not_print_what_is_in_it() -> None:
    assert repr(RawMessage(b"A: 1\n", "box", 2.0)) == "RawMessage(place='box', at=2.0, omitted_bytes=0)"


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 100), st.integers(1, 9))
def test_batches_end_at_so_many_bytes_or_rows(sizes: list[int], most: int, rows: int) -> None:
    found = [RawMessage(b"x" * size, "x") for size in sizes]
    groups = list(batches(found, bytes=most, rows=rows))
    assert [each for group in groups for each in group] == found
    assert all(0 < len(group) <= rows for group in groups)
    assert all(sum(len(each.content) for each in group[:-1]) < most for group in groups)
    assert all(
        len(group) == rows or sum(len(each.content) for each in group) >= most for group in groups[:-1]
    )
