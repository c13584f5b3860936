"""`weigh spell compare`: which learner knows best which word stands where."""

from __future__ import annotations

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import json_option
from weigh.cli.spell.options import (
    OTHER_LEARNERS_HELP,
    SPELLER_LEARNERS_HELP,
    ComparisonArguments,
    comparison_options,
)

SECTIONS = {
    "Examples": """
        weigh spell compare novels/
        weigh spell compare novels/ --on articles/ --sets golding-schabes
        weigh spell compare novels/ --learner memory --plot sets.svg
    """,
    "--learner": SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP.lstrip("\n"),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="Learners side by side, set by set.")
@comparison_options("english")
@json_option
def command(given: ComparisonArguments) -> None:
    """Learn every set with every learner, and count right choices on text held out.

    Beside them stands the majority, the word of a set that is commonest. --on should be of another author,
    as the texts are that a speller will meet.
    """
    from weigh.apps.spelling.evaluation.compare import compare_learners

    given.run(compare_learners)
