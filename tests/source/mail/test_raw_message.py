"""Tests of arrival times from headers and mailboxes."""

from __future__ import annotations

import mailbox

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.source.mail import RawMessage, arrival_time
from weigh.source.mail.raw_message import parse_date, parse_envelope_date

AT = 1_030_019_783.0  # Thu Aug 22 12:36:23 2002, UTC


@pytest.mark.parametrize(
    "text",
    [
        "Thu, 22 Aug 2002 12:36:23 +0000",
        "Thu, 22 Aug 2002 13:36:23 +0100 (IST)",
        "22 Aug 2002 08:36:23 EDT",
        "Thu, 22 Aug 02 12:36:23 GMT",
        "Thu 22 Aug 2002 12:36:23",
        "Thu Aug 22 12:36:23 2002",
        "Thu, 22 Aug 2002 12:36:23 NOWHERE",
        "Thu,22 Aug 2002 12:36:23 -0000",
        "thu, 22 aug 2002 12:36:23 z",
    ],
)
def test_dates_are_parsed_in_all_formats(text: str) -> None:
    assert parse_date(text.encode()) == AT


@pytest.mark.parametrize("text", ["", " ", "soon", "32 Aug 2002", "Thu, 22 Aug", "0 0 0", "\0", "é"])
def test_an_invalid_date_is_none(text: str) -> None:
    assert parse_date(text.encode()) is None


def test_the_topmost_received_header_takes_precedence() -> None:
    raw = (
        b"Return-Path: x\nDate: Thu, 22 Aug 2002 12:00:00 +0000\n"
        b"RECEIVED: from a by b; id 1;\n\tThu, 22 Aug 2002 12:36:23\n +0000\n"
        b"Received: from c by a; Thu, 22 Aug 2002 11:00:00 +0000\n\nDate: body\n"
    )
    assert arrival_time(raw) == AT
    assert arrival_time(raw.replace(b"\n", b"\r\n")) == AT


def test_the_date_header_precedes_the_mailbox() -> None:
    stored = RawMessage(b"", "box", 5.0)
    assert arrival_time(b"Received: from a by b\nDate : Thu, 22 Aug 2002 12:36:23 +0000\n\n", stored) == AT
    assert arrival_time(b"Date-Sent: x\nDate: Thu, 22 Aug 2002 12:36:23 +0000\n", stored) == AT
    assert (
        arrival_time(b"Received: ; soon\nDate: later\n\nDate: Thu, 22 Aug 2002 12:36:23 +0000\n", stored)
        == 5.0
    )
    assert arrival_time(b"Subject: x\n\n", RawMessage(b"", "box")) is None
    assert arrival_time(b"") is None


def test_only_the_first_64_kib_of_headers_are_read() -> None:
    date = b"Date: Thu, 22 Aug 2002 12:36:23 +0000\n"
    assert arrival_time(b"X: " + b"x" * 65_000 + b"\n" + date) == AT
    assert arrival_time(b"X: " + b"x" * 66_000 + b"\n" + date) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"From ann Thu Aug 22 12:36:23 2002", AT),
        (b"From ann  Thu Aug 22 13:36:23 2002 +0100", AT),
        (b"From ann Thu Aug  2 12:36 2002", AT - 20 * 86_400 - 23),
        (b"From ann Thu, 22 Aug 2002 13:36:23 +0100", AT),
        (b"From ann Feb 31 12:36:23 2002", None),
        (b"From ann", None),
        (b"From ", None),
    ],
)
def test_the_from_line_gives_the_time(line: bytes, expected: float | None) -> None:
    assert parse_envelope_date(line) == expected


@given(st.binary(max_size=300))
def test_any_bytes_are_accepted(raw: bytes) -> None:
    for data in (raw, b"Date: " + raw, b"Received: ;" + raw, b"Date: 1 Jan 2000 " + raw):
        assert arrival_time(data) is None or isinstance(arrival_time(data), float)
    assert isinstance(parse_envelope_date(b"From x Jan 1 1:00 2" + raw), float | None)


@given(st.text("0123456789: ,+-JanFebMonUTC()", max_size=40))
def test_any_date_text_is_accepted(text: str) -> None:
    assert isinstance(parse_date(text.encode()), float | None)


@given(st.integers(0, 2**31).map(float))
def test_times_written_by_the_standard_library_are_read_back(time: float) -> None:
    from email.utils import formatdate
    from time import asctime, gmtime

    message = mailbox.mboxMessage()
    message.set_from("ann", gmtime(time))
    assert parse_envelope_date(f"From {message.get_from()}".encode()) == time
    assert parse_date(formatdate(time).encode()) == parse_date(asctime(gmtime(time)).encode()) == time
