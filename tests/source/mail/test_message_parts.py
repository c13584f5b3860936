"""Tests of MIME parts and their texts, compared with the email package and with the generated input."""

from __future__ import annotations

import email
from collections.abc import Iterator
from email.message import Message as Parsed

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.source.mail import read

from .trees import Leaf, Multipart, Tree, to_bytes, trees

STARTS = st.sampled_from([b"", b"From someone@example.org Sat Jan  1 00:00:00 2000\n"])


def parsed_leaves(message: Parsed) -> Iterator[Parsed]:
    """Return the leaves that the email package finds."""
    if not message.is_multipart():
        yield message
        return
    for part in message.get_payload():
        assert isinstance(part, Parsed)
        yield from parsed_leaves(part)


def decoded(part: Parsed) -> str:
    """Decode the text of a part with the email package."""
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode(part.get_content_charset("utf-8"))


def lines(text: str) -> str:
    """Normalise line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(trees(), STARTS, st.sampled_from([b"\n", b"\r\n"]))
def test_leaves_and_their_texts_are_those_of_the_email_package(tree: Tree, start: bytes, end: bytes) -> None:
    raw = (start + to_bytes(tree)).replace(b"\n", end)
    expected = list(parsed_leaves(email.message_from_bytes(raw)))
    parsed = read(raw)
    assert [part.type for part in parsed.parts] == [part.get_content_type() for part in expected]
    assert [part.charset for part in parsed.parts] == [part.get_content_charset() for part in expected]
    for part, other in zip(parsed.parts, expected, strict=True):
        if part.type.startswith("text/"):
            assert part.text == lines(decoded(other))


@given(trees(), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_every_leaf_is_read_back_with_any_line_end(tree: Tree, end: bytes) -> None:
    parsed = read(to_bytes(tree).replace(b"\n", end))
    given = tree.leaves()
    assert [(part.type, part.charset, part.encoding) for part in parsed.parts] == [
        (leaf.type, leaf.charset, leaf.encoding) for leaf in given
    ]
    assert [part.text for part in parsed.parts] == [
        leaf.text if leaf.type.startswith("text/") else "" for leaf in given
    ]
    broken = {"unclosed-multipart", "missing-boundary", "bad-base64", "bad-quoted-printable"}
    broken |= {"unknown-charset", "wrong-charset", "unknown-encoding", "broken-header"}
    assert not broken & set(parsed.flags)


def test_the_text_of_a_message_is_that_of_its_parts() -> None:
    parts = (Leaf("text/plain", "utf-8", "8bit", "one"), Leaf("text/plain", "utf-8", "8bit", "two\n"))
    parsed = read(to_bytes(Multipart("mixed", "b", (*parts, parts[0]), "")))
    assert parsed.text == "one\ntwo\none"
    assert [part.depth for part in parsed.parts] == [1, 1, 1]


def test_an_unclosed_multipart_keeps_its_last_part() -> None:
    parsed = read(b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo")
    assert [part.text for part in parsed.parts] == ["one", "two"]
    assert "unclosed-multipart" in parsed.flags


def test_an_outer_boundary_ends_inner_parts() -> None:
    raw = (
        b"Content-Type: multipart/mixed; boundary=out\n\n--out\n"
        b"Content-Type: multipart/mixed; boundary=in\n\n--in\n\none\n--out\n\ntwo\n--out--\nthree"
    )
    parsed = read(raw)
    assert [(part.text, part.depth) for part in parsed.parts] == [("one", 2), ("two", 1)]
    assert "unclosed-multipart" in parsed.flags


def test_a_boundary_is_a_whole_line() -> None:
    raw = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--bb\n --b\nx--b\n--b \t\n\nrest\n--b--"
    assert [part.text for part in read(raw).parts] == ["--bb\n --b\nx--b", "rest"]


@pytest.mark.parametrize("parameter", [b"", b"; boundary=wrong"])
def test_an_undeclared_boundary_is_found(parameter: bytes) -> None:
    raw = (
        b"Content-Type: multipart/mixed"
        + parameter
        + b"\n\n--right\nContent-Type: text/plain\n\nyes\n--right--\n"
    )
    parsed = read(raw)
    assert [part.text for part in parsed.parts] == ["yes"]
    assert "missing-boundary" in parsed.flags


def test_a_multipart_without_parts_is_text() -> None:
    parsed = read(b"Content-Type: multipart/mixed; boundary=b\n\nplain words")
    assert [(part.type, part.text) for part in parsed.parts] == [("text/plain", "plain words")]
    assert "missing-boundary" in parsed.flags


def test_attachments_are_named_and_measured_but_not_decoded() -> None:
    raw = (
        b"Content-Type: application/x-msdownload; name=other.txt\nContent-Transfer-Encoding: base64\n"
        b"Content-Disposition: Attachment; filename*0*=utf-8''%e2%82%ac; filename*1=\".exe\"\n\nAAAA\n"
    )
    parsed = read(raw)
    (part,) = parsed.parts
    assert (part.file, part.disposition, part.size, part.text) == ("€.exe", "attachment", 5, "")
    assert {"attachment", "executable"} <= set(parsed.flags)


@pytest.mark.parametrize("kind", [b"text/html (c; d)", b'"text/html"', b"Text/HTML\t(c)"])
@pytest.mark.parametrize("encoding", [b"base64 (c)", b'"base64"', b"BASE64(c)"])
def test_comments_and_quotes_are_not_part_of_a_name(kind: bytes, encoding: bytes) -> None:
    head = b"Content-Type: " + kind + b"; charset=utf-8\nContent-Transfer-Encoding: " + encoding
    (part,) = read(head + b"\n\nw6k=").parts
    assert (part.type, part.encoding, part.charset, part.text) == ("text/html", "base64", "utf-8", "é")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"TEXT/HTML ; x", "text/html"),
        (b"nonsense", "text/plain"),
        (b"a/b/c", "text/plain"),
        (b"", "text/plain"),
    ],
)
def test_types_are_parsed_like_in_the_email_package(value: bytes, kind: str) -> None:
    raw = b"Content-Type: " + value + b"\n\nx"
    assert (
        [part.type for part in read(raw).parts]
        == [kind]
        == [email.message_from_bytes(raw).get_content_type()]
    )


def test_a_digest_contains_messages() -> None:
    raw = b"Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: s\n\ninner\n--b--\n"
    assert [(part.text, part.depth) for part in read(raw).parts] == [("inner", 2)]
