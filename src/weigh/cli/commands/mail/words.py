"""`weigh mail words`: the strongest words for spam and for ham."""

from __future__ import annotations

import click

from weigh.cli.commands.mail.store_options import open_store, store_option
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option, print_result

SECTIONS = {
    "Examples": """
        weigh mail learn --words --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail words --most 30
    """,
}


@click.command(
    cls=CommandWithExamples,
    sections=SECTIONS,
)
@store_option
@click.option(
    "--most", type=click.IntRange(1), default=20, show_default=True, help="How many for each label."
)
@json_option
def command(store: str | None, most: int, as_json: bool) -> None:
    """List the strongest features for spam and for ham.

    A store contains only hashes, unless it was created with `weigh mail learn --words`: then anybody who can
    read its folder can read the words.
    """
    print_result(open_store(store).strongest(most), as_json)
