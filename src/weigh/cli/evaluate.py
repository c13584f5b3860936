"""`weigh evaluate`: how well a model does on labelled rows."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.options import as_json, echo, model_argument, open_for, reading
from weigh.cli.taught import Taught

SECTIONS = {
    "Examples": """
        weigh evaluate income.weigh test.csv
        weigh evaluate income.weigh test.csv --json
        weigh evaluate price.weigh homes.csv
    """,
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Measure a model on labelled rows.")
@model_argument
@click.argument("data", metavar="DATA")
@click.option("--label", metavar="COLUMN", help="The column of true labels. [default: the model's]")
@reading
@as_json
def command(model: str, data: str, label: str | None, as_json: bool, **written: Any) -> None:
    """Compare a model's predictions with the labels of a file it was not trained on.

    Prints accuracy and losses with their intervals, the confusion table, and precision and recall
    of every class; of a linear regression R², the sizes of its errors with their intervals, and the
    rows that were missed most.
    """
    from weigh import errors
    from weigh.cli.progress import watched
    from weigh.judge import evaluate
    from weigh.model import load

    loaded = load(model)
    name = label or loaded.label
    if name is None:
        raise errors.LabelError("The model does not name its label column; give --label COLUMN.")
    with watched(open_for(loaded, data, name, **written)) as source:
        found = evaluate(loaded, source)
    echo(found, as_json)
