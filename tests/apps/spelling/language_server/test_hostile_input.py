"""Unusual documents, invalid messages and lost connections: the server keeps running and logs no text."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

import pytest
from lsprotocol import types

from tests.apps.spelling.language_server.editor import COMMAND, Editor, editor, editor_of_process
from weigh.apps.spelling.language_server.settings import ServerSettings
from weigh.apps.spelling.language_server.transport import listen, make_server_factory, serve
from weigh.errors import FileError, Unsupported

NOTE = "file:///notes.txt"
TEXT = "I know weather to laugh."
SECRET = "xyzzyplugh"


def send(client, content, header=None):
    """Send a possibly invalid message."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    client.protocol.writer.write((header or b"Content-Length: %d\r\n\r\n" % len(body)) + body)


def test_invalid_messages_are_survived_and_document_text_is_not_logged(model):
    async def conversation():
        async with editor_of_process("-m", str(model)) as client:
            await client.begin()
            client.open(NOTE, f"{TEXT} {SECRET}")
            assert len(await client.underlined(NOTE)) == 1
            send(client, f'{{"{SECRET}'.encode())
            send(client, [SECRET])
            send(client, {"jsonrpc": "1.0", "method": SECRET})
            send(client, {"jsonrpc": "2.0", "method": f"own/{SECRET}", "params": [SECRET]})
            send(client, {"jsonrpc": "2.0", "id": 77, "method": SECRET, "params": None})
            wrong = {"textDocument": {"uri": NOTE, "version": SECRET}, "contentChanges": [{"text": SECRET}]}
            send(client, {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": wrong})
            wrong = {"textDocument": {"uri": NOTE}, "position": {"line": -1, "character": SECRET}}
            send(client, {"jsonrpc": "2.0", "id": 78, "method": "textDocument/hover", "params": wrong})
            send(client, b"\xff\xfe\x00")
            client.change(NOTE, ((0, 0), (0, 0), "So. "))
            assert [each[:3] for each in await client.underlined(NOTE)] == [(0, 11, 18)]
            messages = "".join((*client.messages, *client.notes))
        assert client.code == 0
        assert SECRET not in client.log + messages
        assert client.log == ""

    asyncio.run(conversation())


UNUSUAL = (
    "",
    "\0" * 1000,
    "\ufeffI know weather to laugh",
    "\ud83d weather \ude00",
    "\r\r\n\n\r weather",
    "😀" * 1000 + "weather",
    "weather" * 10_000,
    "weather " * 1_000,
    "\x1a weather \x1a",
    "`" * 5_000,
    "[" * 5_000 + "(" * 5_000,
    "{\\" * 5_000,
)


@pytest.mark.parametrize("language", ["plaintext", "markdown", "latex"])
def test_unusual_documents_are_checked(model, language):
    texts = {f"untitled:{number}": text for number, text in enumerate(UNUSUAL)}
    far = 2**31 - 1

    async def conversation():
        async with editor(model) as client:
            await client.begin()
            for uri, text in texts.items():
                client.open(uri, text, language)
            for uri, text in texts.items():
                await client.underlined(uri)
                client.change(uri, ((99, 99), (0, 0), "a"), ((far, far), (5, far), "\r"), [text])
                await client.actions(uri, (9, 9), (0, 0))
                await client.hover(uri, (far, far))
                await client.underlined(uri)
            assert (client.messages, client.notes) == ([], [])

    asyncio.run(conversation())


def test_unopened_documents_are_ignored(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin()
            client._versions["file:///other"] = 1
            client.change("file:///other", ["text"])
            client.save("file:///other")
            client.close("file:///other")
            assert await client.actions("file:///other", (0, 0), (0, 0)) is None
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 1
            assert (client.messages, client.notes, list(client.shown)) == ([], [], [NOTE])

    asyncio.run(conversation())


def test_large_document_does_not_block_others(model):
    story = "A long, long and winding story.\n\n" * 150_000

    async def conversation():
        async with editor(model) as client:
            await client.begin()
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 1
            client.open("file:///long.txt", story + TEXT)
            client.change(NOTE, ((0, 0), (0, 0), "So. "))
            assert len(await client.underlined(NOTE)) == 1
            client.change("file:///long.txt", ((0, 0), (1, 0), ""))
            assert [each[:2] for each in await client.underlined("file:///long.txt")] == [(299_999, 7)]

    asyncio.run(conversation())


def test_editors_connect_and_disconnect_independently(model):
    async def conversation():
        async with listen(make_server_factory(ServerSettings(str(model))), ("127.0.0.1", 0)) as (host, port):
            rude, polite = Editor(), Editor()
            for client in (rude, polite):
                await client.start_tcp(host, port)
                await client.begin()
                client.open(NOTE, TEXT)
            rude.protocol.writer.transport.abort()
            assert len(await polite.underlined(NOTE)) == 1
            await polite.shutdown_async(None)
            polite.exit(None)
            late = Editor()
            await late.start_tcp(host, port)
            await late.begin()
            late.open(NOTE, TEXT)
            assert len(await late.underlined(NOTE)) == 1
            late.protocol.writer.close()
            await asyncio.gather(polite.stop(), late.stop())

    asyncio.run(conversation())


def test_server_stops_with_an_editor_connected(model, monkeypatch):
    async def never_closed(self):
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.base_events.Server, "wait_closed", never_closed)

    async def conversation():
        client = Editor()
        async with listen(make_server_factory(ServerSettings(str(model))), ("127.0.0.1", 0)) as (host, port):
            await client.start_tcp(host, port)
            await client.begin()
        client.protocol.writer.close()
        await client.stop()

    asyncio.run(asyncio.wait_for(conversation(), 30))


def test_occupied_port_raises(model):
    async def conversation():
        make_server = make_server_factory(ServerSettings(str(model)))
        async with listen(make_server, ("127.0.0.1", 0)) as address, listen(make_server, address):
            pass

    with pytest.raises(FileError, match=r"^The server cannot listen at 127\.0\.0\.1:\d+: "):
        asyncio.run(conversation())


def test_server_exits_when_standard_input_closes(model):
    async def conversation():
        client = Editor()
        await client.start_io(*COMMAND, "-m", str(model))
        await client.begin()
        client._server.stdin.close()
        assert await asyncio.wait_for(client._server.wait(), 30) == 0
        assert await client._server.stderr.read() == b""
        await client.stop()

    asyncio.run(conversation())


def test_interrupt_stops_the_server_immediately(model):
    async def conversation():
        client = Editor()
        await client.start_io(*COMMAND, "-m", str(model))
        await client.begin()
        client._server.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(client._server.wait(), 30) == -signal.SIGINT
        assert await client._server.stderr.read() == b""
        await client.stop()

    asyncio.run(conversation())


def test_missing_pygls_error_names_the_extra(monkeypatch):
    for name in ("pygls", "pygls.lsp", "pygls.lsp.server", "weigh.apps.spelling.language_server.server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "pygls", None)
    with pytest.raises(Unsupported, match=r"^The language server needs .*pip install '\.\[spell\]'\.$"):
        serve(None)


def test_unsupported_kinds_of_actions_are_not_offered(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin()
            client.open(NOTE, TEXT)
            assert await client.actions(NOTE, (0, 8), (0, 8), [types.CodeActionKind.Refactor, "own"]) == ()

    asyncio.run(conversation())
