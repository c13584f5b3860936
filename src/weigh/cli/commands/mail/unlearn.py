"""`weigh mail unlearn`: undo the learning of mail."""

from __future__ import annotations

import click

from weigh.cli.commands.mail.store_options import open_store, store_option
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option, print_result

SECTIONS = {
    "Examples": """
        weigh mail unlearn < message
        weigh mail unlearn ~/Mail/mistakes
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@store_option
@json_option
def command(paths: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Unlearn mail from PATHs or standard input, whatever its label.

    Naive Bayes then judges exactly as if it had never seen the mail; the other learners learn all remaining
    mail again in order. Mail learned under the wrong label need not be unlearned: learn it under the right
    one.
    """
    from weigh.cli.commands.mail.bulk import unlearn_all

    print_result(unlearn_all(open_store(store), paths or ("-",)), as_json)
