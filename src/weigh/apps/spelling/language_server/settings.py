"""What an editor's settings ask of the server: initializationOptions, and what changes later."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from weigh.apps.spelling.markup.prose import DATA_SUFFIXES, MARKUP_SUFFIXES, SOURCE_SUFFIXES, format_suffix
from weigh.errors import one_line_repr

SETTINGS_SECTION = "weigh"
SEVERITIES = ("error", "warning", "information", "hint")


@dataclass(frozen=True)
class ServerSettings:
    """The speller's file, how loud its suggestions are, and the languages to check (None: all of prose)."""

    model: str | None = None
    severity: str = "information"
    languages: tuple[str, ...] | None = None

    def merge_client_settings(self, settings: object) -> tuple[ServerSettings, list[str]]:
        """These wishes with what settings say, and a sentence for each setting that cannot be used.

        Settings lie at the top or below "weigh"; what they leave out, and what is null, stays as it is.
        """
        found = select_section(settings)
        taken: dict[str, Any] = {}
        refused = []
        for name, (is_fit, expected) in _SETTING_CHECKS.items():
            value = found.get(name)
            if value is None:
                continue
            if is_fit(value):
                taken[name] = tuple(value) if isinstance(value, list) else value
            else:
                refused.append(
                    f"The setting {name} must be {expected}, not {one_line_repr(value, 60)}; it is left out."
                )
        return replace(self, **taken), refused


def select_section(settings: object) -> Mapping[str, Any]:
    """The part of an editor's settings that is meant for the server."""
    if not isinstance(settings, Mapping):
        return {}
    inner = settings.get(SETTINGS_SECTION, settings)
    return inner if isinstance(inner, Mapping) else {}


def _is_string_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


_SETTING_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "model": (lambda value: isinstance(value, str) and value != "", "the path of a file"),
    "severity": (lambda value: value in SEVERITIES, f"one of {', '.join(SEVERITIES)}"),
    "languages": (_is_string_list, "a list of language names such as markdown"),
}

_PLAIN_SUFFIX = ".txt"
# The names that editors give to languages of prose, and the ending of a file that is read alike.
SUFFIX_BY_LANGUAGE = {
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
    "plaintext": _PLAIN_SUFFIX,
    "text": _PLAIN_SUFFIX,
    "mail": _PLAIN_SUFFIX,
    "message": _PLAIN_SUFFIX,
    "gitcommit": _PLAIN_SUFFIX,
    "git-commit": _PLAIN_SUFFIX,
    "": _PLAIN_SUFFIX,
}


def file_name_for_format(uri: str, language: str, wished: Collection[str] | None = None) -> str | None:
    """The name of a file that is read as a document is to be read; None for what is not checked.

    A language with markup says how its documents are read; where the language is plain text or unknown, the
    file's name says it, and those of source code and data are not checked. `wished` are the languages to
    check, whatever they are.
    """
    name = posixpath.basename(unquote(urlsplit(uri).path))
    form = SUFFIX_BY_LANGUAGE.get(language.lower())
    if wished is not None:
        is_checked = language in wished
    elif form == _PLAIN_SUFFIX:
        is_checked = format_suffix(name) not in SOURCE_SUFFIXES | DATA_SUFFIXES
    else:
        is_checked = form is not None or format_suffix(name) in MARKUP_SUFFIXES
    if not is_checked:
        return None
    return name if form in (None, _PLAIN_SUFFIX) else f"text{form}"
