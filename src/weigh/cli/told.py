"""What is said when something cannot be done, and no more than that."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, TextIO

import click

from weigh.replacing import reason

_ESCAPED = "weigh-escaped"


class Told(click.ClickException):
    """What the library refuses: one line on standard error, exit code 1."""

    def __init__(self, sentence: str) -> None:
        from weigh.cli.wording import spoken

        super().__init__(spoken(sentence))

    def show(self, file: Any = None) -> None:
        """Say it on standard error."""
        click.echo(f"weigh: {harmless(self.message)}", file=file or sys.stderr)


def tell(refusal: click.ClickException) -> None:
    """Say a refusal on standard error, if anything can be said there."""
    text = io.StringIO()
    refusal.show(text)
    try:
        click.echo("\n".join(map(harmless, text.getvalue().split("\n"))), nl=False, err=True)
    except OSError:
        hush(sys.stderr)


def note(sentence: str) -> None:
    """Say on standard error what is odd, and no reason to stop."""
    from weigh.cli.wording import spoken

    click.echo(f"weigh: note: {harmless(spoken(sentence))}", err=True)


def harmless(sentence: str) -> str:
    """A sentence that does nothing to a terminal, whatever the names in it."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in sentence)


def unwritten(cause: OSError) -> Told:
    """The refusal of a result that cannot be written."""
    hush()
    return Told(f"The output cannot be written: {reason(cause)}.")


def hush(stream: TextIO | None = None) -> None:
    """Give up on standard output, or error, of which Python would complain once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def escape() -> None:
    r"""Let standard output print signs that it has no letters for as \u2192, which JSON knows, and not fail.

    Such are arrows where the terminal is not one of UTF-8, and the bytes of a file's name that are no text.
    """
    codecs.register_error(_ESCAPED, _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end


def occupy() -> None:
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
