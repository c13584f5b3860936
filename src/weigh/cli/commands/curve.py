"""`weigh curve`: learning curves."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import data_file_options, json_option
from weigh.cli.trial_options import LEARNERS_HELP, TrialOptions, add_trial_options, level_option

SECTIONS = {
    "Examples": """
        weigh curve mails.csv --label spam
        weigh curve mails.csv --label spam --learner naive-bayes --learner logistic
        weigh curve mails.csv --label spam --set prior=0.1 --loss log_loss
        weigh curve homes.csv --label price --learner linear --sizes 100,1000,10000
        weigh curve mails.csv --label spam --plot curve.svg
    """,
    "--learner": LEARNERS_HELP,
    "--loss": """
        zero_one             error rate (default)
        log_loss, brier      for learners with probabilities
        squared              (1 − p)², p the probability of the true class
        squared_error, absolute_error   for numeric labels
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@add_trial_options
@click.option("--sizes", metavar="N,N,...", help="Training set sizes. [default: eight, doubling]")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Folds per repeat.")
@click.option("--repeats", type=click.IntRange(1), default=2, show_default=True, help="Repetitions.")
@level_option
@data_file_options
@json_option
def command(given: TrialOptions, sizes: str | None, folds: int, repeats: int, level: float) -> None:
    """Fit learners on growing training sets, and measure them on held-out rows.

    Prints the losses at every size, the power law that they follow and what it expects of more rows,
    whether a learner overfits or underfits and what to do, and where one learner overtakes another.
    Without --learner it is naive Bayes.
    """
    from weigh.trials.learning_curves import learning_curve

    wanted = None if sizes is None else parse_whole_numbers(sizes)
    given.run(learning_curve, ["naive-bayes"], sizes=wanted, folds=folds, repeats=repeats, level=level)


def parse_whole_numbers(text: str) -> list[int]:
    """Parse comma-separated integers."""
    try:
        return [int(part) for part in text.replace("_", "").split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a list of whole numbers separated by commas.", param_hint="'--sizes'"
        ) from None
