"""What is said when something cannot be done, and no more than that."""

from __future__ import annotations

import os
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


def hush() -> None:
    """Give up on standard output, of which Python would complain once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
