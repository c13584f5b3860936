"""`weigh mail audit`: find mail in the wrong folder."""

from __future__ import annotations

import click

from weigh.cli.commands.mail.spam_ham_options import (
    HAM,
    SPAM,
    SpamHamCommand,
    check_spam_ham,
    nonempty_mail_reader,
    spam_ham_options,
)
from weigh.cli.options import check_plot_path, json_option, plot_option, print_result, save_plot

SECTIONS = {
    "Examples": """
        weigh mail audit --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail audit --spam junk/ --ham kept/ --most 50 --json
        weigh mail audit --spam junk/ --ham kept/ --plot doubts.svg
    """,
}


@click.command(cls=SpamHamCommand, sections=SECTIONS)
@spam_ham_options
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="How many to list.")
@plot_option
@json_option
def command(spam: tuple[str, ...], ham: tuple[str, ...], most: int, plot: str | None, as_json: bool) -> None:
    """List the mails whose labels are least probable given all other mails.

    Naive Bayes judges each mail after learning all others (exact leave-one-out). The least probable labels
    often belong to mail in the wrong folder, which misleads any filter. Copies of a mail count once. Your
    store is neither read nor changed.
    """
    check_spam_ham(spam, ham, both=True)
    check_plot_path(plot)
    from weigh.apps.mail.audit import audit_mails
    from weigh.cli.output.text import show_stages

    mails = {SPAM: nonempty_mail_reader(spam), HAM: nonempty_mail_reader(ham)}
    with show_stages() as show:
        audit = audit_mails(mails, most=most, progress=show)
    print_result(audit, as_json)
    save_plot(audit.plot, plot, as_json)
