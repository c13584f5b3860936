"""The first line of a request says everything, or what is wrong with it."""

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
def test_a_line_names_a_command_and_a_length(line, expected):
    assert parse_request(line) == expected


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"\n", "Not a command."),
        (b"FILTER\n", "Not a command."),
        (b"LEARN 12\n", "Not a command."),
        (b"PING 12\n", "Not a command."),
        (b"\xff\xfe 12\n", "Not a command."),
        (b"FILTER -1\n", "The length must be a number of bytes, or - for all until the end."),
        ("FILTER ²\n".encode(), "The length must be"),
        (b"FILTER %d\n" % (MAX_MESSAGE_BYTES + 1), "The message is longer than 67,108,864 bytes."),
    ],
)
def test_other_lines_are_refused_in_words(line, sentence):
    with pytest.raises(ProtocolError) as refusal:
        parse_request(line)
    assert str(refusal.value).startswith(sentence)


def test_answers_say_how_long_they_are():
    assert encode_success(b"a\nb") == b"OK 3\na\nb"
    assert encode_failure("nö") == b"NO 3\nn\xc3\xb6"
