"""`weigh spell compare`: which learner knows best which word stands where."""

from __future__ import annotations

import click

from weigh.cli.options import as_json
from weigh.cli.spell.opened import COMPARED, LEARNERS
from weigh.cli.spell.trying import Trying, trying
from weigh.cli.taught import Taught

SECTIONS = {
    "Examples": """
        weigh spell compare novels/
        weigh spell compare novels/ --on articles/ --sets golding-schabes
        weigh spell compare novels/ --learner memory --plot sets.svg
    """,
    "--learner": LEARNERS + COMPARED.lstrip("\n"),
}


@click.command(cls=Taught, sections=SECTIONS, short_help="Learners side by side, set by set.")
@trying("english")
@as_json
def command(given: Trying) -> None:
    """Learn every set with every learner, and count right choices on text held out.

    Beside them stands the majority, the word of a set that is commonest. --on should be of another author,
    as the texts are that a speller will meet.
    """
    from weigh.apps.spelling.trial.compare import compared

    given.tell(compared)
