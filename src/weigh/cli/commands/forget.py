"""`weigh forget`: remove rows, exactly as if they had never been in the training data."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.model_update import update_model, update_options

SECTIONS = {
    "Examples": """
        weigh forget mails.weigh withdrawn.csv
        weigh forget mails.weigh january.csv -o recent.weigh
        weigh forget mails.weigh customer-7.csv --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@update_options
def command(**given: Any) -> None:
    """Remove rows from a model, exactly as if they had never been in its training data.

    Naive Bayes and joint models follow from counts, which the rows are subtracted from. Rows that the model
    has not learned are refused, as far as the counts can show that, and the model stays as it is. Without -o,
    MODEL is replaced.
    """
    update_model(lambda model, rows: model.forget(rows), "forget rows", "Forgot", **given)
