"""The store that mail commands share, and a message that they are given."""

from __future__ import annotations

import os
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


def opened(store: str | None) -> MailStore:
    """The store that was asked for; without one, word how to begin."""
    from weigh.apps.mail.store import MailStore

    return MailStore.open(store)


def message(path: str) -> bytes:
    """All bytes of a file, or of standard input for '-'."""
    if path == "-":
        return sys.stdin.buffer.read()
    from weigh.source.paths import unreadable

    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as cause:
        raise unreadable(os.fspath(path), cause) from cause
