"""Transfer encodings and charsets, against Python's own."""

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
    """A text in an encoding; the standard charset has a character for every byte."""
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    return read(head.encode() + body)


def lines(text: str) -> str:
    """The text with one kind of line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.binary(max_size=200), st.integers(1, 30))
def test_base64_comes_back_over_any_lines(data: bytes, width: int) -> None:
    encoded = base64.b64encode(data)
    broken = b"\r\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))
    found = message(broken, "Base64")
    assert found.text == lines(data.decode("iso-8859-5"))
    assert "bad-base64" not in found.flags


FOURS = [b"QUJD", b"QQ==", b"QUI=", b"=", b"Q", b" ", b"\n", b"*", b"\xff", b"-"]


@given(st.lists(st.sampled_from(FOURS)).map(b"".join))
def test_bad_base64_is_read_like_binascii_does(body: bytes) -> None:
    padded = body
    for _ in range(4):
        try:
            expected = binascii.a2b_base64(padded)
            break
        except binascii.Error:
            padded += b"="
    else:  # a letter that stands alone is no byte
        return
    assert message(body, "base64").text == lines(expected.decode("iso-8859-5"))


def test_what_is_wrong_with_base64_is_told() -> None:
    assert message(b"QUJD*REVG", "base64").text == "ABCDEF"
    for body, is_bad in [
        (b"QUJD*REVG", True),
        (b"QUJDR", True),
        (b"QUJD\r\n RE==", False),
        (b"QQ== footer!", False),
    ]:
        assert ("bad-base64" in message(body, "base64").flags) is is_bad


@given(st.binary(max_size=200), st.booleans())
def test_quoted_printable_comes_back(data: bytes, quotes_tabs: bool) -> None:
    found = message(quopri.encodestring(data, quotes_tabs), "quoted-printable")
    assert found.text == lines(data.decode("iso-8859-5"))
    assert "bad-quoted-printable" not in found.flags


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
def test_bad_quoted_printable_is_read_like_binascii_does(body: bytes) -> None:
    # Blanks behind an '=' at the end of a line are a soft break for us, as the standard wants.
    while b"= " in body:
        body = body.replace(b"= ", b"=")
    expected = lines(binascii.a2b_qp(body).decode("iso-8859-5"))
    assert message(body, "quoted-printable").text == expected


def test_a_soft_break_may_have_blanks_behind_it() -> None:
    found = message(b"one= \t\ntwo=\t\r\nthree=  ", "quoted-printable")
    assert found.text == "onetwothree"
    assert "bad-quoted-printable" not in found.flags
    assert "bad-quoted-printable" in message(b"1=2", "quoted-printable").flags


def test_an_unknown_encoding_is_left_as_it_is() -> None:
    found = message(b"QUJD", "x-uuencode")
    assert found.text == "QUJD"
    assert "unknown-encoding" in found.flags


# What the web reads for a name, where it is a larger charset than the one of that name.
MEANT = {"iso-8859-1": "cp1252", "iso-8859-9": "cp1254"}


@pytest.mark.parametrize("charset", SINGLE)
def test_every_byte_means_what_pythons_codec_says(charset: str) -> None:
    for byte in range(0x80, 0x100):
        raw = bytes([byte])
        expected = raw.decode(MEANT.get(charset, charset), "replace")
        if expected == "\ufffd" and (charset.startswith("windows") or charset in MEANT) and byte < 0xA0:
            expected = chr(byte)
        found = message(b"x" + raw, charset=charset)
        assert found.text == lines("x" + expected)
        assert ("wrong-charset" in found.flags) is (expected == "\ufffd")


@pytest.mark.parametrize("charset", [*SINGLE, *WIDE, *UNICODE])
@pytest.mark.parametrize(
    "spelled", [str.upper, lambda name: name.replace("-", "_"), lambda name: name.replace("-", "")]
)
def test_names_are_spelled_in_many_ways(charset: str, spelled: type[str]) -> None:
    text = WIDE.get(charset, "x")
    found = message(base64.b64encode(text.encode(charset)), "base64", spelled(charset))
    assert found.text == text
    assert "unknown-charset" not in found.flags


@given(st.binary(max_size=60), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]))
def test_wrong_bytes_are_replaced_like_python_does(data: bytes, charset: str) -> None:
    expected = data.decode(charset, "replace")
    found = message(base64.b64encode(data), "base64", charset)
    if charset == "utf-8":
        assert found.text == lines(expected)
    else:  # Python drops the lone byte at the end together with half a pair before it
        assert found.text.rstrip("\ufffd") == lines(expected).rstrip("\ufffd")
    assert ("wrong-charset" in found.flags) is (data.decode(charset, "ignore") != expected)


def test_halves_of_a_pair_are_no_utf_8() -> None:
    raw = "\ud83d\ude00x\ud83d".encode("utf-8", "surrogatepass")
    assert message(raw, charset="utf-8").text == raw.decode("utf-8", "replace")


@given(st.text(max_size=40))
def test_utf_16_goes_by_its_mark(text: str) -> None:
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
def test_wrong_bytes_of_wide_charsets_are_replaced(charset: str) -> None:
    text = WIDE[charset]
    found = message(base64.b64encode(text.encode(charset) + b"\xff\xff" + b"end"), "base64", charset)
    assert found.text.startswith(text)
    assert found.text.endswith("end")
    assert "\ufffd" in found.text
    assert "wrong-charset" in found.flags


@pytest.mark.parametrize(("charset", "flag"), [("us-ascii", "wrong-charset"), ("klingon", "unknown-charset")])
def test_a_charset_that_does_not_help_is_guessed(charset: str, flag: str) -> None:
    for body, text in [("é".encode(), "é"), (b"\xe9 \x80", "é €")]:
        found = message(body, charset=charset)
        assert found.text == text
        assert flag in found.flags
