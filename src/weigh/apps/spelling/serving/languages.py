"""Which documents are prose, and as what they are read: by the editor's language and by the file's name."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from urllib.parse import unquote, urlsplit

from weigh.apps.spelling.prose import DATA, MARKUP, SOURCE, ending

_PLAIN = ".txt"
# The names that editors give to languages of prose, and the ending of a file that is read alike.
PROSE = {
    "markdown": ".md",
    "gfm": ".md",
    "mdx": ".md",
    "quarto": ".md",
    "rmarkdown": ".md",
    "rmd": ".md",
    "latex": ".tex",
    "tex": ".tex",
    "plaintex": ".tex",
    "context": ".tex",
    "restructuredtext": ".rst",
    "rst": ".rst",
    "html": ".html",
    "mhtml": ".html",
    "plaintext": _PLAIN,
    "text": _PLAIN,
    "mail": _PLAIN,
    "message": _PLAIN,
    "gitcommit": _PLAIN,
    "git-commit": _PLAIN,
    "": _PLAIN,
}


def read_as(uri: str, language: str, wished: Collection[str] | None = None) -> str | None:
    """The name of a file that is read as a document is to be read; None for what is not checked.

    A language with markup says how its documents are read; where the language is plain text or unknown, the
    file's name says it, and those of source code and data are not checked. `wished` are the languages to
    check, whatever they are.
    """
    name = posixpath.basename(unquote(urlsplit(uri).path))
    form = PROSE.get(language.lower())
    if wished is not None:
        is_checked = language in wished
    elif form == _PLAIN:
        is_checked = ending(name) not in SOURCE | DATA
    else:
        is_checked = form is not None or ending(name) in MARKUP
    if not is_checked:
        return None
    return name if form in (None, _PLAIN) else f"text{form}"
