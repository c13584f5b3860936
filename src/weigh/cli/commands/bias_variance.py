"""`weigh bias-variance`: decompose the loss of learners into bias and variance."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import data_file_options, json_option
from weigh.cli.trial_options import LEARNERS_HELP, TrialOptions, add_trial_options

SECTIONS = {
    "Examples": """
        weigh bias-variance mails.csv --label spam
        weigh bias-variance mails.csv --label spam --learner tree --which domingos
        weigh bias-variance mails.csv --label spam --learner naive-bayes --loss brier
        weigh bias-variance homes.csv --label price --learner linear --plot parts.svg
    """,
    "--learner": LEARNERS_HELP,
    "--loss": """
        zero_one             error rate (default)
        brier                squared errors of all classes' probabilities
        squared              (1 − p)², p the probability of the true class
        squared_error        for numeric labels
    """,
    "--which, for zero_one": """
        kohavi-wolpert       squares: bias² + variance (default)
        domingos             bias of the majority vote; variance can also reduce the loss
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@add_trial_options
@click.option("--which", default="kohavi-wolpert", metavar="FORM", help="Decomposition; see below.")
@click.option("--rounds", type=click.IntRange(2), default=100, show_default=True, help="Training sets.")
@click.option("--test", type=float, default=0.3, show_default=True, help="Fraction of test rows.")
@click.option(
    "--resample",
    type=click.Choice(["bootstrap", "subsample"]),
    default="bootstrap",
    show_default=True,
    help="How training sets are drawn.",
)
@click.option(
    "--share",
    type=float,
    help="Size of a training set, as a fraction of the other rows. [default: 1, or 0.5]",
)
@data_file_options
@json_option
def command(
    given: TrialOptions, which: str, rounds: int, test: float, resample: str, share: float | None
) -> None:
    """Fit learners on many training sets drawn from a table, and decompose their loss on test rows.

    The default learners are naive Bayes, logistic regression, perceptron, decision tree and nearest
    neighbours. Bias and variance add up to the measured loss.
    """
    from weigh.trials.bias_variance import bias_variance
    from weigh.trials.learners import DEFAULT_LEARNERS

    given.run(
        bias_variance,
        DEFAULT_LEARNERS,
        which=which,
        rounds=rounds,
        test=test,
        resample=resample,
        share=share,
    )
