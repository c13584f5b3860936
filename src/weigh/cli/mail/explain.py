"""`weigh mail explain`: why a message is called what it is called."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.mail.spam_ham_options import STANDARD_INPUT
from weigh.cli.mail.store_options import costs_option, open_store, store_option
from weigh.cli.options import check_plot_path, json_option, plot_option, print_result, save_plot
from weigh.text import format_quantity

if TYPE_CHECKING:
    from weigh.apps.mail.verdict import Costs

SECTIONS = {
    "Examples": """
        weigh mail explain message.eml
        weigh mail explain < message
        weigh mail explain inbox.mbox --number 12
        weigh mail explain message.eml --plot why.svg
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="Why is a message called spam, or not?")
@click.argument("path", default="-", metavar="[MESSAGE]")
@store_option
@costs_option
@click.option("--number", type=click.IntRange(1), help="Of the message, in a mailbox.")
@plot_option
@json_option
def command(
    path: str, store: str | None, costs: Costs | None, number: int | None, plot: str | None, as_json: bool
) -> None:
    """Tell what speaks for spam and for ham in a message, of a file or of standard input.

    Contributions are in nats and sum to the log-odds of spam.
    """
    check_plot_path(plot)
    found = open_store(store, costs).explain(_select_message(path, number))
    print_result(found, as_json)
    save_plot(found.plot, plot, as_json)


def _select_message(path: str, number: int | None) -> bytes:
    """The message meant: the only one, or one of a mailbox."""
    from weigh import errors
    from weigh.source.mail import messages

    found = list(islice(messages(path), number or 2))
    place = "standard input" if path == STANDARD_INPUT else path
    if not found:
        raise errors.DataError(f"There is no message in {place}.")
    if number is not None and len(found) < number:
        raise errors.DataError(
            f"{place} has {format_quantity(len(found), 'message')}, and no number {number}."
        )
    if number is None and len(found) > 1:
        raise errors.DataError(f"{place} has several messages. Say which one: --number 1, say.")
    return found[-1].content
