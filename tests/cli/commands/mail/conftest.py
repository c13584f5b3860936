"""Fixtures: folders of invented mail, and a function that runs `weigh mail` on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from weigh.cli.main import app

HAMS = ("lunch at noon", "minutes of the meeting", "your train leaves at nine", "the garden in spring")
SPAMS = ("you won a prize", "cheap watches today", "claim the prize now", "cheap loans, click here")

Run = Callable[..., Result]


def mail(subject: str, sender: str, day: int) -> bytes:
    date = f"Date: Mon, {day} Jun 2026 10:00:00 +0000"
    return f"From: {sender}\nSubject: {subject}\n{date}\n\nHello,\n{subject}.\n".encode()


def ham(number: int) -> bytes:
    return mail(HAMS[number], "ann@friends.example", 2 * number + 1)


def spam(number: int) -> bytes:
    return mail(SPAMS[number], "win@prizes.example", 2 * number + 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with mail in `ham` and `spam`, and later a store in `store`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEIGH_MAIL", str(tmp_path / "store"))
    for name, make_mail in (("ham", ham), ("spam", spam)):
        (tmp_path / name).mkdir()
        for number in range(4):
            (tmp_path / name / f"{number}.eml").write_bytes(make_mail(number))
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Return a function that runs `weigh mail` with arguments and bytes on standard input."""
    runner = CliRunner()
    return lambda *arguments, input=b"": runner.invoke(
        app, ["mail", *arguments], input=input, prog_name="weigh"
    )


@pytest.fixture
def trained(run: Run) -> Run:
    """Return `run` after `weigh mail learn --spam spam --ham ham`."""
    assert run("learn", "--spam", "spam", "--ham", "ham").exit_code == 0
    return run
