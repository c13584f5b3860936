"""Make the pictures of docs/gallery.md by running the page: python -m tests.docs.gallery."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gallery.md"
HOME = ROOT / "docs" / "gallery"
SHOWN = re.compile(r"!\[[^]]+\]\(gallery/([^)]+)\)")


def shown() -> list[str]:
    """The names of the pictures that the page shows, in their order."""
    return SHOWN.findall(PAGE.read_text("utf-8"))


def run(folder: Path) -> int:
    """Run the page's blocks in a folder, where they write their pictures; return how many failed."""
    examples = doctest.DocTestParser().get_doctest(PAGE.read_text("utf-8"), {}, PAGE.name, str(PAGE), 0)
    before = Path.cwd()
    os.chdir(folder)
    try:
        return doctest.DocTestRunner().run(examples).failed
    finally:
        os.chdir(before)


def make() -> int:
    """Replace the pictures beside the page by those that its blocks write."""
    with tempfile.TemporaryDirectory() as name:
        failed = run(Path(name))
        if not failed:
            shutil.rmtree(HOME, ignore_errors=True)
            shutil.copytree(name, HOME)
    return failed


if __name__ == "__main__":
    sys.exit(make())
