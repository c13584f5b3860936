"""`weigh mail status`: what has been learned."""

from __future__ import annotations

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.mail.store_options import open_store, store_option
from weigh.cli.options import json_option, print_result

SECTIONS = {
    "Examples": """
        weigh mail status
        weigh mail status --store try/ --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="What has been learned so far?")
@store_option
@json_option
def command(store: str | None, as_json: bool) -> None:
    """Tell how much spam and ham was learned, by which learner, and what it takes on the disk."""
    print_result(open_store(store).status(), as_json)
