"""Tests of message identities: independent of the mailbox, and distinct for distinct messages."""

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
MAILBOX_HEADERS = [
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
def test_the_identity_matches_the_reference(content: bytes, salt: int) -> None:
    ((identity, hashed),) = FeatureExtractor(salt=salt).identify([content])
    assert identity == reference_canonical.identity(content, salt)
    assert [hashed] == FeatureExtractor(salt=salt).hashed_features([content])


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_canonical_messages_have_the_same_features(content: bytes) -> None:
    features = FeatureExtractor(characters=4)
    # Removing headers may uncover further mailbox lines; skip such messages.
    if canonical(canonical(content)) == canonical(content):
        assert features.identify([content]) == features.identify([canonical(content)])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_batches_and_single_messages_have_the_same_identities(threads: int) -> None:
    contents = [b"Subject: %d\r\n\r\nhi" % (i % 13) for i in range(40)] + [b""]
    expected = [FeatureExtractor().identify([content])[0] for content in contents]
    assert FeatureExtractor().identify(contents, threads=threads) == expected
    assert len({identity for identity, _ in expected}) == 14


def test_the_reference_keeps_only_what_people_wrote() -> None:
    assert canonical(PLAIN) == b"From: a@example.org\nSubject: hello\n\nFirst line\n\nStatus: of things"


@pytest.mark.parametrize("header", MAILBOX_HEADERS)
@pytest.mark.parametrize("line", range(3))
def test_headers_of_filters_and_mailboxes_are_ignored(header: bytes, line: int) -> None:
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
def test_all_other_changes_change_the_identity(change: tuple[bytes, bytes]) -> None:
    assert PLAIN.count(change[0]) == 1
    assert digest(PLAIN.replace(*change)) != digest(PLAIN)


def test_a_message_has_the_same_identity_in_a_mailbox_and_in_a_pipe(tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "box")
    box.add(PLAIN)
    box.close()
    stored = (tmp_path / "box").read_bytes()
    assert stored.startswith(b"From ")
    assert digest(stored) == digest(PLAIN) == digest(PLAIN + b"\r\n\n")


@pytest.mark.parametrize("quotes", [b">", b">>", b">>>>"])
def test_quoting_of_from_lines_is_ignored(quotes: bytes) -> None:
    plain = b"From: a@example.org\n\nDear all,\nFrom now on\n>From then on\n"
    for line in (b"\nFrom now", b"\n>From then"):
        quoted = plain.replace(line, b"\n" + quotes + line[1:])
        assert FeatureExtractor().identify([quoted]) == FeatureExtractor().identify([plain])
    assert digest(plain.replace(b"now", b"then")) != digest(plain)


@pytest.mark.parametrize("content", [b"", b"\n", b"From me", b"From me\n", b"\r\n\r\n", b"X-Weigh: ham"])
def test_empty_messages_have_an_identity(content: bytes) -> None:
    assert digest(content) == reference_canonical.identity(b"From me" if content == b"From me" else b"", 7)


def test_lines_of_the_body_are_not_removed_as_headers() -> None:
    assert digest(b"X-Weigh: ham\n\nStatus: body\n") == digest(b"\nStatus: body\n") != digest(b"\n\n")


@given(st.binary(max_size=200), st.sampled_from(MAILBOX_HEADERS))
def test_adding_an_ignored_header_to_any_bytes_changes_nothing(content: bytes, header: bytes) -> None:
    # A folded first line would become part of the header.
    if not content.startswith((b" ", b"\t", b"From ")):
        assert digest(header + content) == digest(content)
