"""`weigh spell compare`: compare the accuracy of learners."""

from __future__ import annotations

import click

from weigh.cli.commands.spell.options import (
    OTHER_LEARNERS_HELP,
    SPELLER_LEARNERS_HELP,
    ComparisonArguments,
    comparison_options,
)
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option

SECTIONS = {
    "Examples": """
        weigh spell compare novels/
        weigh spell compare novels/ --on articles/ --sets golding-schabes
        weigh spell compare novels/ --learner memory --plot sets.svg
    """,
    "--learner": SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP.lstrip("\n"),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@comparison_options("english")
@json_option
def command(arguments: ComparisonArguments) -> None:
    """Train every learner on every set, and measure its accuracy on held-out text.

    The baseline is the majority, the most frequent word of a set. Give text of another author with --on, like
    the text that the speller will check.
    """
    from weigh.apps.spelling.evaluation.compare import compare_learners

    arguments.run(compare_learners)
