"""Odd documents, odd messages and lost editors: the server stays up, and logs no text."""

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
    """Say something that the protocol may not know."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    client.protocol.writer.write((header or b"Content-Length: %d\r\n\r\n" % len(body)) + body)


def test_odd_messages_are_survived_and_nothing_of_a_document_is_logged(model):
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
            told = "".join((*client.messages, *client.notes))
        assert client.code == 0
        assert SECRET not in client.log + told
        assert client.log == ""

    asyncio.run(conversation())


ODD = (
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
def test_odd_documents_are_checked_like_others(model, language):
    texts = {f"untitled:{number}": text for number, text in enumerate(ODD)}
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


def test_what_was_never_opened_is_ignored(model):
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


def test_a_document_of_five_megabytes_is_checked_while_others_are_answered(model):
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


def test_editors_may_come_and_go(model):
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


def test_a_server_ends_though_an_editor_stays(model, monkeypatch):
    async def for_ever(self):
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.base_events.Server, "wait_closed", for_ever)

    async def conversation():
        client = Editor()
        async with listen(make_server_factory(ServerSettings(str(model))), ("127.0.0.1", 0)) as (host, port):
            await client.start_tcp(host, port)
            await client.begin()
        client.protocol.writer.close()
        await client.stop()

    asyncio.run(asyncio.wait_for(conversation(), 30))


def test_a_place_that_is_taken_is_told(model):
    async def conversation():
        maker = make_server_factory(ServerSettings(str(model)))
        async with listen(maker, ("127.0.0.1", 0)) as place, listen(maker, place):
            pass

    with pytest.raises(FileError, match=r"^127\.0\.0\.1:\d+: the server cannot listen there: "):
        asyncio.run(conversation())


def test_an_editor_that_dies_takes_its_server_with_it(model):
    async def conversation():
        client = Editor()
        await client.start_io(*COMMAND, "-m", str(model))
        await client.begin()
        client._server.stdin.close()
        assert await asyncio.wait_for(client._server.wait(), 30) == 0
        assert await client._server.stderr.read() == b""
        await client.stop()

    asyncio.run(conversation())


def test_an_interrupt_ends_it_at_once(model):
    async def conversation():
        client = Editor()
        await client.start_io(*COMMAND, "-m", str(model))
        await client.begin()
        client._server.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(client._server.wait(), 30) == -signal.SIGINT
        assert await client._server.stderr.read() == b""
        await client.stop()

    asyncio.run(conversation())


def test_without_pygls_the_extra_is_named(monkeypatch):
    for name in ("pygls", "pygls.lsp", "pygls.lsp.server", "weigh.apps.spelling.language_server.server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "pygls", None)
    with pytest.raises(Unsupported, match=r"^Serving editors needs .*pip install '\.\[spell\]'\.$"):
        serve(None)


def test_actions_of_a_kind_that_nobody_knows_are_not_offered(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin()
            client.open(NOTE, TEXT)
            assert await client.actions(NOTE, (0, 8), (0, 8), [types.CodeActionKind.Refactor, "own"]) == ()

    asyncio.run(conversation())
