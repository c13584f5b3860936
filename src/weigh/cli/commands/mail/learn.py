"""`weigh mail learn`: learn spam and ham."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weigh.apps.mail.learners import LEARNERS
from weigh.cli.commands.mail.spam_ham_options import (
    HAM,
    SPAM,
    SpamHamCommand,
    check_spam_ham,
    spam_ham_options,
)
from weigh.cli.commands.mail.store_options import costs_option, feature_options, format_costs, store_option
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
    "Each message counts once": """
        however often it is learned. Learned under the other label, it is moved there.
        Several programs may learn at the same time; what was acknowledged survives a
        crash.
    """,
    "--learner": "\n".join(f"{each.name:<13} {each.description}" for each in LEARNERS.values()),
}


@click.command(cls=SpamHamCommand, sections=SECTIONS)
@spam_ham_options
@store_option
@click.option(
    "--learner", type=click.Choice(list(LEARNERS)), metavar="NAME", help="See below. [default: naive-bayes]"
)
@feature_options
@costs_option
@click.option("--words", is_flag=True, default=None, help="Store the words in readable form.")
@json_option
def command(
    spam: tuple[str, ...],
    ham: tuple[str, ...],
    store: str | None,
    costs: Costs | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Learn mail as spam and as ham (wanted mail).

    The first call creates the store and fixes its settings: --learner, --pairs, --characters, --costs and
    --words. (filter and explain accept other costs.)
    """
    check_spam_ham(spam, ham)
    from weigh.apps.mail.store import MailStore
    from weigh.cli.commands.mail.bulk import BulkLearner, print_note

    learner = BulkLearner({SPAM: spam, HAM: ham})
    mail_store = MailStore.open(store, create=True, costs=costs, **settings)
    if mail_store.costs != mail_store.settings.costs:
        raise click.UsageError(
            f"{mail_store.folder}: this store was created with costs "
            f"{format_costs(mail_store.settings.costs)}, not {format_costs(mail_store.costs)}. "
            "Pass other costs to filter and explain, or give another folder (--store DIR)."
        )
    print_result(learner.learn_all(mail_store), as_json)
    learner.input_check.print_notes()
    hint = mail_store.hint()
    if hint:
        print_note(hint)
