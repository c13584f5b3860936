"""`weigh mail rebuild`: replace a damaged store."""

from __future__ import annotations

import click

from weigh.cli.commands.mail.spam_ham_options import (
    HAM,
    SPAM,
    SpamHamCommand,
    check_spam_ham,
    spam_ham_options,
)
from weigh.cli.commands.mail.store_options import store_option
from weigh.cli.options import json_option, print_result

SECTIONS = {
    "Examples": """
        weigh mail rebuild
        weigh mail rebuild --spam ~/Mail/junk --ham ~/Mail/inbox ~/Mail/archive
    """,
    "What is kept": """
        The settings and the key; the ledger if it is intact; for --learner logistic and
        perceptron, all mail if the archive and the first 4,096 bytes of the ledger are
        intact; and what the journal contains. Only if that is not enough, the mail itself
        is needed. The damaged files are kept in a folder beside the store.
    """,
}


@click.command(cls=SpamHamCommand, sections=SECTIONS)
@spam_ham_options
@store_option
@json_option
def command(spam: tuple[str, ...], ham: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Replace a damaged store by one made from its intact files, and from mail if they are not enough.

    Mail that is given is learned as by weigh mail learn. An intact store is not changed.
    """
    from weigh.apps.mail.rebuild import rebuild_store

    if not spam and not ham:
        print_result(rebuild_store(store), as_json)
        return
    check_spam_ham(spam, ham)
    from weigh.cli.commands.mail.bulk import BulkLearner

    learner = BulkLearner({SPAM: spam, HAM: ham})
    print_result(rebuild_store(store, learner.learn_all), as_json)
    learner.input_check.print_notes()
