"""What an editor's settings ask of the server: initializationOptions, and what changes later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weigh.errors import told

SECTION = "weigh"
SEVERITIES = ("error", "warning", "information", "hint")


@dataclass(frozen=True)
class Wishes:
    """The speller's file, how loud its suggestions are, and the languages to check (None: all of prose)."""

    model: str | None = None
    severity: str = "information"
    languages: tuple[str, ...] | None = None

    def with_settings(self, settings: object) -> tuple[Wishes, list[str]]:
        """These wishes with what settings say, and a sentence for each setting that cannot be used.

        Settings lie at the top or below "weigh"; what they leave out, and what is null, stays as it is.
        """
        found = section(settings)
        taken: dict[str, Any] = {}
        refused = []
        for name, (is_fit, expected) in _FIT.items():
            value = found.get(name)
            if value is None:
                continue
            if is_fit(value):
                taken[name] = tuple(value) if isinstance(value, list) else value
            else:
                refused.append(
                    f"The setting {name} must be {expected}, not {told(value, 60)}; it is left out."
                )
        return replace(self, **taken), refused


def section(settings: object) -> Mapping[str, Any]:
    """The part of an editor's settings that is meant for the server."""
    if not isinstance(settings, Mapping):
        return {}
    inner = settings.get(SECTION, settings)
    return inner if isinstance(inner, Mapping) else {}


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


_FIT: dict[str, tuple[Callable[[object], bool], str]] = {
    "model": (lambda value: isinstance(value, str) and value != "", "the path of a file"),
    "severity": (lambda value: value in SEVERITIES, f"one of {', '.join(SEVERITIES)}"),
    "languages": (_is_words, "a list of language names such as markdown"),
}
