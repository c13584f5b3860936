"""Tests of printing messages and converting them to JSON."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from weigh.source.mail import read
from weigh.source.mail.message import FLAGS

RAW = (
    b"From: a@example.org\nSubject: <b>" + b"long " * 30 + b"\nContent-Type: multipart/mixed; boundary=b\n\n"
    b"--b\n\nwords www.example.com\n--b\nContent-Type: image/png; name=x.png\n\n\xff\xff\n--b--\n"
)


def test_a_message_prints_in_eighty_columns() -> None:
    text = str(read(RAW))
    assert text.splitlines()[0] == "From: a@example.org"
    assert text.splitlines()[2:] == [
        "  part        bytes  characters of text",
        "  text/plain     21                  21",
        "  image/png       2                   0",
        "Links to: www.example.com",
        "Flags: missing-date, missing-message-id, missing-to, attachment",
    ]
    every = dataclasses.replace(read(RAW), flags=FLAGS)
    assert max(map(len, str(every).splitlines())) <= 80
    assert str(read(b"")).splitlines()[0] == "  part        bytes  characters of text"


def test_a_message_is_plain_json() -> None:
    message = read(RAW)
    plain = message.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["headers"][0] == ["from", "a@example.org"]
    assert [part["type"] for part in plain["parts"]] == ["text/plain", "image/png"]
    assert plain["links"] == [
        {"url": "www.example.com", "host": "www.example.com", "origin": "text", "traits": []}
    ]
    assert set(plain) == {field.name for field in dataclasses.fields(message)}


def test_the_html_representation_is_escaped() -> None:
    assert read(RAW)._repr_html_().count("&lt;b&gt;long") == 1
    assert "(no subject)" in read(b"")._repr_html_()


def test_header_names_are_case_insensitive() -> None:
    message = read(b"X-One: 1\nx-one: 2\n\n")
    assert message.header("X-ONE") == "1"
    assert message.header("x-two") is None


def test_a_message_is_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        read(RAW).text = ""  # type: ignore[misc]


def test_every_flag_is_explained() -> None:
    page = Path(__file__).parents[3] / "docs" / "mail-messages.md"
    table = page.read_text("utf-8").partition("## Flags")[2]
    assert [flag for flag in FLAGS if f"`{flag}`" not in table] == []
