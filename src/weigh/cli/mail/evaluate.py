"""`weigh mail evaluate`: what would have happened to your own mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weigh.apps.mail.evaluation.mail_stream import Mail
from weigh.apps.mail.learners import LEARNERS
from weigh.cli.mail.bulk import print_conflicting_labels
from weigh.cli.mail.spam_ham_options import (
    HAM,
    SPAM,
    SpamHamCommand,
    check_spam_ham,
    nonempty_mail_reader,
    spam_ham_options,
)
from weigh.cli.mail.store_options import feature_options, open_store
from weigh.cli.options import (
    check_path_not_empty,
    check_plot_path,
    json_option,
    plot_option,
    print_result,
    save_plot,
)
from weigh.cli.output import show_stages
from weigh.source.mail import arrival_time

if TYPE_CHECKING:
    from weigh.apps.mail.evaluation.filters import HashedMails
    from weigh.apps.mail.evaluation.mail_stream import Feedback, FilterUnderTest

PLOT_DESCRIPTIONS = {
    "learning": "how well mail is ranked, over the mails seen (default)",
    "ham": "ham lost, over the mails seen",
    "spam": "spam let through, over the mails seen",
    "roc": "spam let through over ham lost, for every cutoff",
    "figures": "all figures with their intervals",
}
SECTIONS = {
    "Examples": """
        weigh mail evaluate --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail evaluate --spam junk/ --ham kept/ --order shuffled --seed 1
        weigh mail evaluate --spam junk/ --ham kept/ --warm 0.5 --feedback delayed=100
        weigh mail evaluate --spam junk/ --ham kept/ --store ~/.local/share/weigh/mail
    """,
    "--feedback": """
        immediate       every label, once the mail has been judged (default)
        delayed=100     every label, when 100 more mails have been judged
        partial=0.3     the labels of 30 % of the mails
        errors          of mistakes and unsure mails only
    """,
    "--what": "\n".join(f"        {name:<16}{words}" for name, words in PLOT_DESCRIPTIONS.items()),
}


@click.command(cls=SpamHamCommand, sections=SECTIONS, short_help="Try filters on your own mail first.")
@spam_ham_options
@click.option(
    "--learner",
    "learners",
    multiple=True,
    type=click.Choice(list(LEARNERS)),
    metavar="NAME",
    help="Repeat it for several. [default: all]",
)
@click.option(
    "--order",
    type=click.Choice(["time", "shuffled", "given"]),
    default="time",
    show_default=True,
    help="In which mail comes.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Shuffles, and draws.")
@click.option("--feedback", default="immediate", show_default=True, metavar="RULE", help="See below.")
@click.option(
    "--warm",
    type=click.FloatRange(0),
    default=0.0,
    metavar="SHARE",
    help="Of the mails, or a number of them: learned first, and not judged.",
)
@feature_options
@click.option("--no-bogofilter", is_flag=True, help="Leave it out although it is installed.")
@click.option("--store", metavar="DIR", callback=check_path_not_empty, help="Try this store too, as it is.")
@plot_option
@click.option(
    "--what",
    type=click.Choice(list(PLOT_DESCRIPTIONS)),
    default="learning",
    metavar="PICTURE",
    help="What --plot draws; see below.",
)
@json_option
def command(
    spam: tuple[str, ...],
    ham: tuple[str, ...],
    learners: tuple[str, ...],
    order: str,
    seed: int,
    feedback: str,
    warm: float,
    pairs: str | None,
    characters: int | None,
    no_bogofilter: bool,
    store: str | None,
    plot: str | None,
    what: str,
    as_json: bool,
) -> None:
    """Let filters judge your mail one by one, each before its label is told, and count their mistakes.

    Nothing that you have learned is changed. Bogofilter is tried beside the learners if it is installed,
    with a word list of its own; --store adds what you have, which is flattered by mails that it has learned.
    All mails are held in memory.
    """
    check_spam_ham(spam, ham, both=True)
    check_plot_path(plot)
    rule = _parse_feedback(feedback, seed)
    from weigh.apps.mail.evaluation.filters import HashedMails
    from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters
    from weigh.apps.mail.features import FeatureExtractor
    from weigh.cli.progress import show_job_progress

    mails = read_labelled_mails(spam, ham)
    prints = HashedMails(mails, FeatureExtractor(pairs or "pairs", characters or 0))
    contestants = _filters_under_test(learners, prints, not no_bogofilter, store)
    with show_job_progress("judgements") as progress:
        found = evaluate_filters(
            contestants, mails, order=order, seed=seed, feedback=rule, warm=warm, progress=progress
        )
    print_result(found, as_json)
    if not as_json:
        click.echo(f"ms: of a learner's, {1e3 * prints.seconds:.2g} are for reading the mail.")
    save_plot(lambda: found.plot(what), plot, as_json)


def _filters_under_test(
    learners: tuple[str, ...], prints: HashedMails, with_bogofilter: bool, store: str | None
) -> list[FilterUnderTest]:
    from weigh.apps.mail.evaluation.filters import Bogofilter, LearnerUnderTest, StoreUnderTest

    tried: list[FilterUnderTest] = [LearnerUnderTest(name, prints) for name in learners or LEARNERS]
    if store is not None:
        tried.append(StoreUnderTest(open_store(store)))
    if with_bogofilter and Bogofilter.is_installed():
        tried.append(Bogofilter())
    return tried


def _parse_feedback(rule: str, seed: int) -> Feedback:
    """Which labels are told, and when, in words of the command line."""
    from weigh.apps.mail.evaluation.mail_stream import Feedback

    name, _, value = rule.partition("=")
    try:
        if name == "delayed":
            return Feedback(delay=int(value), seed=seed)
        if name == "partial":
            return Feedback(share=float(value), seed=seed)
        return {"immediate": Feedback(seed=seed), "errors": Feedback(errors_only=True, seed=seed)}[rule]
    except (ValueError, KeyError):
        raise click.BadParameter(
            f"{rule!r} is none of immediate, delayed=N, partial=SHARE, errors.", param_hint="'--feedback'"
        ) from None


def read_labelled_mails(spam: tuple[str, ...], ham: tuple[str, ...]) -> list[Mail]:
    """All mails that paths lead to, in the order of time if they say when they came."""
    sides = {SPAM: nonempty_mail_reader(spam), HAM: nonempty_mail_reader(ham)}
    mails = []
    with show_stages() as say:
        for label, found in sides.items():
            for each in found():
                mails.append(Mail(each.content, each.place, label, arrival_time(each.content, each)))
                say(f"{len(mails):,} mails read")
    kinds = {label: {mail.content for mail in mails if mail.label == label} for label in sides}
    print_conflicting_labels(kinds, "No filter can be right about both.")
    return mails
