"""`weigh spell lsp`: suggestions in editors."""

from __future__ import annotations

import click

from weigh.cli.commands import CommandWithExamples
from weigh.cli.options import parse_address
from weigh.cli.spell.options import default_speller_file, model_option

SECTIONS = {
    "Examples": """
        weigh spell lsp
        weigh spell lsp -m ~/en.weigh
        weigh spell lsp --tcp 127.0.0.1:7777
    """,
    "Editors": """
        start it themselves: tell yours that the language server for text, Markdown
        and LaTeX is the command 'weigh spell lsp'. Docs: spelling-editors.md.
        Needs pygls: pip install '.[spell]' in the folder of weigh.
    """,
}


@click.command(
    cls=CommandWithExamples, sections=SECTIONS, short_help="Suggestions in your editor, as you type."
)
@model_option
@click.option("--tcp", metavar="HOST:PORT", help="Listen there, and not on standard input.")
def command(model: str | None, tcp: str | None) -> None:
    """Serve editors by the Language Server Protocol, on standard input and output.

    Mixed-up words are underlined; a quick fix puts the other word in their place, and hovering tells why.
    When the speller is learned anew, it is read again.
    """
    from weigh.apps.spelling.language_server import serve

    where = None if tcp is None else parse_address(tcp, "--tcp")
    serve(model or default_speller_file(), where, _report_address)


def _report_address(host: str, port: int) -> None:
    click.echo(f"Listening at {host}:{port}.", err=True)
