"""`weigh compare`: several learners on the same rows."""

from __future__ import annotations

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import data_file_options, json_option
from weigh.cli.trial_options import LEARNERS_HELP, TrialOptions, add_trial_options, level_option

PLOT_HELP = {
    "scores": "mean losses with intervals; drawn if nothing else is said",
    "differences": "of pairs, with intervals",
    "times": "of training and prediction",
    "curve": "losses against training rows, with --curve",
}
SECTIONS = {
    "Examples": """
        weigh compare mails.csv --label spam
        weigh compare mails.csv --label spam --learner naive-bayes --learner tree
        weigh compare mails.csv --label spam --loss log_loss --learner naive-bayes --learner logistic
        weigh compare mails.csv --label spam --curve --plot curve.svg --what curve
        weigh compare homes.csv --label price --learner linear
    """,
    "--learner": LEARNERS_HELP,
    "--loss": """
        zero_one             share of errors (default)
        log_loss, brier      of probabilities
        squared              (1 − p)², p the probability of the true class
        squared_error, absolute_error   of numbers
    """,
    "--what": "\n".join(f"        {name:<21}{words}" for name, words in PLOT_HELP.items()),
}


@click.command(
    cls=CommandWithExamples, sections=SECTIONS, short_help="Try several learners on the same rows."
)
@add_trial_options
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="Of each repeat.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Cuts into folds.")
@level_option
@click.option("--no-baseline", is_flag=True, help="Leave out the guess that does not look at the rows.")
@click.option("--reference", metavar="NAME", help="Compare the others with this learner only.")
@click.option("--rope", type=float, help="Losses nearer than this count as equal. [default: 0.01]")
@click.option("--curve", is_flag=True, help="Learning curves too, and where learners overtake each other.")
@click.option("--traits", is_flag=True, help="Say in words what kind of learners they are.")
@click.option(
    "--what", type=click.Choice(list(PLOT_HELP)), metavar="PICTURE", help="What --plot draws; see below."
)
@data_file_options
@json_option
def command(
    given: TrialOptions,
    folds: int,
    repeats: int,
    level: float,
    reference: str | None,
    rope: float | None,
    no_baseline: bool,
    curve: bool,
    traits: bool,
    what: str | None,
) -> None:
    """Cross-validate learners on the same splits of a table, and tell how sure their differences are.

    Without --learner these are naive Bayes, logistic regression, perceptron, decision tree and nearest
    neighbours. Prints mean losses with intervals, times, and for every pair the corrected resampled
    t-test and the probability that one beats the other.
    """
    from weigh.cli.progress import show_job_progress
    from weigh.trials import compare
    from weigh.trials.learners import DEFAULT_LEARNERS

    if what is not None and given.plot is None:
        raise click.UsageError("--what says what to draw; give --plot FILE too.")
    if what == "curve" and not curve:
        raise click.UsageError("--what curve draws learning curves; give --curve too.")
    tried = given.load_inputs(DEFAULT_LEARNERS)
    with show_job_progress() as progress:
        found = compare(
            *tried,
            folds=folds,
            repeats=repeats,
            level=level,
            rope=rope,
            reference=reference,
            baseline=not no_baseline,
            curve=curve,
            progress=progress,
            **given.common_parameters,
        )
    given.show_result(found, what)
    if traits and not given.as_json:
        click.echo(f"\n{found.traits()}")
