"""`weigh mail explain`: the reasons for a verdict."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from weigh.cli.commands.mail.spam_ham_options import STANDARD_INPUT
from weigh.cli.commands.mail.store_options import costs_option, open_store, store_option
from weigh.cli.lazy_group import CommandWithExamples
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


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("path", default="-", metavar="[MESSAGE]")
@store_option
@costs_option
@click.option("--number", type=click.IntRange(1), help="Number of the message in a mailbox.")
@plot_option
@json_option
def command(
    path: str, store: str | None, costs: Costs | None, number: int | None, plot: str | None, as_json: bool
) -> None:
    """Explain the evidence for spam and for ham in a message from a file or standard input.

    Contributions are in nats and sum to the log-odds of spam.
    """
    check_plot_path(plot)
    explanation = open_store(store, costs).explain(_select_message(path, number))
    print_result(explanation, as_json)
    save_plot(explanation.plot, plot, as_json)


def _select_message(path: str, number: int | None) -> bytes:
    """Return the only message of a file, or the one with this number in a mailbox."""
    from weigh import errors
    from weigh.source.mail.mailboxes import messages

    first = list(islice(messages(path), number or 2))
    source = "standard input" if path == STANDARD_INPUT else path
    if not first:
        raise errors.DataError(f"There is no message in {source}.")
    if number is not None and len(first) < number:
        count = format_quantity(len(first), "message")
        raise errors.DataError(f"{source} has {count}; there is no message {number}.")
    if number is None and len(first) > 1:
        raise errors.DataError(f"{source} has several messages. Choose one, for example with --number 1.")
    return first[-1].content
