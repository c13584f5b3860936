"""`weigh mail unlearn`: as if a mail had never been learned."""

from __future__ import annotations

import click

from weigh.cli.mail.opened import opened, store_option
from weigh.cli.options import as_json, echo
from weigh.cli.taught import Taught

SECTIONS = {
    "Examples": """
        weigh mail unlearn < message
        weigh mail unlearn ~/Mail/mistakes
    """,
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Forget mail that was learned.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@store_option
@as_json
def command(paths: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Unlearn mail, of PATHs or of standard input, whatever it was learned as.

    Naive Bayes then judges exactly as if it had never seen the mail; the other learners learn all others
    anew, in their order. Mail that was learned as the wrong kind need not be unlearned: learn it as the
    right one.
    """
    from weigh.cli.mail.teaching import unteach

    echo(unteach(opened(store), paths or ("-",)), as_json)
