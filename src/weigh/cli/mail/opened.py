"""The store that mail commands share, and a message that they are given."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weigh.cli.options import named

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore
    from weigh.apps.mail.verdict import Costs

COSTS = "ham-lost=500,spam-let=1,unsure=0.5"
_COSTS = {"ham-lost": "ham_lost", "spam-let": "spam_let", "unsure": "unsure"}

Command = TypeVar("Command", bound=Callable[..., Any])


store_option = click.option(
    "--store",
    metavar="DIR",
    callback=named,
    help="What was learned. [default: $WEIGH_MAIL, else ~/.local/share/weigh/mail]",
)


def seeing(command: Command) -> Command:
    """Add the options that say what is looked at in a message."""
    pairs = click.option(
        "--pairs",
        type=click.Choice(["none", "pairs", "sparse"]),
        help="Look at neighbouring words, or at words up to four apart, too. [default: pairs]",
    )
    characters = click.option(
        "--characters",
        type=click.IntRange(0, 16),
        metavar="N",
        help="Look at runs of N characters, too. [default: 0, none]",
    )
    return pairs(characters(command))


def _costs(ctx: click.Context, option: click.Parameter, text: str | None) -> Costs | None:
    """What mistakes cost, in words of the command line."""
    if text is None:
        return None
    from weigh.apps.mail.verdict import Costs
    from weigh.errors import WeighError

    try:
        pairs = [part.partition("=") for part in text.split(",")]
        return Costs(**{_COSTS[name]: float(value) for name, _, value in pairs})
    except (KeyError, ValueError, WeighError):
        raise click.BadParameter(
            f"{text!r} is not of the form {COSTS}, with numbers above 0; what is left out costs this much."
        ) from None


def costs_told(costs: Costs) -> str:
    """What mistakes cost, as it is given on the command line."""
    return ",".join(f"{name}={getattr(costs, field):g}" for name, field in _COSTS.items())


costs_option = click.option(
    "--costs",
    metavar="COST=...,...",
    callback=_costs,
    help=f"Of mistakes; the verdict costs least. [default: the store's, or {COSTS}]",
)


def opened(store: str | None, costs: Costs | None = None) -> MailStore:
    """The store that was asked for; without one, word how to begin."""
    from weigh.apps.mail.store import MailStore

    return MailStore.open(store, costs=costs)


def message(path: str) -> bytes:
    """All bytes of a file, or of standard input for '-'."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        _check(path)
        with open(path, "rb") as file:
            return file.read()
    except OSError as cause:
        from weigh.source.paths import unreadable

        raise unreadable("standard input" if path == "-" else path, cause) from cause


def _check(path: str) -> None:
    """Refuse what is not a file: a pipe may keep us waiting for ever."""
    from pathlib import Path

    from weigh.errors import SourceError
    from weigh.source.mail.finding import PIPE_IT
    from weigh.source.paths import check_readable, require_name

    require_name(path)
    if Path(path).is_dir():
        raise SourceError(f"{path} is a folder. Add --list to judge all messages in it.", path)
    check_readable(Path(path), PIPE_IT)
