"""`weigh mail evaluate`: what would have happened to your own mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weigh.apps.mail.learners import LEARNERS
from weigh.cli.mail.opened import opened, seeing
from weigh.cli.mail.sides import TwoSided, check_sides, sides
from weigh.cli.options import as_json, check_picture, draw, echo, named, plot_option

if TYPE_CHECKING:
    from weigh.apps.mail.trial.contestant import Contestant
    from weigh.apps.mail.trial.feedback import Feedback
    from weigh.apps.mail.trial.filters import Prints

PICTURES = {
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
    "--what": "\n".join(f"        {name:<16}{words}" for name, words in PICTURES.items()),
}


@click.command(cls=TwoSided, sections=SECTIONS, short_help="Try filters on your own mail first.")
@sides
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
@seeing
@click.option("--no-bogofilter", is_flag=True, help="Leave it out although it is installed.")
@click.option("--store", metavar="DIR", callback=named, help="Try this store too, as it is.")
@plot_option
@click.option(
    "--what",
    type=click.Choice(list(PICTURES)),
    default="learning",
    metavar="PICTURE",
    help="What --plot draws; see below.",
)
@as_json
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
    check_sides(spam, ham, both=True)
    check_picture(plot)
    rule = _feedback(feedback, seed)
    from weigh.apps.mail.features import Features
    from weigh.apps.mail.trial.filters import Prints
    from weigh.apps.mail.trial.trial import hold_trial
    from weigh.cli.mail.labelled import mails_of
    from weigh.cli.progress import steps

    mails = mails_of(spam, ham)
    prints = Prints(mails, Features(pairs or "pairs", characters or 0))
    contestants = _contestants(learners, prints, not no_bogofilter, store)
    with steps("judgements") as progress:
        found = hold_trial(
            contestants, mails, order=order, seed=seed, feedback=rule, warm=warm, progress=progress
        )
    echo(found, as_json)
    if not as_json:
        click.echo(f"ms: of a learner's, {1e3 * prints.seconds:.2g} are for reading the mail.")
    draw(lambda: found.plot(what), plot, as_json)


def _contestants(
    learners: tuple[str, ...], prints: Prints, with_bogofilter: bool, store: str | None
) -> list[Contestant]:
    from weigh.apps.mail.trial.bogofilter import Bogofilter
    from weigh.apps.mail.trial.filters import LearnerOnTrial, StoreOnTrial

    tried: list[Contestant] = [LearnerOnTrial(name, prints) for name in learners or LEARNERS]
    if store is not None:
        tried.append(StoreOnTrial(opened(store)))
    if with_bogofilter and Bogofilter.is_installed():
        tried.append(Bogofilter())
    return tried


def _feedback(rule: str, seed: int) -> Feedback:
    """Which labels are told, and when, in words of the command line."""
    from weigh.apps.mail.trial.feedback import Feedback

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
