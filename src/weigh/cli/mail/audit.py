"""`weigh mail audit`: which mails lie in the wrong folder?"""

from __future__ import annotations

import click

from weigh.cli.mail.sides import HAM, SPAM, TwoSided, check_sides, look_for_some, sides
from weigh.cli.options import as_json, check_picture, draw, echo, plot_option

SECTIONS = {
    "Examples": """
        weigh mail audit --spam ~/Mail/junk --ham ~/Mail/archive
        weigh mail audit --spam junk/ --ham kept/ --most 50 --json
        weigh mail audit --spam junk/ --ham kept/ --plot doubts.svg
    """,
}


@click.command(cls=TwoSided, sections=SECTIONS, short_help="Find mail in the wrong folder.")
@sides
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="How many to list.")
@plot_option
@as_json
def command(spam: tuple[str, ...], ham: tuple[str, ...], most: int, plot: str | None, as_json: bool) -> None:
    """List the mails that are most at odds with all others of both folders.

    Naive Bayes learns all mails, and judges each one as if it had learned all but that one, exactly. What it
    doubts most is often in the wrong folder; such mail teaches any filter the wrong thing. Of copies of a
    mail one counts. Nothing that you have learned is looked at or changed.
    """
    check_sides(spam, ham, both=True)
    check_picture(plot)
    from weigh.apps.mail.audit import audit_mails
    from weigh.cli.stages import stages

    mails = {SPAM: look_for_some(spam), HAM: look_for_some(ham)}
    with stages() as say:
        found = audit_mails(mails, most=most, say=say)
    echo(found, as_json)
    draw(found.plot, plot, as_json)
