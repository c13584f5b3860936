"""Patterns of what is left out."""

from __future__ import annotations

import pytest

from weigh import errors
from weigh.apps.spelling.documents import documents
from weigh.apps.spelling.excluding import Excluded


@pytest.mark.parametrize(
    ("pattern", "path", "is_left_out"),
    [
        ("venv", "a/venv", True),
        ("venv/", "a/venv", True),
        ("**/venv/**", "a/venv", True),
        ("venv", "a/venvs", False),
        ("CHANGELOG*", "docs/CHANGELOG.md", True),
        ("CHANGELOG", "docs/CHANGELOG.md", False),
        ("docs/old", "/home/me/docs/old", True),
        ("docs/old", "docs/older", False),
        ("./docs/*.md", "docs/a.md", True),
        ("docs*", "docs/a.md", False),
        ("a/b/c", "b/c", False),
    ],
)
def test_a_pattern_is_the_end_of_a_path(pattern: str, path: str, is_left_out: bool) -> None:
    assert Excluded([pattern])(path) is is_left_out


def test_a_file_that_was_named_is_left_out_with_its_folder_too() -> None:
    assert Excluded(["venv"]).below("a/venv/b.md")
    assert Excluded(["a"]).below("./a/b.md")
    assert not Excluded(["b"]).below("a/b.md")
    # Where a whole project lies is nothing that somebody excludes.
    assert not Excluded(["home"]).below("/home/me/b.md")
    assert Excluded(["b.md"]).below("/home/me/b.md")


@pytest.mark.parametrize("pattern", ["", "/", "**", "./"])
def test_a_pattern_of_everything_is_refused(pattern: str) -> None:
    with pytest.raises(errors.ParameterError, match="documents: exclude must be patterns of names"):
        documents([], exclude=[pattern])
