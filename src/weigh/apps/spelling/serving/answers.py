"""What an editor is told of suggestions: diagnostics, changes that it can make, and the reasons in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from weigh.apps.spelling.serving.desk import Found, Paper
from weigh.apps.spelling.suggestion import Suggestion
from weigh.text import counted, signed

SOURCE = "weigh"
MOST_SHOWN = 1000
_LEVELS = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_FIX = types.CodeActionKind.QuickFix
_FIX_ALL = types.CodeActionKind.SourceFixAll
KINDS = (_FIX, _FIX_ALL)


def diagnostics(found: Found, severity: str) -> list[types.Diagnostic]:
    """The suggestions as an editor underlines them."""
    return [_diagnostic(found, each, severity) for each in found.suggestions[:MOST_SHOWN]]


def actions(
    paper: Paper,
    found: Found,
    touched: Sequence[Suggestion],
    only: Sequence[str] | None,
    *,
    severity: str,
    versioned: bool,
) -> list[types.CodeAction]:
    """One change for each suggestion that is touched, and one for all of the document."""
    offered = []
    if _is_asked(_FIX, only):
        offered = [
            types.CodeAction(
                f"Write “{each.suggested}” instead of “{each.written}”",
                kind=_FIX,
                diagnostics=[_diagnostic(found, each, severity)],
                is_preferred=True,
                edit=_edit(paper, found, [each], versioned),
            )
            for each in touched
        ]
    # Unasked it is offered beside the change of one word, if there are more.
    wanted = found.suggestions if only else touched and found.suggestions[1:]
    if wanted and _is_asked(_FIX_ALL, only):
        count = counted(len(found.suggestions), "suggestion")
        edit = _edit(paper, found, found.suggestions, versioned)
        offered.append(types.CodeAction(f"Follow {count} in this file", kind=_FIX_ALL, edit=edit))
    return offered


def hover(found: Found, suggestion: Suggestion, markdown: bool) -> types.Hover:
    """All reasons of a suggestion, for and against, with their weights and their sum."""
    change = f"{suggestion.written} → {suggestion.suggested}"
    sides = [
        [f"{each}: {signed(each.weight)}" for each in suggestion.reasons if sign * each.weight > 0]
        for sign in (1, -1)
    ]
    if markdown:
        change = f"**{_escaped(change)}**"
        sides = [[f"- {_escaped(each)}" for each in lines] for lines in sides]
    parts = [f"{change}, probability {suggestion.probability:.4f}"]
    for head, lines in zip(("For it (difference of log probabilities):", "Against it:"), sides, strict=True):
        parts += [head, "\n".join(lines)] if lines else []
    parts.append(f"Sum, the logarithm of the odds: {signed(suggestion.log_odds)}")
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, "\n\n".join(parts)), _range(found, suggestion))


def within(suggestions: Iterable[Suggestion], begin: int, end: int) -> list[Suggestion]:
    """The suggestions that a selection touches; a mere cursor touches the word that it stands at."""
    return [each for each in suggestions if each.begin <= end and begin <= each.end]


def _is_asked(kind: str, only: Sequence[str] | None) -> bool:
    """Whether an editor asks for a kind: "source" includes "source.fixAll"."""
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in map(_value, only))


def _value(kind: str) -> str:
    return getattr(kind, "value", kind)


def _diagnostic(found: Found, suggestion: Suggestion, severity: str) -> types.Diagnostic:
    return types.Diagnostic(
        _range(found, suggestion),
        f"{suggestion.change} ({suggestion.because})",
        severity=_LEVELS[severity],
        source=SOURCE,
    )


def _range(found: Found, suggestion: Suggestion) -> types.Range:
    begin, end = found.places(suggestion.begin), found.places(suggestion.end)
    return types.Range(types.Position(*begin), types.Position(*end))


def _edit(
    paper: Paper, found: Found, suggestions: Sequence[Suggestion], versioned: bool
) -> types.WorkspaceEdit:
    """The changes; with a version, an editor refuses them when its text is another by now."""
    edits = [types.TextEdit(_range(found, each), each.suggested) for each in suggestions]
    if not versioned:
        return types.WorkspaceEdit(changes={paper.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=paper.uri, version=found.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


def _escaped(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>&" else sign for sign in text)
