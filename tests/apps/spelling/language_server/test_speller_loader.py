"""A changed speller is reloaded, and an unreadable one is reported."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from tests.apps.spelling.language_server.conftest import WEATHER, WHETHER, train_example
from tests.apps.spelling.language_server.editor import editor, editor_of_process, uri_of
from weigh.apps.spelling.language_server.document_manager import SpellerLoader
from weigh.errors import FileError

NOTE = "file:///notes.txt"
TEXT = "I know weather to laugh.\n\nThe whether is fine today.\n"


def watching(**more):
    """The capabilities of an editor that watches files."""
    capabilities = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True, **more)
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(did_change_watched_files=capabilities)
    )


@pytest.fixture(scope="module")
def swapped_speller(tmp_path_factory):
    """A speller trained on text with swapped words."""
    folder = tmp_path_factory.mktemp("another") / "texts"
    swapped = {"weather": "whether", "whether": "weather"}
    words = [[swapped.get(word, word) for word in each.split()] for each in (*WEATHER, *WHETHER)]
    return train_example(folder, *map(" ".join, words))


@pytest.mark.parametrize("relative", [True, False])
def test_changed_speller_is_reloaded_on_notification(model, swapped_speller, relative):
    async def conversation():
        async with editor(model) as client:
            await client.begin(watching(relative_pattern_support=relative))
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 2
            (registration,) = client.registered
            assert registration.method == "workspace/didChangeWatchedFiles"
            folder, name = str(model.parent), model.name
            pattern = {"baseUri": uri_of(folder), "pattern": name} if relative else str(model)
            assert registration.register_options == {"watchers": [{"globPattern": pattern}]}
            swapped_speller.save(model)
            event = types.FileEvent(uri_of(model), types.FileChangeType.Changed)
            client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            await client.until(lambda: client.shown[NOTE].diagnostics == ())
            assert client.messages == []

    asyncio.run(conversation())


def test_watched_file_follows_the_model_setting(model, swapped_speller, tmp_path):
    path = tmp_path / "another.weigh"
    swapped_speller.save(path)

    async def conversation():
        async with editor(model) as client:
            await client.begin(watching())
            client.open(NOTE, TEXT)
            assert len(await client.underlined(NOTE)) == 2
            client.configure({"weigh": {"model": str(path)}})
            await client.until(lambda: client.shown[NOTE].diagnostics == ())
            (registration,) = client.registered
            assert registration.register_options == {"watchers": [{"globPattern": str(path)}]}

    asyncio.run(conversation())


def test_changed_speller_is_reloaded_at_the_next_check_for_all_documents(model, swapped_speller):
    async def conversation():
        async with editor(model) as client:
            await client.begin()
            other = "file:///other.txt"
            client.open(NOTE, TEXT)
            client.open(other, TEXT)
            assert len(await client.underlined(NOTE)) == len(await client.underlined(other)) == 2
            swapped_speller.save(model)
            client.save(NOTE)
            await client.until(
                lambda: client.shown[NOTE].diagnostics == client.shown[other].diagnostics == ()
            )

    asyncio.run(conversation())


def test_damaged_file_is_reported_once_and_the_server_keeps_running(model, tmp_path, speller):
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
                f"{model}: no such speller. Train one on your own text (weigh spell learn "
                "FOLDER -o FILE), or set 'model' to another file. "
                "The speller loaded before stays in use."
            )
        assert (client.code, client.log) == (0, "")

    asyncio.run(conversation())


def test_file_is_reloaded_only_if_it_changed(tmp_path):
    path = tmp_path / "model"
    path.write_text("one")
    loads = []

    def load(path):
        loads.append(path)
        return object()

    loader = SpellerLoader(str(path), load)
    first = loader.load_current()
    assert loader.load_current() is first
    assert loads == [str(path)]
    path.write_text("another")
    assert loader.last_speller is first
    assert loader.load_current() is not first
    assert loader.last_speller is loader.load_current()


@pytest.mark.parametrize(
    ("error", "message"), [(KeyError("a word of mine"), "{path}: KeyError."), (FileError("No."), "No.")]
)
def test_unexpected_errors_are_reported_by_type_only(tmp_path, error, message):
    path = tmp_path / "a"
    path.write_text("")

    def load(path):
        raise error

    loader = SpellerLoader(str(path), load)
    assert loader.load_current() is None
    assert (loader.take_error(), loader.take_error()) == (message.format(path=path), None)


@pytest.mark.parametrize("path", ["/nowhere/en.weigh", "a\0b"])
def test_missing_file_is_reported(path):
    loader = SpellerLoader(path)
    assert loader.load_current() is None
    assert loader.take_error().startswith(f"{path}: no such speller. ")
