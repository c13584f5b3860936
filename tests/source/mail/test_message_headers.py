"""Tests of headers, compared with the email package and with the generated input."""

from __future__ import annotations

import email
import email.policy
import re
from email.header import Header, decode_header

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.source.mail import read

from .trees import SINGLE, UNICODE, WIDE, alphabet

CHARSETS = [*SINGLE, *WIDE, *UNICODE]


def words(charset: str) -> st.SearchStrategy[str]:
    """Strategy for one-line texts in a charset."""
    # The email package writes all Japanese as ISO-2022-JP, which has no narrow letters.
    signs = alphabet(charset).translate(dict.fromkeys(map(ord, "\n\t=?ﾃｽﾄ")))
    return st.text(signs, max_size=60).map(str.strip)


def by_email(value: str) -> str:
    """Unfold a value and decode its encoded words with the email package."""
    pieces = decode_header("".join(re.split(r"[\r\n]+", value)))
    return "".join(
        piece if isinstance(piece, str) else piece.decode(charset or "ascii") for piece, charset in pieces
    )


@st.composite
def subjects(draw: st.DrawFn) -> tuple[str, str]:
    """Strategy for a text and its encoding by the email package, folded over several lines."""
    charset = draw(st.sampled_from([each for each in CHARSETS if each != "utf-16"]))
    text = draw(words(charset))
    return text, Header(text, charset, maxlinelen=draw(st.integers(40, 76)), header_name="Subject").encode()


@given(subjects(), st.sampled_from(["\n", "\r\n"]))
def test_subjects_written_by_the_email_package_are_read_back(subject: tuple[str, str], end: str) -> None:
    text, encoded = subject
    raw = f"Subject: {encoded}\n\nbody".replace("\n", end).encode("ascii")
    parsed = read(raw).header("subject")
    assert parsed is not None
    assert parsed.split() == text.split()


WORDS = "=?utf-8?q?caf=C3=A9?= =?UTF-8?B?4oKs?= =?iso-8859-2?Q?=B1_=E6?= =?us-ascii?q?a_b?= =?utf-8?b?w6k?="
MALFORMED = '=?broken?x?y?= =? ?= =?utf-8?q??= =?utf-8*fr?q?x?= (note) "quoted"'
PIECES = st.sampled_from(["plain", " ", "  ", *WORDS.split(), *MALFORMED.split()])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_encoded_words_are_decoded_like_in_the_email_package(value: str) -> None:
    raw = b"X: " + value.encode() + b"\n\n"
    expected = by_email(value.replace("*fr", "").strip())
    assert read(raw).header("x") == expected.strip()


@given(st.lists(st.tuples(st.from_regex(r"[!-9;-~]{1,12}", fullmatch=True), st.text("ab: \t,", max_size=20))))
def test_names_and_values_are_those_of_the_email_package(headers: list[tuple[str, str]]) -> None:
    raw = "".join(f"{name}: {value}x\n \ty\n" for name, value in headers) + "\nbody"
    expected = email.message_from_string(raw)
    parsed = read(raw.encode())
    assert parsed.headers == tuple(
        (name.lower(), value.replace("\n", "").strip()) for name, value in expected.items()
    )
    assert parsed.text == "body"


def test_both_policies_of_the_email_package_agree_on_a_subject() -> None:
    raw = b"Subject: =?utf-8?q?one_?=\r\n =?utf-8?b?4oKs?= and\r\n more\r\n\r\n"
    assert read(raw).header("Subject") == "one € and more"
    assert email.message_from_bytes(raw, policy=email.policy.default)["subject"] == "one € and more"


def test_a_character_may_be_split_between_encoded_words() -> None:
    assert read(b"X: =?utf-8?q?=E2=82?= =?UTF-8?b?rA==?=\n\n").header("x") == "€"


@pytest.mark.parametrize(
    ("value", "text"),
    [("caf\u00e9".encode(), "café"), (b"caf\xe9 \x80", "café €"), (b"\xe9 =?utf-8?q?=C3=A9?=", "é é")],
)
def test_bytes_beyond_ascii_are_utf8_or_windows_1252(value: bytes, text: str) -> None:
    parsed = read(b"Subject: " + value + b"\n\n")
    assert parsed.header("subject") == text
    assert "8bit-header" in parsed.flags


def test_a_byte_order_mark_is_not_a_header() -> None:
    parsed = read(b"\xef\xbb\xbfSubject: hi\n\nwords")
    assert (parsed.headers, parsed.text) == ((("subject", "hi"),), "words")
    assert "broken-header" not in parsed.flags


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_envelope_line_is_not_a_header(end: bytes) -> None:
    raw = b"From me Sat Jan  1 00:00:00 2000\n>From you\nSubject: s\n\nFrom here".replace(b"\n", end)
    parsed = read(raw)
    assert parsed.headers == (("subject", "s"),)
    assert parsed.text == "From here"


@pytest.mark.parametrize(
    "raw", [b"Subject: s\nthis is no header\nX: y\n", b"Subject: s\nthis is no header\n\nX: y\n"]
)
def test_a_line_that_is_not_a_header_begins_the_body(raw: bytes) -> None:
    expected = email.message_from_bytes(raw)
    parsed = read(raw)
    assert (parsed.headers, parsed.text) == ((("subject", "s"),), expected.get_payload())
    assert "broken-header" in parsed.flags


def test_malformed_headers_are_read_as_far_as_possible() -> None:
    parsed = read(b" folded onto nothing\n: no name\nSubject : s\nEmpty:\nFolded:\n in\n two\n\n")
    assert parsed.headers == (("subject", "s"), ("empty", ""), ("folded", "in two"))
    assert "broken-header" in parsed.flags


def test_missing_headers_are_flagged() -> None:
    every = {"missing-date", "missing-from", "missing-message-id", "missing-subject", "missing-to"}
    assert set(read(b"").flags) == every
    full = b"Date: d\nFrom: f\nMessage-ID: m\nSubject: s\nCC: c\n"
    assert read(full + b"\n").flags == ()
    assert read(full + b"subject: t\n\n").flags == ("repeated-header",)
    assert read(full + b"Received: t\nReceived: u\n\n").flags == ()


def test_the_number_of_headers_is_limited() -> None:
    many = read(b"X: y\n" * 2000 + b"\nbody")
    assert (len(many.headers), many.text) == (1000, "body")
    long = read(b"X: " + b"y" * 10**6 + b"\nSubject: s\n\nbody")
    assert sum(len(name) + len(value) for name, value in long.headers) <= 256 * 1024
    assert "cut-headers" in many.flags
    assert "cut-headers" in long.flags


def test_parameters_are_found_in_any_syntax() -> None:
    for value in [
        b"text/plain; charset=utf-8",
        b'text/plain;charset="UTF-8"',
        b"text/plain;\n\tcharset = utf-8 ; x=y",
        b"text/plain; charset*=us-ascii'en'utf-8",
        b'text/plain; name="a;charset=koi8-r"; charset="u\\tf-8"',
        b"text/plain; charset*0=utf; charset*1=-8; charset=late",
    ]:
        parsed = read(b"Content-Type: " + value + b"\n\n\xc3\xa9")
        assert (parsed.parts[0].charset, parsed.text) == ("utf-8", "é")


def test_parameter_continuations_end_at_the_first_gap() -> None:
    pieces = b"; name*1*=%20b; name*0*=utf-8'en'%c3%a9; name*3=d; name*1=again"
    assert read(b"Content-Type: image/png" + pieces + b"\n\n").parts[0].file == "é b"
