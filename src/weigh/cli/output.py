"""What is said when something cannot be done, and no more than that."""

from __future__ import annotations

import codecs
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from weigh.atomic_files import error_reason

_ESCAPE_HANDLER = "weigh-escaped"


class CliError(click.ClickException):
    """What the library refuses: one line on standard error, exit code 1."""

    def __init__(self, sentence: str) -> None:
        from weigh.cli.terminology import to_command_line_terms

        super().__init__(to_command_line_terms(sentence))

    def show(self, file: Any = None) -> None:
        """Say it on standard error."""
        click.echo(f"weigh: {escape_control_characters(self.message)}", file=file or sys.stderr)


def show_error(refusal: click.ClickException) -> None:
    """Say a refusal on standard error, if anything can be said there."""
    text = io.StringIO()
    refusal.show(text)
    try:
        click.echo("\n".join(map(escape_control_characters, text.getvalue().split("\n"))), nl=False, err=True)
    except OSError:
        redirect_to_devnull(sys.stderr)


def show_note(sentence: str) -> None:
    """Say on standard error what is odd, and no reason to stop."""
    from weigh.cli.terminology import to_command_line_terms

    click.echo(f"weigh: note: {escape_control_characters(to_command_line_terms(sentence))}", err=True)


def escape_control_characters(sentence: str) -> str:
    """A sentence that does nothing to a terminal, whatever the names in it."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in sentence)


def output_error(cause: OSError) -> CliError:
    """The refusal of a result that cannot be written."""
    redirect_to_devnull()
    return CliError(f"The output cannot be written: {error_reason(cause)}.")


def redirect_to_devnull(stream: TextIO | None = None) -> None:
    """Give up on standard output, or error, of which Python would complain once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def escape_unencodable_output() -> None:
    r"""Let standard output print signs that it has no letters for as \u2192, which JSON knows, and not fail.

    Such are arrows where the terminal is not one of UTF-8, and the bytes of a file's name that are no text.
    """
    codecs.register_error(_ESCAPE_HANDLER, _json_escape)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPE_HANDLER)


def _json_escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end


def reopen_closed_standard_streams() -> None:
    """Fill the places of closed standard streams, or the next files that are opened would take them.

    What is read from there, or written to standard output, is refused as it is where a stream is closed.
    """
    for place, access in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(place)
        except OSError:
            os.dup2(os.open(os.devnull, access), place)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


PROGRESS_DELAY = 1.0  # seconds before anything is shown


@contextmanager
def show_stages(is_shown: bool = True) -> Iterator[Callable[[str], None]]:
    """A function that tells on a terminal what is being done, once it takes long; the line is taken away."""
    shown = is_shown and sys.stderr.isatty()
    start = time.monotonic()

    def say(what: str) -> None:
        if shown and time.monotonic() - start >= PROGRESS_DELAY:
            sys.stderr.write(f"\r\033[K{what} …")
            sys.stderr.flush()

    try:
        yield say
    finally:
        if shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
