"""The settings of the language server, and which documents are checked with which markup."""

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
    """The speller's file, the severity of diagnostics, and the languages to check (None: all prose)."""

    model: str | None = None
    severity: str = "information"
    languages: tuple[str, ...] | None = None

    def merge_client_settings(self, settings: object) -> tuple[ServerSettings, list[str]]:
        """Return these settings updated with an editor's settings, and a message for each invalid one.

        The editor's settings are at the top level or in the section "weigh"; missing and null ones change
        nothing.
        """
        section = select_section(settings)
        changes: dict[str, Any] = {}
        messages = []
        for name, (is_valid, expected) in _SETTING_CHECKS.items():
            value = section.get(name)
            if value is None:
                continue
            if is_valid(value):
                changes[name] = tuple(value) if isinstance(value, list) else value
            else:
                messages.append(
                    f"The setting {name} must be {expected}, not {one_line_repr(value, 60)}; it is ignored."
                )
        return replace(self, **changes), messages


def select_section(settings: object) -> Mapping[str, Any]:
    """Return the server's section of an editor's settings."""
    if not isinstance(settings, Mapping):
        return {}
    section = settings.get(SETTINGS_SECTION, settings)
    return section if isinstance(section, Mapping) else {}


def _is_string_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_SETTING_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "model": (lambda value: isinstance(value, str) and value != "", "the path of a file"),
    "severity": (lambda value: value in SEVERITIES, f"one of {', '.join(SEVERITIES)}"),
    "languages": (_is_string_list, "a list of language names such as markdown"),
}

_PLAIN_SUFFIX = ".txt"
# The suffix of a file with the markup of each LSP language identifier.
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


def file_name_for_format(uri: str, language: str, languages: Collection[str] | None = None) -> str | None:
    """Return a file name whose suffix determines the markup of a document; None if it is not checked.

    A markup language determines it by itself. If the language is plain text or unknown, the name of the file
    does, and source code and data are not checked. `languages` are the only ones to check, if given.
    """
    name = posixpath.basename(unquote(urlsplit(uri).path))
    suffix = SUFFIX_BY_LANGUAGE.get(language.lower())
    if languages is not None:
        is_checked = language in languages
    elif suffix == _PLAIN_SUFFIX:
        is_checked = format_suffix(name) not in SOURCE_SUFFIXES | DATA_SUFFIXES
    else:
        is_checked = suffix is not None or format_suffix(name) in MARKUP_SUFFIXES
    if not is_checked:
        return None
    return name if suffix in (None, _PLAIN_SUFFIX) else f"text{suffix}"
