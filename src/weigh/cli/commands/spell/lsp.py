"""`weigh spell lsp`: the language server for editors."""

from __future__ import annotations

import click

from weigh.cli.commands.spell.options import default_speller_file, model_option
from weigh.cli.lazy_group import CommandWithExamples
from weigh.cli.options import parse_address
from weigh.cli.output.text import print_text

SECTIONS = {
    "Examples": """
        weigh spell lsp
        weigh spell lsp -m ~/en.weigh
        weigh spell lsp --tcp 127.0.0.1:7777
    """,
    "Editors": """
        start it themselves: configure 'weigh spell lsp' as the language server for
        text, Markdown and LaTeX. See docs/spelling-editors.md.
        Needs pygls: pip install '.[spell]' in the folder of weigh.
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@model_option
@click.option("--tcp", metavar="HOST:PORT", help="Listen at this address instead of standard input.")
def command(model: str | None, tcp: str | None) -> None:
    """Serve editors with the Language Server Protocol on standard input and output.

    Confused words are underlined; a quick fix corrects them, and hovering shows the reasons. The speller is
    reloaded when its file changes.
    """
    from weigh.apps.spelling.language_server import serve

    address = None if tcp is None else parse_address(tcp, "--tcp")
    serve(model or default_speller_file(), address, _report_address)


def _report_address(host: str, port: int) -> None:
    print_text(f"Listening at {host}:{port}.", err=True)
