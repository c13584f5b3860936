"""The store that mail commands share, and a message that they are given."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from weigh.apps.mail.store import MailStore

Command = TypeVar("Command", bound=Callable[..., Any])

store_option = click.option(
    "--store",
    metavar="DIR",
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


def opened(store: str | None) -> MailStore:
    """The store that was asked for; without one, word how to begin."""
    from weigh.apps.mail.store import MailStore

    return MailStore.open(store)


def message(path: str) -> bytes:
    """All bytes of a file, or of standard input for '-'."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as cause:
        from weigh.source.paths import unreadable

        raise unreadable("standard input" if path == "-" else path, cause) from cause
