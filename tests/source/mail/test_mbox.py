"""Tests of splitting an mbox into messages."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.errors import SourceError
from weigh.source.mail import RawMessage, mbox
from weigh.source.mail.mbox import split_mbox, unquote_from_lines

LINE = b"From ann@example.org Thu Aug 22 12:36:23 2002\n"
AT = 1_030_019_783.0


def read(data: bytes, max_bytes: int = 1 << 20) -> list[RawMessage]:
    return list(split_mbox(io.BytesIO(data).read, "box", max_bytes))


def contents(data: bytes) -> list[bytes]:
    return [message.content for message in read(data)]


def test_every_message_has_a_place_and_a_time() -> None:
    data = LINE + b"A: 1\n\none\n\nFrom bob Thu Aug 22 12:36 2002\nB: 2\n\ntwo\n"
    assert read(data) == [
        RawMessage(b"A: 1\n\none\n", "box, message 1", AT),
        RawMessage(b"B: 2\n\ntwo\n", "box, message 2", AT - 23),
    ]
    assert read(LINE + b"A: 1\n") == [RawMessage(b"A: 1\n", "box", AT)]


@pytest.mark.parametrize(
    "line",
    [
        b"From - Thu Aug 22 12:36:23 2002",
        b"From ann at example.org  Thu Aug 22 12:36:23 2002",
        b"From ann@example.org Thu, 22 Aug 2002 12:36:23 +0000",
        b"From ann@example.org Thu Aug 22 12:36:23 2002 remote from there",
        b"From ann@example.org 2002-08-22 12:36:23 2002",
    ],
)
def test_from_lines_with_any_date_format_separate_messages(line: bytes) -> None:
    assert contents(LINE + b"one\n\n" + line + b"\ntwo\n") == [b"one\n", b"two\n"]


@pytest.mark.parametrize(
    "text",
    [
        b"one\nFrom bob Thu Aug 22 12:36:23 2002\ntwo\n",
        b"one\n\nFrom now on we meet at 12:30.\ntwo\n",
        b"one\n\n From bob Thu Aug 22 12:36:23 2002\ntwo\n",
        b"one\n\nFrom: bob Thu Aug 22 12:36:23 2002\ntwo\n",
        b"one\n\nfrom bob Thu Aug 22 12:36:23 2002\ntwo\n",
    ],
)
def test_text_that_begins_with_from_does_not_separate_messages(text: bytes) -> None:
    assert contents(LINE + text) == [text]


def test_from_lines_need_no_date_if_the_first_has_none() -> None:
    assert contents(b"From ann\none\n\nFrom bob\ntwo\n") == [b"one\n", b"two\n"]


def test_one_quote_character_is_removed_from_quoted_lines() -> None:
    assert (
        unquote_from_lines(b">From a\nx\n>>From b\n >From c\n>From: d\n")
        == b"From a\nx\n>From b\n >From c\n>From: d\n"
    )
    assert contents(LINE + b"A: 1\n\n>From here\n") == [b"A: 1\n\nFrom here\n"]


def test_line_ends_are_preserved() -> None:
    data = LINE.replace(b"\n", b"\r\n") + b"A: 1\r\n\r\none\r\n\r\n" + LINE + b"B: 2\r\n\r\n"
    assert contents(data) == [b"A: 1\r\n\r\none\r\n", b"B: 2\r\n"]


def test_a_long_message_is_truncated() -> None:
    data = LINE + b"x" * 5_000 + b"\n\n" + LINE + b"y\n"
    first, second = read(data, max_bytes=1_000)
    assert (first.content, first.omitted_bytes, first.length) == (b"x" * 1_000, 4_002, 5_002)
    assert second == RawMessage(b"y\n", "box, message 2", AT)


def test_a_message_of_exactly_the_limit_is_complete() -> None:
    (only,) = read(LINE + b"x" * 1_000, max_bytes=1_000)
    assert (only.content, only.omitted_bytes) == (b"x" * 1_000, 0)


def test_a_long_message_is_an_error_without_truncation() -> None:
    with pytest.raises(SourceError, match=r"^box, message 2 is longer than 1,000 bytes once decompressed\."):
        list(split_mbox(io.BytesIO((LINE + b"\n") * 2 + b"x" * 5_000).read, "box", 1_000, truncate=False))


@given(
    st.lists(st.text("F>rom \r\nx", max_size=30).map(str.encode), min_size=1, max_size=5),
    st.integers(1, 60),
)
def test_blocks_of_any_size_give_the_same_messages(texts: list[bytes], block: int) -> None:
    data = b"".join(LINE + text + b"\n\n" for text in texts)
    expected = contents(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mbox, "BLOCK_BYTES", block)
        assert contents(data) == expected
    assert len(expected) == len(texts)


@given(st.binary(max_size=400), st.integers(1, 80), st.integers(1, 50))
def test_any_bytes_are_accepted(data: bytes, block: int, max_bytes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mbox, "BLOCK_BYTES", block)
        result = read(b"From " + data, max_bytes)
    assert result
    assert all(len(message.content) <= max_bytes for message in result)


@given(st.integers(1, 300), st.integers(1, 80), st.integers(1, 50))
def test_truncation_does_not_depend_on_block_boundaries(size: int, block: int, max_bytes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mbox, "BLOCK_BYTES", block)
        (only,) = read(LINE + b"x" * size, max_bytes)
    assert (len(only.content), only.length) == (min(size, max_bytes), size)


def test_memory_does_not_grow_with_the_file() -> None:
    class Endless:
        left = 40

        def read(self, size: int) -> bytes:
            self.left -= 1
            return b"" if self.left < 0 else ((LINE + b"x" * 65_489 + b"\n\n") * 16)[:size]

    tracemalloc.start()
    count = sum(1 for _ in split_mbox(Endless().read, "box", 1 << 16))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count >= 600
    assert peak < 6 << 20
