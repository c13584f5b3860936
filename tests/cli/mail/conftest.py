"""Invented mail in folders, and a way to run `weigh mail` on it."""

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


def ham(at: int) -> bytes:
    return mail(HAMS[at], "ann@friends.example", 2 * at + 1)


def spam(at: int) -> bytes:
    return mail(SPAMS[at], "win@prizes.example", 2 * at + 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with mail in `ham` and `spam`, and a store in `store`, once there is one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEIGH_MAIL", str(tmp_path / "store"))
    for name, letter in (("ham", ham), ("spam", spam)):
        (tmp_path / name).mkdir()
        for at in range(4):
            (tmp_path / name / f"{at}.eml").write_bytes(letter(at))
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Run `weigh mail` with arguments and bytes on standard input."""
    runner = CliRunner()
    return lambda *arguments, input=b"": runner.invoke(
        app, ["mail", *arguments], input=input, prog_name="weigh"
    )


@pytest.fixture
def taught(run: Run) -> Run:
    """The same, after `weigh mail learn --spam spam --ham ham`."""
    assert run("learn", "--spam", "spam", "--ham", "ham").exit_code == 0
    return run
