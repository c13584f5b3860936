"""`weigh spell sets`: show lists of confusion sets."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import json_option
from weigh.cli.output.text import print_json, print_text
from weigh.text import format_count, text_table

SECTIONS = {
    "Examples": """
        weigh spell sets
        weigh spell sets english
        weigh spell sets english > my-sets.txt
        weigh spell sets my-sets.txt --json
    """,
    "A list of your own, for any language": """
        is a file with one set per line; '#' starts a comment:
            weather whether
            their there they're
        Give it to learn: weigh spell learn ~/Documents --sets my-sets.txt
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("name", required=False, metavar="[NAME|FILE]")
@json_option
def command(name: str | None, as_json: bool) -> None:
    """Show the built-in lists, or the sets of one list.

    A list is printed in the format of a file, so that you can use it as a template.
    """
    from weigh.apps.spelling.confusion_sets import ConfusionSets

    if name is not None:
        sets = ConfusionSets.parse(name)
        lines = "\n".join(" ".join(words) for words in sets)
        if as_json:
            print_json(sets.to_dict())
        else:
            print_text(lines)
        return
    lists = [ConfusionSets.by_name(list_name) for list_name in ConfusionSets.list_names()]
    if as_json:
        print_json([one.to_dict() for one in lists])
        return
    rows = [(one.name, format_count(len(one)), format_count(sum(map(len, one)))) for one in lists]
    print_text(text_table([("list", "sets", "words"), *rows]))
