"""`weigh compare`: cross-validate several learners on the same rows."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import data_file_options, json_option
from weigh.cli.output.text import print_text
from weigh.cli.trial_options import LEARNERS_HELP, TrialOptions, add_trial_options, level_option

PLOT_HELP = {
    "scores": "mean losses with intervals (default)",
    "differences": "differences of pairs, with intervals",
    "times": "training and prediction times",
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
        zero_one             error rate (default)
        log_loss, brier      for learners with probabilities
        squared              (1 − p)², p the probability of the true class
        squared_error, absolute_error   for numeric labels
    """,
    "--what": "\n".join(f"        {name:<21}{words}" for name, words in PLOT_HELP.items()),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@add_trial_options
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="Folds per repeat.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Repetitions.")
@level_option
@click.option("--no-baseline", is_flag=True, help="Leave out the baseline that ignores the features.")
@click.option("--reference", metavar="NAME", help="Compare the others with this learner only.")
@click.option("--rope", type=float, help="Losses closer than this count as equal. [default: 0.01]")
@click.option("--curve", is_flag=True, help="Also learning curves, and where they cross.")
@click.option("--traits", is_flag=True, help="Describe the learners in words.")
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
    """Cross-validate learners on the same splits of a table, and test their differences.

    The default learners are naive Bayes, logistic regression, perceptron, decision tree and nearest
    neighbours. Prints mean losses with intervals, times, and for every pair the corrected resampled
    t-test and the probability that one beats the other.
    """
    from weigh.trials.comparison import compare
    from weigh.trials.learners import DEFAULT_LEARNERS

    if what is not None and given.plot is None:
        raise click.UsageError("--what selects a picture; give --plot FILE too.")
    if what == "curve" and not curve:
        raise click.UsageError("--what curve draws learning curves; give --curve too.")
    result = given.run(
        compare,
        DEFAULT_LEARNERS,
        what,
        folds=folds,
        repeats=repeats,
        level=level,
        rope=rope,
        reference=reference,
        baseline=not no_baseline,
        curve=curve,
    )
    if traits and not given.as_json:
        print_text(f"\n{result.traits()}")
