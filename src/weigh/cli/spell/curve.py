"""`weigh spell curve`: what more text would bring."""

from __future__ import annotations

import click

from weigh.cli.curve import whole_numbers
from weigh.cli.options import as_json
from weigh.cli.spell.opened import COMPARED, LEARNERS
from weigh.cli.spell.trying import Trying, trying
from weigh.cli.taught import Taught

SECTIONS = {
    "Examples": """
        weigh spell curve novels/ --plot curve.svg
        weigh spell curve novels/ --on articles/ --learner logistic --learner memory
        weigh spell curve novels/ --sets english --sizes 10000,100000,1000000
    """,
    "--learner": LEARNERS + COMPARED.lstrip("\n"),
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Accuracy with more and more text.")
@trying("banko-brill")
@click.option("--sizes", metavar="N,N,...", help="Numbers of words. [default: 1, 2, 5 × 10,000, and so on]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Draws the text.")
@as_json
def command(given: Trying, sizes: str | None, seed: int) -> None:
    """Learn from more and more text, and count right choices on text held out.

    Prints the mean accuracy over the sets for every learner and size, and by how much it grows with every
    tenfold of the text.
    """
    from weigh.apps.spelling.trial.curve import curve

    given.tell(curve, sizes=None if sizes is None else _sizes(sizes), seed=seed)


def _sizes(text: str) -> list[int]:
    found = whole_numbers(text)
    if min(found) < 1:
        raise click.BadParameter(f"{text!r} has a number below 1.", param_hint="'--sizes'")
    return found
