"""An editor for tests: the client of pygls, and what the server has told it."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import sys

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient

from weigh.apps.spelling.language_server.settings import ServerSettings
from weigh.apps.spelling.language_server.transport import listen, make_server_factory

COMMAND = [sys.executable, "-m", "weigh.cli.main", "spell", "lsp"]
PATIENCE = 30
ABLE = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(position_encodings=["utf-16"]),
    text_document=types.TextDocumentClientCapabilities(
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText])
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
    ),
)


class Editor(BaseLanguageClient):
    """A client that keeps what it is sent, and waits for what is to come."""

    def __init__(self):
        super().__init__("tests", "1")
        self.shown = {}
        self.messages = []
        self.notes = []
        self.registered = []
        self.settings = None
        self._news = asyncio.Condition()
        self._versions = {}
        for method, handler in (
            (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self._on_diagnostics),
            (types.WINDOW_SHOW_MESSAGE, self._on_message),
            (types.WINDOW_LOG_MESSAGE, self._on_note),
            (types.CLIENT_REGISTER_CAPABILITY, self._on_register),
            (types.CLIENT_UNREGISTER_CAPABILITY, self._on_unregister),
            (types.WORKSPACE_CONFIGURATION, self._on_configuration),
        ):
            self.feature(method)(_free(handler))

    async def begin(self, able=ABLE, **given):
        """Start a conversation."""
        found = await self.initialize_async(types.InitializeParams(capabilities=able, **given))
        self.initialized(types.InitializedParams())
        return found

    def open(self, uri, text, language="plaintext"):
        """Open a document."""
        self._versions[uri] = 1
        self.shown.pop(uri, None)
        self.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text))
        )

    def change(self, uri, *changes):
        """Change a document: by (begin, end, text), or to a text as a whole."""
        self._versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri)
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(identifier, [_change(*each) for each in changes])
        )

    def save(self, uri):
        """Tell that a document was saved."""
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri):
        """Close a document."""
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def configure(self, settings):
        """Send settings, or that they are others."""
        self.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))

    async def actions(self, uri, begin, end, only=None):
        """The changes that the server offers at a place."""
        return await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                types.Range(types.Position(*begin), types.Position(*end)),
                types.CodeActionContext([], only=only),
            )
        )

    async def hover(self, uri, place):
        """What the server says of a place."""
        return await self.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(*place))
        )

    async def underlined(self, uri, version=None):
        """What is underlined in a document once the server has told: lines, columns and messages."""
        wanted = self._versions.get(uri) if version is None else version
        await self.until(lambda: uri in self.shown and self.shown[uri].version == wanted)
        return [
            (each.range.start.line, each.range.start.character, each.range.end.character, each.message)
            for each in self.shown[uri].diagnostics
        ]

    async def until(self, is_so):
        """Wait until something is so."""
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(is_so), PATIENCE)

    async def _on_diagnostics(self, params):
        self.shown[params.uri] = params
        await self._heard()

    async def _on_message(self, params):
        self.messages.append(params.message)
        await self._heard()

    async def _on_note(self, params):
        self.notes.append(params.message)
        await self._heard()

    async def _on_register(self, params):
        self.registered.extend(params.registrations)
        await self._heard()

    async def _on_unregister(self, params):
        gone = {each.id for each in params.unregisterations}
        self.registered = [each for each in self.registered if each.id not in gone]

    async def _on_configuration(self, params):
        return [self.settings for _ in params.items]

    async def _heard(self):
        async with self._news:
            self._news.notify_all()


def _free(method):
    """A function that can be marked, unlike a method."""

    async def function(params):
        return await method(params)

    return function


def _change(*change):
    if len(change) == 1:
        return types.TextDocumentContentChangeWholeDocument(change[0])
    begin, end, text = change
    return types.TextDocumentContentChangePartial(
        types.Range(types.Position(*begin), types.Position(*end)), text
    )


@contextlib.asynccontextmanager
async def editor(model, **wished):
    """An editor that is connected to a server in this process until the block ends."""
    maker = make_server_factory(ServerSettings(None if model is None else str(model), **wished))
    async with listen(maker, ("127.0.0.1", 0)) as (host, port):
        client = Editor()
        await client.start_tcp(host, port)
        try:
            yield client
        finally:
            client.protocol.writer.close()
            await client.stop()


@contextlib.asynccontextmanager
async def editor_of_process(*options):
    """An editor that started a server by its command, and has read all that it logged."""
    client = Editor()
    await client.start_io(*COMMAND, *options)
    process = client._server
    try:
        yield client
        await client.shutdown_async(None)
        client.exit(None)
        _, log = await asyncio.wait_for(asyncio.gather(process.wait(), process.stderr.read()), PATIENCE)
        client.log = log.decode()
        client.code = process.returncode
    finally:
        if process.returncode is None:
            process.kill()
        await client.stop()


def uri_of(path):
    """How the protocol names a file."""
    return pathlib.Path(path).absolute().as_uri()
