"""`weigh mail learn`: what spam and wanted mail look like."""

from __future__ import annotations

from typing import Any

import click

from weigh.apps.mail.learners import LEARNERS
from weigh.cli.mail.opened import seeing, store_option
from weigh.cli.mail.sides import HAM, SPAM, TwoSided, check_sides, sides
from weigh.cli.options import as_json, echo

SECTIONS = {
    "Examples": """
        weigh mail learn --spam ~/Mail/junk --ham ~/Mail/inbox ~/Mail/archive
        weigh mail learn --spam junk.mbox.gz
        weigh mail learn --ham < message
        weigh mail learn --learner logistic --spam junk/ --ham kept/ --store try/
    """,
    "A message is learned once": """
        however often it is given. Given as the other kind, it is moved: unlearned
        and learned anew. Several programs may learn at the same time; what was
        acknowledged survives a crash.
    """,
    "--learner": "\n".join(f"{each.name:<13} {each.description}" for each in LEARNERS.values()),
}


@click.command(cls=TwoSided, sections=SECTIONS, short_help="Learn spam and wanted mail.")
@sides
@store_option
@click.option(
    "--learner", type=click.Choice(list(LEARNERS)), metavar="NAME", help="See below. [default: naive-bayes]"
)
@seeing
@click.option("--words", is_flag=True, default=None, help="Keep the words, readable.")
@as_json
def command(
    spam: tuple[str, ...], ham: tuple[str, ...], store: str | None, as_json: bool, **kind: Any
) -> None:
    """Learn mail as spam and as ham, which is what wanted mail is called.

    The first call makes the store: --learner, --pairs, --characters and --words say what kind, for ever.
    """
    check_sides(spam, ham)
    from weigh.apps.mail.store import MailStore
    from weigh.cli.mail.teaching import Teacher

    teacher = Teacher({SPAM: spam, HAM: ham})
    echo(teacher.teach(MailStore.open(store, create=True, **kind)), as_json)
