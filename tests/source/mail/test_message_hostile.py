"""Any bytes are parsed to a message, in bounded size and time."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh import _core
from weigh.errors import ParameterError
from weigh.source.mail import Message, read
from weigh.source.mail.message import FLAGS, MAX_TEXT_BYTES

from .trees import Tree, to_bytes, trees

SECONDS = 2.0  # for at least a mebibyte of malicious input; an idle machine takes at most a tenth of it
FRAGMENTS = [
    b"Content-Type: ",
    b"multipart/mixed; boundary=b",
    b"text/html",
    b"; charset=",
    b"utf-8",
    b"utf-16",
    b"gb2312",
]
FRAGMENTS += [
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"--b",
    b"--b--",
    b" ",
    b"\t",
    b"\0",
    b"\xff",
    b"\xc3",
    b"=?",
    b"?=",
    b"?b?",
    b"?q?",
]
FRAGMENTS += [
    b"<",
    b">",
    b"</",
    b"<!--",
    b"-->",
    b"<a href=",
    b'"',
    b"'",
    b"http://",
    b"@",
    b"%",
    b"[",
    b"&#",
    b"&amp",
    b";",
]
FRAGMENTS += [
    b"Content-Transfer-Encoding: base64\n",
    b"Content-Transfer-Encoding: quoted-printable\n",
    b"message/rfc822",
]
FRAGMENTS += [
    b"<div style=",
    b"display:none",
    b"color:#fff",
    b"<title>",
    b"<script>",
    b"*0*=",
    b"name",
    b"iso-2022-jp",
    b"\x1b$B",
]


def check(parsed: Message) -> Message:
    """Assert the invariants of every message."""
    for text in (
        parsed.text,
        parsed.hidden,
        str(parsed),
        *(part for header in parsed.headers for part in header),
    ):
        text.encode("utf-8")
    for link in parsed.links:
        link.url.encode("utf-8")
        assert link.host
        assert link.host.encode("utf-8")
    assert len(parsed.text.encode()) <= MAX_TEXT_BYTES + len(parsed.parts)
    assert len(parsed.hidden.encode()) <= MAX_TEXT_BYTES + len(parsed.parts)
    assert len(parsed.parts) <= 500
    assert len(parsed.headers) <= 1000
    assert len(parsed.links) <= 1000
    assert set(parsed.flags) <= set(FLAGS)
    assert parsed.text.startswith("".join(part.text for part in parsed.parts[:1]))
    return parsed


@given(st.binary(max_size=500))
def test_any_bytes_are_a_message(raw: bytes) -> None:
    check(read(raw))


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(b"".join))
def test_any_fragments_of_mail_are_a_message(raw: bytes) -> None:
    check(read(raw))
    check(read(b"Content-Type: text/html; charset=utf-8\n\n" + raw))
    check(read(b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + raw))


@given(trees(), st.randoms(use_true_random=False))
def test_a_damaged_message_is_a_message(tree: Tree, chance: random.Random) -> None:
    raw = bytearray(to_bytes(tree))
    for _ in range(10):
        at = chance.randrange(len(raw) + 1)
        raw[at : at + chance.randrange(3)] = chance.choice(
            [b"", bytes([chance.randrange(256)]), chance.choice(FRAGMENTS)]
        )
        check(read(bytes(raw)))


@given(trees(), st.integers(0, 3000))
def test_a_message_may_end_anywhere(tree: Tree, size: int) -> None:
    check(read(to_bytes(tree)[:size]))


HTML = b"Content-Type: text/html\n\n"
MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"
MEGA = 1_000_000


def nested(depth: int) -> bytes:
    """Return nested multiparts."""
    return b"".join(b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (i, i) for i in range(depth))


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(HTML + b"<" * MEGA, id="signs"),
        pytest.param(HTML + b"<!--" * MEGA, id="open comments"),
        pytest.param(HTML + b"<!-- --" * MEGA, id="dashes"),
        pytest.param(HTML + b"<!-->--" * MEGA, id="empty comments"),
        pytest.param(HTML + b"<!--x>" * MEGA, id="comments that end too early"),
        pytest.param(HTML + b'<a href="' * MEGA, id="open quotes"),
        pytest.param(HTML + b"<a x='" * MEGA, id="two kinds of quotes"),
        pytest.param(HTML + b"<b>" * MEGA, id="open tags"),
        pytest.param(HTML + b"<td><p></b>" * MEGA, id="tags that close nothing"),
        pytest.param(HTML + b"<script>" * MEGA, id="scripts"),
        pytest.param(HTML + b"<title></x" * MEGA, id="titles"),
        pytest.param(HTML + b"&" * MEGA + b"&#1" * MEGA, id="entities"),
        pytest.param(HTML + b"<a " + b"x=1 " * MEGA, id="attributes"),
        pytest.param(HTML + b"<p style='" + b"color:" * MEGA, id="declarations"),
        pytest.param(HTML + b"<a href=http://x.y>www.x.com" * MEGA, id="anchors"),
        pytest.param(MIXED + b"--b\n" * MEGA, id="boundaries"),
        pytest.param(MIXED + b"--b" * MEGA, id="no boundaries"),
        pytest.param(
            b"Content-Type: multipart/mixed; boundary=" + b"-" * 60 + b"\n\n" + b"-" * MEGA,
            id="one long line",
        ),
        pytest.param(b"Content-Type: multipart/mixed\n\n" + b"--\n" * MEGA, id="no boundary declared"),
        pytest.param(nested(20_000), id="nested"),
        pytest.param(b"Content-Type: message/rfc822\n\n" * 100_000, id="messages"),
        pytest.param(b"A: b\n" * MEGA, id="headers"),
        pytest.param(b"A: b\r" * MEGA, id="headers without feeds"),
        pytest.param(b"A:" + b"\n b" * MEGA, id="folds"),
        pytest.param(b"A: " + b"=?u?q?" * MEGA, id="words that never end"),
        pytest.param(b"A: " + b"=?u?q?x?= " * MEGA, id="encoded words"),
        pytest.param(b"A: " + b"=?" * MEGA, id="words that never begin"),
        pytest.param(b"Content-Type: text/plain" + b"; name*0=x" * MEGA, id="parameters"),
        pytest.param(b"\n" + b"www." * MEGA, id="hosts"),
        pytest.param(b"\n" + b"http://" * MEGA, id="addresses"),
        pytest.param(b"\n" + b"mailto:" * MEGA, id="addressees"),
        pytest.param(b"\n" + b"\r" * MEGA, id="lone ends of lines"),
        pytest.param(b"Content-Transfer-Encoding: base64\n\n" + b"=" * MEGA, id="padding"),
        pytest.param(b"Content-Transfer-Encoding: quoted-printable\n\n" + b"=" * MEGA, id="equals signs"),
        pytest.param(b"Content-Type: text/plain; charset=iso-2022-jp\n\n" + b"\x1b" * MEGA, id="escapes"),
        pytest.param(b"Content-Type: text/plain; charset=gb18030\n\n" + b"\xff" * MEGA, id="wrong bytes"),
    ],
)
def test_malicious_input_takes_linear_time(raw: bytes) -> None:
    start = time.process_time()
    parsed = read(raw)
    assert time.process_time() - start < SECONDS
    check(parsed)


@pytest.mark.parametrize(
    "line", [b"-" * 8_000_000, b"x" + b"-" * 8_000_000, (b"x" + b"-" * 999 + b"\r") * 8_000 + b"x"]
)
def test_a_boundary_of_dashes_is_searched_once_per_line(line: bytes) -> None:
    dashes = b"-" * 255
    raw = b"Content-Type: multipart/mixed; boundary=" + dashes + b"\n\n--" + dashes + b"\n\none\n" + line
    start = time.process_time()
    parsed = read(raw + b"\n--" + dashes + b"\n\ntwo\n--" + dashes + b"--\n")
    assert time.process_time() - start < 1.0
    assert [part.size for part in parsed.parts] == [len(line) + 4, 3]


@pytest.mark.slow
def test_a_huge_attachment_costs_no_more_than_finding_its_end() -> None:
    line = b"QUJD" * 19 + b"\r\n"
    start = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n--b\nContent-Type: application/zip\n"
    body = line * (100_000_000 // len(line))
    raw = start + b"Content-Transfer-Encoding: base64\n\n" + body + b"--b\n\nmore\n--b--\n"
    begin = time.process_time()
    parsed = read(raw)
    spent = time.process_time() - begin
    assert [(part.type, part.text) for part in parsed.parts] == [
        *[("text/plain", "words"), ("application/zip", ""), ("text/plain", "more")]
    ]
    assert parsed.parts[1].size == len(body) - 2
    assert spent < 0.5


@pytest.mark.parametrize("kind", ["plain", "html"])
@pytest.mark.parametrize("encoding", ["8bit", "base64", "quoted-printable"])
def test_long_texts_are_truncated(kind: str, encoding: str) -> None:
    head = f"Content-Type: text/{kind}; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n".encode()
    body = {"8bit": "é".encode(), "base64": b"w6nDqcOp", "quoted-printable": b"=C3=A9"}[encoding] * 1_000_000
    parsed = read(head + body, text_bytes=1001)
    assert parsed.text == "é" * 500
    assert "cut-text" in parsed.flags


@pytest.mark.parametrize("size", [-1, 2**30 + 1, 2**64 - 1, 2**64, 1.0, "many", None])
def test_an_invalid_limit_is_an_error(size: object) -> None:
    with pytest.raises(
        ParameterError, match=r"^read: text_bytes must be a whole number up to 1,073,741,824, got "
    ):
        read(b"\nwords", size)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [2**30, 2**64 - 1])
def test_the_native_core_clips_the_limit(size: int) -> None:
    assert _core.read_mail(b"Content-Transfer-Encoding: base64\n\nd29yZHM=", size)[2] == "words"


def test_the_limit_is_for_all_texts_together() -> None:
    raw = MIXED + b"--b\n\n0123456789\n--b\nContent-Type: text/html\n\n<p>abcdefg\n--b\n\nnever seen\n--b--"
    parsed = read(raw, text_bytes=15)
    assert [part.text for part in parsed.parts] == ["0123456789", "ab", ""]
    assert "cut-text" in parsed.flags
    assert "cut-text" not in read(raw).flags


def test_too_many_and_too_deep_parts_are_flagged() -> None:
    many = read(MIXED + b"--b\n\nx\n" * 1000)
    assert len(many.parts) == 500
    assert "cut-parts" in many.flags
    deep = read(nested(40))
    assert [part.depth for part in deep.parts] == [32]
    assert "too-deep" in deep.flags
    assert "too-deep" not in read(nested(20)).flags
