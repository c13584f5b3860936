"""A refusal in the words of the library."""

from __future__ import annotations

import sys
from typing import Any

import click


class Told(click.ClickException):
    """What the library refuses: one line on standard error, exit code 1."""

    def __init__(self, sentence: str) -> None:
        from weigh.cli.wording import spoken

        super().__init__(spoken(sentence))

    def show(self, file: Any = None) -> None:
        """Say it on standard error."""
        click.echo(f"weigh: {self.message}", file=file or sys.stderr)
