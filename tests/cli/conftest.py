"""The five mails as files, and a way to run the program in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from weigh.cli.main import app

MAILS = """CS373,investment,familiarity,spam
0,1,low,spam
0,0,high,not-spam
0,1,high,spam
0,1,medium,not-spam
1,0,low,not-spam
"""
NEW = """CS373,investment,familiarity
1,1,high
0,1,unheard-of
"""

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path, monkeypatch) -> Run:
    """Run `weigh` with arguments, in a folder that holds mails.csv and new.csv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mails.csv").write_text(MAILS)
    (tmp_path / "new.csv").write_text(NEW)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, arguments, prog_name="weigh")


@pytest.fixture
def fitted(run) -> Run:
    """The same, after `weigh fit mails.csv --label spam`."""
    assert run("fit", "mails.csv", "--label", "spam").exit_code == 0
    return run
