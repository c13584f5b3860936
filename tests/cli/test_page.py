"""The pages on the command line, on mail and on spelling: their sessions run and print what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
MORE = "> "
PAGES = ["command-line.md", "mail.md", "spelling.md"]


def sessions(page: str) -> list[tuple[str, str]]:
    """Every command of a page, which may go on in lines that begin with '> ', with what it prints."""
    found = []
    for block in re.findall(r"```shell\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, *lines = part.split("\n")
            more = list(takewhile(lambda line: line.startswith(MORE), lines))
            command = "\n".join([first, *(line.removeprefix(MORE) for line in more)])
            found.append((command, "\n".join(lines[len(more) :]).rstrip("\n")))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_page_prints_what_the_program_prints(tmp_path, page):
    program = f'weigh() {{ "{sys.executable}" -m weigh.cli.main "$@"; }}; '
    for command, printed in sessions(page):
        done = subprocess.run(
            ["sh", "-c", program + command],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            # Lines for people and lines for programs in the order in which they were said.
            env={**os.environ, "PYTHONUNBUFFERED": "1", "WEIGH_MAIL": str(tmp_path / "store")},
        )
        assert done.stdout.rstrip("\n") == printed, command


@pytest.mark.parametrize("page", PAGES)
def test_quoted_output_fits_80_columns(page):
    lines = [line for _, printed in sessions(page) for line in printed.splitlines()]
    assert max(len(line) for line in lines if not line.startswith("weigh: ")) <= 80
