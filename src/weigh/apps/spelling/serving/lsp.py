"""The language server: what an editor says, and what it is answered. This file and answers.py need pygls.

Of pygls the conversation and its types are used, not its documents: those take every line end that Python
knows for one of the protocol's, and count the code units of a line one by one.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from weigh import __version__
from weigh.apps.spelling.serving import answers
from weigh.apps.spelling.serving.desk import Desk, Paper
from weigh.apps.spelling.serving.languages import read_as
from weigh.apps.spelling.serving.model import Model
from weigh.apps.spelling.serving.text import Place, Text
from weigh.apps.spelling.serving.wishes import SECTION, Wishes, section

NAME = "weigh-spell"
# One long document leaves a thread for the others.
THREADS = 2
# Seconds until an editor that does not tell its settings is served without.
PATIENCE = 5.0
_WATCH = "weigh-model"
_OWN_DOCUMENTS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
)


class SpellServer(LanguageServer):
    """The server of one editor.

    `wishes` are at first what the command line says, then with what the editor says at its start, and then
    these with its settings as they are.
    """

    def __init__(self, wishes: Wishes) -> None:
        super().__init__(NAME, __version__)
        self.wishes = self._first = wishes
        self.folder = os.getcwd()
        self.checking = ThreadPoolExecutor(THREADS, "weigh-spell")
        self.desk = Desk(Model(None), self.checking, show=self._show, tell=self._tell, note=self._note)
        self._refused: list[str] = []
        self._is_watching = False
        self._register()

    def shutdown(self) -> None:
        """End, without waiting for checks that nobody will see."""
        self.checking.shutdown(wait=False, cancel_futures=True)
        super().shutdown()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Tell of an error by its kind alone: its words may be the document's."""
        self._note(f"A message could not be handled: {type(error).__name__}.")

    def _register(self) -> None:
        for method in _OWN_DOCUMENTS:
            del self.protocol.fm.builtin_features[method]
        offered = types.CodeActionOptions(code_action_kinds=list(answers.KINDS))
        for method, handler, options in (
            (types.INITIALIZE, self.initialize, None),
            (types.INITIALIZED, self.initialized, None),
            (types.TEXT_DOCUMENT_DID_OPEN, self.did_open, None),
            (types.TEXT_DOCUMENT_DID_CHANGE, self.did_change, None),
            (types.TEXT_DOCUMENT_DID_SAVE, self.did_save, types.SaveOptions(include_text=False)),
            (types.TEXT_DOCUMENT_DID_CLOSE, self.did_close, None),
            (types.TEXT_DOCUMENT_CODE_ACTION, self.code_action, offered),
            (types.TEXT_DOCUMENT_HOVER, self.hover, None),
            (types.WORKSPACE_DID_CHANGE_CONFIGURATION, self.did_change_configuration, None),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self.did_change_watched_files, None),
        ):
            # pygls marks what it is given, and methods cannot be marked.
            self.feature(method, options)(partial(handler))

    def initialize(self, params: types.InitializeParams) -> None:
        """Read the editor's options."""
        folders = [each.uri for each in params.workspace_folders or ()]
        root = next(filter(None, (*folders, params.root_uri)), None)
        self.folder = (to_fs_path(root) if root else params.root_path) or self.folder
        self._first, self._refused = self.wishes.with_settings(params.initialization_options)
        self.wishes = self._first
        self.desk.use(self._model())
        if self._can("workspace.configuration"):
            self.desk.hold()

    async def initialized(self, params: types.InitializedParams) -> None:
        """Load the speller, and ask to be told of changes."""
        for sentence in self._refused:
            self._tell(sentence)
        if self._can("workspace.did_change_configuration.dynamic_registration"):
            self._ask_for(types.Registration("weigh-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION))
        self._watch()
        await self._pull_settings()
        self.desk.release()
        await self.desk.reload()

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Check a document."""
        given = params.text_document
        name = read_as(given.uri, given.language_id, self.wishes.languages)
        encoding = self.server_capabilities.position_encoding or types.PositionEncodingKind.Utf16
        text = Text(given.text, getattr(encoding, "value", encoding))
        self.desk.open(Paper(given.uri, given.language_id, name, given.version, text))

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a document as the editor did."""
        paper = self.desk.get(params.text_document.uri)
        if paper is None:
            return
        for change in params.content_changes:
            part = getattr(change, "range", None)
            if part is None:
                paper.text.replace(change.text)
            else:
                paper.text.change(_place(part.start), _place(part.end), change.text)
        paper.version = params.text_document.version
        self.desk.changed(paper)

    def did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Check a document at once."""
        paper = self.desk.get(params.text_document.uri)
        if paper is not None:
            self.desk.saved(paper)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        self.desk.close(params.text_document.uri)

    async def code_action(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """The changes that an editor can offer."""
        paper = self.desk.get(params.text_document.uri)
        found = await self.desk.settled(paper) if paper is not None else None
        if paper is None or found is None or not found.suggestions:
            return None
        begin, end = paper.text.at(_place(params.range.start)), paper.text.at(_place(params.range.end))
        return answers.actions(
            paper,
            found,
            answers.within(found.suggestions, begin, end),
            params.context.only,
            severity=self.wishes.severity,
            versioned=self._can("workspace.workspace_edit.document_changes"),
        )

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """All reasons of the suggestion under the pointer."""
        paper = self.desk.get(params.text_document.uri)
        found = await self.desk.settled(paper) if paper is not None else None
        if paper is None or found is None or not found.suggestions:
            return None
        at = paper.text.at(_place(params.position))
        touched = answers.within(found.suggestions, at, at)
        formats = self._said("text_document.hover.content_format") or ()
        markdown = types.MarkupKind.Markdown in formats
        return answers.hover(found, touched[0], markdown) if touched else None

    async def did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        """Take new settings, or ask for them if none are sent."""
        if section(params.settings) or not self._can("workspace.configuration"):
            self._take(params.settings)
        else:
            await self._pull_settings()

    async def did_change_watched_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Look at the speller's file."""
        await self.desk.reload()

    async def _pull_settings(self) -> None:
        if not self._can("workspace.configuration"):
            return
        wanted = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        try:
            given = await asyncio.wait_for(self.workspace_configuration_async(wanted), PATIENCE)
        except Exception as error:
            self._note(f"The editor does not tell its settings: {type(error).__name__}.")
            return
        self._take(given[0] if given else None)

    def _take(self, settings: object) -> None:
        before = self.wishes
        self.wishes, refused = self._first.with_settings(settings)
        for sentence in refused:
            self._tell(sentence)
        if self.wishes.model != before.model:
            self.desk.use(self._model())
            self._watch()
        if self.wishes != before:
            self.desk.read_again(lambda paper: read_as(paper.uri, paper.language, self.wishes.languages))

    def _model(self) -> Model:
        path = self.wishes.model
        return Model(None if path is None else os.path.join(self.folder, os.path.expanduser(path)))

    def _watch(self) -> None:
        """Ask to be told when the speller's file changes."""
        path = self.desk.model.path
        if path is None or not self._can("workspace.did_change_watched_files.dynamic_registration"):
            return
        folder, name = os.path.split(path)
        pattern: Any = path
        if self._can("workspace.did_change_watched_files.relative_pattern_support"):
            pattern = types.RelativePattern(from_fs_path(folder), name)
        watched = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
        if self._is_watching:
            unwanted = types.Unregistration(_WATCH, types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
            self.client_unregister_capability(types.UnregistrationParams([unwanted]))
        self._is_watching = True
        self._ask_for(types.Registration(_WATCH, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched))

    def _ask_for(self, registration: types.Registration) -> None:
        self.client_register_capability(types.RegistrationParams([registration]))

    def _said(self, path: str) -> Any:
        """What the editor says of its abilities; None where it says nothing."""
        found: Any = self.client_capabilities
        for name in path.split("."):
            found = getattr(found, name, None)
        return found

    def _can(self, path: str) -> bool:
        return self._said(path) is True

    def _show(self, paper: Paper) -> None:
        found = paper.found
        if found is not None:
            told = answers.diagnostics(found, self.wishes.severity)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(paper.uri, told, version=found.version)
            )

    def _tell(self, sentence: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, sentence))

    def _note(self, sentence: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, sentence))


def _place(position: types.Position) -> Place:
    return position.line, position.character
