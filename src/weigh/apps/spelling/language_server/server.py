"""The language server: what an editor says, and what it is answered. This file and answers.py need pygls.

Of pygls the conversation and its types are used, not its documents: those take every line end that Python
knows for one of the protocol's, and count the code units of a line one by one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from weigh import __version__
from weigh.apps.spelling.language_server.document_manager import (
    CheckResult,
    DocumentManager,
    OpenDocument,
    SpellerLoader,
)
from weigh.apps.spelling.language_server.settings import (
    SETTINGS_SECTION,
    ServerSettings,
    file_name_for_format,
    select_section,
)
from weigh.apps.spelling.language_server.text_document import LinePosition, TextDocument
from weigh.apps.spelling.suggestions import Suggestion
from weigh.text import format_quantity, format_signed

SERVER_NAME = "weigh-spell"
# One long document leaves a thread for the others.
CHECK_THREADS = 2
# Seconds until an editor that does not tell its settings is served without.
SETTINGS_TIMEOUT = 5.0
_WATCH_REGISTRATION_ID = "weigh-model"
_REPLACED_HANDLERS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
)


class SpellServer(LanguageServer):
    """The server of one editor.

    `wishes` are at first what the command line says, then with what the editor says at its start, and then
    these with its settings as they are.
    """

    def __init__(self, wishes: ServerSettings) -> None:
        super().__init__(SERVER_NAME, __version__)
        self.client_settings = self._initial_settings = wishes
        self.root_folder = os.getcwd()
        self.check_executor = ThreadPoolExecutor(CHECK_THREADS, "weigh-spell")
        self.document_manager = DocumentManager(
            SpellerLoader(None),
            self.check_executor,
            show=self._publish_diagnostics,
            tell=self._show_warning,
            note=self._log_message,
        )
        self._setting_errors: list[str] = []
        self._is_watching = False
        self._register_handlers()

    def shutdown(self) -> None:
        """End, without waiting for checks that nobody will see."""
        self.check_executor.shutdown(wait=False, cancel_futures=True)
        super().shutdown()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Tell of an error by its kind alone: its words may be the document's."""
        self._log_message(f"A message could not be handled: {type(error).__name__}.")

    def _register_handlers(self) -> None:
        for method in _REPLACED_HANDLERS:
            del self.protocol.fm.builtin_features[method]
        offered = types.CodeActionOptions(code_action_kinds=list(CODE_ACTION_KINDS))
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
        self.root_folder = (to_fs_path(root) if root else params.root_path) or self.root_folder
        self._initial_settings, self._setting_errors = self.client_settings.merge_client_settings(
            params.initialization_options
        )
        self.client_settings = self._initial_settings
        self.document_manager.use_loader(self._make_loader())
        if self._client_supports("workspace.configuration"):
            self.document_manager.pause()

    async def initialized(self, params: types.InitializedParams) -> None:
        """Load the speller, and ask to be told of changes."""
        for sentence in self._setting_errors:
            self._show_warning(sentence)
        if self._client_supports("workspace.did_change_configuration.dynamic_registration"):
            self._register_capability(
                types.Registration("weigh-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION)
            )
        self._watch_speller_file()
        await self._request_settings()
        self.document_manager.resume()
        await self.document_manager.reload()

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Check a document."""
        given = params.text_document
        name = file_name_for_format(given.uri, given.language_id, self.client_settings.languages)
        encoding = self.server_capabilities.position_encoding or types.PositionEncodingKind.Utf16
        text = TextDocument(given.text, getattr(encoding, "value", encoding))
        self.document_manager.open(OpenDocument(given.uri, given.language_id, name, given.version, text))

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a document as the editor did."""
        paper = self.document_manager.get(params.text_document.uri)
        if paper is None:
            return
        for change in params.content_changes:
            part = getattr(change, "range", None)
            if part is None:
                paper.text.replace(change.text)
            else:
                paper.text.change(_to_line_position(part.start), _to_line_position(part.end), change.text)
        paper.version = params.text_document.version
        self.document_manager.handle_change(paper)

    def did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Check a document at once."""
        paper = self.document_manager.get(params.text_document.uri)
        if paper is not None:
            self.document_manager.handle_save(paper)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        self.document_manager.close(params.text_document.uri)

    async def code_action(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """The changes that an editor can offer."""
        paper = self.document_manager.get(params.text_document.uri)
        found = await self.document_manager.wait_for_result(paper) if paper is not None else None
        if paper is None or found is None or not found.suggestions:
            return None
        begin, end = (
            paper.text.offset_at(_to_line_position(params.range.start)),
            paper.text.offset_at(_to_line_position(params.range.end)),
        )
        return make_code_actions(
            paper,
            found,
            suggestions_touching(found.suggestions, begin, end),
            params.context.only,
            severity=self.client_settings.severity,
            versioned=self._client_supports("workspace.workspace_edit.document_changes"),
        )

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """All reasons of the suggestion under the pointer."""
        paper = self.document_manager.get(params.text_document.uri)
        found = await self.document_manager.wait_for_result(paper) if paper is not None else None
        if paper is None or found is None or not found.suggestions:
            return None
        at = paper.text.offset_at(_to_line_position(params.position))
        touched = suggestions_touching(found.suggestions, at, at)
        formats = self._client_capability("text_document.hover.content_format") or ()
        markdown = types.MarkupKind.Markdown in formats
        return make_hover(found, touched[0], markdown) if touched else None

    async def did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        """Take new settings, or ask for them if none are sent."""
        if select_section(params.settings) or not self._client_supports("workspace.configuration"):
            self._apply_settings(params.settings)
        else:
            await self._request_settings()

    async def did_change_watched_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Look at the speller's file."""
        await self.document_manager.reload()

    async def _request_settings(self) -> None:
        if not self._client_supports("workspace.configuration"):
            return
        wanted = types.ConfigurationParams([types.ConfigurationItem(section=SETTINGS_SECTION)])
        try:
            given = await asyncio.wait_for(self.workspace_configuration_async(wanted), SETTINGS_TIMEOUT)
        except Exception as error:
            self._log_message(f"The editor does not tell its settings: {type(error).__name__}.")
            return
        self._apply_settings(given[0] if given else None)

    def _apply_settings(self, settings: object) -> None:
        before = self.client_settings
        self.client_settings, refused = self._initial_settings.merge_client_settings(settings)
        for sentence in refused:
            self._show_warning(sentence)
        if self.client_settings.model != before.model:
            self.document_manager.use_loader(self._make_loader())
            self._watch_speller_file()
        if self.client_settings != before:
            self.document_manager.update_formats(
                lambda paper: file_name_for_format(paper.uri, paper.language, self.client_settings.languages)
            )

    def _make_loader(self) -> SpellerLoader:
        path = self.client_settings.model
        return SpellerLoader(
            None if path is None else os.path.join(self.root_folder, os.path.expanduser(path))
        )

    def _watch_speller_file(self) -> None:
        """Ask to be told when the speller's file changes."""
        path = self.document_manager.loader.path
        if path is None or not self._client_supports(
            "workspace.did_change_watched_files.dynamic_registration"
        ):
            return
        folder, name = os.path.split(path)
        pattern: Any = path
        if self._client_supports("workspace.did_change_watched_files.relative_pattern_support"):
            pattern = types.RelativePattern(from_fs_path(folder), name)
        watched = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
        if self._is_watching:
            unwanted = types.Unregistration(_WATCH_REGISTRATION_ID, types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
            self.client_unregister_capability(types.UnregistrationParams([unwanted]))
        self._is_watching = True
        self._register_capability(
            types.Registration(_WATCH_REGISTRATION_ID, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched)
        )

    def _register_capability(self, registration: types.Registration) -> None:
        self.client_register_capability(types.RegistrationParams([registration]))

    def _client_capability(self, path: str) -> Any:
        """What the editor says of its abilities; None where it says nothing."""
        found: Any = self.client_capabilities
        for name in path.split("."):
            found = getattr(found, name, None)
        return found

    def _client_supports(self, path: str) -> bool:
        return self._client_capability(path) is True

    def _publish_diagnostics(self, paper: OpenDocument) -> None:
        found = paper.result
        if found is not None:
            told = make_diagnostics(found, self.client_settings.severity)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(paper.uri, told, version=found.version)
            )

    def _show_warning(self, sentence: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, sentence))

    def _log_message(self, sentence: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, sentence))


