"""`weigh mail filter`: pass a message through with its verdict in a header."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from weigh.atomic_files import error_reason
from weigh.cli.commands.mail.store_options import costs_option, open_store, read_message, store_option
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option
from weigh.cli.output.text import CliError, output_error, print_text, redirect_to_devnull, show_error

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore
    from weigh.apps.mail.verdict import Costs

EXIT_CODES = {"spam": 0, "ham": 1, "unsure": 2}
ERROR_EXIT_CODE = 3
SECTIONS = {
    "Examples": """
        weigh mail filter < message > filtered
        weigh mail filter -q < message; echo $?
        weigh mail filter --list ~/Mail/inbox
        weigh mail filter --list --json inbox.mbox new/*.eml
    """,
    "The header": """
        X-Weigh: spam, probability 0.999871; "subject:prize" +1.32; "winner" +0.87
        is the first header. It gives the verdict and the strongest evidence for spam
        (+) and for ham (-). Existing headers of this name are removed; nothing else
        is changed.
    """,
    "Exit codes": """
        0   the message was passed on; 'X-Weigh: unsure, error' means that it could
            not be judged, and standard error gives the reason
        3   wrong usage, or the message could not be read or written
        With -q: 0 spam, 1 ham, 2 unsure, 3 error
    """,
}


class FilterUsageError(click.UsageError):
    """A usage error with the exit code of the filter."""

    exit_code = ERROR_EXIT_CODE


class FilterError(CliError):
    """An error with the exit code of the filter."""

    exit_code = ERROR_EXIT_CODE


class FilterCommand(CommandWithExamples):
    """A command whose errors, including usage errors, have an exit code that is not a verdict."""

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Parse the arguments."""
        try:
            return super().make_context(*args, **settings)
        except click.UsageError as error:
            raise FilterUsageError(error.format_message(), error.ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; no error may be mistaken for a verdict."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as cause:
            raise FilterError(_describe_error(cause)) from cause


class ServerOrStore(NamedTuple):
    """Judges through a running server if possible, otherwise with the store itself.

    Only the store can judge by other costs.
    """

    store: str | None
    costs: Costs | None
    socket: str | None

    def judge(self, content: bytes) -> str:
        """Return the label of a message."""
        from weigh.apps.mail.serving.client import request_verdict

        verdict = None if self.costs else request_verdict(self._socket_path(), content)
        return verdict["label"] if verdict else self._open_store().judge([content])[0].label

    def filter(self, content: bytes) -> bytes:
        """Return the message with its verdict in a header."""
        from weigh.apps.mail.serving.client import request_filter

        answer = None if self.costs else request_filter(self._socket_path(), content)
        if answer is not None:
            return answer
        from weigh.apps.mail.header import MAX_REASONS, add_verdict_header

        return add_verdict_header(content, *self._open_store().brief(content, MAX_REASONS))

    def _open_store(self) -> MailStore:
        return open_store(self.store, self.costs)

    def _socket_path(self) -> str:
        """Return the socket path of the server."""
        from weigh.apps.mail.folder import default_folder
        from weigh.apps.mail.serving.client import default_socket

        return self.socket or default_socket(self.store or default_folder())


@click.command(cls=FilterCommand, sections=SECTIONS)
@click.argument("paths", nargs=-1, metavar="[FILE]")
@store_option
@costs_option
@click.option(
    "--socket", metavar="PATH", help="Socket of weigh mail serve. [default: serve.sock in the store]"
)
@click.option("-q", "--quiet", is_flag=True, help="No output; the exit code is the verdict.")
@click.option("--list", "is_list", is_flag=True, help="Print a line per message instead of the message.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    store: str | None,
    costs: Costs | None,
    socket: str | None,
    quiet: bool,
    is_list: bool,
    as_json: bool,
) -> None:
    """Pass a message through with a header that gives verdict, probability of spam and strongest evidence.

    The message is read from FILE or standard input and is never lost: once it has been read, it is written
    whatever happens. A running server (weigh mail serve) is used unless --costs is given.
    """
    if is_list:
        from weigh.cli.commands.mail.bulk import format_verdicts

        _print_lines(format_verdicts(open_store(store, costs), paths or ("-",), as_json))
        return
    if len(paths) > 1:
        raise FilterUsageError("Only one message can be passed on. Add --list to judge several.")
    if as_json:
        raise FilterUsageError("A message cannot be passed on as JSON. Add --list to print its verdict.")
    content = read_message(paths[0] if paths else "-")
    judge = ServerOrStore(store, costs, socket)
    ctx.exit(EXIT_CODES[judge.judge(content)] if quiet else _pass_on(content, judge))


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        try:
            print_text(line)
        except BrokenPipeError:
            raise
        except OSError as cause:
            raise FilterError(output_error(cause).message) from cause


def _pass_on(content: bytes, judge: ServerOrStore) -> int:
    """Write the message with its verdict, or with a header that says that judging failed."""
    failure = None
    try:
        filtered = judge.filter(content)
    # No error may lose mail.
    except Exception as cause:
        failure = FilterError(f"{_describe_error(cause)} The message is passed on without a verdict.")
        filtered = _add_error_note(content)
    try:
        sys.stdout.buffer.write(filtered)
        sys.stdout.buffer.flush()
    except OSError as cause:
        redirect_to_devnull()
        raise FilterError(f"The message cannot be written: {error_reason(cause)}.") from cause
    if failure:
        show_error(failure)
    return 0


def _add_error_note(content: bytes) -> bytes:
    """Return the message with the error header, or unchanged if even that fails."""
    try:
        from weigh.apps.mail.header import add_error_header

        return add_error_header(content)
    except Exception:
        return content


def _describe_error(cause: Exception) -> str:
    """Return the reason of a failure, without the text of foreign errors, which could quote the message."""
    from weigh.cli.notation import to_command_line
    from weigh.errors import WeighError

    if isinstance(cause, WeighError):
        return to_command_line(cause)
    return f"Judging failed ({type(cause).__name__})."
