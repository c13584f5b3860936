"""`weigh serve`: predictions over HTTP."""

from __future__ import annotations

import click

from weigh.cli.lazy_group import CommandWithExamples

SECTIONS = {
    "Examples": """
        weigh serve spam.weigh
    """,
}


@click.command(cls=CommandWithExamples, sections=SECTIONS)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port.")
def command(models: tuple[str, ...], host: str, port: int) -> None:
    """Answer predictions and explanations over HTTP."""
    from weigh.serve.server import run_server

    run_server(list(models), host, port)
