"""Help that teaches: sections of examples, written as they are."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import click


class Taught(click.Command):
    """A command whose help ends with sections that are not wrapped, such as examples."""

    def __init__(self, *args: Any, sections: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.sections = sections

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections below the options."""
        for title, text in self.sections.items():
            with formatter.section(title):
                formatter.write(textwrap.indent(textwrap.dedent(text).strip("\n"), "  ") + "\n")