def _to_line_position(position: types.Position) -> LinePosition:
    return position.line, position.character


DIAGNOSTIC_SOURCE = "weigh"
MAX_DIAGNOSTICS = 1000
_LSP_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_QUICK_FIX = types.CodeActionKind.QuickFix
_FIX_ALL = types.CodeActionKind.SourceFixAll
CODE_ACTION_KINDS = (_QUICK_FIX, _FIX_ALL)


def make_diagnostics(found: CheckResult, severity: str) -> list[types.Diagnostic]:
    """The suggestions as an editor underlines them."""
    return [_make_diagnostic(found, each, severity) for each in found.suggestions[:MAX_DIAGNOSTICS]]


def make_code_actions(
    paper: OpenDocument,
    found: CheckResult,
    touched: Sequence[Suggestion],
    only: Sequence[str] | None,
    *,
    severity: str,
    versioned: bool,
) -> list[types.CodeAction]:
    """One change for each suggestion that is touched, and one for all of the document."""
    offered = []
    if _is_requested(_QUICK_FIX, only):
        offered = [
            types.CodeAction(
                f"Write “{each.suggested}” instead of “{each.written}”",
                kind=_QUICK_FIX,
                diagnostics=[_make_diagnostic(found, each, severity)],
                is_preferred=True,
                edit=_make_workspace_edit(paper, found, [each], versioned),
            )
            for each in touched
        ]
    # Unasked it is offered beside the change of one word, if there are more.
    wanted = found.suggestions if only else touched and found.suggestions[1:]
    if wanted and _is_requested(_FIX_ALL, only):
        count = format_quantity(len(found.suggestions), "suggestion")
        edit = _make_workspace_edit(paper, found, found.suggestions, versioned)
        offered.append(types.CodeAction(f"Follow {count} in this file", kind=_FIX_ALL, edit=edit))
    return offered


