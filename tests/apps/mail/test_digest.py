"""A message is known again wherever it lies, and no two messages are taken for one."""

from __future__ import annotations

import mailbox
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.apps.mail.digest import canonical, digest

PLAIN = b"From: a@example.org\nSubject: hello\n\nFirst line\n\nStatus: of things\n"
WRITTEN = [
    b"X-Weigh: spam\n",
    b"X-Weigh-Evidence: one,\n\ttwo,\n three\n",
    b"X-Bogosity: Ham\n",
    b"X-Spam-Status: No\n  more\n",
    b"X-Mozilla-Status2: 00000000\n",
    b"X-Gmail-Labels: Inbox\n",
    b"Status: RO\n",
    b"X-Status: A\n",
    b"X-Keywords:\n",
    b"x-uid: 7\n",
    b"CONTENT-LENGTH: 99\n",
    b"Lines: 3\n",
]


def test_the_digest_is_blake2b_of_the_canonical_bytes() -> None:
    expected = b"From: a@example.org\nSubject: hello\n\nFirst line\n\nStatus: of things"
    assert canonical(PLAIN) == expected
    assert digest(PLAIN) == blake2b(expected, digest_size=16).digest()


@pytest.mark.parametrize("header", WRITTEN)
@pytest.mark.parametrize("line", range(3))
def test_headers_of_filters_and_mailboxes_do_not_count(header: bytes, line: int) -> None:
    lines = PLAIN.splitlines(keepends=True)
    filed = b"".join([*lines[:line], header, *lines[line:]])
    assert canonical(filed) == canonical(PLAIN)
    assert canonical(filed.replace(b"\n", b"\r\n")) == canonical(PLAIN)


@pytest.mark.parametrize(
    "change",
    [
        (b"Subject: hello", b"Subject: hallo"),
        (b"Subject: hello", b"X-Weight: 5\nSubject: hello"[2:]),
        (b"Status: of things", b"Status: of mind"),
        (b"First", b" First"),
        (b"\n\nFirst", b"\nFirst"),
    ],
)
def test_everything_else_counts(change: tuple[bytes, bytes]) -> None:
    assert PLAIN.count(change[0]) == 1
    assert digest(PLAIN.replace(*change)) != digest(PLAIN)


def test_a_mailbox_and_a_pipe_hold_the_same_message(tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "box")
    box.add(PLAIN)
    box.close()
    stored = (tmp_path / "box").read_bytes()
    assert stored.startswith(b"From ")
    assert digest(stored) == digest(PLAIN) == digest(PLAIN + b"\r\n\n")


@pytest.mark.parametrize("content", [b"", b"\n", b"From me", b"From me\n", b"\r\n\r\n", b"X-Weigh: ham"])
def test_what_has_no_content_has_a_digest(content: bytes) -> None:
    assert canonical(content) == (b"From me" if content == b"From me" else b"")


def test_a_body_without_headers_is_left_alone() -> None:
    assert canonical(b"\nStatus: body\n") == b"\nStatus: body"
    assert canonical(b"X-Weigh: ham\n\nStatus: body\n") == b"\nStatus: body"


@given(st.binary(max_size=200), st.sampled_from(WRITTEN))
def test_a_verdict_written_into_any_bytes_changes_nothing(content: bytes, header: bytes) -> None:
    # A header cannot be put before a line that would go on with it.
    if not content.startswith((b" ", b"\t", b"From ")):
        assert canonical(header + content) == canonical(content)
