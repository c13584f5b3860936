"""A speller that is learned again is used at once, and one that cannot be read is told."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from tests.apps.spelling.language_server.conftest import WEATHER, WHETHER, learned
from tests.apps.spelling.language_server.editor import editor, editor_of_process, uri_of
from weigh.apps.spelling.language_server.document_manager import SpellerLoader
from weigh.errors import FileError

NOTE = "file:///notes.txt"
TEXT = "I know weather to laugh.\n\nThe whether is fine today.\n"


def watching(**more):
    """An editor that tells of files that change."""
    able = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True, **more)
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(did_change_watched_files=able)
    )


@pytest.fixture(scope="module")
def another(tmp_path_factory):
    """A speller that has read the words in each other's place."""
    folder = tmp_path_factory.mktemp("another") / "texts"
    swapped = {"weather": "whether", "whether": "weather"}
    words = [[swapped.get(word, word) for word in each.split()] for each in (*WEATHER, *WHETHER)]
    return learned(folder, *map(" ".join, words))


@pytest.mark.parametrize("relative", [True, False])
def test_a_speller_that_was_learned_again_is_used_when_the_editor_tells_of_it(model, another, relative):
    async def conversation():
        async with editor(model) as client:
            await client.begin(watching(relative_pattern_support=relative))
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 2
            (asked,) = client.registered
            assert asked.method == "workspace/didChangeWatchedFiles"
            folder, name = str(model.parent), model.name
            pattern = {"baseUri": uri_of(folder), "pattern": name} if relative else str(model)
            assert asked.register_options == {"watchers": [{"globPattern": pattern}]}
            another.save(model)
            event = types.FileEvent(uri_of(model), types.FileChangeType.Changed)
            client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            await client.until(lambda: client.shown[NOTE].diagnostics == ())
            assert client.messages == []

    asyncio.run(conversation())


def test_the_watched_file_changes_with_the_setting(model, another, tmp_path):
    path = tmp_path / "another.weigh"
    another.save(path)

    async def conversation():
        async with editor(model) as client:
            await client.begin(watching())
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 2
            client.configure({"weigh": {"model": str(path)}})
            await client.until(lambda: client.shown[NOTE].diagnostics == ())
            (asked,) = client.registered
            assert asked.register_options == {"watchers": [{"globPattern": str(path)}]}

    asyncio.run(conversation())


def test_a_speller_that_was_learned_again_is_used_for_all_documents_from_the_next_check(model, another):
    async def conversation():
        async with editor(model) as client:
            await client.begin()
            other = "file:///other.txt"
            client.open(NOTE, TEXT)
            client.open(other, TEXT)
            assert len(await client.underlined(NOTE)) == len(await client.underlined(other)) == 2
            another.save(model)
            client.save(NOTE)
            await client.until(
                lambda: client.shown[NOTE].diagnostics == client.shown[other].diagnostics == ()
            )

    asyncio.run(conversation())


def test_a_broken_file_is_told_once_and_the_server_stays(model, tmp_path, speller):
    whole = model.read_bytes()
    model.write_bytes(whole[:-100])

    async def conversation():
        async with editor_of_process("-m", str(model)) as client:
            await client.begin()
            await client.until(lambda: client.messages)
            assert client.messages[0].startswith(str(model))
            client.open(NOTE, TEXT)
            assert await client.underlined(NOTE) == []
            client.change(NOTE, ((0, 0), (0, 0), " "))
            assert await client.underlined(NOTE) == []
            assert len(client.messages) == 1
            speller.save(model)
            client.save(NOTE)
            await client.until(lambda: len(client.shown[NOTE].diagnostics) == 2)
            model.unlink()
            client.change(NOTE, ((0, 0), (0, 1), ""))
            assert len(await client.underlined(NOTE)) == 2
            await client.until(lambda: len(client.messages) == 2)
            assert client.messages[1] == (
                f"{model}: there is no such speller. Learn one from text of your own (weigh spell learn "
                "FOLDER -o FILE), or give another as the setting model. "
                "The speller loaded before stays in use."
            )
        assert (client.code, client.log) == (0, "")

    asyncio.run(conversation())


def test_a_file_is_loaded_again_only_when_it_is_another(tmp_path):
    path = tmp_path / "model"
    path.write_text("one")
    loads = []

    def load(given):
        loads.append(given)
        return object()

    model = SpellerLoader(str(path), load)
    first = model.load_current()
    assert model.load_current() is first
    assert loads == [str(path)]
    path.write_text("another")
    assert model.last_speller is first
    assert model.load_current() is not first
    assert model.last_speller is model.load_current()


@pytest.mark.parametrize(
    ("error", "told"), [(KeyError("a word of mine"), "{path}: KeyError."), (FileError("No."), "No.")]
)
def test_of_a_foreign_error_only_the_kind_is_told(tmp_path, error, told):
    path = tmp_path / "a"
    path.write_text("")

    def load(path):
        raise error

    model = SpellerLoader(str(path), load)
    assert model.load_current() is None
    assert (model.take_error(), model.take_error()) == (told.format(path=path), None)


@pytest.mark.parametrize("path", ["/nowhere/en.weigh", "a\0b"])
def test_a_path_that_leads_nowhere_is_told(path):
    model = SpellerLoader(path)
    assert model.load_current() is None
    assert model.take_error().startswith(f"{path}: there is no such speller. ")
