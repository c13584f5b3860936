"""`weigh mail filter`: a message in, the same message with its verdict out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from weigh.atomic_files import error_reason
from weigh.cli.commands import CommandWithExamples
from weigh.cli.mail.store_options import costs_option, open_store, read_message, store_option
from weigh.cli.options import json_option
from weigh.cli.output import CliError, output_error, redirect_to_devnull, show_error

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
        stands on top and says the verdict, and what spoke most for spam (+) and for
        ham (-). Such headers that the message came with are removed; nothing else is
        changed.
    """,
    "Exit codes": """
        0   the message was passed on: 'X-Weigh: unsure, error' tells that it could
            not be judged, and standard error tells why
        3   wrong usage, or the message could not be read or written
        With -q: 0 spam, 1 ham, 2 unsure, 3 error
    """,
}


class FilterUsageError(click.UsageError):
    """Wrong usage."""

    exit_code = ERROR_EXIT_CODE


class FilterError(CliError):
    """A refusal."""

    exit_code = ERROR_EXIT_CODE


class FilterCommand(CommandWithExamples):
    """A command whose errors, of usage too, have one exit code, which is none of a verdict's."""

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Read the arguments."""
        try:
            return super().make_context(*args, **settings)
        except click.UsageError as refusal:
            raise FilterUsageError(refusal.format_message(), refusal.ctx) from refusal

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of any kind must not be taken for a verdict."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as cause:
            raise FilterError(_describe_error(cause)) from cause


class ServerOrStore(NamedTuple):
    """Who is asked: a running server or else the store itself, which alone can judge by other costs."""

    store: str | None
    costs: Costs | None
    socket: str | None

    def judge(self, content: bytes) -> str:
        """The verdict."""
        from weigh.apps.mail.serving.client import request_verdict

        told = None if self.costs else request_verdict(self._socket_path(), content)
        return told["label"] if told else self._open_store().judge([content])[0].label

    def filter(self, content: bytes) -> bytes:
        """The message with its verdict."""
        from weigh.apps.mail.serving.client import request_filter

        answer = None if self.costs else request_filter(self._socket_path(), content)
        if answer is not None:
            return answer
        from weigh.apps.mail.header import MAX_REASONS, add_verdict_header

        return add_verdict_header(content, *self._open_store().brief(content, MAX_REASONS))

    def _open_store(self) -> MailStore:
        return open_store(self.store, self.costs)

    def _socket_path(self) -> str:
        """Where a server would listen."""
        from weigh.apps.mail.folder import default_folder
        from weigh.apps.mail.serving.client import default_socket

        return self.socket or default_socket(self.store or default_folder())


@click.command(cls=FilterCommand, sections=SECTIONS, short_help="Write the verdict into a message.")
@click.argument("paths", nargs=-1, metavar="[FILE]")
@store_option
@costs_option
@click.option("--socket", metavar="PATH", help="Where weigh mail serve listens. [default: in the store]")
@click.option("-q", "--quiet", is_flag=True, help="No output; the exit code is the verdict.")
@click.option("--list", "is_list", is_flag=True, help="A line for each message of any mail, and no message.")
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
    """Pass a message on with a header that names verdict, probability of spam and strongest evidence.

    The message is read from FILE or standard input, and is never lost: whatever happens once it has been
    read, it is written. A running server (weigh mail serve) is asked, if there is one and no --costs.
    """
    if is_list:
        from weigh.cli.mail.bulk import format_verdicts

        _print_lines(format_verdicts(open_store(store, costs), paths or ("-",), as_json))
        return
    if len(paths) > 1:
        raise FilterUsageError("Only one message can be passed on. Add --list to judge several.")
    if as_json:
        raise FilterUsageError("A message is not passed on as JSON. Add --list to have its verdict.")
    content = read_message(paths[0] if paths else "-")
    judging = ServerOrStore(store, costs, socket)
    ctx.exit(EXIT_CODES[judging.judge(content)] if quiet else _pass_on(content, judging))


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        try:
            click.echo(line)
        except BrokenPipeError:
            raise
        except OSError as cause:
            raise FilterError(output_error(cause).message) from cause


def _pass_on(content: bytes, judging: ServerOrStore) -> int:
    """Write the message with its verdict, or with the news that there is none."""
    failure = None
    try:
        written = judging.filter(content)
    # Mail is not lost over anything that may go wrong.
    except Exception as cause:
        failure = FilterError(f"{_describe_error(cause)} The message is passed on without a verdict.")
        written = _add_error_note(content)
    try:
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    except OSError as cause:
        redirect_to_devnull()
        raise FilterError(f"The message cannot be written: {error_reason(cause)}.") from cause
    if failure:
        show_error(failure)
    return 0


def _add_error_note(content: bytes) -> bytes:
    """The message with the news that it was not judged; as it came, if not even that can be written."""
    try:
        from weigh.apps.mail.header import add_error_header

        return add_error_header(content)
    except Exception:
        return content


def _describe_error(cause: Exception) -> str:
    """Why a message was not judged; what a stranger's error says may hold words of the message."""
    from weigh.errors import WeighError

    if isinstance(cause, WeighError):
        return str(cause)
    return f"Judging failed ({type(cause).__name__})."
