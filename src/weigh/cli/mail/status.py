"""`weigh mail status`: what has been learned."""

from __future__ import annotations

import click

from weigh.cli.mail.opened import opened, store_option
from weigh.cli.options import as_json, echo
from weigh.cli.taught import Taught

SECTIONS = {
    "Examples": """
        weigh mail status
        weigh mail status --store try/ --json
    """,
}


@click.command(cls=Taught, sections=SECTIONS, short_help="What has been learned so far?")
@store_option
@as_json
def command(store: str | None, as_json: bool) -> None:
    """Tell how much spam and ham was learned, by which learner, and what it takes on the disk."""
    echo(opened(store).status(), as_json)
