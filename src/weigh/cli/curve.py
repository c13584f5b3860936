"""`weigh curve`: how a learner does with more and more rows."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.options import as_json, check_picture, keep_apart, reading
from weigh.cli.taught import Taught

SECTIONS = {
    "Examples": """
        weigh curve adult.csv --label income
        weigh curve adult.csv --label income --learner naive-bayes --learner logistic
        weigh curve adult.csv --label income --set prior=0.1 --loss log_loss
        weigh curve homes.csv --label price --learner linear --sizes 100,1000,10000
        weigh curve adult.csv --label income --plot curve.svg
    """,
    "--learner, once or several times": """
        naive-bayes, logistic, perceptron, tree, neighbours, joint, threshold, linear
    """,
}
LOSSES = ["zero_one", "squared", "log_loss", "squared_error", "absolute_error"]


@click.command(cls=Taught, sections=SECTIONS, short_help="Losses with more and more rows.")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@click.option("--label", metavar="COLUMN", help="The column to predict; not needed where the format tells.")
@click.option("--learner", "learners", multiple=True, metavar="NAME", help="[default: naive-bayes]")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="As for weigh fit; one learner.")
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="What a column means.")
@click.option("--missing", multiple=True, metavar="MARK", help="A value that means 'missing', such as '?'.")
@click.option("--sizes", metavar="N,N,...", help="Numbers of rows. [default: eight, each twice the last]")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Held out in turn.")
@click.option("--repeats", type=click.IntRange(1), default=2, show_default=True, help="Of all folds.")
@click.option("--loss", type=click.Choice(LOSSES), help="What to measure. [default: by the learner]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of folds and subsets.")
@click.option("--jobs", type=int, metavar="N", help="Trials at once; -1 means all cores. [default: 1]")
@click.option("--plot", metavar="FILE", help="Draw the curves, as .svg or .png.")
@reading
@as_json
def command(
    data: tuple[str, ...],
    label: str | None,
    learners: tuple[str, ...],
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    missing: tuple[str, ...],
    sizes: str | None,
    jobs: int | None,
    plot: str | None,
    as_json: bool,
    folds: int,
    repeats: int,
    loss: str | None,
    seed: int,
    **written: Any,
) -> None:
    """Fit learners on more and more rows, and measure them on rows held out.

    Prints the losses at every size, the power law that they follow and what it expects of more rows,
    whether the learner overfits or underfits and what to do, and where one learner overtakes another.
    """
    from weigh.cli.progress import steps
    from weigh.cli.tried import labelled, learners_of, tell
    from weigh.trials import learning_curve

    check_picture(plot)
    keep_apart(plot, *data)
    wanted = None if sizes is None else _numbers(sizes)
    rows = labelled(data, label, missing, **written)
    tried = learners_of(learners or ("naive-bayes",), settings, kinds, rows.labels.tolist())
    with steps() as progress:
        found = learning_curve(
            tried,
            rows.data,
            rows.labels,
            sizes=wanted,
            folds=folds,
            repeats=repeats,
            loss=loss,
            seed=seed,
            n_jobs=jobs,
            progress=progress,
        )
    tell(found, as_json, plot)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.replace("_", "").split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not whole numbers with commas between them.", param_hint="'--sizes'"
        ) from None
