"""The editor's settings are applied, and invalid ones are reported."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from tests.apps.spelling.language_server.editor import CAPABILITIES, editor
from weigh.apps.spelling.language_server.settings import ServerSettings, file_name_for_format

NOTE = "file:///notes.txt"
TEXT = "I know weather to laugh."
CONFIGURATION = types.ClientCapabilities(workspace=types.WorkspaceClientCapabilities(configuration=True))


def severities(client, uri=NOTE):
    return [each.severity.name for each in client.shown[uri].diagnostics]


@pytest.mark.parametrize("settings", [None, {}, [], "hint", {"weigh": None}, {"weigh": []}, {"other": 1}, 3])
def test_empty_settings_change_nothing(settings):
    assert ServerSettings("m", "hint").merge_client_settings(settings) == (ServerSettings("m", "hint"), [])


def test_settings_are_at_the_top_level_or_in_the_section():
    for settings in ({"severity": "hint"}, {"weigh": {"severity": "hint", "model": None}}):
        assert ServerSettings("m").merge_client_settings(settings) == (ServerSettings("m", "hint"), [])


def test_invalid_settings_are_reported_and_valid_ones_applied():
    settings, messages = ServerSettings("m").merge_client_settings(
        {"model": 3, "severity": "loud", "languages": ["latex", 7], "speed": "high"}
    )
    assert settings == ServerSettings("m")
    assert messages == [
        "The setting model must be the path of a file, not 3; it is ignored.",
        "The setting severity must be one of error, warning, information, hint, not 'loud'; it is ignored.",
        "The setting languages must be a list of language names such as markdown, not ['latex', 7]; "
        "it is ignored.",
    ]
    settings, messages = settings.merge_client_settings({"model": "", "severity": ["hint"], "languages": []})
    assert settings == ServerSettings("m", languages=())
    assert len(messages) == 2


def test_initialization_options_set_model_severity_and_languages(model):
    async def conversation():
        async with editor(None) as client:
            options = {"model": str(model), "severity": "hint", "languages": ["plaintext"]}
            await client.begin(initialization_options=options)
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 1
            assert severities(client) == ["Hint"]
            client.open("file:///notes.md", TEXT, "markdown")
            assert await client.underlined("file:///notes.md") == []
            assert client.messages == []

    asyncio.run(conversation())


def test_relative_model_path_is_in_the_workspace_folder(model):
    async def conversation():
        async with editor(None) as client:
            folder = types.WorkspaceFolder(model.parent.as_uri(), "work")
            await client.begin(workspace_folders=[folder], initialization_options={"model": model.name})
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 1

    asyncio.run(conversation())


def test_later_settings_take_effect_immediately(model):
    async def conversation():
        async with editor(None) as client:
            await client.begin()
            await client.until(lambda: client.messages)
            assert client.messages == [
                "No speller is configured. Train one on your own text (weigh spell learn FOLDER -o FILE), "
                "and set 'model' to the file."
            ]
            client.open(NOTE, TEXT)
            assert await client.underlined(NOTE) == []
            client.configure({"weigh": {"model": str(model), "severity": "warning"}})
            await client.until(lambda: client.shown[NOTE].diagnostics)
            assert severities(client) == ["Warning"]
            client.configure({"weigh": {"model": str(model), "severity": "loud"}})
            await client.until(lambda: severities(client) == ["Information"] and len(client.messages) == 2)
            assert client.messages[1].startswith("The setting severity must be one of ")
            client.configure({"weigh": {"model": str(model), "languages": ["latex"]}})
            await client.until(lambda: severities(client) == [])

    asyncio.run(conversation())


def test_removed_setting_falls_back_to_the_initial_value(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin(initialization_options={"severity": "hint"})
            client.open(NOTE, TEXT)
            await client.until(lambda: NOTE in client.shown and severities(client) == ["Hint"])
            client.configure({"weigh": {"severity": "error"}})
            await client.until(lambda: severities(client) == ["Error"])
            client.configure({"weigh": {}})
            await client.until(lambda: severities(client) == ["Hint"])

    asyncio.run(conversation())


def test_settings_are_requested_if_the_editor_supports_it(model):
    async def conversation():
        async with editor(None) as client:
            client.settings = {"model": str(model)}
            await client.begin(CONFIGURATION)
            client.open(NOTE, TEXT)
            await client.until(lambda: NOTE in client.shown and severities(client) == ["Information"])
            assert client.messages == []
            client.settings = {"severity": "hint"}
            client.configure(None)
            await client.until(lambda: severities(client) == [])
            client.settings = {"model": str(model), "severity": "hint"}
            client.configure({})
            await client.until(lambda: severities(client) == ["Hint"])

    asyncio.run(conversation())


def test_invalid_initialization_options_are_reported(model):
    async def conversation():
        async with editor(model) as client:
            await client.begin(CAPABILITIES, initialization_options={"severity": 3})
            await client.until(lambda: client.messages)
            assert client.messages == [
                "The setting severity must be one of error, warning, information, hint, not 3; it is ignored."
            ]

    asyncio.run(conversation())


@pytest.mark.parametrize(
    ("uri", "language", "name"),
    [
        ("file:///a/notes.txt", "plaintext", "notes.txt"),
        ("file:///a/notes", "plaintext", "notes"),
        ("untitled:Untitled-1", "plaintext", "Untitled-1"),
        ("untitled:Untitled-1", "markdown", "text.md"),
        ("file:///a/notes.txt", "markdown", "text.md"),
        ("file:///a/notes.md", "markdown", "text.md"),
        ("file:///a/notes.md", "plaintext", "notes.md"),
        ("file:///a/notes.md", "pandoc", "notes.md"),
        ("file:///a/notes.markdown", "vimwiki", "notes.markdown"),
        ("file:///a/b%20c.tex", "text", "b c.tex"),
        ("file:///a/part.inc", "LaTeX", "text.tex"),
        ("file:///a/page.rst", "restructuredtext", "text.rst"),
        ("file:///a/.git/COMMIT_EDITMSG", "gitcommit", "COMMIT_EDITMSG"),
        ("file:///a/b.txt", "", "b.txt"),
        ("file:///a/b.py", "python", None),
        ("file:///a/b.py", "plaintext", None),
        ("file:///a/b", "python", None),
        ("file:///a/CMakeLists.txt", "cmake", None),
        ("file:///a/b.json", "json", None),
        ("vscode-notebook-cell:/a/b.ipynb#X", "markdown", "text.md"),
        ("vscode-notebook-cell:/a/b.ipynb#Y", "python", None),
        ("not a uri at all", "python", None),
        ("", "plaintext", ""),
    ],
)
def test_language_and_name_determine_the_markup(uri, language, name):
    assert file_name_for_format(uri, language) == name


def test_only_configured_languages_are_checked():
    assert file_name_for_format("file:///a.adoc", "asciidoc", ("asciidoc", "latex")) == "a.adoc"
    assert file_name_for_format("file:///a.py", "python", ("python",)) == "a.py"
    assert file_name_for_format("file:///a.inc", "latex", ("asciidoc", "latex")) == "text.tex"
    assert file_name_for_format("file:///a.md", "markdown", ("asciidoc", "latex")) is None
    assert file_name_for_format("file:///a.md", "markdown", ()) is None
