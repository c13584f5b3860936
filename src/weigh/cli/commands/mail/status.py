"""`weigh mail status`: the settings and contents of the store."""

from __future__ import annotations

import click

from weigh.cli.commands.mail.store_options import open_store, store_option
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option, print_result

SECTIONS = {
    "Examples": """
        weigh mail status
        weigh mail status --store try/ --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@store_option
@json_option
def command(store: str | None, as_json: bool) -> None:
    """Show the learner, how much spam and ham it has learned, and the size on disk."""
    print_result(open_store(store).status(), as_json)