def make_hover(found: CheckResult, suggestion: Suggestion, markdown: bool) -> types.Hover:
    """All reasons of a suggestion, for and against, with their weights and their sum."""
    change = f"{suggestion.written} → {suggestion.suggested}"
    sides = [
        [f"{each}: {format_signed(each.weight)}" for each in suggestion.reasons if sign * each.weight > 0]
        for sign in (1, -1)
    ]
    if markdown:
        change = f"**{_escape_markdown(change)}**"
        sides = [[f"- {_escape_markdown(each)}" for each in lines] for lines in sides]
    parts = [f"{change}, probability {suggestion.probability:.4f}"]
    for head, lines in zip(("For it (difference of log probabilities):", "Against it:"), sides, strict=True):
        parts += [head, "\n".join(lines)] if lines else []
    parts.append(f"Sum, the logarithm of the odds: {format_signed(suggestion.log_odds)}")
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, "\n\n".join(parts)), _lsp_range(found, suggestion))


def suggestions_touching(suggestions: Iterable[Suggestion], begin: int, end: int) -> list[Suggestion]:
    """The suggestions that a selection touches; a mere cursor touches the word that it stands at."""
    return [each for each in suggestions if each.begin <= end and begin <= each.end]


def _is_requested(kind: str, only: Sequence[str] | None) -> bool:
    """Whether an editor asks for a kind: "source" includes "source.fixAll"."""
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in map(_enum_value, only))


def _enum_value(kind: str) -> str:
    return getattr(kind, "value", kind)


def _make_diagnostic(found: CheckResult, suggestion: Suggestion, severity: str) -> types.Diagnostic:
    return types.Diagnostic(
        _lsp_range(found, suggestion),
        f"{suggestion.change} ({suggestion.because})",
        severity=_LSP_SEVERITIES[severity],
        source=DIAGNOSTIC_SOURCE,
    )


def _lsp_range(found: CheckResult, suggestion: Suggestion) -> types.Range:
    begin, end = found.position_index(suggestion.begin), found.position_index(suggestion.end)
    return types.Range(types.Position(*begin), types.Position(*end))


def _make_workspace_edit(
    paper: OpenDocument, found: CheckResult, suggestions: Sequence[Suggestion], versioned: bool
) -> types.WorkspaceEdit:
    """The changes; with a version, an editor refuses them when its text is another by now."""
    edits = [types.TextEdit(_lsp_range(found, each), each.suggested) for each in suggestions]
    if not versioned:
        return types.WorkspaceEdit(changes={paper.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=paper.uri, version=found.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


def _escape_markdown(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>&" else sign for sign in text)
