"""The table of all systems names calls and test files that exist."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import click
import pytest

import weigh
from weigh.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "what-it-does.md"
PROMISES = ROOT / "tests" / "promises"
N_SYSTEMS, N_PROMISES = 44, 10


def table_rows() -> list[tuple[str, list[str], list[str]]]:
    """What each row is about, its calls and its test files."""
    rows = [
        line.strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")
    ]
    cells = [row for row in rows if row[0].strip() not in ("What", "---")]
    return [
        (what.strip(), *(re.findall(r"`([^`]+)`", cell) for cell in (calls, tests)))
        for what, calls, tests in cells
    ]


def exists(call: str) -> bool:
    """Whether a name such as weigh.NaiveBayes.fit, or a command such as weigh mail evaluate, exists."""
    if " " not in call:
        name = call.removeprefix("weigh.")
        try:
            attrgetter(name)(weigh)
        except AttributeError:
            return False
        return name.split(".")[0] in weigh.__all__
    group: click.Command | None = app
    for word in call.split()[1:]:
        group = group.get_command(click.Context(group), word) if isinstance(group, click.Group) else None
    return group is not None


@pytest.mark.parametrize(("what", "calls", "tests"), table_rows(), ids=[what for what, _, _ in table_rows()])
def test_calls_and_test_files_exist(what: str, calls: list[str], tests: list[str]) -> None:
    assert what
    assert calls
    assert tests
    assert [call for call in calls if not exists(call)] == []
    assert [path for path in tests if not (ROOT / path).is_file()] == []


def test_every_system_and_every_promise_has_a_row() -> None:
    rows = table_rows()
    assert len(rows) == N_SYSTEMS + N_PROMISES
    promised = [path for _, _, tests in rows[N_SYSTEMS:] for path in tests]
    assert sorted(promised) == sorted(str(path.relative_to(ROOT)) for path in PROMISES.glob("test_*.py"))


@pytest.mark.parametrize(
    "call", ["weigh.NoSuchLearner", "weigh.NaiveBayes.no_such_method", "weigh mail nothing"]
)
def test_missing_calls_are_noticed(call: str) -> None:
    assert not exists(call)
