"""Every example of README.md and docs/ prints what the page says."""

from __future__ import annotations

import doctest
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import parameters

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery.md"  # run by its own test, which looks at what it writes
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
SHELL = re.compile(r"^```shell\n(\$ .*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory for the files that examples write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if page != GALLERY], ids=lambda page: page.name)
@pytest.mark.usefixtures("folder")
def test_python_examples_print_what_the_page_says(page: Path) -> None:
    examples = doctest.DocTestParser().get_doctest(page.read_text("utf-8"), {}, page.name, str(page), 0)
    told = io.StringIO()
    failed, _ = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(examples, out=told.write)
    assert not failed, told.getvalue()


def commands(page: Path) -> list[tuple[str, str]]:
    """The commands of a page's shell blocks, each with what it prints."""
    text = "".join(SHELL.findall(page.read_text("utf-8")))
    parts = (part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:])
    return [(command, printed) for command, _, printed in parts]


def test_shell_examples_print_what_the_readme_says(folder: Path) -> None:
    program = f'weigh() {{ "{sys.executable}" -m weigh.cli.main "$@"; }}; '
    for command, expected in commands(README):
        done = subprocess.run(
            ["sh", "-c", program + command],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert done.stdout.rstrip("\n") == expected.rstrip("\n"), command


def test_the_page_of_parameters_is_that_of_their_tables() -> None:
    assert parameters.PAGE.read_text("utf-8") == parameters.format_page(), "run `make parameters`"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert not missing
