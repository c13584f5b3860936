"""`weigh spell curve`: measure learning curves."""

from __future__ import annotations

import click

from weigh.cli.commands.curve import parse_whole_numbers
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
        weigh spell curve novels/ --plot curve.svg
        weigh spell curve novels/ --on articles/ --learner logistic --learner memory
        weigh spell curve novels/ --sets english --sizes 10000,100000,1000000
    """,
    "--learner": SPELLER_LEARNERS_HELP + OTHER_LEARNERS_HELP.lstrip("\n"),
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@comparison_options("banko-brill")
@click.option(
    "--sizes", metavar="N,N,...", help="Numbers of training words. [default: 1, 2, 5 × 10,000, and so on]"
)
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the random choice of text."
)
@json_option
def command(arguments: ComparisonArguments, sizes: str | None, seed: int) -> None:
    """Train learners on more and more text, and measure their accuracy on held-out text.

    Prints the mean accuracy over the sets for every learner and size, and the gain from ten times the text.
    """
    from weigh.apps.spelling.evaluation.curve import measure_learning_curve

    arguments.run(measure_learning_curve, sizes=None if sizes is None else _parse_sizes(sizes), seed=seed)


def _parse_sizes(text: str) -> list[int]:
    sizes = parse_whole_numbers(text)
    if min(sizes) < 1:
        raise click.BadParameter(f"{text!r} has a number below 1.", param_hint="'--sizes'")
    return sizes
