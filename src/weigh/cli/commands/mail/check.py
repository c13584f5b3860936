"""`weigh mail check`: look for damage in the store."""

from __future__ import annotations

import click

from weigh.cli.commands.mail.store_options import store_option
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option, print_result
from weigh.cli.output.text import CliError

SECTIONS = {
    "Examples": """
        weigh mail check
        weigh mail check --store try/ --json
    """,
    "Exit codes": """
        0   the store is intact
        1   a file is damaged or missing
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@store_option
@json_option
def command(store: str | None, as_json: bool) -> None:
    """Verify the settings, every block of the ledger, all records of the journal, and that they agree.

    The other commands verify only what they read.
    """
    from weigh.apps.mail.check import check_store

    result = check_store(store)
    print_result(result, as_json)
    if not result.is_intact:
        raise CliError(
            "The store is damaged. Restore the whole folder from a copy, or rebuild it: weigh mail rebuild."
        )
