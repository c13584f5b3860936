"""`weigh mail learn`: what spam and wanted mail look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weigh.apps.mail.learners import LEARNERS
from weigh.cli.mail.spam_ham_options import HAM, SPAM, SpamHamCommand, check_spam_ham, spam_ham_options
from weigh.cli.mail.store_options import costs_option, feature_options, format_costs, store_option
from weigh.cli.options import json_option, print_result

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


@click.command(cls=SpamHamCommand, sections=SECTIONS, short_help="Learn spam and wanted mail.")
@spam_ham_options
@store_option
@click.option(
    "--learner", type=click.Choice(list(LEARNERS)), metavar="NAME", help="See below. [default: naive-bayes]"
)
@feature_options
@costs_option
@click.option("--words", is_flag=True, default=None, help="Keep the words, readable.")
@json_option
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
    check_spam_ham(spam, ham)
    from weigh.apps.mail.store import MailStore
    from weigh.cli.mail.bulk import BulkLearner, print_note

    teacher = BulkLearner({SPAM: spam, HAM: ham})
    mail = MailStore.open(store, create=True, costs=costs, **kind)
    if mail.costs != mail.settings.costs:
        raise click.UsageError(
            f"{mail.folder}: this store was made with costs {format_costs(mail.settings.costs)}, not with "
            f"{format_costs(mail.costs)}. Give yours to filter and explain, or give another folder "
            "(--store DIR)."
        )
    print_result(teacher.learn_all(mail), as_json)
    teacher.input_check.print_notes()
    hint = mail.status().hint
    if hint:
        print_note(hint)
