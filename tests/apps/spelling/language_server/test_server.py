"""A real client talks to `weigh spell lsp` as an editor does."""

from __future__ import annotations

import asyncio
import re

import pytest
from lsprotocol import types

from tests.apps.spelling.language_server.editor import CAPABILITIES, editor, editor_of_process
from weigh.text import format_signed

TEXT = "I know weather to laugh.\n\nThe whether is fine today.\n"
NOTE = "file:///notes.txt"
MESSAGE = re.compile(r"\w+ → \w+ \(p=[\d.]+; because: .+\)")


def spans(underlined):
    """Return the lines and columns of diagnostics."""
    return [each[:3] for each in underlined]


def applied(text, action):
    """Apply the edits of an action to a text without astral characters."""
    lines = text.splitlines(keepends=True)
    (change,) = action.edit.document_changes
    for edit in sorted(change.edits, key=lambda edit: edit.range.start, reverse=True):
        line, start, end = edit.range.start.line, edit.range.start.character, edit.range.end.character
        lines[line] = lines[line][:start] + edit.new_text + lines[line][end:]
    return "".join(lines)


def test_a_document_is_checked_when_opened_changed_and_saved_and_cleared_when_closed(model):
    async def conversation():
        async with editor_of_process("-m", str(model)) as client:
            await client.begin()
            client.open(NOTE, TEXT)
            found = await client.underlined(NOTE)
            assert spans(found) == [(0, 7, 14), (2, 4, 11)]
            assert all(MESSAGE.fullmatch(message) for *_, message in found)
            client.change(NOTE, ((0, 7), (0, 14), "whether"), ((0, 0), (0, 0), "No. \n"))
            assert spans(await client.underlined(NOTE)) == [(3, 4, 11)]
            client.change(NOTE, ["The whether is fine today."])
            assert spans(await client.underlined(NOTE)) == [(0, 4, 11)]
            client.shown.clear()
            client.save(NOTE)
            assert spans(await client.underlined(NOTE)) == [(0, 4, 11)]
            client.shown.clear()
            client.close(NOTE)
            assert await client.underlined(NOTE) == []
        assert (client.code, client.log, client.messages, client.notes) == (0, "", [], [])

    asyncio.run(conversation())


@pytest.mark.parametrize(
    ("offered", "negotiated", "column"),
    [
        (["utf-8"], "utf-8", 18),
        (["utf-16"], "utf-16", 13),
        (["utf-32", "utf-16"], "utf-32", 12),
        (["klingon"], "utf-16", 13),
        (None, "utf-16", 13),
    ],
)
def test_positions_use_the_negotiated_encoding(model, offered, negotiated, column):
    capabilities = types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=offered)
    )

    async def conversation():
        async with editor(model) as client:
            result = await client.begin(capabilities)
            assert result.capabilities.position_encoding == negotiated
            client.open(NOTE, "a\u2028b\x0c\né’😀. I know weather to laugh.")
            assert spans(await client.underlined(NOTE)) == [(1, column, column + 7)]
            client.change(NOTE, ((1, column), (1, column), "now "))
            assert spans(await client.underlined(NOTE)) == [(1, column + 4, column + 11)]

    asyncio.run(conversation())


def test_code_actions_fix_one_word_or_all(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin()
            client.open(NOTE, TEXT)
            one, every = await client.actions(NOTE, (0, 9), (0, 9))
            assert (one.title, one.kind) == ("Replace “weather” with “whether”", "quickfix")
            assert one.edit.document_changes[0].text_document.version == 1
            assert one.diagnostics[0].range == types.Range(types.Position(0, 7), types.Position(0, 14))
            assert applied(TEXT, one) == TEXT.replace("weather", "whether", 1)
            right = "I know whether to laugh.\n\nThe weather is fine today.\n"
            assert (every.title, every.kind) == ("Apply 2 suggestions in this file", "source.fixAll")
            assert applied(TEXT, every) == right
            for only, kinds in (
                (["quickfix"], ["quickfix"]),
                (["source.fixAll"], ["source.fixAll"]),
                (["source"], ["source.fixAll"]),
                (["refactor", "source.fixAll.other"], []),
            ):
                assert [each.kind for each in await client.actions(NOTE, (0, 9), (0, 9), only) or ()] == kinds
            assert [each.kind for each in await client.actions(NOTE, (0, 0), (3, 0))] == [
                "quickfix",
                "quickfix",
                "source.fixAll",
            ]
            assert not await client.actions(NOTE, (1, 0), (1, 0))
            (every,) = await client.actions(NOTE, (1, 0), (1, 0), ["source.fixAll"])
            assert applied(TEXT, every) == right

    asyncio.run(conversation())


def test_editor_without_versioned_edits_gets_plain_edits(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin(types.ClientCapabilities())
            client.open(NOTE, "I know weather to laugh.")
            (one,) = await client.actions(NOTE, (0, 9), (0, 9))
            assert one.edit.document_changes is None
            assert [each.new_text for each in one.edit.changes[NOTE]] == ["whether"]

    asyncio.run(conversation())


def test_actions_and_hover_use_the_latest_change(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin()
            client.open(NOTE, TEXT)
            await client.underlined(NOTE)
            client.change(NOTE, ((0, 0), (1, 0), ""))
            (one,) = await client.actions(NOTE, (1, 5), (1, 5))
            assert one.edit.document_changes[0].text_document.version == 2
            assert one.edit.document_changes[0].edits[0].range.start == types.Position(1, 4)
            assert await client.hover(NOTE, (0, 0)) is None

    asyncio.run(conversation())


def test_hover_shows_the_probability_and_every_reason(model, speller):
    (suggestion, _) = speller.check(TEXT)
    markdown = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown])
        )
    )

    async def hovered(capabilities):
        async with editor(model) as client:
            await client.begin(capabilities)
            client.open(NOTE, TEXT)
            assert await client.hover(NOTE, (0, 3)) is None
            assert await client.hover(NOTE, (99, 99)) is None
            assert await client.hover("file:///never-opened.txt", (0, 0)) is None
            return await client.hover(NOTE, (0, 8))

    shown = asyncio.run(hovered(CAPABILITIES))
    assert shown.range == types.Range(types.Position(0, 7), types.Position(0, 14))
    head, _, fors, heading, againsts, total = shown.contents.value.split("\n\n")
    assert head == f"weather → whether, probability {suggestion.probability:.4f}"
    assert heading == "Against:"
    assert [*fors.splitlines(), *againsts.splitlines()] == [
        f"{each}: {format_signed(each.weight)}" for each in suggestion.reasons
    ]
    assert all(": +" in line for line in fors.splitlines())
    assert len(fors.splitlines()) > 2
    assert all(": −" in line for line in againsts.splitlines())
    assert total == f"Log-odds (sum): {format_signed(suggestion.log_odds)}"
    shown = asyncio.run(hovered(markdown))
    assert shown.contents.kind == types.MarkupKind.Markdown
    assert shown.contents.value.startswith("**weather → whether**, probability 0.9")
    assert "\n- 'to' after: +" in shown.contents.value


def test_relative_path_of_the_command_line_is_in_the_current_folder(model, monkeypatch):
    monkeypatch.chdir(model.parent)

    async def conversation():
        async with editor_of_process("--model", model.name) as client:
            await client.begin(root_uri="file:///elsewhere")
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 2
        assert (client.code, client.log, client.messages) == (0, "", [])

    asyncio.run(conversation())
