"""What a page is made with, and whether it is there."""

from __future__ import annotations

from importlib.util import find_spec

from weigh import errors

NEEDED = {"altair": "Altair", "vl_convert": "vl-convert", "jinja2": "Jinja2"}


def refuse_lacking() -> None:
    """Refuse to begin where a page could not be written in the end."""
    lacking = [name for module, name in NEEDED.items() if find_spec(module) is None]
    if lacking:
        raise errors.Unsupported(
            f"A page is made with {', '.join(NEEDED.values())}; here {' and '.join(lacking)} "
            f"{'is' if len(lacking) == 1 else 'are'} not installed. In the folder of weigh: "
            f"pip install '.[report]'. Facts alone need nothing more: --json."
        )
