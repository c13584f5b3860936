"""The language server: message handlers, diagnostics, code actions and hovers. Only this file needs pygls.

The documents of pygls are not used, because they take every line end of Python for one of the protocol and
count the code units of a line one by one.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
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
# Two, so that one long document does not block the others.
CHECK_THREADS = 2
SETTINGS_TIMEOUT = 5.0  # seconds to wait for the editor's settings
_WATCH_REGISTRATION_ID = "weigh-model"
_REPLACED_HANDLERS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
)


class SpellServer(LanguageServer):
    """The server of one editor.

    Its settings are those of the command line, overridden by the initialisation options of the editor,
    overridden by the editor's current settings.
    """

    def __init__(self, settings: ServerSettings) -> None:
        super().__init__(SERVER_NAME, __version__)
        self.client_settings = self._initial_settings = settings
        self.root_folder = os.getcwd()
        self.check_executor = ThreadPoolExecutor(CHECK_THREADS, "weigh-spell")
        self.document_manager = DocumentManager(
            SpellerLoader(None),
            self.check_executor,
            publish=self._publish_diagnostics,
            warn=self._show_warning,
            log=self.log_message,
        )
        self._setting_errors: list[str] = []
        self._is_watching = False
        self._register_handlers()

    def shutdown(self) -> None:
        """Shut down without waiting for running checks."""
        self.check_executor.shutdown(wait=False, cancel_futures=True)
        super().shutdown()

    def handle_body(self, body: bytes) -> None:
        """Handle a message; one that cannot be handled is logged, and answered if it is a request."""
        message: Any = None
        try:
            message = json.loads(body)
            self.protocol.handle_message(self.protocol.structure_message(message))
        except Exception as error:
            self.report_server_error(error, None)
            identity = message.get("id") if isinstance(message, dict) and "method" in message else None
            if isinstance(identity, (int, str)):
                self.protocol._send_response(identity, error=_invalid_request(error))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log only the type of an error, because its message may quote a document."""
        self.log_message(f"A message could not be handled: {type(error).__name__}.")

    def _register_handlers(self) -> None:
        for method in _REPLACED_HANDLERS:
            del self.protocol.fm.builtin_features[method]
        code_actions = types.CodeActionOptions(code_action_kinds=list(CODE_ACTION_KINDS))
        for method, handler, options in (
            (types.INITIALIZE, self.initialize, None),
            (types.INITIALIZED, self.initialized, None),
            (types.TEXT_DOCUMENT_DID_OPEN, self.did_open, None),
            (types.TEXT_DOCUMENT_DID_CHANGE, self.did_change, None),
            (types.TEXT_DOCUMENT_DID_SAVE, self.did_save, types.SaveOptions(include_text=False)),
            (types.TEXT_DOCUMENT_DID_CLOSE, self.did_close, None),
            (types.TEXT_DOCUMENT_CODE_ACTION, self.code_action, code_actions),
            (types.TEXT_DOCUMENT_HOVER, self.hover, None),
            (types.WORKSPACE_DID_CHANGE_CONFIGURATION, self.did_change_configuration, None),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self.did_change_watched_files, None),
        ):
            # pygls sets attributes on handlers, which bound methods do not allow.
            self.feature(method, options)(partial(handler))

    def initialize(self, params: types.InitializeParams) -> None:
        """Read the initialisation options."""
        folders = [folder.uri for folder in params.workspace_folders or ()]
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
        """Load the speller, and register for changes of settings and of its file."""
        for message in self._setting_errors:
            self._show_warning(message)
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
        item = params.text_document
        name = file_name_for_format(item.uri, item.language_id, self.client_settings.languages)
        encoding = self.server_capabilities.position_encoding or types.PositionEncodingKind.Utf16
        text = TextDocument(item.text, getattr(encoding, "value", encoding))
        self.document_manager.open(OpenDocument(item.uri, item.language_id, name, item.version, text))

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply the editor's changes to a document."""
        document = self.document_manager.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            span = getattr(change, "range", None)
            if span is None:
                document.text.replace(change.text)
            else:
                document.text.change(_to_line_position(span.start), _to_line_position(span.end), change.text)
        document.version = params.text_document.version
        self.document_manager.handle_change(document)

    def did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Check a document immediately."""
        document = self.document_manager.get(params.text_document.uri)
        if document is not None:
            self.document_manager.handle_save(document)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Remove a document."""
        self.document_manager.close(params.text_document.uri)

    async def code_action(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """Return the corrections for a range of a document."""
        document = self.document_manager.get(params.text_document.uri)
        result = await self.document_manager.wait_for_result(document) if document is not None else None
        if document is None or result is None or not result.suggestions:
            return None
        begin = document.text.offset_at(_to_line_position(params.range.start))
        end = document.text.offset_at(_to_line_position(params.range.end))
        return make_code_actions(
            document,
            result,
            suggestions_touching(result.suggestions, begin, end),
            params.context.only,
            severity=self.client_settings.severity,
            versioned=self._client_supports("workspace.workspace_edit.document_changes"),
        )

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return all reasons of the suggestion at a position."""
        document = self.document_manager.get(params.text_document.uri)
        result = await self.document_manager.wait_for_result(document) if document is not None else None
        if document is None or result is None or not result.suggestions:
            return None
        offset = document.text.offset_at(_to_line_position(params.position))
        touched = suggestions_touching(result.suggestions, offset, offset)
        formats = self._client_capability("text_document.hover.content_format") or ()
        is_markdown = types.MarkupKind.Markdown in formats
        return make_hover(result, touched[0], is_markdown) if touched else None

    async def did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        """Apply new settings, or request them if none were sent."""
        if select_section(params.settings) or not self._client_supports("workspace.configuration"):
            self._apply_settings(params.settings)
        else:
            await self._request_settings()

    async def did_change_watched_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Reload the speller if its file has changed."""
        await self.document_manager.reload()

    async def _request_settings(self) -> None:
        if not self._client_supports("workspace.configuration"):
            return
        params = types.ConfigurationParams([types.ConfigurationItem(section=SETTINGS_SECTION)])
        try:
            sections = await asyncio.wait_for(self.workspace_configuration_async(params), SETTINGS_TIMEOUT)
        except Exception as error:
            self.log_message(f"The editor did not send its settings: {type(error).__name__}.")
            return
        self._apply_settings(sections[0] if sections else None)

    def _apply_settings(self, settings: object) -> None:
        before = self.client_settings
        self.client_settings, setting_errors = self._initial_settings.merge_client_settings(settings)
        for message in setting_errors:
            self._show_warning(message)
        if self.client_settings.model != before.model:
            self.document_manager.use_loader(self._make_loader())
            self._watch_speller_file()
        if self.client_settings != before:
            self.document_manager.update_formats(
                lambda document: file_name_for_format(
                    document.uri, document.language, self.client_settings.languages
                )
            )

    def _make_loader(self) -> SpellerLoader:
        path = self.client_settings.model
        return SpellerLoader(
            None if path is None else os.path.join(self.root_folder, os.path.expanduser(path))
        )

    def _watch_speller_file(self) -> None:
        """Register for changes of the speller's file."""
        path = self.document_manager.loader.path
        if path is None or not self._client_supports(
            "workspace.did_change_watched_files.dynamic_registration"
        ):
            return
        folder, name = os.path.split(path)
        pattern: Any = path
        if self._client_supports("workspace.did_change_watched_files.relative_pattern_support"):
            pattern = types.RelativePattern(from_fs_path(folder), name)
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
        if self._is_watching:
            previous = types.Unregistration(_WATCH_REGISTRATION_ID, types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
            self.client_unregister_capability(types.UnregistrationParams([previous]))
        self._is_watching = True
        self._register_capability(
            types.Registration(_WATCH_REGISTRATION_ID, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        )

    def _register_capability(self, registration: types.Registration) -> None:
        self.client_register_capability(types.RegistrationParams([registration]))

    def _client_capability(self, path: str) -> Any:
        """Return a capability of the editor by its dotted path, or None."""
        value: Any = self.client_capabilities
        for name in path.split("."):
            value = getattr(value, name, None)
        return value

    def _client_supports(self, path: str) -> bool:
        return self._client_capability(path) is True

    def _publish_diagnostics(self, document: OpenDocument) -> None:
        result = document.result
        if result is not None:
            diagnostics = make_diagnostics(result, self.client_settings.severity)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, diagnostics, version=result.version)
            )

    def _show_warning(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def log_message(self, message: str) -> None:
        """Send a line to the log of the editor."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))


def _invalid_request(error: Exception) -> types.ResponseError:
    """Return the answer to a request that cannot be handled, without the text of its error."""
    code = (
        types.ErrorCodes.InvalidParams
        if isinstance(error, JsonRpcInvalidParams)
        else types.ErrorCodes.InvalidRequest
    )
    return types.ResponseError(code, "The request could not be handled.")


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


def make_diagnostics(result: CheckResult, severity: str) -> list[types.Diagnostic]:
    """Return the first `MAX_DIAGNOSTICS` suggestions as diagnostics."""
    return [_make_diagnostic(result, one, severity) for one in result.suggestions[:MAX_DIAGNOSTICS]]


def make_code_actions(
    document: OpenDocument,
    result: CheckResult,
    touched: Sequence[Suggestion],
    only: Sequence[str] | None,
    *,
    severity: str,
    versioned: bool,
) -> list[types.CodeAction]:
    """Return a quick fix for each touched suggestion, and one action that applies all suggestions."""
    actions = []
    if _is_requested(_QUICK_FIX, only):
        actions = [
            types.CodeAction(
                f"Replace “{suggestion.written}” with “{suggestion.suggested}”",
                kind=_QUICK_FIX,
                diagnostics=[_make_diagnostic(result, suggestion, severity)],
                is_preferred=True,
                edit=_make_workspace_edit(document, result, [suggestion], versioned),
            )
            for suggestion in touched
        ]
    # If no kind is requested, fix-all is only offered next to a quick fix, and if there are more suggestions.
    is_useful = result.suggestions if only else touched and result.suggestions[1:]
    if is_useful and _is_requested(_FIX_ALL, only):
        count = format_quantity(len(result.suggestions), "suggestion")
        edit = _make_workspace_edit(document, result, result.suggestions, versioned)
        actions.append(types.CodeAction(f"Apply {count} in this file", kind=_FIX_ALL, edit=edit))
    return actions


def make_hover(result: CheckResult, suggestion: Suggestion, is_markdown: bool) -> types.Hover:
    """Return the reasons for and against a suggestion, with their weights and the log-odds."""
    change = f"{suggestion.written} → {suggestion.suggested}"
    sides = [
        [f"{one}: {format_signed(one.weight)}" for one in suggestion.reasons if sign * one.weight > 0]
        for sign in (1, -1)
    ]
    if is_markdown:
        change = f"**{_escape_markdown(change)}**"
        sides = [[f"- {_escape_markdown(line)}" for line in lines] for lines in sides]
    parts = [f"{change}, probability {suggestion.probability:.4f}"]
    for heading, lines in zip(("For (contributions to the log-odds):", "Against:"), sides, strict=True):
        parts += [heading, "\n".join(lines)] if lines else []
    parts.append(f"Log-odds (sum): {format_signed(suggestion.log_odds)}")
    kind = types.MarkupKind.Markdown if is_markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, "\n\n".join(parts)), _lsp_range(result, suggestion))


def suggestions_touching(suggestions: Iterable[Suggestion], begin: int, end: int) -> list[Suggestion]:
    """Return the suggestions that overlap or adjoin a selection, which may be empty (a cursor)."""
    return [one for one in suggestions if one.begin <= end and begin <= one.end]


def _is_requested(kind: str, only: Sequence[str] | None) -> bool:
    """Return whether a kind of action is requested; "source" includes "source.fixAll"."""
    return not only or any(kind == one or kind.startswith(f"{one}.") for one in map(_enum_value, only))


def _enum_value(kind: str) -> str:
    return getattr(kind, "value", kind)


def _make_diagnostic(result: CheckResult, suggestion: Suggestion, severity: str) -> types.Diagnostic:
    return types.Diagnostic(
        _lsp_range(result, suggestion),
        f"{suggestion.change} ({suggestion.because})",
        severity=_LSP_SEVERITIES[severity],
        source=DIAGNOSTIC_SOURCE,
    )


def _lsp_range(result: CheckResult, suggestion: Suggestion) -> types.Range:
    begin, end = result.position_index(suggestion.begin), result.position_index(suggestion.end)
    return types.Range(types.Position(*begin), types.Position(*end))


def _make_workspace_edit(
    document: OpenDocument, result: CheckResult, suggestions: Sequence[Suggestion], versioned: bool
) -> types.WorkspaceEdit:
    """Return the edits; if versioned, an editor rejects them when its text has changed meanwhile."""
    edits = [types.TextEdit(_lsp_range(result, one), one.suggested) for one in suggestions]
    if not versioned:
        return types.WorkspaceEdit(changes={document.uri: edits})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=result.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)])


def _escape_markdown(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\`*_[]<>&" else character for character in text)
