"""Text and JSON with escaped names; errors, notes and stages; the state of the standard streams."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from weigh.atomic_files import error_reason
from weigh.text import escape_control_characters, escape_lines

_ESCAPE_HANDLER = "weigh-escaped"


class CliError(click.ClickException):
    """A library error shown as one line on standard error, with exit code 1."""

    def __init__(self, message: object) -> None:
        from weigh.cli.notation import to_command_line

        super().__init__(to_command_line(message))

    def show(self, file: Any = None) -> None:
        """Print the message on standard error."""
        click.echo(f"weigh: {escape_control_characters(self.message)}", file=file or sys.stderr)


def show_error(error: click.ClickException) -> None:
    """Print an error on standard error, if it can be written to."""
    text = io.StringIO()
    error.show(text)
    try:
        click.echo(escape_lines(text.getvalue()), nl=False, err=True)
    except OSError:
        redirect_to_devnull(sys.stderr)


def show_note(message: object) -> None:
    """Print a warning on standard error."""
    from weigh.cli.notation import to_command_line

    print_text(f"weigh: note: {escape_control_characters(to_command_line(message))}", err=True)


def print_text(text: object, err: bool = False) -> None:
    """Print text on standard output, or on standard error, with the control characters of names escaped."""
    click.echo(escape_lines(str(text)), err=err)


def print_json(value: object, indent: int | None = 2) -> None:
    """Print a value as JSON."""
    click.echo(to_json_text(value, indent))


def format_location(what: str, path: str, note: str = "") -> str:
    """Return the sentence that says where a file was written."""
    return f"{what} is in {escape_control_characters(path)}{note}."


def to_json_text(value: object, indent: int | None = None) -> str:
    """Return JSON whose strings show printable characters as they are and escape all others."""
    return escape_lines(json.dumps(value, ensure_ascii=False, indent=indent), json.dumps)


def output_error(cause: OSError) -> CliError:
    """Return the error for output that cannot be written."""
    redirect_to_devnull()
    return CliError(f"The output cannot be written: {error_reason(cause)}.")


def redirect_to_devnull(stream: TextIO | None = None) -> None:
    """Point a broken stream at /dev/null so that Python does not report it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def escape_unencodable_output() -> None:
    r"""Print characters that standard output cannot encode as JSON escapes such as \u2192 instead of failing.

    Examples are arrows on a terminal without UTF-8, and undecodable bytes of a file name.
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
    """Open /dev/null on closed file descriptors 0–2 so that later files cannot take them.

    They are opened for the opposite direction, so using one fails as on a closed stream.
    """
    for descriptor, access in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, access), descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


PROGRESS_DELAY = 1.0  # seconds before anything is shown


@contextmanager
def show_stages(is_shown: bool = True) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current stage on a terminal after a delay; erase it at the end.

    Elsewhere, plain lines say from time to time which stage it is.
    """
    from weigh.cli.output.heartbeat import Heartbeat, note_progress

    shown = is_shown and sys.stderr.isatty()
    start, stages = time.monotonic(), [""]

    def beat() -> None:
        if shown:
            show(stages[-1])
        else:
            note_progress(f"{stages[-1] or 'reading'}, {time.monotonic() - start:.0f} s so far")

    def show(stage: str) -> None:
        stages[-1] = escape_control_characters(stage)
        if shown and time.monotonic() - start >= PROGRESS_DELAY:
            sys.stderr.write(f"\r\033[K{stages[-1]} …")
            sys.stderr.flush()

    heartbeat = Heartbeat(beat) if is_shown else None
    try:
        yield show
    finally:
        if heartbeat is not None:
            heartbeat.close()
        if shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
