"""`weigh mail evaluate`: evaluate filters on your own mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weigh.apps.mail.learners import LEARNERS
from weigh.cli.commands.mail.spam_ham_options import (
    HAM,
    SPAM,
    SpamHamCommand,
    check_spam_ham,
    nonempty_mail_reader,
    spam_ham_options,
)
from weigh.cli.commands.mail.store_options import feature_options, open_store
from weigh.cli.options import (
    check_path_not_empty,
    check_plot_path,
    json_option,
    plot_option,
    print_result,
    save_plot,
)
from weigh.cli.output.text import print_text

if TYPE_CHECKING:
    from weigh.apps.mail.evaluation.filters import HashedMails
    from weigh.apps.mail.evaluation.mail_stream import Feedback, FilterUnderTest, Mail

PLOT_DESCRIPTIONS = {
    "learning": "quality of the ranking against the mails seen (default)",
    "ham": "ham lost against the mails seen",
    "spam": "spam missed against the mails seen",
    "roc": "spam missed against ham lost, for every threshold",
    "figures": "measures with their confidence intervals",
}
SECTIONS = {
    "Examples": """
        weigh mail evaluate --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail evaluate --spam junk/ --ham kept/ --order shuffled --seed 1
        weigh mail evaluate --spam junk/ --ham kept/ --warm 0.5 --feedback delayed=100
        weigh mail evaluate --spam junk/ --ham kept/ --store ~/.local/share/weigh/mail
    """,
    "--feedback": """
        immediate       every label, right after the mail has been judged (default)
        delayed=100     every label, after 100 more mails have been judged
        partial=0.3     the labels of 30 % of the mails
        errors          only the labels of mistakes and unsure mails
    """,
    "--what": "\n".join(f"        {name:<16}{text}" for name, text in PLOT_DESCRIPTIONS.items()),
}


@click.command(cls=SpamHamCommand, sections=SECTIONS)
@spam_ham_options
@click.option(
    "--learner",
    "learners",
    multiple=True,
    type=click.Choice(list(LEARNERS)),
    metavar="NAME",
    help="May be repeated. [default: all]",
)
@click.option(
    "--order",
    type=click.Choice(["time", "shuffled", "given"]),
    default="time",
    show_default=True,
    help="Order of the mails.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of --order shuffled and --feedback."
)
@click.option("--feedback", default="immediate", show_default=True, metavar="RULE", help="See below.")
@click.option(
    "--warm",
    type=click.FloatRange(0),
    default=0.0,
    metavar="SHARE",
    help="Learn this share (or number) of the mails first, without judging them.",
)
@feature_options
@click.option("--no-bogofilter", is_flag=True, help="Leave out bogofilter even if it is installed.")
@click.option(
    "--store", metavar="DIR", callback=check_path_not_empty, help="Evaluate this store too, without learning."
)
@plot_option
@click.option(
    "--what",
    type=click.Choice(list(PLOT_DESCRIPTIONS)),
    default="learning",
    metavar="PLOT",
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
    """Let filters judge your mail one by one, each before its label is given, and measure their errors.

    Your store is not changed. Bogofilter is evaluated too if it is installed, with its own temporary word
    list. --store adds your store; its results are too good for mails that it has already learned. All mails
    are kept in memory.
    """
    check_spam_ham(spam, ham, both=True)
    check_plot_path(plot)
    rule = _parse_feedback(feedback, seed)
    from weigh.apps.mail.evaluation.filters import HashedMails
    from weigh.apps.mail.evaluation.online_evaluation import evaluate_filters
    from weigh.apps.mail.features import FeatureExtractor
    from weigh.cli.output.progress import show_job_progress

    mails = read_labelled_mails(spam, ham)
    hashed_mails = HashedMails(mails, FeatureExtractor(pairs or "pairs", characters or 0))
    filters = _filters_under_test(learners, hashed_mails, not no_bogofilter, store)
    with show_job_progress("judgements") as progress:
        evaluation = evaluate_filters(
            filters, mails, order=order, seed=seed, feedback=rule, warm=warm, progress=progress
        )
    print_result(evaluation, as_json)
    if not as_json:
        print_text(f"ms: a learner's times include {1e3 * hashed_mails.seconds:.2g} ms to read the mail.")
    save_plot(lambda: evaluation.plot(what), plot, as_json)


def _filters_under_test(
    learners: tuple[str, ...], hashed_mails: HashedMails, with_bogofilter: bool, store: str | None
) -> list[FilterUnderTest]:
    from weigh.apps.mail.evaluation.filters import Bogofilter, LearnerUnderTest, StoreUnderTest

    filters: list[FilterUnderTest] = [LearnerUnderTest(name, hashed_mails) for name in learners or LEARNERS]
    if store is not None:
        filters.append(StoreUnderTest(open_store(store)))
    if with_bogofilter and Bogofilter.is_installed():
        filters.append(Bogofilter())
    return filters


def _parse_feedback(rule: str, seed: int) -> Feedback:
    """Parse a feedback rule."""
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
            f"{rule!r} is not one of immediate, delayed=N, partial=SHARE, errors.", param_hint="'--feedback'"
        ) from None


def read_labelled_mails(spam: tuple[str, ...], ham: tuple[str, ...]) -> list[Mail]:
    """Read all mails at paths, with their arrival times where they have one."""
    from weigh.apps.mail.evaluation.mail_stream import Mail
    from weigh.cli.commands.mail.bulk import print_conflicting_labels
    from weigh.cli.output.text import show_stages
    from weigh.source.mail.raw_message import arrival_time

    readers = {SPAM: nonempty_mail_reader(spam), HAM: nonempty_mail_reader(ham)}
    mails = []
    with show_stages() as show:
        for label, read in readers.items():
            for message in read():
                time = arrival_time(message.content, message)
                mails.append(Mail(message.content, message.place, label, time))
                show(f"{len(mails):,} mails read")
    contents = {label: {mail.content for mail in mails if mail.label == label} for label in readers}
    print_conflicting_labels(contents, "No filter can be right about both.")
    return mails
