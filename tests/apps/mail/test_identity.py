"""A message is known again wherever it lies, and no two messages are taken for one."""

from __future__ import annotations

import mailbox
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apps.mail import reference_canonical
from tests.apps.mail.reference_canonical import canonical
from weigh.apps.mail.features import FeatureExtractor

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
    b"X-UIDL: 7\n",
    b"X-Spam: yes\n",
    b"X-DSPAM-Result: Spam\n",
    b"X-CRM114-Status: good\n",
    b"X-Rspamd-Server: one\n",
    b"X-AntiSpam: no\n",
    b"X-Evolution-Source: 1\n",
    b"X-GM-THRID: 1\n",
    b"X-IMAPbase: 1 2\n",
]


PIECES = [b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"From ", b"Subject", b"x", b"\0", b"\xff"]
PIECES += [
    b"X-Weigh",
    b"x-WEIGH-y",
    b"X-Weig",
    b"X-Spam-",
    b"X-Spam",
    b"X-Mozilla-A",
    b"X-Bogosity",
    b"lines",
]
PIECES += [b"lines", b"Status", b"X-Status", b"X-Keywords", b"X-UID", b"X-UIDL", b"X-Gmail-Labels"]
PIECES += [b"Content-Length", b"X-Evolution", b"X-GM-", b"X-Rspamd", b">From ", b">"]


def digest(content: bytes) -> bytes:
    ((identity, _),) = FeatureExtractor(salt=7).identify([content])
    return identity


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.integers(0, 2**64 - 1))
def test_the_identity_is_as_the_twin_says(content: bytes, salt: int) -> None:
    ((identity, print_),) = FeatureExtractor(salt=salt).identify([content])
    assert identity == reference_canonical.identity(content, salt)
    assert [print_] == FeatureExtractor(salt=salt).hashed_features([content])


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_one_identity_has_one_print(content: bytes) -> None:
    features = FeatureExtractor(characters=4)
    # No more lines of mailboxes may come to light.
    if canonical(canonical(content)) == canonical(content):
        assert features.identify([content]) == features.identify([canonical(content)])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_many_messages_are_identified_as_each_alone(threads: int) -> None:
    contents = [b"Subject: %d\r\n\r\nhi" % (at % 13) for at in range(40)] + [b""]
    alone = [FeatureExtractor().identify([content])[0] for content in contents]
    assert FeatureExtractor().identify(contents, threads=threads) == alone
    assert len({identity for identity, _ in alone}) == 14


def test_what_the_twin_leaves_is_what_people_wrote() -> None:
    assert canonical(PLAIN) == b"From: a@example.org\nSubject: hello\n\nFirst line\n\nStatus: of things"


@pytest.mark.parametrize("header", WRITTEN)
@pytest.mark.parametrize("line", range(3))
def test_headers_of_filters_and_mailboxes_do_not_count(header: bytes, line: int) -> None:
    lines = PLAIN.splitlines(keepends=True)
    filed = b"".join([*lines[:line], header, *lines[line:]])
    assert digest(filed) == digest(PLAIN)
    assert digest(filed.replace(b"\n", b"\r\n")) == digest(PLAIN)


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


@pytest.mark.parametrize("quotes", [b">", b">>", b">>>>"])
def test_a_line_that_begins_with_from_is_the_same_however_mailboxes_quote_it(quotes: bytes) -> None:
    plain = b"From: a@example.org\n\nDear all,\nFrom now on\n>From then on\n"
    for line in (b"\nFrom now", b"\n>From then"):
        quoted = plain.replace(line, b"\n" + quotes + line[1:])
        assert FeatureExtractor().identify([quoted]) == FeatureExtractor().identify([plain])
    assert digest(plain.replace(b"now", b"then")) != digest(plain)


@pytest.mark.parametrize("content", [b"", b"\n", b"From me", b"From me\n", b"\r\n\r\n", b"X-Weigh: ham"])
def test_what_has_no_content_has_an_identity(content: bytes) -> None:
    assert digest(content) == reference_canonical.identity(b"From me" if content == b"From me" else b"", 7)


def test_a_body_without_headers_is_left_alone() -> None:
    assert digest(b"X-Weigh: ham\n\nStatus: body\n") == digest(b"\nStatus: body\n") != digest(b"\n\n")


@given(st.binary(max_size=200), st.sampled_from(WRITTEN))
def test_a_verdict_written_into_any_bytes_changes_nothing(content: bytes, header: bytes) -> None:
    # A header cannot be put before a line that would go on with it.
    if not content.startswith((b" ", b"\t", b"From ")):
        assert digest(header + content) == digest(content)
