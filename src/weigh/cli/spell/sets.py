"""`weigh spell sets`: the words that are mixed up."""

from __future__ import annotations

import json

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import json_option
from weigh.text import format_count, text_table

SECTIONS = {
    "Examples": """
        weigh spell sets
        weigh spell sets english
        weigh spell sets english > my-sets.txt
        weigh spell sets my-sets.txt --json
    """,
    "A list of your own, for any language": """
        is a file with a set in each line, and '#' before remarks:
            weather whether
            their there they're
        Give it to learn: weigh spell learn ~/Documents --sets my-sets.txt
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS, short_help="The lists of words that are mixed up.")
@click.argument("name", required=False, metavar="[NAME|FILE]")
@json_option
def command(name: str | None, as_json: bool) -> None:
    """Tell which lists there are, or what is in one.

    A list is printed as a file of your own is written, so that it can be one's beginning.
    """
    from weigh.apps.spelling.confusion_sets import ConfusionSets

    if name is not None:
        found = ConfusionSets.parse(name)
        lines = "\n".join(" ".join(words) for words in found.sets)
        click.echo(_to_json(found.to_dict()) if as_json else lines)
        return
    lists = [ConfusionSets.by_name(each) for each in ConfusionSets.list_names()]
    if as_json:
        click.echo(_to_json([each.to_dict() for each in lists]))
        return
    rows = [
        (each.name, format_count(len(each.sets)), format_count(sum(map(len, each.sets)))) for each in lists
    ]
    click.echo(text_table([("list", "sets", "words"), *rows]))


def _to_json(facts: object) -> str:
    return json.dumps(facts, ensure_ascii=False, indent=2)
