"""An editor for tests: the client of pygls, and the messages it received."""

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
TIMEOUT = 30
CAPABILITIES = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(position_encodings=["utf-16"]),
    text_document=types.TextDocumentClientCapabilities(
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText])
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
    ),
)


class Editor(BaseLanguageClient):
    """A client that records the messages of the server and can wait for them."""

    def __init__(self):
        super().__init__("tests", "1")
        self.shown = {}
        self.messages = []
        self.notes = []
        self.registered = []
        self.settings = None
        self._changed = asyncio.Condition()
        self._versions = {}
        for method, handler in (
            (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self._on_diagnostics),
            (types.WINDOW_SHOW_MESSAGE, self._on_message),
            (types.WINDOW_LOG_MESSAGE, self._on_log),
            (types.CLIENT_REGISTER_CAPABILITY, self._on_register),
            (types.CLIENT_UNREGISTER_CAPABILITY, self._on_unregister),
            (types.WORKSPACE_CONFIGURATION, self._on_configuration),
        ):
            self.feature(method)(_as_function(handler))

    async def begin(self, capabilities=CAPABILITIES, **params):
        """Initialise the connection."""
        result = await self.initialize_async(types.InitializeParams(capabilities=capabilities, **params))
        self.initialized(types.InitializedParams())
        return result

    def open(self, uri, text, language="plaintext"):
        """Open a document."""
        self._versions[uri] = 1
        self.shown.pop(uri, None)
        self.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text))
        )

    def change(self, uri, *changes):
        """Change a document by (begin, end, text) or by replacing the whole text."""
        self._versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri)
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(identifier, [_change(*each) for each in changes])
        )

    def save(self, uri):
        """Notify that a document was saved."""
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri):
        """Close a document."""
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def configure(self, settings):
        """Send settings, or notify that they have changed."""
        self.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))

    async def actions(self, uri, begin, end, only=None):
        """Request code actions for a range."""
        return await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                types.Range(types.Position(*begin), types.Position(*end)),
                types.CodeActionContext([], only=only),
            )
        )

    async def hover(self, uri, position):
        """Request a hover at a position."""
        return await self.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(*position))
        )

    async def underlined(self, uri, version=None):
        """Wait for the diagnostics of a document; return lines, columns and messages."""
        expected = self._versions.get(uri) if version is None else version
        await self.until(lambda: uri in self.shown and self.shown[uri].version == expected)
        return [
            (each.range.start.line, each.range.start.character, each.range.end.character, each.message)
            for each in self.shown[uri].diagnostics
        ]

    async def until(self, condition):
        """Wait until a condition holds."""
        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(condition), TIMEOUT)

    async def _on_diagnostics(self, params):
        self.shown[params.uri] = params
        await self._notify()

    async def _on_message(self, params):
        self.messages.append(params.message)
        await self._notify()

    async def _on_log(self, params):
        self.notes.append(params.message)
        await self._notify()

    async def _on_register(self, params):
        self.registered.extend(params.registrations)
        await self._notify()

    async def _on_unregister(self, params):
        gone = {each.id for each in params.unregisterations}
        self.registered = [each for each in self.registered if each.id not in gone]

    async def _on_configuration(self, params):
        return [self.settings for _ in params.items]

    async def _notify(self):
        async with self._changed:
            self._changed.notify_all()


def _as_function(method):
    """Wrap a method in a function, on which pygls can set attributes."""

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
async def editor(model, **settings):
    """Yield an editor connected to a server in this process."""
    make_server = make_server_factory(ServerSettings(None if model is None else str(model), **settings))
    async with listen(make_server, ("127.0.0.1", 0)) as (host, port):
        client = Editor()
        await client.start_tcp(host, port)
        try:
            yield client
        finally:
            client.protocol.writer.close()
            await client.stop()


@contextlib.asynccontextmanager
async def editor_of_process(*options):
    """Yield an editor connected to a server process; at the end, read its log and exit code."""
    client = Editor()
    await client.start_io(*COMMAND, *options)
    process = client._server
    try:
        yield client
        await client.shutdown_async(None)
        client.exit(None)
        _, log = await asyncio.wait_for(asyncio.gather(process.wait(), process.stderr.read()), TIMEOUT)
        client.log = log.decode()
        client.code = process.returncode
    finally:
        if process.returncode is None:
            process.kill()
        await client.stop()


def uri_of(path):
    """Return the URI of a file."""
    return pathlib.Path(path).absolute().as_uri()
