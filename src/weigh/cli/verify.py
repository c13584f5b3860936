"""`weigh verify`: count the training rows again and compare."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.options import as_json, echo, model_argument, open_for, reading
from weigh.cli.taught import Taught

SECTIONS = {
    "Examples": """
        weigh verify income.weigh train.csv
        weigh verify income.weigh part1.csv part2.csv
    """,
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Count the training rows again and compare.")
@model_argument
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@reading
@as_json
def command(model: str, data: tuple[str, ...], as_json: bool, **written: Any) -> None:
    """Check a model against the files it was trained on.

    Every count and every exact sum is made again by separate, plain code and compared to the last
    digit; the model file is compared with its digest, and probabilities must sum to one. Of a
    perceptron rows, classes and radius are found again and, if its last plane was kept and separates the
    rows, that it does and by which margin; of a regression its loss, its objective, and that this is the
    minimum. The exit code is 1 if anything differs.
    """
    from weigh.cli.progress import watched
    from weigh.judge import verify
    from weigh.model import load

    loaded = load(model)
    with watched(open_for(loaded, data, loaded.label, **written)) as source:
        found = verify(model, source)
    echo(found, as_json)
    if not found.ok:
        click.get_current_context().exit(1)
