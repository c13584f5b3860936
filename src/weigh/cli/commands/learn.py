"""`weigh learn`: learn more rows, exactly as if they had been in the training data."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.model_update import update_model, update_options

SECTIONS = {
    "Examples": """
        weigh learn mails.weigh new.csv
        weigh learn mails.weigh monday.csv tuesday.csv -o week.weigh
        zcat log.csv.gz | weigh learn log.weigh - --format csv
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@update_options
def command(**given: Any) -> None:
    """Add rows to a model, exactly as if they had been in its training data.

    Naive Bayes and joint models follow from counts, which the new rows are added to; classes and categories
    that are new are added too. The kinds of the columns stay as they are. Without -o, MODEL is replaced.
    """
    update_model(lambda model, rows: model.learn(rows), "learn more rows", "Learned", **given)
