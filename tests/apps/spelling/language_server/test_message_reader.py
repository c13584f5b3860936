"""Streams that do not follow the protocol: bad headers are reported, and later messages are still read."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess

import pytest

from tests.apps.spelling.language_server.editor import COMMAND, editor_of_process
from weigh.apps.spelling.language_server.message_reader import (
    MAX_HEADER_BYTES,
    MAX_MESSAGE_BYTES,
    MessageReader,
)

NOT_A_LENGTH = "A message was skipped: its Content-Length is not a whole number up to 67,108,864."
TOO_LONG = "A message was skipped: its header is longer than 8,192 bytes."
BODY = b'{"jsonrpc": "2.0", "method": "Content-Length: 5\\r\\n"}'
HOSTILE = {
    b"Content-Length: 99999999999\r\n\r\n": NOT_A_LENGTH,
    b"Content-Length: 67108865\r\n\r\n": NOT_A_LENGTH,
    b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n": NOT_A_LENGTH,
    b"Content-Length: -5\r\n\r\n": NOT_A_LENGTH,
    b"Content-Length: 5e3\r\n\r\n": NOT_A_LENGTH,
    b"Content-Length: \xd9\xa3\r\n\r\n": NOT_A_LENGTH,
    b"Content-Length:\r\n\r\n": NOT_A_LENGTH,
    b"Content-Type: text\r\n\r\n": "A message was skipped: its header has no Content-Length.",
    b'body"}': "A message was skipped: its header has no Content-Length.",
    b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n": (
        "A message was skipped: its header has more than one Content-Length."
    ),
    b"X: " + b"a" * 200_000 + b"\r\n": TOO_LONG,
    b"X: a\r\n" * 50_000: TOO_LONG,
    b"\xff" * 100_000: TOO_LONG,
}


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def read_all(stream: bytes, seed: int = 0) -> tuple[list[bytes], list[str]]:
    """Return the bodies of a stream that arrives in pieces of random size, and the reports."""
    reports: list[str] = []
    rng, at = random.Random(seed), 0

    async def read(size: int) -> bytes:
        nonlocal at
        chunk = stream[at : at + rng.randint(1, rng.choice((3, size)))]
        at += len(chunk)
        return chunk

    async def collect() -> list[bytes]:
        reader, bodies = MessageReader(read, reports.append), []
        while (body := await reader.next_body()) is not None:
            bodies.append(body)
        return bodies

    return asyncio.run(collect()), reports


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda stream: stream[:24].decode("latin-1"))
def test_bad_headers_are_reported_and_later_messages_are_read(hostile: bytes) -> None:
    for seed in range(3):
        bodies, reports = read_all(frame(BODY) + hostile + frame(BODY) + frame(b"last"), seed)
        assert bodies == [BODY, BODY, b"last"]
        assert reports == [HOSTILE[hostile]]


def test_a_body_that_is_too_large_is_skipped_when_it_comes() -> None:
    announced = b"Content-Length: 70000000\r\n\r\n"
    bodies, reports = read_all(announced + b"x" * 1_000_000 + frame(BODY))
    assert (bodies, reports) == ([BODY], [NOT_A_LENGTH])


def test_unusual_but_unambiguous_headers_are_accepted() -> None:
    for header in (
        b"content-length:4\n\n",
        b"Content-Type: text\r\nContent-Length: 4\r\n\r\n",
        b"Content-Length: 4\r\nContent-Length: 4\r\n\r\n",
        b"\r\n\r\nContent-Length: 4 \r\n\r\n",
    ):
        assert read_all(header + b"true" + frame(b"")) == ([b"true", b""], [])


def test_memory_is_bounded() -> None:
    reader = MessageReader(lambda size: endless(size), lambda report: None)

    async def endless(size: int) -> bytes:
        nonlocal n_left
        n_left -= 1
        assert len(reader._buffer) <= MAX_HEADER_BYTES + size
        return b"y" * size if n_left else b""

    n_left = 500
    assert asyncio.run(reader.next_body()) is None
    assert MAX_MESSAGE_BYTES == 64 << 20


def test_the_server_goes_on_after_hostile_streams(model) -> None:
    deep = b"[" * 100_000

    async def conversation() -> None:
        async with editor_of_process("-m", str(model)) as client:
            await client.begin()
            for stream in (*HOSTILE, frame(deep), frame(b'{"a":' * 100_000), frame(b"null"), frame(b"")):
                client.protocol.writer.write(stream)
            batch = [{"jsonrpc": "2.0", "id": 5, "method": "shutdown"}]
            client.protocol.writer.write(frame(json.dumps(batch).encode()))
            client.open("file:///notes.txt", "I know weather to laugh.")
            assert len(await client.underlined("file:///notes.txt")) == 1
        assert (client.code, client.log) == (0, "")

    asyncio.run(conversation())


def test_a_request_that_cannot_be_handled_is_answered() -> None:
    requests = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"id": "own", "method": "textDocument/hover", "params": 5},
        {"id": [], "method": "textDocument/hover"},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    stream = b"".join(frame(json.dumps({"jsonrpc": "2.0", **request}).encode()) for request in requests)
    process = subprocess.run(COMMAND, input=stream, capture_output=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, b"")
    bodies, _ = read_all(process.stdout)
    answers = {each["id"]: each.get("error") for each in map(json.loads, bodies) if "id" in each}
    assert list(answers) == [1, "own", 2]
    assert answers["own"] == {"code": -32602, "message": "The request could not be handled."}
