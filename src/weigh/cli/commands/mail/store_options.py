"""Options that the mail commands share, and the reading of the store and of a message."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weigh.cli.options import check_path_not_empty

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore
    from weigh.apps.mail.verdict import Costs

COSTS_EXAMPLE = "ham-lost=500,spam-let=1,unsure=0.5"
_COST_FIELDS = {"ham-lost": "ham_lost", "spam-let": "spam_let", "unsure": "unsure"}

Command = TypeVar("Command", bound=Callable[..., Any])


store_option = click.option(
    "--store",
    metavar="DIR",
    callback=check_path_not_empty,
    help="Folder of the store. [default: $WEIGH_MAIL, else ~/.local/share/weigh/mail]",
)


def feature_options(command: Command) -> Command:
    """Add the options for feature extraction."""
    pairs = click.option(
        "--pairs",
        type=click.Choice(["none", "pairs", "sparse"]),
        help="Add pairs of neighbouring words, or of words up to four apart. [default: pairs]",
    )
    characters = click.option(
        "--characters",
        type=click.IntRange(0, 16),
        metavar="N",
        help="Add character N-grams. [default: 0, none]",
    )
    return pairs(characters(command))


def _parse_costs(ctx: click.Context, option: click.Parameter, text: str | None) -> Costs | None:
    """Parse the costs of mistakes."""
    if text is None:
        return None
    from weigh.apps.mail.verdict import Costs
    from weigh.errors import WeighError

    try:
        pairs = [part.partition("=") for part in text.split(",")]
        return Costs(**{_COST_FIELDS[name]: float(value) for name, _, value in pairs})
    except (KeyError, ValueError, WeighError):
        raise click.BadParameter(
            f"{text!r} is not of the form {COSTS_EXAMPLE} with numbers above 0; "
            "costs that are left out have these values."
        ) from None


def format_costs(costs: Costs) -> str:
    """Format costs as on the command line."""
    return ",".join(f"{name}={getattr(costs, field):g}" for name, field in _COST_FIELDS.items())


costs_option = click.option(
    "--costs",
    metavar="COST=...,...",
    callback=_parse_costs,
    help=f"Costs of mistakes, which decide verdicts. [default: the store's, or {COSTS_EXAMPLE}]",
)


def open_store(store: str | None, costs: Costs | None = None) -> MailStore:
    """Open the store of a command."""
    from weigh.apps.mail.store import MailStore

    return MailStore.open(store, costs=costs)


def read_message(path: str) -> bytes:
    """Read all bytes of a file, or of standard input for '-'."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        _check_file(path)
        with open(path, "rb") as file:
            return file.read()
    except OSError as cause:
        from weigh.source.paths import unreadable_error

        raise unreadable_error("standard input" if path == "-" else path, cause) from cause


def _check_file(path: str) -> None:
    """Raise SourceError unless the path is a readable file; reading a pipe could block for ever."""
    from pathlib import Path

    from weigh.errors import SourceError
    from weigh.source.mail.mailboxes import USE_STDIN_ADVICE
    from weigh.source.paths import check_readable, require_nonempty_path

    require_nonempty_path(path)
    if Path(path).is_dir():
        raise SourceError(f"{path} is a folder. Add --list to judge all messages in it.", path)
    check_readable(Path(path), USE_STDIN_ADVICE)
