"""Tests of transfer encodings and charsets, compared with Python's."""

from __future__ import annotations

import base64
import binascii
import codecs
import quopri

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.source.mail import Message, read

from .trees import SINGLE, UNICODE, WIDE


def message(body: bytes, encoding: str = "8bit", charset: str = "iso-8859-5") -> Message:
    """Parse a text in an encoding; the default charset has a character for every byte."""
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    return read(head.encode() + body)


def lines(text: str) -> str:
    """Normalise line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.binary(max_size=200), st.integers(1, 30))
def test_base64_is_decoded_with_any_line_breaks(data: bytes, width: int) -> None:
    encoded = base64.b64encode(data)
    broken = b"\r\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))
    parsed = message(broken, "Base64")
    assert parsed.text == lines(data.decode("iso-8859-5"))
    assert "bad-base64" not in parsed.flags


FOURS = [b"QUJD", b"QQ==", b"QUI=", b"=", b"Q", b" ", b"\n", b"*", b"\xff", b"-"]


@given(st.lists(st.sampled_from(FOURS)).map(b"".join))
def test_malformed_base64_is_decoded_like_in_binascii(body: bytes) -> None:
    padded = body
    for _ in range(4):
        try:
            expected = binascii.a2b_base64(padded)
            break
        except binascii.Error:
            padded += b"="
    else:  # a single trailing character encodes no byte
        return
    assert message(body, "base64").text == lines(expected.decode("iso-8859-5"))


def test_malformed_base64_is_flagged() -> None:
    assert message(b"QUJD*REVG", "base64").text == "ABCDEF"
    for body, is_bad in [
        (b"QUJD*REVG", True),
        (b"QUJDR", True),
        (b"QUJD\r\n RE==", False),
        (b"QQ== footer!", False),
    ]:
        assert ("bad-base64" in message(body, "base64").flags) is is_bad


@given(st.binary(max_size=200), st.booleans())
def test_quoted_printable_is_decoded(data: bytes, quotes_tabs: bool) -> None:
    parsed = message(quopri.encodestring(data, quotes_tabs), "quoted-printable")
    assert parsed.text == lines(data.decode("iso-8859-5"))
    assert "bad-quoted-printable" not in parsed.flags


PIECES = [
    b"a",
    b"=41",
    b"=e9",
    b"=\n",
    b"=\r\n",
    b"=",
    b"=4",
    b"=G1",
    b"==",
    b" ",
    b"\n",
    b"=3D",
    b"\xff",
    b"=4g",
    b"x=",
]


@given(st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_malformed_quoted_printable_is_decoded_like_in_binascii(body: bytes) -> None:
    # As RFC 2045 requires, blanks after an '=' at the end of a line are a soft line break.
    while b"= " in body:
        body = body.replace(b"= ", b"=")
    expected = lines(binascii.a2b_qp(body).decode("iso-8859-5"))
    assert message(body, "quoted-printable").text == expected


def test_a_soft_line_break_may_have_trailing_blanks() -> None:
    parsed = message(b"one= \t\ntwo=\t\r\nthree=  ", "quoted-printable")
    assert parsed.text == "onetwothree"
    assert "bad-quoted-printable" not in parsed.flags
    assert "bad-quoted-printable" in message(b"1=2", "quoted-printable").flags


def test_an_unknown_transfer_encoding_is_not_decoded() -> None:
    parsed = message(b"QUJD", "x-uuencode")
    assert parsed.text == "QUJD"
    assert "unknown-encoding" in parsed.flags


# What the web reads for a name, where it is a larger charset than the one of that name.
ACTUAL_CODECS = {"iso-8859-1": "cp1252", "iso-8859-9": "cp1254"}


@pytest.mark.parametrize("charset", SINGLE)
def test_every_byte_decodes_like_in_pythons_codec(charset: str) -> None:
    for byte in range(0x80, 0x100):
        raw = bytes([byte])
        expected = raw.decode(ACTUAL_CODECS.get(charset, charset), "replace")
        if (
            expected == "\ufffd"
            and (charset.startswith("windows") or charset in ACTUAL_CODECS)
            and byte < 0xA0
        ):
            expected = chr(byte)
        parsed = message(b"x" + raw, charset=charset)
        assert parsed.text == lines("x" + expected)
        assert ("wrong-charset" in parsed.flags) is (expected == "\ufffd")


@pytest.mark.parametrize("charset", [*SINGLE, *WIDE, *UNICODE])
@pytest.mark.parametrize(
    "spelled", [str.upper, lambda name: name.replace("-", "_"), lambda name: name.replace("-", "")]
)
def test_charset_aliases_are_recognised(charset: str, spelled: type[str]) -> None:
    text = WIDE.get(charset, "x")
    parsed = message(base64.b64encode(text.encode(charset)), "base64", spelled(charset))
    assert parsed.text == text
    assert "unknown-charset" not in parsed.flags


@given(st.binary(max_size=60), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]))
def test_invalid_bytes_are_replaced_like_in_python(data: bytes, charset: str) -> None:
    expected = data.decode(charset, "replace")
    parsed = message(base64.b64encode(data), "base64", charset)
    if charset == "utf-8":
        assert parsed.text == lines(expected)
    else:  # Python drops the lone byte at the end together with half a pair before it
        assert parsed.text.rstrip("\ufffd") == lines(expected).rstrip("\ufffd")
    assert ("wrong-charset" in parsed.flags) is (data.decode(charset, "ignore") != expected)


def test_surrogates_are_not_valid_utf_8() -> None:
    raw = "\ud83d\ude00x\ud83d".encode("utf-8", "surrogatepass")
    assert message(raw, charset="utf-8").text == raw.decode("utf-8", "replace")


@given(st.text(max_size=40))
def test_utf_16_follows_its_byte_order_mark(text: str) -> None:
    text = text.encode("utf-16", "ignore").decode("utf-16")
    for mark, charset in [
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (b"", "utf-16-le"),
    ]:
        if text[:1] not in "\ufeff\ufffe" or mark:
            assert message(base64.b64encode(mark + text.encode(charset)), "base64", "utf-16").text == lines(
                text
            )


@pytest.mark.parametrize("charset", list(WIDE))
def test_invalid_bytes_of_multibyte_charsets_are_replaced(charset: str) -> None:
    text = WIDE[charset]
    parsed = message(base64.b64encode(text.encode(charset) + b"\xff\xff" + b"end"), "base64", charset)
    assert parsed.text.startswith(text)
    assert parsed.text.endswith("end")
    assert "\ufffd" in parsed.text
    assert "wrong-charset" in parsed.flags


@pytest.mark.parametrize(("charset", "flag"), [("us-ascii", "wrong-charset"), ("klingon", "unknown-charset")])
def test_an_unknown_charset_is_guessed(charset: str, flag: str) -> None:
    for body, text in [("é".encode(), "é"), (b"\xe9 \x80", "é €")]:
        parsed = message(body, charset=charset)
        assert parsed.text == text
        assert flag in parsed.flags
