"""`weigh mail learn`: what spam and wanted mail look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weigh.apps.mail.learners import LEARNERS
from weigh.cli.mail.opened import costs_option, costs_told, seeing, store_option
from weigh.cli.mail.sides import HAM, SPAM, TwoSided, check_sides, sides
from weigh.cli.options import as_json, echo

if TYPE_CHECKING:
    from weigh.apps.mail.verdict import Costs

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
@costs_option
@click.option("--words", is_flag=True, default=None, help="Keep the words, readable.")
@as_json
def command(
    spam: tuple[str, ...],
    ham: tuple[str, ...],
    store: str | None,
    costs: Costs | None,
    as_json: bool,
    **kind: Any,
) -> None:
    """Learn mail as spam and as ham, which is what wanted mail is called.

    The first call makes the store: --learner, --pairs, --characters, --costs and --words say what kind, for
    ever. (Other costs can be given to filter and explain.)
    """
    check_sides(spam, ham)
    from weigh.apps.mail.store import MailStore
    from weigh.cli.mail.noted import note
    from weigh.cli.mail.teaching import Teacher

    teacher = Teacher({SPAM: spam, HAM: ham})
    mail = MailStore.open(store, create=True, costs=costs, **kind)
    if mail.costs != mail.settings.costs:
        raise click.UsageError(
            f"{mail.folder}: this store was made with costs {costs_told(mail.settings.costs)}, not with "
            f"{costs_told(mail.costs)}. Give yours to filter and explain, or give another folder "
            "(--store DIR)."
        )
    echo(teacher.teach(mail), as_json)
    teacher.noted.tell()
    hint = mail.status().hint
    if hint:
        note(hint)
