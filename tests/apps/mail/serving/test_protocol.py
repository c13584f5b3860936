"""Tests of the parsing of requests and the encoding of answers."""

from __future__ import annotations

import pytest

from weigh.apps.mail.serving.service import (
    MAX_MESSAGE_BYTES,
    ProtocolError,
    encode_failure,
    encode_success,
    parse_request,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"FILTER 12\n", ("FILTER", 12)),
        (b"judge 0\r\n", ("JUDGE", 0)),
        (b"Learn  Spam 7", ("LEARN SPAM", 7)),
        (b"UNLEARN -\n", ("UNLEARN", None)),
        (b"PING\n", ("PING", 0)),
        (b"status", ("STATUS", 0)),
    ],
)
def test_a_line_consists_of_a_command_and_a_length(line, expected):
    assert parse_request(line) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\n", "Unknown command."),
        (b"FILTER\n", "Unknown command."),
        (b"LEARN 12\n", "Unknown command."),
        (b"PING 12\n", "Unknown command."),
        (b"\xff\xfe 12\n", "Unknown command."),
        (b"FILTER -1\n", "The length must be a number of bytes, or - to read until end of file."),
        ("FILTER ²\n".encode(), "The length must be"),
        (b"FILTER %d\n" % (MAX_MESSAGE_BYTES + 1), "The message is longer than 67,108,864 bytes."),
    ],
)
def test_invalid_lines_are_rejected(line, message):
    with pytest.raises(ProtocolError) as caught:
        parse_request(line)
    assert str(caught.value).startswith(message)


def test_answers_begin_with_their_length():
    assert encode_success(b"a\nb") == b"OK 3\na\nb"
    assert encode_failure("nö") == b"NO 3\nn\xc3\xb6"
