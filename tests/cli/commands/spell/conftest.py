"""Made-up text in which the neighbours determine the word, and a fixture that runs `weigh spell`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from weigh.cli.main import app

WHO = ("I", "we", "Anna", "the captain", "my sister", "nobody")
THINGS = ("boat", "dog", "coat", "book", "letter", "house", "clock", "hat")
HOW = ("cold", "warm", "fine", "very bad")
LETTER = "I could not tell weather to laugh.\nThey took there dog.\n"

Run = Callable[..., Result]


def sentences(who: tuple[str, ...] = WHO) -> str:
    return "".join(
        f"{one} did not know whether the {thing} was there. They took their {thing} with them. "
        f"{one} could not tell whether to laugh or to cry, and the weather was {how}.\n"
        for one, thing, how in product(who, THINGS, HOW)
    )


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with training texts, confusion sets, and the speller and output of `weigh spell learn`."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "texts").mkdir()
    for number in range(3):
        (folder / "texts" / f"{number}.txt").write_text(sentences())
    (folder / "sets.txt").write_text("weather whether\ntheir there  # often\n")
    arguments = ["learn", f"{folder}/texts", "--sets", f"{folder}/sets.txt", "-o", f"{folder}/toy.weigh"]
    result = CliRunner().invoke(app, ["spell", *arguments, "--alarms", "10"], prog_name="weigh")
    assert result.exit_code == 0, result.output
    (folder / "output.txt").write_text(result.stdout)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained: Path) -> Path:
    """A folder with the texts, a letter with two errors, and the default speller."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEIGH_SPELLER", "toy.weigh")
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    (tmp_path / "letter.txt").write_text(LETTER)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Run `weigh spell` with arguments and bytes on standard input."""
    runner = CliRunner()
    return lambda *arguments, input=b"": runner.invoke(
        app, ["spell", *arguments], input=input, prog_name="weigh"
    )
