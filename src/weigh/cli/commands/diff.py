"""`weigh diff`: what changed between two models."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option, print_result

SECTIONS = {
    "Examples": """
        weigh diff monday.weigh tuesday.weigh
        weigh diff monday.weigh tuesday.weigh --json
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@json_option
def command(old: str, new: str, as_json: bool) -> None:
    """Show what changed from one model to another.

    Columns and kinds, priors, rows per class, values that appeared and disappeared, and the probabilities,
    means and standard deviations that changed most. For regressions and perceptrons, the columns whose
    contributions changed most.
    """
    from weigh.judge.model_difference import diff

    print_result(diff(old, new), as_json)
