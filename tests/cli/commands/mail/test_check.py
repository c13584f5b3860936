"""Tests of `weigh mail check` and `weigh mail rebuild`, and of the other commands on a damaged store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands.mail.conftest import Run, spam
from weigh.apps.mail.store import MailStore

ADVICE = (
    "Restore the whole folder from a copy, or rebuild the store: `weigh mail check` and `weigh mail rebuild`."
)


@pytest.fixture
def damaged(trained: Run, folder: Path) -> Run:
    """Return `run` after 1,000 bytes of the ledger were overwritten."""
    MailStore.open(folder / "store").fold()
    ledger = folder / "store" / "ledger"
    content = bytearray(ledger.read_bytes())
    content[4200:5200] = b"x" * 1000
    ledger.write_bytes(content)
    return trained


def test_an_intact_store_is_checked_with_exit_code_0(trained: Run, folder: Path) -> None:
    result = trained("check")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "  journal        intact  labels of 4 hams and 4 spams\n" in result.stdout
    answer = json.loads(trained("check", "--json").stdout)
    assert (answer["is_intact"], answer["checks"][0]["name"]) == (True, "settings.json")


def test_a_damaged_store_is_checked_with_exit_code_1(damaged: Run, folder: Path) -> None:
    result = damaged("check")
    assert result.exit_code == 1
    assert "  ledger         damaged\n" in result.stdout
    assert "its bytes 4096 to 8191 are damaged." in " ".join(result.stdout.split())
    advice = "Restore the whole folder from a copy, or rebuild it: weigh mail rebuild."
    assert result.stderr == f"weigh: The store is damaged. {advice}\n"
    assert not json.loads(damaged("check", "--json").stdout)["is_intact"]


@pytest.mark.parametrize(
    "command", [["status"], ["explain"], ["learn", "--ham"], ["learn", "--spam"], ["unlearn"]]
)
def test_commands_refuse_a_damaged_ledger_and_say_what_to_do(
    damaged: Run, folder: Path, command: list[str]
) -> None:
    before = {path.name: path.read_bytes() for path in (folder / "store").iterdir()}
    result = damaged(*command, input=spam(1))
    ledger = folder / "store" / "ledger"
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"weigh: {ledger} cannot be used: its bytes 4096 to 8191 are damaged. {ADVICE}\n"
    assert {path.name: path.read_bytes() for path in (folder / "store").iterdir()} == before


def test_a_message_passes_a_damaged_store_without_a_verdict(damaged: Run) -> None:
    result = damaged("filter", input=spam(1))
    assert (result.exit_code, result.stdout_bytes) == (0, b"X-Weigh: unsure, error\n" + spam(1))
    assert result.stderr.endswith(f"are damaged. {ADVICE} The message is passed on without a verdict.\n")
    assert damaged("filter", "-q", input=spam(1)).exit_code == 3


def test_a_damaged_store_is_rebuilt_from_mail(damaged: Run, folder: Path) -> None:
    result = damaged("rebuild")
    assert result.exit_code == 1
    assert result.stderr.endswith("Give this mail: weigh mail rebuild --spam PATH... --ham PATH...\n")
    result = damaged("rebuild", "--spam", "spam", "--ham", "ham", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {
        "folder": str(folder / "store"),
        "damaged": str(folder / "store.damaged-1"),
        "hams": 4,
        "spams": 4,
        "missing": 0,
        "lost_names": False,
    }
    assert damaged("check").exit_code == 0
    assert damaged("filter", "-q", input=spam(1)).exit_code == 0
