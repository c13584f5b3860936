"""A refusal in the words of the library."""

from __future__ import annotations

import sys
from typing import Any

import click


class Told(click.ClickException):
    """What the library refuses: one line on standard error, exit code 1 if no other is given."""

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        from weigh.cli.wording import spoken

        super().__init__(spoken(sentence))
        self.exit_code = exit_code

    def show(self, file: Any = None) -> None:
        """Say it on standard error."""
        click.echo(f"weigh: {self.message}", file=file or sys.stderr)
