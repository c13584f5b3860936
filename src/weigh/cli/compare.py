"""`weigh compare`: several learners on the same rows."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.options import as_json, check_picture, keep_apart, reading
from weigh.cli.taught import Taught
from weigh.cli.tried import LEARNERS, labelled, learners_of, tell, trying

SECTIONS = {
    "Examples": """
        weigh compare mails.csv --label spam
        weigh compare mails.csv --label spam --learner naive-bayes --learner tree
        weigh compare mails.csv --label spam --loss log_loss --learner naive-bayes --learner logistic
        weigh compare mails.csv --label spam --curve --plot curve.svg --what curve
        weigh compare homes.csv --label price --learner linear
    """,
    "--learner": LEARNERS,
    "--loss": """
        zero_one             share of errors (default)
        log_loss, brier      of probabilities
        squared              (1 − p)², p the probability of the true class
        squared_error, absolute_error   of numbers
    """,
    "--what": """
        scores               mean losses with intervals (default)
        differences          of pairs, with intervals
        times                of training and prediction
        curve                losses against training rows, with --curve
    """,
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Try several learners on the same rows.")
@trying
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="Of each repeat.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Cuts into folds.")
@click.option("--reference", metavar="NAME", help="Compare the others with this learner only.")
@click.option("--rope", type=float, help="Losses nearer than this count as equal. [default: 0.01]")
@click.option("--curve", is_flag=True, help="Learning curves too, and where learners overtake each other.")
@click.option("--traits", is_flag=True, help="Say in words what kind of learners they are.")
@click.option("--what", default="scores", metavar="PICTURE", help="What to draw; see below.")
@reading
@as_json
def command(
    data: tuple[str, ...],
    label: str | None,
    learners: tuple[str, ...],
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    loss: str | None,
    seed: int,
    jobs: int,
    plot: str | None,
    folds: int,
    repeats: int,
    reference: str | None,
    rope: float | None,
    curve: bool,
    traits: bool,
    what: str,
    as_json: bool,
    **written: Any,
) -> None:
    """Cross-validate learners on the same splits of a table, and tell how sure their differences are.

    Without --learner these are naive Bayes, logistic regression, perceptron, decision tree and nearest
    neighbours. Prints mean losses with intervals, times, and for every pair the corrected resampled
    t-test and the probability that one beats the other.
    """
    from weigh.cli.progress import steps
    from weigh.trials import compare
    from weigh.trials.learners import USUAL

    check_picture(plot)
    keep_apart(plot, *data)
    rows = labelled(data, label, missing, **written)
    tried = learners_of(learners or USUAL, settings, kinds, rows.labels.tolist())
    with steps() as progress:
        found = compare(
            tried,
            rows.data,
            rows.labels,
            folds=folds,
            repeats=repeats,
            loss=loss,
            seed=seed,
            n_jobs=jobs,
            rope=rope,
            reference=reference,
            curve=curve,
            progress=progress,
        )
    tell(found, as_json, plot, what)
    if traits and not as_json:
        click.echo(f"\n{found.traits()}")
