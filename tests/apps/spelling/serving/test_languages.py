"""What is prose, and as what it is read."""

from __future__ import annotations

import pytest

from weigh.apps.spelling.serving.languages import read_as


@pytest.mark.parametrize(
    ("uri", "language", "name"),
    [
        ("file:///a/notes.txt", "plaintext", "notes.txt"),
        ("file:///a/notes", "plaintext", "notes"),
        ("untitled:Untitled-1", "plaintext", "Untitled-1"),
        ("untitled:Untitled-1", "markdown", "text.md"),
        ("file:///a/notes.txt", "markdown", "text.md"),
        ("file:///a/notes.md", "markdown", "text.md"),
        ("file:///a/notes.md", "plaintext", "notes.md"),
        ("file:///a/notes.md", "pandoc", "notes.md"),
        ("file:///a/notes.markdown", "vimwiki", "notes.markdown"),
        ("file:///a/b%20c.tex", "text", "b c.tex"),
        ("file:///a/part.inc", "LaTeX", "text.tex"),
        ("file:///a/page.rst", "restructuredtext", "text.rst"),
        ("file:///a/.git/COMMIT_EDITMSG", "gitcommit", "COMMIT_EDITMSG"),
        ("file:///a/b.txt", "", "b.txt"),
        ("file:///a/b.py", "python", None),
        ("file:///a/b.py", "plaintext", None),
        ("file:///a/b", "python", None),
        ("file:///a/CMakeLists.txt", "cmake", None),
        ("file:///a/b.json", "json", None),
        ("vscode-notebook-cell:/a/b.ipynb#X", "markdown", "text.md"),
        ("vscode-notebook-cell:/a/b.ipynb#Y", "python", None),
        ("not a uri at all", "python", None),
        ("", "plaintext", ""),
    ],
)
def test_the_language_and_the_name_say_how_a_document_is_read(uri, language, name):
    assert read_as(uri, language) == name


def test_languages_that_are_wished_are_checked_and_no_others():
    assert read_as("file:///a.adoc", "asciidoc", ("asciidoc", "latex")) == "a.adoc"
    assert read_as("file:///a.py", "python", ("python",)) == "a.py"
    assert read_as("file:///a.inc", "latex", ("asciidoc", "latex")) == "text.tex"
    assert read_as("file:///a.md", "markdown", ("asciidoc", "latex")) is None
    assert read_as("file:///a.md", "markdown", ()) is None
